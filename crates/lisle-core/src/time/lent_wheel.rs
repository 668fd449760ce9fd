//! Shared wheels that are lent to domains, and come back.

use super::outside;
use super::shared_wheel::SharedWheel;
use crate::seam;
use crate::shim::{clock, sync::Mutex};
use std::ops::Deref;
use std::sync::PoisonError;

/// The wheels that nobody has. Wheels are not freed, see `shared_wheel.rs`.
static RESTING: Mutex<Vec<&'static SharedWheel>> = Mutex::new(Vec::new());

/// A shared wheel for the timers of one domain's tasks. Dropping it closes it, and lets it be lent
/// again.
#[derive(Debug)]
pub struct LentWheel(&'static SharedWheel);

impl LentWheel {
    /// Returns a wheel that is open and empty.
    #[allow(clippy::new_without_default, reason = "it takes something")]
    pub fn new() -> Self {
        let resting = RESTING.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let wheel = resting.unwrap_or_else(|| Box::leak(Box::new(SharedWheel::new())));
        wheel.open(clock::now());
        LentWheel(wheel)
    }

    /// Returns the wheel itself, which outlasts this.
    #[inline]
    pub fn wheel(&self) -> &'static SharedWheel {
        self.0
    }

    /// Hands what is due at `now` over to the clock thread. If there can be no such thread it stays.
    pub fn hand_over_due(&self, now: u64) {
        let _ = outside::hand_over(|clock| self.0.hand_over_due(now, clock));
    }

    /// Closes the wheel: what is armed in it is handed over to the clock thread, and so is what would
    /// be armed from now on. Returns `true` if it is closed. If there can be no clock thread, it is not.
    pub fn close(&self) -> bool {
        self.0.close_if_empty() || outside::hand_over(|clock| self.0.close(clock))
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
        if self.close() {
            RESTING.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
        } else {
            seam::contained("no thread for the timers of a runtime that has ended, which now wait for ever");
        }
    }
}
