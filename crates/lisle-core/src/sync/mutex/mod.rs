//! Mutual exclusion between fibers, plain threads and futures.

#[cfg(not(lisle_loom))]
mod late;
mod locking;
mod raw;
mod turns;

use crate::event::choose;
use crate::event::waiting::turn;
use crate::event::{Event, Label, awaitable, debug_by_name, forwarded, is_modelled};
use crate::shim::{cell::UnsafeCell, const_fn};
use crate::sync::contended::tell;
use crate::time::after;
use locking::Locking;
use raw::RawMutex;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::time::Duration;
#[cfg(all(test, lisle_loom))]
pub(super) use turns::{OVERDUE, Overdue};

/// A value that one performer at a time may use.
///
/// Locking is an event: [`lock`](Mutex::lock) waits in place, in a fiber or on a plain thread, and
/// [`lock_evt`](Mutex::lock_evt) may be awaited or be one alternative of a choice.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::{Event, choose, sync::Mutex, time::after};
/// use std::{thread, time::Duration};
///
/// static TOTAL: Mutex<u64> = Mutex::new(0);
///
/// thread::scope(|scope| {
///     for i in 1..=10 {
///         scope.spawn(move || *TOTAL.lock() += i);
///     }
/// });
/// let held = TOTAL.lock();
/// let second = choose((
///     TOTAL.lock_evt().wrap(|_| "locked"),
///     after(Duration::from_millis(1)).wrap(|()| "gave up"),
/// ));
/// assert_eq!(second.sync(), "gave up");
/// assert_eq!(*held, 55);
/// ```
///
/// # Holding it
///
/// A guard may be held while its holder waits for something else; others wait until it is dropped.
/// It may be moved to another thread, and dropped there, if the value may. The same holds for a
/// future that holds it while it waits.
///
/// A performer that locks a mutex which it has already locked waits for itself, for ever. To hold
/// several mutexes at once, all performers must lock them in the same order.
///
/// If a holder panics, its guard is dropped, and the next holder finds the value as it was left.
/// There is no poisoning, as in parking_lot and unlike in `std`. Where a value may be left half
/// changed, consider this, or record it in the value. So a reference to a mutex is not
/// [`UnwindSafe`](std::panic::UnwindSafe): code that locks one within `catch_unwind` says by
/// [`AssertUnwindSafe`](std::panic::AssertUnwindSafe) that the value stays good.
///
/// # Fairness
///
/// Any performer that comes may take a free mutex, even before waiters: waking a waiter would leave
/// the mutex idle for a while. Every half a millisecond, however, the mutex is kept for the
/// performer that has waited longest. If a waiter that was told to try does not come, it is kept for
/// the next one every millisecond. With as many cores as threads none of `n` waiters therefore waits
/// for much longer than `n` half milliseconds plus the time for which the others hold the mutex.
/// With more threads than cores each also waits for a core. For a choice that is first in the queue
/// the mutex is always kept.
///
/// A fiber or task whose turn it is runs once its domain comes to it, and a future once it is polled.
/// If that takes longer than 4 ms, its turn is taken back: the mutex goes to a performer that comes,
/// or, after 8 ms at most, to the next waiter. The late waiter waits in front of all others. When it
/// has come too late eight times, the mutex is kept for it until it comes, and the others wait.
/// Fibers of one domain do not overtake each other in this way: none of them runs before the domain
/// comes to it.
///
/// # Cost
///
/// Locking a free mutex, and unlocking one, take one locked instruction each and no memory, whether
/// or not others wait. To tell a waiter takes two more and the queue's lock. Leaving the queue
/// takes constant time.
pub struct Mutex<T: ?Sized> {
    raw: RawMutex,
    value: UnsafeCell<T>,
}

// SAFETY: the mutex gives one `&mut T` at a time to the thread that holds the guard, so sharing it
// is sending the value back and forth.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
// SAFETY: owning the mutex is owning the value.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}

impl<T> Mutex<T> {
    const_fn! {
        /// Creates a mutex that is free.
        #[track_caller]
        pub fn new(value: T) -> Self {
            Mutex { raw: RawMutex::new(Label::new("mutex")), value: UnsafeCell::new(value) }
        }
    }

    /// Gives the mutex a name, which appears in reports of waiting performers.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.raw.label = self.raw.label.named(name);
        self
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks the mutex, and waits until it is free as [`Event::sync`] does. A plain thread first
    /// tries for some microseconds, in which it offers its core to others, and longer where these
    /// take it; a fiber for about one microsecond, if nothing else is ready on its domain. A fiber
    /// that locks often lets the fibers of its domain run now and then: after some 128 times while
    /// others wait for the mutex, and else some 20 ms after its turn began.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Mutex;
    ///
    /// let total = Mutex::new(0);
    /// std::thread::scope(|scope| {
    ///     for i in 1..=4 {
    ///         let total = &total;
    ///         scope.spawn(move || *total.lock() += i); // unlocked at the end of the statement
    ///     }
    /// });
    /// assert_eq!(total.into_inner(), 10);
    /// ```
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        if self.raw.lock_in_model() {
            return MutexGuard::new(self);
        }
        turn::pass_if_due();
        let me = tell("lock", &self.raw.label, &self.raw);
        if !self.raw.try_lock_fast(me) {
            self.lock_contended(me);
        }
        MutexGuard::new(self)
    }

    #[cold]
    fn lock_contended(&self, me: usize) {
        if !self.raw.look(me) {
            self.raw.sync();
        }
    }

    /// Locks the mutex if it is free. Returns `None` otherwise.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Mutex;
    ///
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.try_lock().unwrap();
    /// assert!(mutex.try_lock().is_none()); // it is held, here by the same thread
    /// drop(guard);
    /// assert!(mutex.try_lock().is_some());
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        tell("try to lock", &self.raw.label, &self.raw);
        turn::asked(self.raw.try_lock().then(|| MutexGuard::new(self)))
    }

    /// Locks the mutex. Returns `None` if that takes longer than `timeout`.
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
    /// use lisle::sync::Mutex;
    /// use std::time::Duration;
    ///
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.lock();
    /// assert!(mutex.lock_timeout(Duration::from_millis(1)).is_none());
    /// drop(guard);
    /// assert!(mutex.lock_timeout(Duration::ZERO).is_some()); // it was free
    /// ```
    pub fn lock_timeout(&self, timeout: Duration) -> Option<MutexGuard<'_, T>> {
        turn::pass_if_due();
        self.try_lock()
            .or_else(|| choose((self.lock_evt().wrap(Some), after(timeout).wrap(|()| None))).sync())
    }

    /// Returns the event of locking the mutex, which gives the guard.
    ///
    /// # Cancel safety
    ///
    /// An alternative that loses has not locked the mutex. A future that is dropped after it was
    /// given the mutex, but before it was polled again, unlocks it.
    ///
    /// A future whose turn it is, and which is neither polled nor dropped, keeps the others waiting
    /// for some milliseconds, and the ninth time until it is polled. A task that holds such a future
    /// should not wait for something else.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, sync::Mutex, time::after};
    /// use std::time::Duration;
    ///
    /// let total = Mutex::new(0);
    /// let held = total.lock();
    /// let in_time = choose((
    ///     total.lock_evt().wrap(|_| true),
    ///     after(Duration::from_millis(1)).wrap(|()| false),
    /// ));
    /// assert!(!in_time.sync());
    /// drop(held);
    /// *total.lock_evt().sync() += 1;
    /// assert_eq!(*total.lock(), 1);
    /// ```
    pub fn lock_evt(&self) -> LockEvt<'_, T> {
        LockEvt { mutex: self }
    }

    /// Returns a mutable reference to the value. The exclusive borrow guarantees that there is no
    /// guard.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: `&mut self` guarantees that there is no guard.
        self.value.with_mut(|value| unsafe { &mut *value })
    }

    /// Does the clock thread's work, at a moment that a model chooses.
    #[cfg(all(test, lisle_loom))]
    pub(super) fn see_to_late_turn(&self) {
        let woken = crate::event::protocol::woken::Woken::default();
        self.raw.see_to_late_turn(&woken);
    }

    /// Returns the id of the holder: the address of a fiber's parker, or an address that stands for
    /// a thread. Returns `None` if the mutex is free or is kept for a waiter.
    pub(crate) fn holder(&self) -> Option<usize> {
        self.raw.holder()
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut mutex = f.debug_struct("Mutex");
        // Printing does not count as a failed attempt.
        match self.raw.try_lock().then(|| MutexGuard::new(self)) {
            Some(value) => mutex.field("value", &&*value),
            None => mutex.field("held_by", &format_args!("{:#x}", self.holder().unwrap_or(0))),
        };
        mutex.finish_non_exhaustive()
    }
}

/// A guard that keeps a [`Mutex`] locked until it is dropped.
///
/// ```compile_fail,E0277
/// # use lisle_core as lisle;
/// fn may_move<T: Send>() {}
/// may_move::<lisle::sync::MutexGuard<'static, std::cell::Cell<std::rc::Rc<()>>>>();
/// ```
///
/// ```compile_fail,E0277
/// # use lisle_core as lisle;
/// fn may_be_shared<T: Sync>() {}
/// may_be_shared::<lisle::sync::MutexGuard<'static, std::cell::Cell<()>>>();
/// ```
#[must_use = "a guard that is dropped at once locks nothing"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// Makes the guard `Send` and `Sync` exactly as the `&mut T` for which it stands.
    _borrow: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Creates the guard for a performer that has just locked the mutex.
    #[inline(always)]
    fn new(mutex: &'a Mutex<T>) -> Self {
        MutexGuard { mutex, _borrow: PhantomData }
    }

    /// Returns the mutex that is locked. This is not a method, since it could hide a method of the
    /// value.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{Mutex, MutexGuard};
    ///
    /// let mutex = Mutex::new(1);
    /// let guard = mutex.lock();
    /// assert!(std::ptr::eq(MutexGuard::mutex(&guard), &mutex));
    /// ```
    pub fn mutex(guard: &Self) -> &'a Mutex<T> {
        guard.mutex
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one, and a writer needs `&mut` of it. The unlock of the
        // previous holder happens before this holder's lock.
        self.mutex.value.with(|value| unsafe { &*value })
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `&mut self` makes this the only borrow through the guard.
        self.mutex.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.raw.unlock();
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The event of locking a [`Mutex`]. See [`Mutex::lock_evt`].
#[must_use = "events do nothing unless performed"]
pub struct LockEvt<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
}

impl<'a, T: ?Sized> Event for LockEvt<'a, T> {
    type Output = MutexGuard<'a, T>;
    forwarded!(mutex.raw: RawMutex, Locking<'e>);
    forwarded!(describe mutex.raw);

    fn complete<'e>(&'e self, branch: Pin<&mut Locking<'e>>) -> MutexGuard<'a, T> {
        self.mutex.raw.complete(branch);
        MutexGuard::new(self.mutex)
    }
    #[inline]
    fn at_once(&self) -> Option<MutexGuard<'a, T>> {
        let raw = &self.mutex.raw;
        let is_taken = !is_modelled() && raw.try_lock_fast(tell("lock", &raw.label, raw));
        is_taken.then(|| MutexGuard::new(self.mutex))
    }
}

debug_by_name!([T: ?Sized] LockEvt<'_, T>);
awaitable!(['a, T: ?Sized] LockEvt<'a, T>, single);
