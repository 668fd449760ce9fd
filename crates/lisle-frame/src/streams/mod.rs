//! Streams: making and reading them.
//!
//! - `handle`: the handles. `reading`: the futures by which a stream reads another.
//! - `body`: how a closure becomes the future of a stream.
//! - `making`: making streams, and the owners of streams.
//! - `combinators`: streams made of streams.

pub(crate) mod body;
pub(crate) mod combinators;
pub(crate) mod handle;
pub(crate) mod making;
pub(crate) mod reading;
