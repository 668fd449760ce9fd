//! Servers on tokio, which would not answer if the loop were in one of its tasks. So the loop is
//! elsewhere.

use super::{
    View,
    answer::{Progress, REQUEST},
    checksum, draw, shuffled,
};
use crate::{
    job::Job,
    peers::{Pool, Rayon},
};
use std::{convert::Infallible, io, thread};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::{Builder, Runtime},
    task::spawn_blocking,
};

static PROGRESS: Progress = Progress::new();

/// The loop is on rayon's pool.
pub(super) fn beside_rayon(job: &Job) -> ! {
    let own = job.clone();
    thread::spawn(move || Rayon::run(own.workers, || draw::<Rayon>(&own, &PROGRESS)));
    serve(&runtime(job))
}

/// The loop is on tokio's own pool for blocking work, a task for some rows: `spawn_blocking` is for
/// work that ends, and its documentation asks programs to limit how much of it runs at once.
pub(super) fn blocking(job: &Job) -> ! {
    let runtime = runtime(job);
    runtime.spawn(draw_blocking(View::of(job)));
    serve(&runtime)
}

fn runtime(job: &Job) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(job.workers).max_blocking_threads(job.workers).enable_io();
    builder.build().expect("a runtime starts")
}

async fn draw_blocking(view: View) {
    const ROWS: usize = 64;
    let mut pieces = vec![vec![0; view.width * ROWS]; view.height.div_ceil(ROWS)];
    loop {
        let draw = |(nth, mut piece): (usize, Vec<u16>)| {
            spawn_blocking(move || {
                for (y, row) in piece.chunks_mut(view.width).enumerate() {
                    view.row(shuffled(view, nth * ROWS + y), row);
                    PROGRESS.row();
                }
                piece
            })
        };
        let drawn: Vec<_> = pieces.drain(..).enumerate().map(draw).collect();
        for piece in drawn {
            pieces.push(piece.await.expect("no task panics"));
        }
        PROGRESS.picture(|| checksum(pieces.iter().flatten().map(|&steps| steps.into())));
    }
}

fn serve(runtime: &Runtime) -> ! {
    match runtime.block_on(async { tokio::spawn(accept()).await.expect("no task panics") }) {
        Ok(never) => match never {},
        Err(error) => panic!("tokio: {error}"),
    }
}

async fn accept() -> io::Result<Infallible> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening {}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        // An error is the client's going away.
        tokio::spawn(answer(stream));
    }
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = [0; REQUEST];
    loop {
        stream.read_exact(&mut request).await?;
        stream.write_all(&PROGRESS.answer(request)).await?;
    }
}
