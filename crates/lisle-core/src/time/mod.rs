//! Events of time passing: timers and tickers; and deadlines, which end the waits of whole calls.
//!
//! The domains of a runtime keep the timers of their fibers and tasks. One thread of the process,
//! `lisle-clock`, keeps the timers of plain threads and of futures on foreign executors. The first such
//! timer starts the thread.
//!
//! # Panics
//!
//! If the system refuses that thread, each performance that needs it panics with a message that names the
//! limits, and nothing is left of the performance. This concerns all waits for a limited time outside a
//! runtime, also at channels and locks (`recv_timeout`, `lock_timeout` and the like). The next wait asks
//! the system again.
#[cfg(not(lisle_loom))]
mod deadline;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod lent_wheel;
mod now;
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
pub use now::now;
pub use ticker::{MissedTicks, TickEvt, Ticker, ticker, ticker_at};
#[doc(hidden)]
pub use timer::at_nanos;
pub use timer::{After, At, after, at, sleep};
