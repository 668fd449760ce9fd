//! The server by fibers, which communicate synchronously.

use super::{
    Components, MOST_OPEN,
    answer::{Answer, Piece, Request, line, pieces},
    open,
};
use crate::peers;
use lisle::{
    Event,
    channel::{Receiver, Sender},
    choose,
    net::{TcpListener, TcpStream},
};
use std::{
    fs::File,
    io::{self, Write},
    net::SocketAddr,
};

pub(super) fn serve(workers: usize) {
    peers::runtime(workers).run(|| {
        let (log, listener) = open();
        let (files, asked) = lisle::channel();
        let (lines, logged) = lisle::channel();
        let (ended, ends) = lisle::channel();
        let (leave, may_accept) = lisle::channel();
        lisle::spawn(move || process_files(&asked));
        lisle::spawn(move || write_log(log, &logged));
        lisle::spawn(move || manage(&leave, &ends));
        listen(&listener, &may_accept, &Components { files, log: lines, ended });
    });
}

fn listen(listener: &TcpListener, may_accept: &Receiver<()>, components: &Components) {
    while may_accept.recv().is_ok() {
        let (stream, peer) = listener.accept().expect("connections can be accepted");
        let components = components.clone();
        lisle::spawn(move || {
            // An error is the client's going away.
            let _ = connection(stream, peer, &components);
            components.ended.send(()).expect("the connection manager stays");
        });
    }
}

fn manage(leave: &Sender<()>, ends: &Receiver<()>) {
    let mut open = 0;
    loop {
        let another = (open < MOST_OPEN).then(|| leave.send_evt(()).wrap(|_| 1));
        open = open.wrapping_add_signed(choose((another, ends.recv_evt().wrap(|_| -1))).sync());
    }
}

fn connection(mut stream: TcpStream, peer: SocketAddr, components: &Components) -> io::Result<()> {
    let path = Request::read(&mut stream)?;
    let (reader, pieces) = lisle::channel();
    components.files.send((path.clone(), reader)).expect("the file processor stays");
    let mut answer = Answer::default();
    pieces.iter().for_each(|piece| answer.add(piece));
    let answer = answer.bytes();
    stream.write_all(&answer)?;
    drop(stream);
    components.log.send(line(peer, &path, answer.len())).expect("the logger stays");
    Ok(())
}

fn process_files(asked: &Receiver<(String, Sender<Piece>)>) {
    for (path, connection) in asked {
        lisle::spawn(move || {
            // That there is no such file is seen by the channel's end.
            if let Ok(pieces) = pieces(&path) {
                let _ = pieces.map(|piece| connection.send(piece)).try_for_each(|sent| sent);
            }
        });
    }
}

fn write_log(mut log: File, lines: &Receiver<String>) {
    for line in lines {
        log.write_all(line.as_bytes()).expect("there is room for the log");
    }
}
