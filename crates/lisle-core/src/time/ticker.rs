//! Ticks at regular times.
//!
//! A timer fires once for each performer that has armed it, and cannot be taken back. A tick,
//! however, is for one of the performers that wait. A performer's timer therefore only tells it to
//! look again, and the first performer that looks takes the tick, in the ticker's state. When that
//! state changes (a tick is taken, or the ticker is reset), an armed timer may be too early: its
//! performer then looks in vain and arms it anew. After a reset it may be too late, so all waiters
//! are told to look at once.

use crate::event::{Attempt, Description, Event, Hidden, Label, Source, Step, Timer, awaitable, now};
use crate::shim::clock;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// The treatment of ticks that were not taken when the next was due. The names are tokio's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MissedTicks {
    /// Missed ticks are left out: a late take gets the first of them, and the next tick comes at
    /// the first regular time that lies ahead. At most one tick is therefore available at a time.
    /// Go's tickers do this.
    #[default]
    Skip,
    /// Missed ticks are made up for, one after the other, without waiting, until all have been
    /// taken.
    Burst,
    /// The next tick comes a period after the late one was taken, and later ticks at regular times
    /// from there on.
    Delay,
}

/// A source of ticks at regular times: an event that happens at each of them, for one of its
/// waiters.
///
/// The ticks come at the time of the first tick and at multiples of the period after it. A late
/// receiver does not shift them, except with [`MissedTicks::Delay`], when ticks were missed. A tick
/// that is not taken remains available; [`missed`](Ticker::missed) decides about the ticks after
/// it.
///
/// A ticker does nothing by itself: it has no thread, and no timer is armed while nothing waits. It
/// allocates nothing once it is made. Any number of performers of all kinds may wait; share it by
/// reference or in an [`Arc`](std::sync::Arc). **Each tick is taken once**, by one of them, in no
/// particular order, and the others wait on. Each tick wakes all waiters: where they are many, let
/// one take the ticks and tell the others.
///
/// A tick is never early, and late as [`after`](super::after) is.
///
/// The idea is from crossbeam's `tick`, Go's `time.Ticker` and tokio's `Interval`. The first tick
/// of tokio's `Interval` comes at once, for which there is [`ticker_at`].
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::time::ticker;
/// use lisle::{Event, choose, time::after};
/// use std::time::Duration;
///
/// let beat = ticker(Duration::from_millis(1));
/// let first = beat.tick();
/// assert!(beat.tick() >= first + Duration::from_millis(1));
///
/// let mut ticks = 0;
/// let end = after(Duration::from_millis(20));
/// while ticks < 5 && choose((beat.tick_evt().wrap(|_| true), end.wrap(|()| false))).sync() {
///     ticks += 1;
/// }
/// ```
pub struct Ticker {
    source: Source<Schedule, u64>,
    period: u64,
}

/// The time of the next tick, and the parameters of the ticks after it.
#[derive(Debug)]
pub(super) struct Schedule {
    next: u64,
    period: u64,
    missed: MissedTicks,
}

impl Schedule {
    /// Takes the tick that is due, if one is, and returns the time at which it was due.
    fn take(&mut self, now: u64) -> Option<u64> {
        let tick = self.next;
        if tick > now {
            return None;
        }
        let late = now - tick;
        // A tick that is taken before the next one is due was not missed, however late.
        self.next = match self.missed {
            MissedTicks::Delay if late >= self.period => now.saturating_add(self.period),
            MissedTicks::Skip => (now - late % self.period).saturating_add(self.period),
            _ => tick.saturating_add(self.period),
        };
        Some(tick)
    }
}

/// Creates a ticker whose first tick comes one period from now. See [`Ticker`].
///
/// A period of up to 584 years is kept. A longer one never ends.
///
/// # Panics
///
/// Panics if the period is zero, since the ticks would never end. Waiting for a tick outside a runtime
/// panics if the system refuses the thread that timers need there, see the [module](crate::time).
///
/// # Examples
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::time::ticker;
/// use std::time::Duration;
///
/// let beat = ticker(Duration::from_millis(1));
/// let first = beat.tick();
/// assert!(beat.tick() > first);
/// ```
///
/// ```should_panic
/// # use lisle_core as lisle;
/// lisle::time::ticker(std::time::Duration::ZERO);
/// ```
#[track_caller]
pub fn ticker(period: Duration) -> Ticker {
    let period = nanos(period);
    Ticker::starting(now().saturating_add(period), period)
}

/// Creates a ticker whose first tick comes at `first`, or at once if that has passed. See
/// [`Ticker`].
///
/// Times before this library has first read the clock count as that moment.
///
/// # Panics
///
/// Panics as [`ticker`] does.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::Event;
/// use lisle::time::ticker_at;
/// use std::time::{Duration, Instant};
///
/// let minutes = ticker_at(Instant::now(), Duration::from_secs(60));
/// minutes.tick(); // at once
/// assert_eq!(minutes.tick_evt().poll(), None);
/// ```
#[track_caller]
pub fn ticker_at(first: Instant, period: Duration) -> Ticker {
    Ticker::starting(super::now::nanos_of(first), nanos(period))
}

#[track_caller]
fn nanos(period: Duration) -> u64 {
    assert!(!period.is_zero(), "the period of a ticker is zero: it needs some time between two ticks");
    clock::saturating_nanos(period)
}

impl Ticker {
    #[track_caller]
    fn starting(next: u64, period: u64) -> Self {
        let schedule = Schedule { next, period, missed: MissedTicks::default() };
        Ticker { source: Source::labelled(Label::new("ticker"), schedule), period }
    }

    /// Sets how the ticker treats missed ticks: ticks that were not taken when the next was due. By
    /// default they are skipped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::time::{MissedTicks, sleep, ticker_at};
    /// use std::time::{Duration, Instant};
    ///
    /// let (now, period) = (Instant::now(), Duration::from_millis(1));
    /// let skips = ticker_at(now, period);
    /// let makes_up = ticker_at(now, period).missed(MissedTicks::Burst);
    /// sleep(3 * period); // nobody takes the ticks
    /// let (one, other) = (skips.tick(), makes_up.tick());
    /// assert!(skips.tick() > one + 3 * period); // the first that lies ahead
    /// assert_eq!(makes_up.tick(), other + period); // at once
    /// ```
    #[must_use]
    pub fn missed(mut self, missed: MissedTicks) -> Self {
        self.source.get_mut().missed = missed;
        self
    }

    /// Gives the ticker a name, which appears in reports of waiting performers.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Ticker { source: self.source.named(name), ..self }
    }

    /// Returns the time between two ticks.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.period)
    }

    /// Returns the event of taking the next tick. It gives the time at which that was due.
    ///
    /// # Cancel safety
    ///
    /// An event that loses a choice, a poll that fails, and a future that is dropped before it was
    /// ready have taken no tick.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, channel, choose, time::ticker};
    /// use std::time::Duration;
    ///
    /// let (_tx, rx) = channel::<u32>();
    /// let beat = ticker(Duration::from_millis(1));
    /// let next = choose((rx.recv_evt().wrap(Result::ok), beat.tick_evt().wrap(|_| None)));
    /// assert_eq!(next.sync(), None); // the first tick
    /// assert_eq!(next.sync(), None); // the second, a period after it
    /// ```
    pub fn tick_evt(&self) -> TickEvt<'_> {
        TickEvt { ticker: self }
    }

    /// Takes the next tick, and waits for it as [`Event::sync`] does. Returns the time at which it
    /// was due.
    pub fn tick(&self) -> Instant {
        self.tick_evt().sync()
    }

    /// Restarts the ticker: the next tick comes one period from now, also for current waiters. A
    /// tick that is available and has not been taken is discarded.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, time::ticker_at};
    /// use std::time::{Duration, Instant};
    ///
    /// let hourly = ticker_at(Instant::now(), Duration::from_secs(3600));
    /// hourly.reset(); // discards the tick that is available
    /// assert_eq!(hourly.tick_evt().poll(), None);
    /// ```
    pub fn reset(&self) {
        self.reset_to(now().saturating_add(self.period));
    }

    /// Restarts the ticker as [`reset`](Ticker::reset) does, but the next tick comes at `next`, or
    /// at once if that has passed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, time::ticker};
    /// use std::time::{Duration, Instant};
    ///
    /// let hourly = ticker(Duration::from_secs(3600));
    /// assert_eq!(hourly.tick_evt().poll(), None);
    /// hourly.reset_at(Instant::now());
    /// hourly.tick(); // at once
    /// assert_eq!(hourly.tick_evt().poll(), None); // the next comes an hour later
    /// ```
    #[track_caller]
    pub fn reset_at(&self, next: Instant) {
        self.reset_to(super::now::nanos_of(next));
    }

    fn reset_to(&self, next: u64) {
        self.source.update(|schedule, waiters| {
            let is_earlier = next < schedule.next;
            schedule.next = next;
            if is_earlier {
                waiters.retry_all();
            }
        });
    }
}

/// The event of a tick. See [`Ticker::tick_evt`].
#[derive(Debug, Clone, Copy)]
#[must_use = "events do nothing unless performed"]
pub struct TickEvt<'a> {
    ticker: &'a Ticker,
}

/// The branch of a [`TickEvt`].
#[derive(Debug)]
pub struct TickBranch<'e> {
    waiting: Hidden<'e, Schedule, u64>,
    alarm: Timer,
}

impl<'e> TickBranch<'e> {
    fn waiting(self: Pin<&mut Self>) -> Pin<&mut Hidden<'e, Schedule, u64>> {
        // SAFETY: `waiting` is structurally pinned: it is never moved out of the branch.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiting) }
    }
}

impl Event for TickEvt<'_> {
    type Output = Instant;
    type Branch<'e>
        = TickBranch<'e>
    where
        Self: 'e;

    fn branch(&self) -> Self::Branch<'_> {
        TickBranch { waiting: self.ticker.source.hidden(), alarm: Timer::alarm() }
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        let now = now_in(attempt);
        // SAFETY: `branch` is a branch of this event.
        unsafe { branch.waiting().try_commit(attempt, |schedule| schedule.take(now)) }
    }
    fn publish<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        let now = now_in(attempt);
        let mut next = u64::MAX;
        let take = |schedule: &mut Schedule| {
            schedule.take(now).or_else(|| {
                next = schedule.next;
                None
            })
        };
        // SAFETY: `branch` is a branch of this event.
        let step = unsafe { branch.as_mut().waiting().publish(attempt, take) };
        let alarm = &branch.as_ref().get_ref().alarm;
        if step == Step::Waiting && !attempt.is_decided() && !alarm.is_published() {
            // SAFETY: the timer was just created or taken back, so it is not armed. It is pinned,
            // and it is disarmed by `withdraw`, which the library calls before the branch is
            // dropped.
            let arm = |timer| unsafe { attempt.context().arm(timer, next) };
            let armed = catch_unwind(AssertUnwindSafe(|| attempt.publish_timer(alarm, arm)));
            if let Err(panic) = armed {
                // SAFETY: `branch` is a branch of this event.
                unsafe { branch.waiting().withdraw(attempt) };
                resume_unwind(panic);
            }
        }
        step
    }
    fn withdraw<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        let alarm = &branch.as_ref().get_ref().alarm;
        attempt.take_back_timer(alarm, || {
            // SAFETY: the timer was armed in the same performance, hence by this context.
            unsafe { attempt.context().disarm(NonNull::from(alarm)) }
        });
        // SAFETY: `branch` is a branch of this event.
        unsafe { branch.as_mut().waiting().withdraw(attempt) }
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Instant {
        // SAFETY: `branch` is a branch of this event.
        clock::instant_of(unsafe { branch.waiting().take() })
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        let source = &self.ticker.source;
        waits.on_the_world("wait for", source.label(), std::ptr::from_ref(source).addr());
    }
}

fn now_in(attempt: &Attempt<'_>) -> u64 {
    attempt.context().now()
}

impl fmt::Debug for Ticker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticker").field("period", &self.period()).finish_non_exhaustive()
    }
}

awaitable!(['a] TickEvt<'a>);

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::*;

    #[test]
    fn nothing_overflows() {
        for missed in [MissedTicks::Skip, MissedTicks::Burst, MissedTicks::Delay] {
            let mut schedule = Schedule { next: u64::MAX - 1, period: u64::MAX, missed };
            assert_eq!(schedule.take(u64::MAX - 2), None);
            assert_eq!(schedule.take(u64::MAX - 1), Some(u64::MAX - 1));
            assert_eq!(schedule.next, u64::MAX);
            let mut schedule = Schedule { next: 5, period: 1, missed };
            assert_eq!(schedule.take(u64::MAX), Some(5));
        }
    }
}
