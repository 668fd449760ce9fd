//! The server on Lisle: a fiber for each connection, and the loop in another fiber of the same
//! domains.

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
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        println!("listening {}", listener.local_addr().expect("it is bound"));
        lisle::spawn(move || match accept(&listener) {
            Ok(never) => match never {},
            Err(error) => panic!("lisle: {error}"),
        });
        draw::<Lisle>(job, &PROGRESS)
    })
}

/// Answers all that connect, each in a fiber of its own.
pub(crate) fn accept(listener: &TcpListener) -> io::Result<Infallible> {
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
