//! What reports ask: what a performer waits for, in words.

#[doc(hidden)]
pub mod awaited;
pub(crate) mod parked;
pub(crate) mod waits;
