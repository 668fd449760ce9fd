//! The server on Lisle: a fiber for each connection, and the loop in another fiber of the same domains.

use super::{
    answer::{Progress, REQUEST},
    draw,
};
use crate::{
    job::Job,
    peers::{Lisle, Pool},
};
use lisle::net::{TcpListener, TcpStream};
use std::{
    convert::Infallible,
    io::{self, Read, Write},
};

static PROGRESS: Progress = Progress::new();

pub(super) fn serve(job: &Job) -> ! {
    Lisle::run(job.workers, || {
        lisle::spawn(|| match accept() {
            Ok(never) => match never {},
            Err(error) => panic!("lisle: {error}"),
        });
        draw::<Lisle>(job, &PROGRESS)
    })
}

fn accept() -> io::Result<Infallible> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("listening {}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept()?;
        // An error is the client's going away.
        lisle::spawn(move || drop(answer(&stream)));
    }
}

fn answer(mut stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = [0; REQUEST];
    loop {
        stream.read_exact(&mut request)?;
        stream.write_all(&PROGRESS.answer(request))?;
    }
}
