//! The two constant events: always ready, never ready.

use crate::event::{Description, Event, Label, Step, awaitable, copied, debug_by_name, single};
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
    single! { |this, branch: (), attempt|
        branch: (),
        try_commit: attempt.at_last(),
        publish: attempt.at_once(),
        withdraw: false
    }

    fn complete(&self, _: Pin<&mut ()>) -> T {
        self.0.clone()
    }
}

/// An event that is never ready, see [`never()`].
#[must_use = "events do nothing unless performed"]
pub struct Never<T>(PhantomData<fn() -> T>);

/// Returns an event that is never ready, the unit of [`choose`](crate::choose()). Performing it alone
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
    single! { |this, branch: (), attempt|
        branch: (),
        try_commit: {
            attempt.evidence().never_was();
            Step::Waiting
        },
        publish: Step::Waiting,
        withdraw: false
    }

    fn complete(&self, _: Pin<&mut ()>) -> T {
        unreachable!("`never` does not happen")
    }
    fn describe(&self, (): &(), waits: &mut Description) {
        waits.on("wait for", &Label::anywhere("event that never happens"), 0);
    }
}

copied!([T] Never<T>);
debug_by_name!([T] Never<T>);
awaitable!([T: Clone] Always<T>, single);
awaitable!([T] Never<T>, single);
