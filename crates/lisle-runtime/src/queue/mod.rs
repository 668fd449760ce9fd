//! The queues of what is ready to run: lists that link their entries through themselves, and what
//! other threads may take.
//!
//! None of them depends on what it holds, so loom explores them as they are.

pub(crate) mod fifo;
pub(crate) mod inbox;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_tests;
pub(crate) mod ring;
pub(crate) mod stealable;
