//! The same application on Lisle: a fiber for each connection, in which hyper's connection runs.

use axum::Router;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::service::TowerToHyperService;
use lisle::net::{TcpListener, TcpStream};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

pub fn serve(listener: std::net::TcpListener, app: Router) -> io::Result<()> {
    lisle::run(|| {
        let listener = TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            let service = TowerToHyperService::new(app.clone());
            lisle::spawn(move || {
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(Io::new(stream), service);
                if let Err(error) = lisle::future::block_on(connection) {
                    eprintln!("a connection has failed: {error}");
                }
            });
        }
    })
}

type Ready = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// A stream as hyper wants it.
struct Io {
    stream: Arc<TcpStream>,
    readable: Option<Ready>,
    writable: Option<Ready>,
}

impl Io {
    fn new(stream: TcpStream) -> Self {
        Io { stream: Arc::new(stream), readable: None, writable: None }
    }
}

/// Repeats `operation` until it does not block, or the stream is not ready for it.
fn poll<T>(
    ready: &mut Option<Ready>,
    context: &mut Context<'_>,
    mut operation: impl FnMut() -> io::Result<T>,
    wait: impl Fn() -> Ready,
) -> Poll<io::Result<T>> {
    loop {
        if let Some(waiting) = ready {
            std::task::ready!(waiting.as_mut().poll(context))?;
            *ready = None;
        }
        match operation() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => *ready = Some(wait()),
            done => return Poll::Ready(done),
        }
    }
}

impl Read for Io {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let mut bytes = [0; 4_096];
        let most = bytes.len().min(buf.remaining());
        let wait = || -> Ready {
            let stream = this.stream.clone();
            Box::pin(async move { stream.readable_evt().await })
        };
        let read = poll(&mut this.readable, cx, || this.stream.try_read(&mut bytes[..most]), wait);
        read.map_ok(|count| buf.put_slice(&bytes[..count]))
    }
}

impl Write for Io {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wait = || -> Ready {
            let stream = this.stream.clone();
            Box::pin(async move { stream.writable_evt().await })
        };
        poll(&mut this.writable, cx, || this.stream.try_write(buf), wait)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.stream.shutdown(std::net::Shutdown::Write))
    }
}
