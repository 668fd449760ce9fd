//! The server by tasks in the place of the fibers, which send asynchronously.

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
    spawn_task,
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
        spawn_task(process_files(asked));
        spawn_task(write_log(log, logged));
        spawn_task(manage(leave, ends));
        let listening = spawn_task(listen(listener, may_accept, Components { files, log: lines, ended }));
        listening.join().expect("the listener stays");
    });
}

async fn listen(listener: TcpListener, may_accept: Receiver<()>, components: Components) {
    while may_accept.recv_evt().await.is_ok() {
        let (stream, peer) = listener.accept_evt().await.expect("connections can be accepted");
        let components = components.clone();
        spawn_task(async move {
            // An error is the client's going away.
            let _ = connection(stream, peer, &components).await;
            drop(components.ended.send_async_evt(()).await);
        });
    }
}

async fn manage(leave: Sender<()>, ends: Receiver<()>) {
    let mut open = 0;
    loop {
        let another = (open < MOST_OPEN).then(|| leave.send_evt(()).wrap(|_| 1));
        open = open.wrapping_add_signed(choose((another, ends.recv_evt().wrap(|_| -1))).await);
    }
}

async fn connection(stream: TcpStream, peer: SocketAddr, components: &Components) -> io::Result<()> {
    let mut request = Request::new();
    let path = loop {
        let count = match stream.try_read(request.rest()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                stream.readable_evt().await?;
                continue;
            }
            read => read?,
        };
        if let Some(path) = request.came(count)? {
            break path;
        }
    };
    let (reader, pieces) = lisle::channel();
    drop(components.files.send_async_evt((path.clone(), reader)).await);
    let mut answer = Answer::default();
    while let Ok(piece) = pieces.recv_evt().await {
        answer.add(piece);
    }
    let answer = answer.bytes();
    write_all(&stream, &answer).await?;
    drop(stream);
    drop(components.log.send_async_evt(line(peer, &path, answer.len())).await);
    Ok(())
}

async fn write_all(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.try_write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => stream.writable_evt().await?,
            written => bytes = &bytes[written?..],
        }
    }
    Ok(())
}

async fn process_files(asked: Receiver<(String, Sender<Piece>)>) {
    while let Ok((path, connection)) = asked.recv_evt().await {
        spawn_task(async move {
            // That there is no such file is seen by the channel's end.
            if let Ok(pieces) = pieces(&path) {
                for piece in pieces {
                    if connection.is_closed() {
                        break;
                    }
                    drop(connection.send_async_evt(piece).await);
                }
            }
        });
    }
}

async fn write_log(mut log: File, lines: Receiver<String>) {
    while let Ok(line) = lines.recv_evt().await {
        log.write_all(line.as_bytes()).expect("there is room for the log");
    }
}
