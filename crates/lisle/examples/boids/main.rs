//! A flock of agents, shown live in a browser.
//!
//! Run it with `cargo run --release -p lisle --example boids -- --agents 20000`, and open the page
//! that it names in any number of browsers. With `--frames N` the program ends by itself.
//!
//! The world and the fibers that serve the page run on the same domains: a fiber answers a browser
//! while other domains move the flock.

mod flock;
mod grid;
mod http;
mod options;
mod server;
mod shown;
mod summary;
mod world;

use crate::flock::{Sight, scattered};
use crate::grid::Grid;
use crate::options::{Options, USAGE};
use crate::server::Board;
use crate::shown::{Figures, Shown};
use crate::summary::Summary;
use crate::world::Flock;
use lisle::net::TcpListener;
use lisle::signal::{Signal, ctrl_c};
use lisle::time::{Ticker, ticker};
use lisle::{Event, Handle, Runtime, choose, fiber};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The time between two frames.
const PERIOD: Duration = Duration::from_nanos(1_000_000_000 / 60);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let played = Options::parse(arguments.into_iter()).map_err(|wrong| format!("{wrong}\n\n{USAGE}"));
    let played = played.and_then(|options| {
        let runtime = match options.workers {
            0 => Runtime::builder(),
            workers => Runtime::builder().domains(workers),
        };
        runtime.run(|| play(options)).map_err(|error| error.to_string())
    });
    match played {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            eprintln!("boids: {wrong}");
            ExitCode::FAILURE
        }
    }
}

/// Serves the page and plays the frames.
fn play(options: Options) -> io::Result<Summary> {
    let listener = TcpListener::bind(("127.0.0.1", options.port))?;
    println!("{} agents at http://{}/", options.agents, listener.local_addr()?);
    let domains = Handle::current().domains();
    let agents = scattered(options.agents);
    let first = Arc::new(Sight { grid: Grid::of(&agents), threat: None });
    let board = Board::new(Shown::new(Figures::default(), first));
    let mut flock = Flock::new(agents, PERIOD);
    let server = {
        let board = board.clone();
        fiber::Builder::new().name("server").domain(domains - 1).spawn(move || {
            server::serve(listener, &board, domains);
        })
    };

    let (beat, interrupt) = (ticker(PERIOD), ctrl_c()?);
    let mut summary = Summary::default();
    while (options.frames == 0 || summary.frames() < options.frames) && goes_on(&beat, &interrupt)? {
        let report = flock.frame(board.threat());
        summary.add(&report);
        let viewers = board.connections.count();
        let figures = Figures { report, budget: PERIOD, late: summary.late(), domains, viewers };
        board.newest.set(Shown::new(figures, flock.sight()));
        // A tick that is due is taken without waiting. So if every frame is late, no other call here
        // lets the other fibers of this domain run.
        fiber::yield_now();
    }

    board.stop.signal();
    server.join().expect("the server does not panic");
    Ok(summary)
}

/// Waits for the time of the next frame. Returns `false` if the program is to end.
fn goes_on(beat: &Ticker, interrupt: &Signal) -> io::Result<bool> {
    choose((
        beat.tick_evt().wrap(|_| Ok(true)),
        interrupt.recv_evt().wrap(|received| received.map(|()| false)),
    ))
    .sync()
}
