//! The trait of all events, and the code behind its methods: performing an event in place, in a poll
//! and as a future, and the events that are made of one other event.

pub(crate) mod boxed;
pub(crate) mod event;
pub(crate) mod future;
mod glimpse;
pub(crate) mod inline_event;
#[cfg(not(lisle_loom))]
#[allow(missing_debug_implementations, reason = "not for users")]
pub(crate) mod polled;
pub(crate) mod replace;
pub(crate) mod scratch;
mod storage;
pub(crate) mod sync;
#[allow(missing_debug_implementations, reason = "not for users")]
pub(crate) mod wrap;
