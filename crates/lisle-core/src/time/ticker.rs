//! Ticks at regular times.
//!
//! A timer fires once for each performer that has armed it, and cannot be taken back; a tick is for one of those who wait. So
//! a performer's timer only tells it to look again, and the tick is taken by who looks first, in the ticker's state. When
//! that is changed (a tick is taken, or the ticker is reset) a timer that is armed may be too early, and then its performer
//! looks in vain and arms it anew; after a reset it may be too late, so those who wait are told to look at once.

use crate::event::{
    Attempt, Description, Event, Hidden, Label, Source, Step, Timer, awaitable, now, visible,
};
use crate::shim::clock;
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// What a [`Ticker`] does about ticks that nobody has taken when the next was due. The names are tokio's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MissedTicks {
    /// Ticks that were missed are left out: what is taken late is the first of those, and the next comes at the first of the
    /// regular times that lies ahead. So at most one tick is there to be taken at a time. Go's tickers do so.
    #[default]
    Skip,
    /// Ticks that were missed are made up for, one after the other, without waiting, until all have been taken.
    Burst,
    /// The next tick comes a period after the late one was taken, and those after it at regular times from there on.
    Delay,
}

/// Ticks at regular times: an event that happens at each of them, for one of those who wait.
///
/// The times are those of the first tick and of multiples of the period after it. They do not shift with the time that it
/// takes to notice them (but with [`MissedTicks::Delay`], when ticks were missed). A tick that nobody waits for stays to be
/// taken; what becomes of those after it says [`missed`](Ticker::missed).
///
/// A ticker does nothing by itself: there is no thread, and no timer is armed while nobody waits. It allocates nothing once
/// it is made. Performers of all kinds may wait, also several; share it by reference or in an [`Arc`](std::sync::Arc). **Each
/// tick is taken once**, by one of them, in no particular order; the others wait on. Each tick wakes all who wait: where they
/// are many, let one take the ticks and tell the others.
///
/// Never early; late as [`after`](super::after) is.
///
/// From crossbeam's `tick`, Go's `time.Ticker` and tokio's `Interval`, whose first tick comes at once: for that there is
/// [`ticker_at`].
///
/// ```
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

/// When the next tick is due.
#[derive(Debug)]
pub(super) struct Schedule {
    next: u64,
    period: u64,
    missed: MissedTicks,
}

impl Schedule {
    /// Takes the tick that is due, if one is: the time at which it was.
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

/// Makes a ticker whose first tick comes one period from now. See [`Ticker`].
///
/// A period of up to 584 years is kept, a longer one never comes to its end.
///
/// # Panics
///
/// With a period of zero, in which there would be no end of ticks.
#[track_caller]
pub fn ticker(period: Duration) -> Ticker {
    let period = nanos(period);
    Ticker::starting(now().saturating_add(period), period)
}

/// Makes a ticker whose first tick comes at `first`, or at once if that has passed. See [`Ticker`].
///
/// Times before this library has first looked at the clock count as that moment.
///
/// # Panics
///
/// As [`ticker`].
///
/// ```
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
    Ticker::starting(clock::nanos_of(first), nanos(period))
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

    /// The same ticker, with another way to deal with ticks that are missed: that nobody has taken when the next was due. By
    /// default they are skipped.
    #[must_use]
    pub fn missed(mut self, missed: MissedTicks) -> Self {
        self.source.get_mut().missed = missed;
        self
    }

    /// The same ticker, with a name for those who ask who waits.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Ticker { source: self.source.named(name), ..self }
    }

    /// The time between two ticks.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.period)
    }

    /// The event of taking the next tick. It gives the time at which that was due.
    ///
    /// # Cancel safety
    ///
    /// A loser of a choice, a poll that fails and a future dropped before it was ready have taken no tick.
    pub fn tick_evt(&self) -> TickEvt<'_> {
        TickEvt { ticker: self }
    }

    /// Takes the next tick, waiting for it as [`Event::sync`] does, and gives the time at which it was due.
    pub fn tick(&self) -> Instant {
        self.tick_evt().sync()
    }

    /// Begins anew: the next tick comes one period from now. Those who wait go by that, too; a tick that is there and has not
    /// been taken is gone.
    pub fn reset(&self) {
        self.reset_to(now().saturating_add(self.period));
    }

    /// As [`reset`](Ticker::reset), but the next tick comes at `next`, or at once if that has passed.
    pub fn reset_at(&self, next: Instant) {
        self.reset_to(clock::nanos_of(next));
    }

    fn reset_to(&self, next: u64) {
        visible();
        self.source.update(|schedule, waiters| {
            let is_earlier = next < schedule.next;
            schedule.next = next;
            if is_earlier {
                waiters.retry_all();
            }
        });
    }
}

/// The event of a tick, see [`Ticker::tick_evt`].
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
        // SAFETY: structurally pinned.
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
        // SAFETY: the branch is of this event.
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
        // SAFETY: the branch is of this event.
        let step = unsafe { branch.as_mut().waiting().publish(attempt, take) };
        let alarm = &branch.into_ref().get_ref().alarm;
        if step == Step::Waiting && !attempt.is_decided() && !alarm.is_published() {
            alarm.publish(attempt);
            // SAFETY: just made or taken back, so not armed; pinned; disarmed by `withdraw`, which the library calls
            // before the branch goes.
            unsafe { attempt.context().arm(NonNull::from(alarm), next) };
        }
        step
    }
    fn withdraw<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        let alarm = &branch.as_ref().get_ref().alarm;
        alarm.take_back(attempt, || {
            // SAFETY: armed in the same performance, hence by this context.
            unsafe { attempt.context().disarm(NonNull::from(alarm)) }
        });
        // SAFETY: the branch is of this event.
        unsafe { branch.as_mut().waiting().withdraw(attempt) }
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Instant {
        // SAFETY: the branch is of this event.
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
