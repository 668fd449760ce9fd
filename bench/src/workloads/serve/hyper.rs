//! The server on hyper, as hyper's guide writes it, with the file in memory.

use super::site::FILE;
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{convert::Infallible, fs, future::ready, io};
use tokio::{net::TcpListener, runtime::Builder};

/// The variant that makes the sample a server: it serves the file in the working directory.
pub(super) const SERVER: &str = "server";

pub(super) fn serve(workers: usize) -> ! {
    // With one worker nothing is shared between threads, and tokio's current-thread runtime is the
    // faster one.
    let mut runtime = match workers {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let runtime = runtime.worker_threads(workers).enable_io().build().expect("a runtime starts");
    let file = fs::read(FILE).expect("the file to serve is here").into();
    match runtime.block_on(accept(file)) {
        Ok(never) => match never {},
        Err(error) => panic!("hyper: {error}"),
    }
}

async fn accept(file: Bytes) -> io::Result<Infallible> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening {}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let file = file.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| ready(answer(&request, &file)));
            // No timer: without one hyper has no timeouts to keep up. The bytes are shared, and go
            // out in one vectored write with the head. An error is the client's going away.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

fn answer(request: &Request<Incoming>, file: &Bytes) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.uri().path().strip_prefix('/') != Some(FILE) {
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::NOT_FOUND;
        return Ok(response);
    }
    let mut response = Response::new(Full::new(file.clone()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html"));
    Ok(response)
}
