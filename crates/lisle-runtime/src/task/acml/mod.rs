//! Asynchronous events: operations that begin without waiting for their end, that wait for all of
//! several events, or that take the first of several futures. The documentation of
//! [`task`](super) has a section on them.

mod race;
mod receiving;
mod timeout;

pub use race::{Contenders, Race, Start, race, rush};
pub use receiving::{AsyncRecv, RecvAsync, RecvAsyncEvt};
pub use timeout::{Timeout, TimeoutError, timeout};
