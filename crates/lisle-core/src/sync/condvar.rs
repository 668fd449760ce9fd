//! Waiting, without holding a mutex, until another performer notifies that something has changed.

use super::{Mutex, MutexGuard};
use crate::event::choose;
use crate::event::{
    Attempt, Description, Event, Label, Source, Waiting, awaitable, debug_by_name, now, single,
};
use crate::shim::{
    atomic::{AtomicBool, Ordering},
    const_fn,
};
use crate::time::after;
use std::pin::Pin;
use std::time::Duration;

/// A condition variable: performers release a mutex and wait for others to change the protected
/// state.
///
/// The condition itself belongs to the user: a waiter that was notified checks whether it holds.
/// Others may have been faster between the notification and the waiter's locking the mutex again,
/// and a notification may be for nothing. The waiter therefore checks in a loop, or uses
/// [`wait_while`](Condvar::wait_while).
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::sync::{Condvar, Mutex};
/// use std::thread;
///
/// static QUEUE: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// static FILLED: Condvar = Condvar::new();
///
/// let taker = thread::spawn(|| FILLED.wait_while(QUEUE.lock(), |queue| queue.is_empty()).pop());
/// QUEUE.lock().push(7);
/// FILLED.notify_one();
/// assert_eq!(taker.join().unwrap(), Some(7));
/// ```
///
/// Waiting has two parts, each of which is an event: being notified
/// ([`notified_evt`](Condvar::notified_evt)), and locking the mutex ([`Mutex::lock_evt`]).
/// [`wait_evt`](Condvar::wait_evt) is both. The idea is from C. A. R. Hoare's *Monitors* (1974),
/// with the notifications of Mesa (Lampson and Redell, 1980), which are hints.
///
/// # Fairness
///
/// The performer that has waited longest is notified first.
pub struct Condvar {
    /// The number of notifications so far.
    source: Source<usize, ()>,
}

impl Condvar {
    const_fn! {
        /// Creates a condition variable without waiters.
        #[track_caller]
        pub fn new() -> Self {
            Condvar { source: Source::labelled(Label::new("condition variable"), 0) }
        }
    }

    /// Wakes one waiter, if there is one. Events of [`notified_evt`](Condvar::notified_evt) that
    /// were created before this call and are performed after it are all ready.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::Condvar};
    ///
    /// let changed = Condvar::new();
    /// changed.notify_one(); // nothing waits: it is not kept
    /// let notified = changed.notified_evt();
    /// assert!(notified.poll().is_none());
    /// changed.notify_one();
    /// notified.sync();
    /// ```
    pub fn notify_one(&self) {
        self.source.update(|notified, waiters| {
            *notified = notified.wrapping_add(1);
            // If the queue is empty, a performer that has unlocked the mutex and is not linked yet
            // sees the new number.
            let _ = waiters.grant(());
        });
    }

    /// Wakes all waiters.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{Condvar, Mutex};
    ///
    /// let (open, opened) = (Mutex::new(false), Condvar::new());
    /// std::thread::scope(|scope| {
    ///     for _ in 0..3 {
    ///         scope.spawn(|| assert!(*opened.wait_while(open.lock(), |open| !*open)));
    ///     }
    ///     *open.lock() = true;
    ///     opened.notify_all(); // `notify_one` would wake only one of them
    /// });
    /// ```
    pub fn notify_all(&self) {
        self.source.update(|notified, waiters| {
            *notified = notified.wrapping_add(1);
            while waiters.grant(()).is_ok() {}
        });
    }

    /// Returns the event of being notified from now on. Create it while holding the mutex, so no
    /// notification can be missed, and perform it after unlocking the mutex.
    ///
    /// It counts from its creation, not from its performance. Once it has happened it stays ready.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{Condvar, Mutex};
    /// use lisle::{Event, choose, time::after};
    /// use std::time::Duration;
    ///
    /// let (level, changed) = (Mutex::new(3), Condvar::new());
    /// let mut guard = level.lock();
    /// let rises = loop {
    ///     if *guard > 3 {
    ///         break true;
    ///     }
    ///     let notified = changed.notified_evt();
    ///     drop(guard);
    ///     let in_time = choose((
    ///         notified.wrap(|()| true),
    ///         after(Duration::from_millis(1)).wrap(|()| false),
    ///     ));
    ///     if !in_time.sync() {
    ///         break false;
    ///     }
    ///     guard = level.lock();
    /// };
    /// assert!(!rises);
    /// ```
    ///
    /// # Cancel safety
    ///
    /// A performer that loses a choice has taken no notification. A future that is dropped after it
    /// was notified, but before it was polled again, passes the notification on.
    pub fn notified_evt(&self) -> NotifiedEvt<'_> {
        NotifiedEvt { condvar: self, since: self.source.with(|notified| *notified) }
    }

    /// Unlocks the mutex, waits to be notified, and locks the mutex again.
    ///
    /// Two mutexes may be used with one condition variable, but then a waiter of one may be
    /// notified for the other.
    ///
    /// # Panics
    ///
    /// Panics as [`Mutex::lock`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{Condvar, Mutex};
    ///
    /// let (ready, changed) = (Mutex::new(false), Condvar::new());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         *ready.lock() = true;
    ///         changed.notify_one();
    ///     });
    ///     let mut guard = ready.lock();
    ///     while !*guard {
    ///         guard = changed.wait(guard);
    ///     }
    ///     assert!(*guard);
    /// });
    /// ```
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        let mutex = MutexGuard::mutex(&guard);
        let notified = self.notified_evt();
        drop(guard);
        notified.sync();
        self.lock_again(mutex)
    }

    /// Locks the mutex after a notification. If a shutdown prevents that, another waiter gets the
    /// notification.
    fn lock_again<'a, T: ?Sized>(&self, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
        let notification = Notification::new(self);
        let guard = mutex.lock();
        notification.use_up();
        guard
    }

    /// Waits as long as `condition` holds. It is evaluated first, and then after each notification,
    /// with the mutex locked.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{Condvar, Mutex};
    ///
    /// let (queue, filled) = (Mutex::new(Vec::new()), Condvar::new());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         queue.lock().push(7);
    ///         filled.notify_one();
    ///     });
    ///     let mut guard = filled.wait_while(queue.lock(), |queue| queue.is_empty());
    ///     assert_eq!(guard.pop(), Some(7)); // still locked
    /// });
    /// ```
    pub fn wait_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        while condition(&mut guard) {
            guard = self.wait(guard);
        }
        guard
    }

    /// Waits as [`wait`](Condvar::wait) does, but for at most `timeout` until it begins to lock the
    /// mutex again. The returned `bool` is `true` if it was notified.
    ///
    /// # Panics
    ///
    /// Panics outside a runtime if the system refuses the thread that timers need there, see
    /// [`time`](crate::time#panics).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{Condvar, Mutex};
    /// use std::time::Duration;
    ///
    /// let (level, changed) = (Mutex::new(3), Condvar::new());
    /// let limit = Duration::from_millis(1);
    /// let (guard, notified) = changed.wait_timeout(level.lock(), limit);
    /// assert!(!notified);
    /// assert_eq!(*guard, 3); // it is locked again in either case
    /// ```
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        let mutex = MutexGuard::mutex(&guard);
        let notified = self.notified_evt();
        drop(guard);
        let notified = choose((notified.wrap(|()| true), after(timeout).wrap(|()| false))).sync();
        (if notified { self.lock_again(mutex) } else { mutex.lock() }, notified)
    }

    /// Waits as [`wait_while`](Condvar::wait_while) does, but for at most `timeout` in all, not
    /// counting the time to lock the mutex again. The returned `bool` is `true` if `condition` no
    /// longer holds.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{Condvar, Mutex};
    /// use std::time::Duration;
    ///
    /// let (level, changed) = (Mutex::new(3), Condvar::new());
    /// let limit = Duration::from_millis(1);
    /// let (mut guard, rose) = changed.wait_timeout_while(level.lock(), limit, |level| *level < 4);
    /// assert!(!rose);
    /// *guard = 4;
    /// // The condition is looked at first, however short the time is.
    /// let (_guard, rose) = changed.wait_timeout_while(guard, Duration::ZERO, |level| *level < 4);
    /// assert!(rose);
    /// ```
    pub fn wait_timeout_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> (MutexGuard<'a, T>, bool) {
        let start = now();
        while condition(&mut guard) {
            let left = timeout.saturating_sub(Duration::from_nanos(now().saturating_sub(start)));
            if left.is_zero() {
                return (guard, false);
            }
            guard = self.wait_timeout(guard, left).0;
        }
        (guard, true)
    }

    /// Unlocks the mutex immediately. Returns the event of being notified from then on and locking
    /// the mutex again, which gives the guard.
    ///
    /// # Cancel safety
    ///
    /// A performer that loses a choice does not hold the mutex: locking it again could take long,
    /// and a loser must not wait. If it was already notified, the notification is passed on to
    /// another waiter, and it gives up its place in the queue for the mutex.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{Condvar, Mutex};
    /// use lisle::{Event, choose, time::after};
    /// use std::time::Duration;
    ///
    /// let (mutex, changed) = (Mutex::new(0), Condvar::new());
    /// let again = changed.wait_evt(mutex.lock()).wrap(Some);
    /// let limit = after(Duration::from_millis(1)).wrap(|()| None);
    /// assert!(choose((again, limit)).sync().is_none()); // no notification comes
    /// assert!(mutex.try_lock().is_some());
    /// ```
    pub fn wait_evt<'a, T: ?Sized + Send>(
        &'a self,
        guard: MutexGuard<'a, T>,
    ) -> impl Event<Output = MutexGuard<'a, T>> + Send + Sync + 'a {
        let mutex = MutexGuard::mutex(&guard);
        let notified = self.notified_evt();
        drop(guard);
        notified.replace(move |()| {
            let notification = Notification::new(self);
            mutex.lock_evt().wrap(move |guard| {
                notification.use_up();
                guard
            })
        })
    }

    /// Gives the condition variable a name, which appears in reports of waiting performers.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.source = self.source.named(name);
        self
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Condvar::new()
    }
}

debug_by_name!([] Condvar);

/// A notification that is not used yet, since its receiver does not hold the mutex. If the receiver
/// never locks it, another waiter gets the notification.
struct Notification<'a> {
    condvar: &'a Condvar,
    used: AtomicBool,
}

impl<'a> Notification<'a> {
    fn new(condvar: &'a Condvar) -> Self {
        Notification { condvar, used: AtomicBool::new(false) }
    }

    fn use_up(&self) {
        self.used.store(true, Ordering::Relaxed);
    }
}

impl Drop for Notification<'_> {
    fn drop(&mut self) {
        if !self.used.load(Ordering::Relaxed) {
            self.condvar.notify_one();
        }
    }
}

/// The event of being notified. See [`Condvar::notified_evt`].
#[must_use = "events do nothing unless performed"]
#[derive(Debug, Clone, Copy)]
pub struct NotifiedEvt<'a> {
    condvar: &'a Condvar,
    /// The number of notifications when the event was created.
    since: usize,
}

/// The branch of an event of being notified.
#[derive(Debug)]
pub struct Listening<'e> {
    waiting: Waiting<'e, usize, ()>,
    condvar: &'e Condvar,
    /// `true` if a notification was for this branch and has not been taken out yet.
    notified: bool,
}

impl<'e> Listening<'e> {
    fn waiting(self: Pin<&mut Self>) -> Pin<&mut Waiting<'e, usize, ()>> {
        // SAFETY: `waiting` is structurally pinned; the other fields are plain data.
        unsafe { self.map_unchecked_mut(|this| &mut this.waiting) }
    }

    fn withdraw(mut self: Pin<&mut Self>, attempt: &Attempt<'_>) -> bool {
        let won = self.as_mut().waiting().withdraw(attempt);
        if won {
            self.set_notified(true);
        }
        won
    }

    fn set_notified(self: Pin<&mut Self>, notified: bool) {
        // SAFETY: plain data is written, nothing is moved.
        unsafe { self.get_unchecked_mut() }.notified = notified;
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        if self.notified {
            self.condvar.notify_one();
        }
    }
}

impl NotifiedEvt<'_> {
    /// Returns a function that checks whether there was a notification since the event was created.
    /// An event that finds it this way takes it from no other waiter.
    fn has_come(&self) -> impl FnOnce(&mut usize) -> Option<()> {
        let since = self.since;
        move |notified| (*notified != since).then_some(())
    }
}

impl Event for NotifiedEvt<'_> {
    type Output = ();
    single! { |this, branch: Listening<'e>, attempt|
        branch: Listening { waiting: this.condvar.source.waiting(), condvar: this.condvar, notified: false },
        try_commit: branch.waiting().try_commit(attempt, this.has_come()),
        publish: branch.waiting().publish(attempt, this.has_come()),
        withdraw: branch.withdraw(attempt)
    }

    fn complete<'e>(&'e self, branch: Pin<&mut Listening<'e>>) {
        branch.set_notified(false);
    }
    fn describe<'e>(&'e self, branch: &Listening<'e>, waits: &mut Description) {
        branch.waiting.describe("wait for", waits);
    }
}

awaitable!(['a] NotifiedEvt<'a>, single);
