//! A timeout that is set anew for each choice.

use super::TIMEOUT;
use crate::peers::{Executor, Smol, Tokio, TokioCurrentThread, TokioMultiThread};
use std::{future::Future, pin::Pin};

/// An executor with timers.
pub(super) trait Deadline: Executor {
    type Timer: Future<Output: Send> + Send;

    /// Called within a task.
    fn timer() -> Self::Timer;

    /// Sets the deadline, counted from now. By resetting the timer or by making a new one,
    /// whichever is faster.
    fn restart(timer: Pin<&mut Self::Timer>);
}

macro_rules! tokio {
    ($($executor:ty),+) => {
        $(impl Deadline for $executor {
            type Timer = tokio::time::Sleep;

            fn timer() -> tokio::time::Sleep {
                tokio::time::sleep(TIMEOUT)
            }

            // A later deadline is only noted: the timer need not leave its place in the wheel.
            fn restart(timer: Pin<&mut tokio::time::Sleep>) {
                timer.reset(tokio::time::Instant::now() + TIMEOUT);
            }
        })+
    };
}

tokio!(Tokio, TokioCurrentThread, TokioMultiThread);

impl Deadline for Smol {
    type Timer = smol::Timer;

    fn timer() -> smol::Timer {
        smol::Timer::after(TIMEOUT)
    }

    // A reset enters the timer into the reactor at once, a new timer only if it is polled.
    fn restart(mut timer: Pin<&mut smol::Timer>) {
        timer.set(smol::Timer::after(TIMEOUT));
    }
}
