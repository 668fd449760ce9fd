//! An axum server whose handler computes with rayon, on tokio and on Lisle, and the load for it.
//!
//! `one-scheduler serve NAME` serves until its standard input ends, after it has written its address.
//!
//! `one-scheduler compare RAYON PATCHED SECONDS ROUNDS [PICTURE]` measures all servers in turn, and prints the medians of the
//! rounds. `RAYON` and `PATCHED` are this program, built with rayon-core and with the package that takes its place.

mod app;
mod compare;
mod load;
mod on_lisle;
mod on_tokio;
mod picture;

use std::io;
use std::net::TcpListener;

const USAGE: &str =
    "one-scheduler serve NAME, or one-scheduler compare RAYON PATCHED SECONDS ROUNDS [PICTURE]";

fn main() -> io::Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve", server] => serve(server),
        ["compare", rayon, patched, seconds, rounds, ref picture @ ..] if picture.len() < 2 => {
            let number =
                |text: &str| text.parse().map_err(|error| io::Error::other(format!("{text:?}: {error}")));
            compare::run(rayon, patched, number(seconds)?, number(rounds)?, picture.first().copied())
        }
        _ => Err(io::Error::other(USAGE)),
    }
}

fn serve(server: &str) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    std::thread::spawn(|| {
        io::copy(&mut io::stdin(), &mut io::sink()).ok();
        std::process::exit(0);
    });
    match server {
        "tokio" => on_tokio::serve(listener, app::direct()),
        "tokio-blocking" => on_tokio::serve(listener, app::apart()),
        "lisle" => on_lisle::serve(listener, app::direct()),
        "lisle-par" => on_lisle::serve(listener, app::ported()),
        other => Err(io::Error::other(format!("there is no server {other:?}"))),
    }
}
