//! Streams, as users make and read them.
//!
//! - `handle`: what users hold. `reading`: the futures by which a stream reads another.
//! - `body`: how a closure becomes the future of a stream.
//! - `making`: where streams are made, and by whom they are owned.
//! - `combinators`: streams made of streams.

pub(crate) mod body;
pub(crate) mod combinators;
pub(crate) mod handle;
pub(crate) mod making;
pub(crate) mod reading;
