//! TCP.

mod connecting;
mod listener;
mod stream;

pub use connecting::{ConnectedEvt, Connecting};
pub use listener::TcpListener;
pub use stream::TcpStream;
