//! Shared wheels that are lent to domains, and come back.

use super::outside;
use super::shared_wheel::SharedWheel;
use crate::fork::PerProcess;
use crate::seam;
use crate::shim::{
    clock,
    sync::{Mutex, MutexGuard},
};
use std::ops::Deref;
use std::sync::PoisonError;

/// The wheels that no domain has. Wheels are not freed, see `shared_wheel.rs`.
#[derive(Default)]
struct Returned {
    /// They are closed.
    resting: Vec<&'static SharedWheel>,
    /// Their domains have ended, and there was no thread to hand their timers over to.
    left: Vec<&'static SharedWheel>,
}

static RETURNED: PerProcess<Mutex<Returned>> = PerProcess::new(Mutex::default);

fn returned() -> MutexGuard<'static, Returned> {
    RETURNED.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// A shared wheel for the timers of one domain's tasks. Dropping it closes it, and lets it be lent
/// again.
#[derive(Debug)]
pub struct LentWheel(&'static SharedWheel);

impl LentWheel {
    /// Returns a wheel that is open and empty.
    #[allow(clippy::new_without_default, reason = "it takes something")]
    pub fn new() -> Self {
        let resting = returned().resting.pop();
        let wheel = resting.unwrap_or_else(|| Box::leak(Box::new(SharedWheel::new())));
        wheel.open(clock::now());
        LentWheel(wheel)
    }

    /// Returns the wheel itself, which outlasts this.
    #[inline]
    pub fn wheel(&self) -> &'static SharedWheel {
        self.0
    }

    /// Hands the timers that are due at `now` over to the clock thread. If there can be no such
    /// thread now, they stay.
    pub fn hand_over_due(&self, now: u64) {
        let _ = outside::hand_over(|clock| self.0.hand_over_due(now, clock));
    }

    /// Closes the wheel: its timers go to the clock thread, and so do timers that are armed from now
    /// on.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses a clock thread. The wheel is then open as before.
    pub fn close(&self) -> std::io::Result<()> {
        if self.0.is_inherited() || self.0.close_if_empty() {
            return Ok(());
        }
        outside::hand_over(|clock| self.0.close(clock))
    }
}

impl Deref for LentWheel {
    type Target = SharedWheel;

    #[inline]
    fn deref(&self) -> &SharedWheel {
        self.0
    }
}

impl Drop for LentWheel {
    fn drop(&mut self) {
        match self.close() {
            Ok(()) if self.0.is_inherited() => {}
            Ok(()) => returned().resting.push(self.0),
            Err(error) => {
                returned().left.push(self.0);
                // Another thread may have started it since, and have found nothing here.
                outside::take_over_if_started();
                seam::contained(&format!(
                    "timers of a runtime that has ended wait for the next use of a timer outside a runtime: {error}"
                ));
            }
        }
    }
}

/// Hands the timers that have been left over to `clock`, the wheel of the clock thread. Returns
/// `true` if that one is to fire earlier than before.
pub(super) fn take_over(clock: &SharedWheel) -> bool {
    let left = std::mem::take(&mut returned().left);
    let is_earlier = left.iter().fold(false, |is_earlier, wheel| wheel.close(clock) | is_earlier);
    returned().resting.extend(left);
    is_earlier
}
