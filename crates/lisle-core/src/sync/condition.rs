//! A condition that becomes true once.

use crate::event::waiting::turn;
use crate::event::{Event, Label, Source, awaitable, waits_at};
use std::pin::Pin;

/// A condition that is false until it is signalled, and true from then on. Waiting for it is an
/// event.
///
/// The idea is from Guile Fibers. Everything before the signal happens before the return of every
/// wait.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, choose, sync::Condition, time::after};
/// use std::time::Duration;
///
/// let stop = Condition::new();
/// let stopped = || {
///     choose((
///         stop.wait_evt().wrap(|()| true),
///         after(Duration::from_millis(2)).wrap(|()| false),
///     ))
///     .sync()
/// };
/// assert!(!stopped());
/// assert!(stop.signal()); // the first signal
/// assert!(!stop.signal());
/// assert!(stopped());
/// ```
#[derive(Debug)]
pub struct Condition {
    source: Source<bool, ()>,
}

impl Condition {
    /// Creates a condition that is false.
    #[track_caller]
    pub fn new() -> Self {
        Condition { source: Source::labelled(Label::new("condition"), false) }
    }

    /// Gives the condition a name, which appears in reports of waiting performers.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Condition { source: self.source.named(name) }
    }

    /// Makes the condition true and wakes all waiters. Returns `true` if it was false.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::Condition};
    ///
    /// let stop = Condition::new();
    /// assert!(stop.wait_evt().poll().is_none());
    /// assert!(stop.signal());
    /// assert!(!stop.signal()); // it was true already
    /// stop.wait_evt().sync();
    /// ```
    pub fn signal(&self) -> bool {
        self.source.update(|signalled, waiters| {
            let first = !std::mem::replace(signalled, true);
            while first && waiters.grant(()).is_ok() {}
            first
        })
    }

    /// Returns `true` if the condition is true.
    pub fn is_signalled(&self) -> bool {
        turn::asked_whether(self.source.with(|signalled| *signalled))
    }

    /// Waits until the condition is true, as [`Event::sync`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Condition;
    ///
    /// let ready = Condition::new();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| ready.signal());
    ///     ready.wait();
    /// });
    /// assert!(ready.is_signalled());
    /// ready.wait(); // does not wait any more
    /// ```
    pub fn wait(&self) {
        self.wait_evt().sync();
    }

    /// Returns the event of the condition being true.
    pub fn wait_evt(&self) -> WaitEvt<'_> {
        WaitEvt { condition: self }
    }
}

impl Default for Condition {
    #[track_caller]
    fn default() -> Self {
        Condition::new()
    }
}

/// The event of a [`Condition`] being true. See [`Condition::wait_evt`].
#[must_use = "events do nothing unless performed"]
#[derive(Debug, Clone, Copy)]
pub struct WaitEvt<'a> {
    condition: &'a Condition,
}

fn is_true(signalled: &mut bool) -> Option<()> {
    signalled.then_some(())
}

impl Event for WaitEvt<'_> {
    type Output = ();
    waits_at!(this: bool, (); this.condition.source, is_true);
    waits_at!(describe "wait for");

    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) {}
}

awaitable!(['a] WaitEvt<'a>, single);
