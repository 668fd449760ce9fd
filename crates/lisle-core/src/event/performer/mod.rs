//! The state of a stack about the performer that runs on it: the parker of a fiber, the limits of its
//! waits, and the memory of a task.

pub(crate) mod id;
#[allow(missing_debug_implementations, reason = "not for users")]
pub(crate) mod limits;
#[cfg_attr(not(all(feature = "fibers", not(lisle_loom))), path = "no_parker.rs")]
#[allow(missing_debug_implementations, reason = "not for users")]
#[doc(hidden)]
pub mod parker;
#[allow(missing_debug_implementations, reason = "not for users")]
#[doc(hidden)]
pub mod recycled;
#[doc(hidden)]
pub mod tick;
