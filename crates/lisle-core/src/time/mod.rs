//! Events of time passing: timers and tickers; and deadlines, which end the waits of whole calls.
#[cfg(not(lisle_loom))]
mod deadline;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod lent_wheel;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod outside;
#[cfg(lisle_loom)]
#[path = "outside_unmodelled.rs"]
pub(crate) mod outside;
#[doc(hidden)]
pub mod shared_wheel;
mod ticker;
mod timer;
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not for users")]
pub mod wheel;
#[cfg(not(lisle_loom))]
pub use deadline::{Deadline, DeadlinePassed, deadline, with_deadline, without_deadline};
pub use ticker::{MissedTicks, TickEvt, Ticker, ticker, ticker_at};
pub use timer::{After, At, after, at, sleep};
