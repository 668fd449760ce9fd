//! The substitute for the clock thread under loom, which has no time.

use crate::event::Timer;
use std::ptr::NonNull;

/// Panics: timers are not modelled.
///
/// # Safety
///
/// There is no requirement, since this does not return.
pub(crate) unsafe fn arm(_: NonNull<Timer>, _: u64) {
    unreachable!("timers are not modelled: a loom model must not perform `after` or `at`")
}

/// Panics: timers are not modelled.
///
/// # Safety
///
/// There is no requirement, since this does not return.
pub(crate) unsafe fn disarm(_: NonNull<Timer>) {
    unreachable!("timers are not modelled: none can have been armed")
}
