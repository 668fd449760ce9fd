//! The two constant events: always ready, never ready.

use super::{Attempt, Description, Event, Label, Step, awaitable};
use std::marker::PhantomData;
use std::pin::Pin;

/// An event that is always ready, see [`always`].
#[must_use = "events do nothing unless performed"]
#[derive(Debug, Clone, Copy)]
pub struct Always<T>(T);

/// Returns an event that is always ready and whose value is a clone of `value`.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, always};
/// assert_eq!(always(3).sync(), 3);
/// ```
pub fn always<T: Clone>(value: T) -> Always<T> {
    Always(value)
}

impl<T: Clone> Event for Always<T> {
    type Output = T;
    type Branch<'e>
        = ()
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        true
    }
    fn branch(&self) {}
    fn try_commit(&self, _: Pin<&mut ()>, attempt: &Attempt<'_>) -> Step {
        attempt.at_last()
    }
    fn publish(&self, _: Pin<&mut ()>, attempt: &Attempt<'_>) -> Step {
        attempt.at_once()
    }
    fn withdraw(&self, _: Pin<&mut ()>, _: &Attempt<'_>) -> bool {
        false
    }
    fn complete(&self, _: Pin<&mut ()>) -> T {
        self.0.clone()
    }
}

/// An event that is never ready, see [`never()`].
#[must_use = "events do nothing unless performed"]
pub struct Never<T>(PhantomData<fn() -> T>);

/// Returns an event that is never ready, the unit of [`choose`](super::choose). Performing it alone
/// waits forever.
///
/// # Examples
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, never, time::after};
/// use std::time::Duration;
///
/// let over = |limit: Option<Duration>| match limit {
///     Some(limit) => after(limit).boxed(),
///     None => never().boxed(), // no limit
/// };
/// assert_eq!(over(Some(Duration::ZERO)).poll(), Some(()));
/// assert_eq!(over(None).poll(), None);
/// ```
pub fn never<T>() -> Never<T> {
    Never(PhantomData)
}

impl<T> Event for Never<T> {
    type Output = T;
    type Branch<'e>
        = ()
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        true
    }
    fn branch(&self) {}
    fn try_commit(&self, _: Pin<&mut ()>, attempt: &Attempt<'_>) -> Step {
        attempt.evidence().never_was();
        Step::Waiting
    }
    fn publish(&self, _: Pin<&mut ()>, _: &Attempt<'_>) -> Step {
        Step::Waiting
    }
    fn withdraw(&self, _: Pin<&mut ()>, _: &Attempt<'_>) -> bool {
        false
    }
    fn complete(&self, _: Pin<&mut ()>) -> T {
        unreachable!("`never` does not happen")
    }
    fn describe(&self, (): &(), waits: &mut Description) {
        waits.on("wait for", &Label::anywhere("event that never happens"), 0);
    }
}

impl<T> Clone for Never<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Never<T> {}

impl<T> std::fmt::Debug for Never<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Never")
    }
}

awaitable!([T: Clone] Always<T>);
awaitable!([T] Never<T>);
