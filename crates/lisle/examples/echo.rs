//! A TCP echo server that stops gracefully, and the clients that it serves before that.
//!
//! Run it with `cargo run -p lisle --example echo`.

use lisle::net::{TcpListener, TcpStream};
use lisle::sync::Condition;
use lisle::{Event, choose};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;

fn main() -> io::Result<()> {
    lisle::run(|| {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let stop = Arc::new(Condition::new());
        let server = {
            let stop = stop.clone();
            lisle::spawn(move || serve(&listener, &stop))
        };

        let clients: Vec<_> = (0..3).map(|number| lisle::spawn(move || client(address, number))).collect();
        for client in clients {
            client.join().expect("a client does not panic")?;
        }

        stop.signal();
        let served = server.join().expect("the server does not panic")?;
        println!("served {served} connections");
        assert_eq!(served, 3);
        Ok(())
    })
}

/// Accepts connections until told to stop, and then waits for the open ones. Returns the number of
/// connections.
fn serve(listener: &TcpListener, stop: &Condition) -> io::Result<usize> {
    // Only the commit of this event accepts a connection. When the stop wins, no connection has
    // been accepted and dropped.
    let next = choose((listener.accept_evt().wrap(Some), stop.wait_evt().wrap(|()| None)));
    let mut connections = Vec::new();
    while let Some(accepted) = next.sync() {
        let (stream, _) = accepted?;
        connections.push(lisle::spawn(move || echo(&stream)));
    }
    let served = connections.len();
    for connection in connections {
        connection.join().expect("a connection does not panic")?;
    }
    Ok(served)
}

/// Sends back all bytes that come, until the client closes its writing half.
fn echo(stream: &TcpStream) -> io::Result<()> {
    let (mut from, mut to) = (stream, stream);
    io::copy(&mut from, &mut to).map(drop)
}

fn client(address: SocketAddr, number: u32) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    let said = format!("client {number} was here");
    stream.write_all(said.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    let mut heard = String::new();
    stream.read_to_string(&mut heard)?;
    println!("{heard}");
    assert_eq!(heard, said);
    Ok(())
}
