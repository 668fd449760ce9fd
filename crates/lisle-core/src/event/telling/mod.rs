//! The descriptions of waits, for reports.

#[doc(hidden)]
pub mod awaited;
pub(crate) mod parked;
pub(crate) mod waits;
