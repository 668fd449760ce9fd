//! The clock that programs ask.

use crate::event::{self, visible};
use crate::shim::clock;
use std::time::Instant;

/// Returns the time of [`Instant::now`].
///
/// In a program that lisle-check runs time is virtual: it stands still while anything can run, and then
/// passes at once to the first timer. [`Instant::now`] does not know of that, and differs from one execution
/// to the next. A program that is to be checked asks this clock instead, and does not ask an instant how
/// long ago it was. It sleeps until a point in time: a loop that only asks until that has come keeps time
/// from passing.
///
/// # Examples
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::time::{now, sleep};
/// use std::time::Duration;
///
/// let begun = now();
/// sleep(Duration::from_millis(1));
/// assert!(now() - begun >= Duration::from_millis(1));
/// ```
#[must_use]
pub fn now() -> Instant {
    // Time may pass before it is looked at.
    visible();
    clock::instant_of(event::now())
}

/// Returns an instant on the library's clock.
///
/// # Panics
///
/// If a model runs the calling code, and the instant is not of its time.
#[track_caller]
pub(super) fn nanos_of(instant: Instant) -> u64 {
    let nanos = clock::nanos_of(instant);
    if event::is_modelled() && nanos < event::MODEL_ERA / 2 {
        event::cannot_be_checked(
            "a point in time of `std::time::Instant::now`",
            "time is virtual, and that clock does not know it",
            "Ask `lisle::time::now`",
        );
    }
    nanos
}
