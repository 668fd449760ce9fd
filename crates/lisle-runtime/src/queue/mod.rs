//! Where what is ready to run lies: lists that link their entries through themselves, and what other threads may take.
//!
//! None of them knows what it holds, so loom explores them as they are.

pub(crate) mod fifo;
pub(crate) mod inbox;
#[cfg(all(test, lisle_loom))]
mod loom_tests;
pub(crate) mod ring;
pub(crate) mod stealable;
