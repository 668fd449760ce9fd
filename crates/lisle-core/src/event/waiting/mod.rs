//! The ways in which a performer waits: as a thread, until a limit passes, and how it lets others pass.

#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod adaptive_spin;
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod calls;
#[allow(missing_debug_implementations, reason = "not for users")]
#[doc(hidden)]
pub mod limit;
pub(crate) mod nowhere;
pub(crate) mod os_thread;
#[cfg(not(lisle_loom))]
#[allow(missing_debug_implementations, reason = "not for users")]
#[doc(hidden)]
pub mod sleepers;
#[doc(hidden)]
pub mod turn;
pub(crate) mod wake_word;
