//! One thread, one connection after another.

use super::{
    LOG,
    answer::{Answer, Request, line},
};
use std::{
    fs::File,
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
};

pub(super) fn serve() {
    let mut log = File::create(LOG).expect("the working directory is ours");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
    println!("listening {}", listener.local_addr().expect("it is bound"));
    loop {
        let (stream, peer) = listener.accept().expect("connections can be accepted");
        // An error is the client's going away.
        if let Ok(line) = serve_one(stream, peer) {
            log.write_all(line.as_bytes()).expect("there is room for the log");
        }
    }
}

fn serve_one(mut stream: TcpStream, peer: SocketAddr) -> io::Result<String> {
    let path = Request::read(&mut stream)?;
    let answer = Answer::with_file(&path).bytes();
    stream.write_all(&answer)?;
    Ok(line(peer, &path, answer.len()))
}
