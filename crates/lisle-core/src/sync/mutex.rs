//! Mutual exclusion between fibers, plain threads and futures.

mod raw;

use crate::event::{Event, Label, awaitable, choose, forwarded, turn};
use crate::shim::{cell::UnsafeCell, const_fn};
use crate::sync::contended::{look, tell};
use crate::time::after;
#[cfg(all(test, lisle_loom))]
pub(super) use raw::OVERDUE;
use raw::{Locking, RawMutex};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::time::Duration;

/// A value that one performer at a time may use.
///
/// Locking is an event: [`lock`](Mutex::lock) waits in place, in a fiber or on a plain thread, and
/// [`lock_evt`](Mutex::lock_evt) may be awaited, or be one alternative of a choice.
///
/// ```
/// use lisle::{Event, choose, sync::Mutex, time::after};
/// use std::time::Duration;
///
/// static TOTAL: Mutex<u64> = Mutex::new(0);
///
/// lisle::run(|| {
///     lisle::fiber::scope(|scope| {
///         for i in 1..=10 {
///             scope.spawn(move || *TOTAL.lock() += i);
///         }
///     });
///     let held = TOTAL.lock();
///     let second = choose((
///         TOTAL.lock_evt().wrap(|_| "locked"),
///         after(Duration::from_millis(1)).wrap(|()| "gave up"),
///     ));
///     assert_eq!(second.sync(), "gave up");
///     assert_eq!(*held, 55);
/// });
/// ```
///
/// # Holding it
///
/// A guard may be held while its holder waits for something else; others wait until it is dropped. It may be moved
/// to another thread, and be dropped there, if the value may: so may a future that holds it while it waits.
///
/// A performer that locks a mutex which it has locked already waits for itself, for ever. Whoever wants several at
/// once takes them in the same order as everybody else.
///
/// A holder that panics drops its guard, and the next one finds the value as it was left then. There is no
/// poisoning, as in parking_lot and unlike in `std`: where a value may be left half changed, keep that in mind, or
/// in the value.
///
/// # Fairness
///
/// A mutex that is free may be taken by whoever comes, also before those who were waiting; waking one of them would
/// leave it idle for a while. But every half a millisecond it is handed to the one who has waited longest, when it is
/// unlocked, whoever else comes. So of `n` that wait none waits for longer than about `n` half milliseconds and the time
/// that the others hold it. A choice is handed the mutex whenever it is the first.
///
/// # Cost
///
/// Locking a free mutex and unlocking one for which nobody waits take one locked instruction each, and no memory.
/// Leaving the queue takes constant time.
pub struct Mutex<T: ?Sized> {
    raw: RawMutex,
    value: UnsafeCell<T>,
}

// SAFETY: the mutex hands out one `&mut T` at a time, to whichever thread has the guard, so sharing it is sending
// the value back and forth.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
// SAFETY: owning the mutex is owning the value.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}

impl<T> Mutex<T> {
    const_fn! {
        /// A mutex that is free.
        #[track_caller]
        pub fn new(value: T) -> Self {
            Mutex { raw: RawMutex::new(Label::new("mutex")), value: UnsafeCell::new(value) }
        }
    }

    /// The same mutex, with a name for those who ask who waits.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.raw.label = self.raw.label.named(name);
        self
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Locks the mutex, waiting until it is free: as [`Event::sync`] does, and at first, on a plain thread, by
    /// looking at it for some hundred nanoseconds.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let me = tell();
        if !self.raw.try_lock_fast(me) {
            self.lock_contended();
        }
        MutexGuard::new(self)
    }

    #[cold]
    fn lock_contended(&self) {
        if !self.raw.try_lock() && !look(|| self.raw.try_lock()) {
            self.raw.sync();
        }
    }

    /// Locks the mutex if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        tell();
        turn::asked(self.raw.try_lock().then(|| MutexGuard::new(self)))
    }

    /// Locks the mutex unless that takes longer than `timeout`.
    pub fn lock_timeout(&self, timeout: Duration) -> Option<MutexGuard<'_, T>> {
        self.try_lock()
            .or_else(|| choose((self.lock_evt().wrap(Some), after(timeout).wrap(|()| None))).sync())
    }

    /// The event of locking the mutex; it gives the guard.
    ///
    /// # Cancel safety
    ///
    /// An alternative that loses has not locked the mutex. A future that is dropped after it was given the mutex,
    /// and before it was polled again, unlocks it.
    ///
    /// A future that has been given the mutex and is neither polled nor dropped keeps it from all others. So do not
    /// wait for something else in a task that has such a future lying around.
    pub fn lock_evt(&self) -> LockEvt<'_, T> {
        LockEvt { mutex: self }
    }

    /// The value. Nobody can have locked it.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: `&mut self`: there is no guard.
        self.value.with_mut(|value| unsafe { &mut *value })
    }

    /// Who has locked the mutex: the address of a fiber's parker, or one of a thread. `None` if nobody has, or if it is
    /// on its way to somebody.
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
        // To print is not to ask in vain.
        match self.raw.try_lock().then(|| MutexGuard::new(self)) {
            Some(value) => mutex.field("value", &&*value),
            None => mutex.field("held_by", &format_args!("{:#x}", self.holder().unwrap_or(0))),
        };
        mutex.finish_non_exhaustive()
    }
}

/// Keeps a [`Mutex`] locked until it is dropped.
///
/// ```compile_fail,E0277
/// fn may_move<T: Send>() {}
/// may_move::<lisle::sync::MutexGuard<'static, std::cell::Cell<std::rc::Rc<()>>>>();
/// ```
///
/// ```compile_fail,E0277
/// fn may_be_shared<T: Sync>() {}
/// may_be_shared::<lisle::sync::MutexGuard<'static, std::cell::Cell<()>>>();
/// ```
#[must_use = "a guard that is dropped at once locks nothing"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// It is shared between threads and sent as what it stands for.
    _borrow: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// For whoever has just locked it.
    #[inline(always)]
    fn new(mutex: &'a Mutex<T>) -> Self {
        MutexGuard { mutex, _borrow: PhantomData }
    }

    /// The mutex that is locked. Not a method, since those are the value's.
    pub fn mutex(guard: &Self) -> &'a Mutex<T> {
        guard.mutex
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one, and writers need `&mut` of it; the holder before has let go of the lock,
        // and we have taken it since.
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

/// The event of locking a [`Mutex`], see [`Mutex::lock_evt`].
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
}

impl<T: ?Sized> fmt::Debug for LockEvt<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LockEvt")
    }
}

awaitable!(['a, T: ?Sized] LockEvt<'a, T>);
