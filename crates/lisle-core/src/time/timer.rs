//! The events of time passing.

use crate::event::protocol::record::Committer;
use crate::event::{Attempt, Description, Event, Label, Step, Timer, awaitable, single};
use crate::shim::clock;

use std::pin::Pin;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// Returns the event that happens `duration` after its performance begins.
///
/// Each performance starts the time anew. A duration of zero is always ready. The event is never early.
/// It may be late by the resolution of 65.5 µs, by the time that the system takes to wake a sleeping
/// thread (50 to 100 µs on Linux, up to a millisecond elsewhere), and by other work of the machine.
///
/// Arming costs about 30 ns, mostly for reading the clock. It costs nothing where another branch of
/// a choice is ready.
///
/// # Panics
///
/// Performing it outside a runtime panics if the system refuses the thread that such timers need, see
/// the [module](crate::time).
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, choose, time::after};
/// use std::time::Duration;
///
/// let short = after(Duration::from_millis(1)).wrap(|()| "short");
/// let long = after(Duration::from_secs(1000)).wrap(|()| "long");
/// assert_eq!(choose((long, short)).sync(), "short");
/// ```
pub fn after(duration: Duration) -> After {
    After { nanos: clock::saturating_nanos(duration) }
}

/// Returns the event that happens at `instant`. A time in the past is always ready.
///
/// # Panics
///
/// Performing it outside a runtime panics if the system refuses the thread that such timers need, see
/// the [module](crate::time).
///
/// # Examples
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, channel, choose, time::at};
/// use std::time::{Duration, Instant};
///
/// let (_tx, rx) = channel::<u32>();
/// let limit = at(Instant::now() + Duration::from_millis(1)); // for all messages together
/// let next = choose((rx.recv_evt().wrap(Result::ok), limit.wrap(|()| None)));
/// assert_eq!(next.sync(), None);
/// assert_eq!(next.poll(), Some(None)); // the time stays over; that of `after` begins anew
/// ```
#[track_caller]
pub fn at(instant: Instant) -> At {
    At { nanos: super::now::nanos_of(instant) }
}

/// Returns the event of a point in time of the library's clock.
#[doc(hidden)]
pub fn at_nanos(nanos: u64) -> At {
    At { nanos }
}

/// Sleeps for `duration`. A fiber lets its domain run others; elsewhere the thread sleeps.
///
/// # Panics
///
/// Panics outside a runtime if the system refuses the thread that timers need there, see the
/// [module](crate::time).
///
/// # Examples
///
/// ```
/// # use lisle_core as lisle;
/// use std::time::{Duration, Instant};
///
/// let start = Instant::now();
/// lisle::time::sleep(Duration::from_millis(1));
/// assert!(start.elapsed() >= Duration::from_millis(1)); // never too early
/// ```
pub fn sleep(duration: Duration) {
    after(duration).sync();
}

/// The event of some time passing. See [`after`].
#[must_use = "events do nothing unless performed"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct After {
    nanos: u64,
}

/// The event of a point in time. See [`at`].
#[must_use = "events do nothing unless performed"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    nanos: u64,
}

/// The branch of a timer event.
#[derive(Debug)]
pub struct Ticking {
    timer: Timer,
}

impl Ticking {
    fn new() -> Self {
        Ticking { timer: Timer::new() }
    }

    fn publish(self: Pin<&mut Self>, attempt: &Attempt<'_>, deadline: u64) -> Step {
        if self.timer.is_published() {
            return Step::Waiting;
        }
        // SAFETY: the timer was just created or taken back, so it is not armed. It is pinned, and
        // it is disarmed by `withdraw`, which the library calls before the branch is dropped.
        attempt.publish_timer(&self.timer, |timer| unsafe { attempt.context().arm(timer, deadline) });
        Step::Waiting
    }

    fn withdraw(self: Pin<&mut Self>, attempt: &Attempt<'_>) -> bool {
        attempt.take_back_timer(&self.timer, || {
            // SAFETY: the timer was armed in the same performance, hence by this context.
            unsafe { attempt.context().disarm(NonNull::from(&self.timer)) }
        });
        attempt.record().won_by(self.timer.id())
    }

    fn describe(&self, waits: &mut Description) {
        waits.on_the_world("wait for", &Label::anywhere("point in time"), self.timer.id());
        let left = self.timer.deadline().saturating_sub(crate::event::now_to_tell());
        // The time is rounded to steps that are readable.
        let step = if left < 1_000_000_000 { 1_000_000 } else { 100_000_000 };
        waits.note(format!("in {:?}", Duration::from_nanos(left.div_ceil(step).saturating_mul(step))));
    }
}

/// Commits if `is_over` is `true`.
fn elapsed(attempt: &Attempt<'_>, is_over: bool) -> Step {
    if is_over && attempt.commit_alone() { Step::Committed } else { Step::Waiting }
}

/// Commits if `is_over` is `true`, in a performance that is not published. A time that has come
/// stays ready, so it gives way to events that may have been ready before.
fn looked(attempt: &Attempt<'_>, is_over: bool) -> Step {
    if is_over {
        return attempt.at_last();
    }
    attempt.evidence().never_was();
    Step::Waiting
}

impl After {
    /// Returns `true` if the time is over. It is not over in a performance that has just begun,
    /// which saves reading the clock.
    #[inline]
    fn is_over(&self, attempt: &Attempt<'_>) -> bool {
        self.nanos == 0
            || attempt
                .has_begun()
                .is_some_and(|began| began.saturating_add(self.nanos) <= attempt.context().now())
    }
}

/// Implements a timer's event by whether its time is over, and by its deadline.
macro_rules! timer {
    ($event:ident, |$this:ident, $attempt:ident| $is_over:expr, $deadline:expr) => {
        impl Event for $event {
            type Output = ();
            single! { |$this, branch: Ticking, $attempt|
                branch: Ticking::new(),
                try_commit: looked($attempt, $is_over),
                publish: match elapsed($attempt, $is_over) {
                    Step::Committed => Step::Committed,
                    Step::Waiting => branch.publish($attempt, $deadline),
                },
                withdraw: branch.withdraw($attempt)
            }

            fn complete(&self, _: Pin<&mut Ticking>) {}
            fn describe(&self, branch: &Ticking, waits: &mut Description) {
                branch.describe(waits);
            }
        }
    };
}

timer!(After, |this, attempt| this.is_over(attempt), attempt.began().saturating_add(this.nanos));
timer!(At, |this, attempt| this.nanos <= attempt.context().now(), this.nanos);

awaitable!([] After, single);
awaitable!([] At, single);
