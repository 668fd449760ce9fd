//! A value that changes, of which only the latest version counts.

use crate::event::waiting::turn;
use crate::event::{
    Description, Event, Label, Source, Waiting, awaitable, copied, debug_by_name, single, visible_doing,
    waits_at,
};
use crate::shim::atomic::{AtomicU64, Ordering};
use crate::shim::counted_down;
use crate::shim::unseen::AtomicUsize;
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// A value that is replaced from time to time, for others to watch. Clones share the value.
///
/// Watchers see the latest value and wait for one that they have not seen. If values come too fast
/// for a watcher it misses some, but never the last. This suits settings, the state of a
/// connection, and progress. The idea is from tokio's `watch`. Where every value counts, use
/// [`Multicast`](crate::channel::Multicast).
///
/// Values are shared by [`Arc`] and not changed in place: no performer waits for a reader, and no
/// function of the user runs under a lock. Setting a value takes one allocation. The previous value
/// is dropped with its last reference.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, choose, sync::Watch, time::after};
/// use std::time::Duration;
///
/// let limit = Watch::new(10);
/// let watcher = limit.watcher();
/// let soon = || after(Duration::from_millis(1)).wrap(|()| None);
/// let change = || choose((watcher.changed_evt().wrap(|limit| Some(*limit.unwrap())), soon())).sync();
/// assert_eq!(change(), None); // nothing new
/// limit.set(11);
/// limit.set(12);
/// assert_eq!(change(), Some(12)); // the latest
/// assert_eq!(change(), None); // has been seen
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| (13..=20).for_each(|n| drop(limit.set(n))));
///     assert!(*watcher.wait_for(|limit| *limit >= 15).unwrap() >= 15);
/// });
/// drop(limit);
/// assert_eq!(*watcher.get(), 20);
/// assert!(watcher.wait_for(|limit| *limit > 20).is_err()); // no `Watch` is left
/// ```
pub struct Watch<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    source: Source<LatestValue<T>, Seen<T>>,
    writers: AtomicUsize,
}

/// The latest value.
pub struct LatestValue<T> {
    value: Arc<T>,
    /// How often the value was replaced.
    version: u64,
    closed: bool,
}

/// A value and its version.
type Seen<T> = Result<(u64, Arc<T>), WatchClosed>;

/// An error: no [`Watch`] is left to set the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchClosed;

impl fmt::Display for WatchClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("watching a value, but no `Watch` is left to set it")
    }
}

impl std::error::Error for WatchClosed {}

impl<T> LatestValue<T> {
    /// Returns the value if it is newer than `than`, the error if no newer value can come, and
    /// `None` if one may still come.
    fn newer(&self, than: Option<u64>) -> Option<Seen<T>> {
        if than.is_none_or(|than| self.version > than) {
            return Some(Ok((self.version, self.value.clone())));
        }
        self.closed.then_some(Err(WatchClosed))
    }
}

impl<T> Shared<T> {
    fn get(&self) -> (u64, Arc<T>) {
        self.source.with(|state| (state.version, state.value.clone()))
    }

    /// Replaces the value and returns the old one, unless `version` is given and is not the current
    /// version. In that case returns `value` as the error.
    fn replace(&self, value: T, version: Option<u64>) -> Result<Arc<T>, Arc<T>> {
        let value = Arc::new(value);
        self.source.update(|state, waiters| {
            if version.is_some_and(|version| version != state.version) {
                return Err(value);
            }
            state.version += 1;
            // Waiters are told to look and are not given the value: a waiter that gives up has not
            // seen it.
            waiters.retry_all();
            Ok(std::mem::replace(&mut state.value, value))
        })
    }
}

impl<T> Watch<T> {
    /// Creates a value to be watched.
    #[track_caller]
    pub fn new(value: T) -> Self {
        let state = LatestValue { value: Arc::new(value), version: 0, closed: false };
        let source = Source::labelled(Label::new("watch"), state);
        Watch { shared: Arc::new(Shared { source, writers: AtomicUsize::new(1) }) }
    }

    /// Replaces the value and returns the old one. This never waits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Watch;
    ///
    /// let limit = Watch::new(10);
    /// assert_eq!(*limit.set(11), 10); // the old value
    /// assert_eq!(*limit.get(), 11);
    /// ```
    pub fn set(&self, value: T) -> Arc<T> {
        match self.shared.replace(value, None) {
            Ok(old) => old,
            Err(_) => unreachable!("it replaces any version"),
        }
    }

    /// Replaces the value by the result of `f` and returns the old one.
    ///
    /// `f` is called again if the value was set meanwhile. It runs outside any lock and may block.
    /// If it panics the value does not change.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Watch;
    ///
    /// let count = Watch::new(0);
    /// std::thread::scope(|scope| {
    ///     for _ in 0..4 {
    ///         scope.spawn(|| drop(count.update(|n| n + 1))); // loses no update of another thread
    ///     }
    /// });
    /// assert_eq!(*count.get(), 4);
    /// ```
    pub fn update(&self, mut f: impl FnMut(&T) -> T) -> Arc<T> {
        loop {
            let (version, value) = self.shared.get();
            if let Ok(old) = self.shared.replace(f(&value), Some(version)) {
                return old;
            }
        }
    }

    /// Returns the latest value.
    pub fn get(&self) -> Arc<T> {
        self.shared.get().1
    }

    /// Returns how often the value was replaced.
    pub fn version(&self) -> u64 {
        self.shared.source.with(|state| state.version)
    }

    /// Returns a watcher that has seen the current value.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Watch;
    ///
    /// let limit = Watch::new(10);
    /// let watcher = limit.watcher();
    /// assert!(!watcher.has_changed()); // the current value counts as seen
    /// limit.set(11);
    /// assert!(watcher.has_changed());
    /// ```
    pub fn watcher(&self) -> Watcher<T> {
        Watcher { shared: self.shared.clone(), seen: AtomicU64::new(self.version()) }
    }
}

impl<T> Clone for Watch<T> {
    fn clone(&self) -> Self {
        self.shared.writers.fetch_add(1, Ordering::Relaxed);
        Watch { shared: self.shared.clone() }
    }
}

impl<T> Drop for Watch<T> {
    fn drop(&mut self) {
        visible_doing("drop a writer of", self.shared.source.label(), &self.shared.source);
        if counted_down(&self.shared.writers) {
            self.shared.source.update(|state, waiters| {
                state.closed = true;
                waiters.retry_all();
            });
        }
    }
}

/// A watcher of a [`Watch`], which remembers the version that it has seen last. A clone has seen
/// the same.
///
/// Several performers may use one watcher. Each change is then seen by one of them.
pub struct Watcher<T> {
    shared: Arc<Shared<T>>,
    seen: AtomicU64,
}

impl<T> Watcher<T> {
    /// Returns the latest value, which does not count as seen.
    pub fn get(&self) -> Arc<T> {
        self.shared.get().1
    }

    /// Returns the latest value, which counts as seen from now on.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Watch;
    ///
    /// let limit = Watch::new(10);
    /// let watcher = limit.watcher();
    /// limit.set(11);
    /// assert_eq!(*watcher.get(), 11);
    /// assert!(watcher.has_changed()); // `get` has not seen it
    /// assert_eq!(*watcher.see(), 11);
    /// assert!(!watcher.has_changed());
    /// ```
    pub fn see(&self) -> Arc<T> {
        let (version, value) = self.shared.get();
        self.seen.fetch_max(version, Ordering::Relaxed);
        value
    }

    /// Returns `true` if there is a version that this watcher has not seen.
    pub fn has_changed(&self) -> bool {
        let version = self.shared.source.with(|state| state.version);
        turn::asked_whether(version > self.seen.load(Ordering::Relaxed))
    }

    /// Returns `true` if no [`Watch`] is left to set the value. The last value may not have been
    /// seen yet.
    pub fn is_closed(&self) -> bool {
        self.shared.source.with(|state| state.closed)
    }

    /// Returns the event of there being a version that this watcher has not seen. It gives the
    /// value, which counts as seen from then on. When no [`Watch`] is left and the last value was
    /// seen, it always gives the error.
    ///
    /// # Cancel safety
    ///
    /// An event that loses a choice, a poll that fails, and a future that is dropped before it was
    /// ready have seen nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::Watch, sync::WatchClosed};
    ///
    /// let limit = Watch::new(10);
    /// let watcher = limit.watcher();
    /// assert!(watcher.changed_evt().poll().is_none()); // the current value counts as seen
    /// limit.set(11);
    /// limit.set(12);
    /// assert_eq!(*watcher.changed_evt().sync().unwrap(), 12); // only the latest
    /// drop(limit);
    /// assert_eq!(watcher.changed_evt().sync(), Err(WatchClosed));
    /// ```
    pub fn changed_evt(&self) -> ChangedEvt<'_, T> {
        ChangedEvt { watcher: self }
    }

    /// Returns the event that `wanted` holds for the latest value. It gives that value, which
    /// counts as seen from then on. The value at the time of the performance is tested first, seen
    /// or not.
    ///
    /// `wanted` runs in the performer while nothing is published, outside any lock. Values that it
    /// rejects do not count as seen. A value that is replaced before it was tested is missed.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, sync::Watch, time::after};
    /// use std::time::Duration;
    ///
    /// let state = Watch::new("connecting");
    /// let watcher = state.watcher();
    /// let up = watcher.wait_for_evt(|state| *state == "up").wrap(|up| up.is_ok());
    /// let up = choose((up, after(Duration::from_millis(1)).wrap(|()| false)));
    /// assert!(!up.sync());
    /// state.set("up");
    /// assert!(up.sync());
    /// ```
    pub fn wait_for_evt<F: Fn(&T) -> bool>(&self, wanted: F) -> WaitForEvt<'_, T, F> {
        WaitForEvt { watcher: self, wanted }
    }

    fn source(&self) -> &Source<LatestValue<T>, Seen<T>> {
        &self.shared.source
    }

    /// Returns the value or error that has not been seen yet, and counts it as seen. Called under
    /// the lock.
    fn unseen(&self, state: &LatestValue<T>) -> Option<Seen<T>> {
        let seen = state.newer(Some(self.seen.load(Ordering::Relaxed)))?;
        if let Ok((version, _)) = seen {
            self.seen.fetch_max(version, Ordering::Relaxed);
        }
        Some(seen)
    }
}

impl<T: Send + Sync> Watcher<T> {
    /// Waits for a version that this watcher has not seen, as [`Event::sync`] does.
    ///
    /// # Errors
    ///
    /// Returns [`WatchClosed`] if no [`Watch`] is left and the last value was seen.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{Watch, WatchClosed};
    ///
    /// let progress = Watch::new(0);
    /// let watcher = progress.watcher();
    /// progress.set(50);
    /// progress.set(100);
    /// drop(progress);
    /// assert_eq!(*watcher.changed().unwrap(), 100); // the last value is seen nevertheless
    /// assert_eq!(watcher.changed(), Err(WatchClosed));
    /// ```
    pub fn changed(&self) -> Result<Arc<T>, WatchClosed> {
        self.changed_evt().sync()
    }

    /// Waits until `wanted` holds for the latest value. See
    /// [`wait_for_evt`](Watcher::wait_for_evt).
    ///
    /// # Errors
    ///
    /// Returns [`WatchClosed`] if no [`Watch`] is left and `wanted` does not hold for the last
    /// value.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{Watch, WatchClosed};
    ///
    /// let progress = Watch::new(0);
    /// let watcher = progress.watcher();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || (1..=50).for_each(|n| drop(progress.set(n))));
    ///     assert!(*watcher.wait_for(|n| *n > 20).unwrap() > 20);
    ///     assert_eq!(watcher.wait_for(|n| *n == 100), Err(WatchClosed)); // it ended at 50
    /// });
    /// ```
    pub fn wait_for<F: Fn(&T) -> bool>(&self, wanted: F) -> Result<Arc<T>, WatchClosed> {
        self.wait_for_evt(wanted).sync()
    }
}

impl<T> Clone for Watcher<T> {
    fn clone(&self) -> Self {
        let seen = AtomicU64::new(self.seen.load(Ordering::Relaxed));
        Watcher { shared: self.shared.clone(), seen }
    }
}

/// The event of a value that was not seen. See [`Watcher::changed_evt`].
#[must_use = "events do nothing unless performed"]
pub struct ChangedEvt<'a, T> {
    watcher: &'a Watcher<T>,
}

impl<T: Send + Sync> Event for ChangedEvt<'_, T> {
    type Output = Result<Arc<T>, WatchClosed>;
    waits_at!(this: LatestValue<T>, Seen<T>; this.watcher.source(), |state| this.watcher.unseen(state));
    waits_at!(describe "wait for a change of");

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        // SAFETY: `branch` is a branch of this event.
        unsafe { branch.take() }.map(|(_, value)| value)
    }
}

/// The event of a value for which a condition holds. See [`Watcher::wait_for_evt`].
///
/// Each value that is tested is a stage.
#[must_use = "events do nothing unless performed"]
pub struct WaitForEvt<'a, T, F> {
    watcher: &'a Watcher<T>,
    wanted: F,
}

/// The branch of a [`WaitForEvt`].
pub struct WaitingFor<'e, T> {
    waiting: Waiting<'e, LatestValue<T>, Seen<T>>,
    /// The version that was rejected last.
    refused: Cell<Option<u64>>,
    outcome: Cell<Option<Result<Arc<T>, WatchClosed>>>,
}

impl<'e, T> WaitingFor<'e, T> {
    fn waiting(self: Pin<&mut Self>) -> Pin<&mut Waiting<'e, LatestValue<T>, Seen<T>>> {
        // SAFETY: `waiting` is structurally pinned: it is never moved out of the branch.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiting) }
    }
}

impl<T: Send + Sync, F: Fn(&T) -> bool> Event for WaitForEvt<'_, T, F> {
    type Output = Result<Arc<T>, WatchClosed>;
    const STAGED: bool = true;

    single! { |this, branch: WaitingFor<'e, T>, attempt|
        branch: WaitingFor {
            waiting: this.watcher.source().waiting(),
            refused: Cell::new(None),
            outcome: Cell::new(None),
        },
        try_commit: {
            let refused = branch.refused.get();
            branch.waiting().try_commit(attempt, |state| state.newer(refused))
        },
        publish: {
            let refused = branch.refused.get();
            branch.waiting().publish(attempt, |state| state.newer(refused))
        },
        withdraw: branch.waiting().withdraw(attempt)
    }

    fn advance<'e>(&'e self, mut branch: Pin<&mut Self::Branch<'e>>) -> bool {
        let outcome = match branch.as_mut().waiting().take() {
            Ok((version, value)) => {
                if !(self.wanted)(&value) {
                    branch.refused.set(Some(version));
                    return false;
                }
                self.watcher.seen.fetch_max(version, Ordering::Relaxed);
                Ok(value)
            }
            Err(closed) => Err(closed),
        };
        branch.outcome.set(Some(outcome));
        true
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        branch.outcome.take().expect("the last stage has an outcome")
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        branch.waiting.describe("wait for a value of", waits);
    }
}

copied!([T] ChangedEvt<'_, T>);
awaitable!(['a, T: Send + Sync] ChangedEvt<'a, T>, single);
awaitable!(['a, T: Send + Sync, F: Fn(&T) -> bool] WaitForEvt<'a, T, F>, single);

impl<T> fmt::Debug for LatestValue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatestValue")
            .field("version", &self.version)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("version", &self.version()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Watcher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").field("seen", &self.seen).finish_non_exhaustive()
    }
}

debug_by_name!([T] ChangedEvt<'_, T>);
debug_by_name!([T, F] WaitForEvt<'_, T, F>);

impl<T> fmt::Debug for WaitingFor<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitingFor").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}
