//! Time.
#[cfg(not(lisle_loom))]
pub(crate) mod outside;
#[cfg(lisle_loom)]
#[path = "outside_unmodelled.rs"]
pub(crate) mod outside;
mod ticker;
mod timer;
pub(crate) mod wheel;
pub use ticker::{MissedTicks, TickEvt, Ticker, ticker, ticker_at};
pub use timer::{After, At, after, at, sleep};
