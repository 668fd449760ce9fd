//! Streams: what they are in memory, how they are run, read and made.
//!
//! - `slot`: eight bytes of head, a value and a future; the states of a stream.
//! - `group`: streams of one type side by side, and the loop that runs them.
//! - `waits`: who waits for whom within a frame; circles.
//! - `handle`: what users hold. `reading`: the futures by which a stream reads another.
//! - `body`: how a closure becomes the future of a stream.
//! - `making`: where streams are made, and by whom they are owned.
//! - `combinators`: streams made of streams.

pub(crate) mod body;
pub(crate) mod combinators;
pub(crate) mod group;
pub(crate) mod handle;
pub(crate) mod making;
pub(crate) mod reading;
pub(crate) mod slot;
pub(crate) mod waits;
