//! The substitute for the clock thread under loom, which has no time.
//!
//! A timer can be armed only in a model that keeps the wheel for it, and fires it.

use super::shared_wheel::{self, SharedWheel};
use crate::event::Timer;
use crate::event::performer::recycled::Recycled;
use std::cell::Cell;
use std::ptr::NonNull;

loom::thread_local! {
    /// The wheel in which this thread arms timers.
    static WHEEL: Cell<Option<NonNull<SharedWheel>>> = Cell::new(None);
}

/// Has this thread arm timers in `wheel`.
///
/// # Safety
///
/// The wheel stays for as long as a timer is armed or disarmed.
#[cfg(test)]
pub(super) unsafe fn arm_in(wheel: &SharedWheel) {
    WHEEL.with(|here| here.set(Some(NonNull::from(wheel))));
}

/// Arms `timer` for `deadline` in the wheel of this thread.
///
/// # Safety
///
/// As for [`SharedWheel::arm`].
///
/// # Panics
///
/// If the model has not given this thread a wheel.
pub(crate) unsafe fn arm_polled(timer: NonNull<Timer>, deadline: u64, _: Option<NonNull<Recycled>>) {
    let Some(wheel) = WHEEL.with(Cell::get) else {
        unreachable!("this model performs `after` or `at`, and keeps no wheel for it")
    };
    // SAFETY: the wheel stays, by the promise to `arm_in`.
    let wheel = unsafe { wheel.as_ref() };
    // SAFETY: passed on to the caller.
    unsafe { wheel.arm(timer, deadline) }.expect("the wheel is open");
}

/// Does the same as [`arm_polled`], for a performer that is no future.
///
/// # Safety
///
/// As for [`arm_polled`].
pub(crate) unsafe fn arm(timer: NonNull<Timer>, deadline: u64) {
    // SAFETY: passed on to the caller.
    unsafe { arm_polled(timer, deadline, None) }
}

/// Disarms `timer`.
///
/// # Safety
///
/// As for [`shared_wheel::disarm`].
pub(crate) unsafe fn disarm(timer: NonNull<Timer>) {
    // SAFETY: passed on to the caller.
    unsafe { shared_wheel::disarm(timer) }
}
