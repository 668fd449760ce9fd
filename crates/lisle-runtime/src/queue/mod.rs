//! The queues of ready fibers and tasks: lists that link their entries through themselves, and
//! queues from which other threads may take.
//!
//! None of them depends on the type of its entries, so loom explores them as they are.

pub(crate) mod fifo;
pub(crate) mod inbox;
#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_tests;
pub(crate) mod ring;
pub(crate) mod stealable;
