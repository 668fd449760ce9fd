//! The server as axum's documentation has it.

use axum::Router;
use std::io;
use std::net::TcpListener;

pub fn serve(listener: TcpListener, app: Router) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        axum::serve(axum::serve::ListenerExt::tap_io(listener, |io| io.set_nodelay(true).unwrap()), app).await
    })
}
