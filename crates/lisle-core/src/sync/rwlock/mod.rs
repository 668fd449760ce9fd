//! Many readers or one writer.

mod guard;
mod raw;

use crate::event::choose;
use crate::event::waiting::turn;
use crate::event::{Event, Label, awaitable, forwarded, is_modelled};
use crate::shim::{cell::UnsafeCell, const_fn};
use crate::sync::contended::{look, look_as_writer, tell};
use crate::time::after;
use raw::{Access, Accessing, Mode, RawRwLock};
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

pub use guard::{RwLockReadGuard, RwLockWriteGuard};

/// A value that many may read at the same time, or one may change.
///
/// Both kinds of locking are events, as locking a [`Mutex`](super::Mutex) is. The mutex's
/// documentation about holding, panics and futures applies here too.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::sync::RwLock;
/// use std::thread;
///
/// static ROUTES: RwLock<Vec<&str>> = RwLock::new(Vec::new());
///
/// ROUTES.write().push("/");
/// let all = ROUTES.read();
/// let other = thread::spawn(|| ROUTES.read().len()); // at the same time
/// assert_eq!(other.join().unwrap(), all.len());
/// ```
///
/// # Fairness
///
/// Readers and writers take turns. A reader waits if a writer already waits, so overlapping readers
/// do not starve writers. A writer that unlocks admits all readers that have come meanwhile, so
/// queued writers do not starve readers. Therefore a performer that reads already and reads *again*
/// may wait for ever, for a writer that waits for it.
///
/// The lock is handed to the performer that has its turn. If other code keeps this performer's domain
/// for long, the lock stays locked until the performer comes.
///
/// A plain thread first looks for half a millisecond whether it can have the lock, and keeps nobody
/// out meanwhile. A writer looks only once if readers have it. A fiber that locks again and again,
/// and need not wait, lets others of its domain run some 20 ms after its turn began.
///
/// # Cost
///
/// While nothing waits, locking takes one locked instruction, unlocking takes another, and neither
/// takes memory. Readers write to the same word; with many short reads a mutex may be as good.
pub struct RwLock<T: ?Sized> {
    raw: RawRwLock,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives one `&mut T`, or several `&T`, to the threads that hold the guards.
// Sharing the lock is therefore sending the value back and forth, and sharing it.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
// SAFETY: owning the lock is owning the value.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}

impl<T> RwLock<T> {
    const_fn! {
        /// Creates a lock that is free.
        #[track_caller]
        pub fn new(value: T) -> Self {
            RwLock { raw: RawRwLock::new(Label::new("readers-writer lock")), value: UnsafeCell::new(value) }
        }
    }

    /// Gives the lock a name, which appears in reports of waiting performers.
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

impl<T: ?Sized> RwLock<T> {
    /// Locks for reading, and waits as [`Event::sync`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::RwLock;
    ///
    /// let lock = RwLock::new(vec![1, 2]);
    /// let reader = lock.read();
    /// std::thread::scope(|scope| {
    ///     let other = scope.spawn(|| lock.read().len()); // at the same time
    ///     assert_eq!(other.join().unwrap(), reader.len());
    /// });
    /// ```
    #[inline]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.lock(Mode::Read);
        RwLockReadGuard::new(self)
    }

    /// Locks for writing, and waits as [`Event::sync`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::RwLock;
    ///
    /// let lock = RwLock::new(0);
    /// std::thread::scope(|scope| {
    ///     for _ in 0..4 {
    ///         scope.spawn(|| *lock.write() += 1); // one after the other
    ///     }
    /// });
    /// assert_eq!(*lock.read(), 4);
    /// ```
    #[inline]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.lock(Mode::Write);
        RwLockWriteGuard::new(self)
    }

    #[inline(always)]
    fn lock(&self, mode: Mode) {
        if is_modelled() {
            return self.raw.access(mode).sync();
        }
        turn::pass_if_due();
        tell("lock", &self.raw.label, &self.raw);
        if !self.raw.try_lock(mode) {
            self.lock_contended(mode);
        }
    }

    #[cold]
    fn lock_contended(&self, mode: Mode) {
        let take = || self.raw.try_lock(mode);
        let taken = match mode {
            Mode::Read => look(take),
            Mode::Write => look_as_writer(|| self.raw.is_read(), take),
        };
        if !taken {
            self.raw.access(mode).sync();
        }
    }

    /// Locks for reading if no writer has the lock or waits for it. Returns `None` otherwise.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// let reader = lock.read();
    /// assert_eq!(lock.try_read().as_deref(), Some(&1)); // readers share it
    /// drop(reader);
    /// let _writer = lock.write();
    /// assert!(lock.try_read().is_none());
    /// ```
    #[inline]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        tell("try to read", &self.raw.label, &self.raw);
        turn::asked(self.raw.try_lock(Mode::Read).then(|| RwLockReadGuard::new(self)))
    }

    /// Locks for writing if the lock is free. Returns `None` otherwise.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::RwLock;
    ///
    /// let lock = RwLock::new(1);
    /// let reader = lock.read();
    /// assert!(lock.try_write().is_none());
    /// drop(reader);
    /// *lock.try_write().unwrap() = 2;
    /// assert_eq!(*lock.read(), 2);
    /// ```
    #[inline]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        tell("try to write", &self.raw.label, &self.raw);
        turn::asked(self.raw.try_lock(Mode::Write).then(|| RwLockWriteGuard::new(self)))
    }

    /// Locks for reading. Returns `None` if that takes longer than `timeout`.
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
    /// use lisle::sync::RwLock;
    /// use std::time::Duration;
    ///
    /// let lock = RwLock::new(1);
    /// let writer = lock.write();
    /// assert!(lock.read_timeout(Duration::from_millis(1)).is_none());
    /// drop(writer);
    /// assert!(lock.read_timeout(Duration::ZERO).is_some()); // it was free
    /// ```
    pub fn read_timeout(&self, timeout: Duration) -> Option<RwLockReadGuard<'_, T>> {
        turn::pass_if_due();
        self.try_read()
            .or_else(|| choose((self.read_evt().wrap(Some), after(timeout).wrap(|()| None))).sync())
    }

    /// Locks for writing. Returns `None` if that takes longer than `timeout`.
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
    /// use lisle::sync::RwLock;
    /// use std::time::Duration;
    ///
    /// let lock = RwLock::new(1);
    /// let reader = lock.read();
    /// assert!(lock.write_timeout(Duration::from_millis(1)).is_none());
    /// assert!(lock.try_read().is_some()); // the writer does not keep readers out any more
    /// drop(reader);
    /// assert!(lock.write_timeout(Duration::ZERO).is_some());
    /// ```
    pub fn write_timeout(&self, timeout: Duration) -> Option<RwLockWriteGuard<'_, T>> {
        turn::pass_if_due();
        self.try_write()
            .or_else(|| choose((self.write_evt().wrap(Some), after(timeout).wrap(|()| None))).sync())
    }

    /// Returns the event of locking for reading, which gives the guard.
    ///
    /// # Cancel safety
    ///
    /// As for [`Mutex::lock_evt`](super::Mutex::lock_evt).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::RwLock};
    ///
    /// let lock = RwLock::new(1);
    /// let read = lock.read_evt();
    /// let (one, other) = (read.sync(), read.poll());
    /// assert!(other.is_some()); // readers share it
    /// drop((one, other));
    /// let _writer = lock.write();
    /// assert!(read.poll().is_none());
    /// ```
    pub fn read_evt(&self) -> ReadLockEvt<'_, T> {
        ReadLockEvt { lock: self, access: self.raw.access(Mode::Read) }
    }

    /// Returns the event of locking for writing, which gives the guard.
    ///
    /// # Cancel safety
    ///
    /// As for [`Mutex::lock_evt`](super::Mutex::lock_evt). A writer that gives up admits the
    /// readers that have waited for it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, sync::RwLock, time::after};
    /// use std::time::Duration;
    ///
    /// let lock = RwLock::new(1);
    /// let in_time = choose((
    ///     lock.write_evt().wrap(Some),
    ///     after(Duration::from_millis(1)).wrap(|()| None),
    /// ));
    /// let reader = lock.read();
    /// assert!(in_time.sync().is_none());
    /// drop(reader);
    /// *in_time.sync().unwrap() = 2;
    /// assert_eq!(*lock.read(), 2);
    /// ```
    pub fn write_evt(&self) -> WriteLockEvt<'_, T> {
        WriteLockEvt { lock: self, access: self.raw.access(Mode::Write) }
    }

    /// Returns a mutable reference to the value. The exclusive borrow guarantees that there is no
    /// guard.
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: `&mut self` guarantees that there is no guard.
        self.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lock = f.debug_struct("RwLock");
        // Printing does not count as a failed attempt.
        if let Some(value) = self.raw.try_lock(Mode::Read).then(|| RwLockReadGuard::new(self)) {
            lock.field("value", &&*value);
        }
        lock.finish_non_exhaustive()
    }
}

/// Defines an event that forwards to the raw lock's event and gives a guard.
macro_rules! access_event {
    ($(#[$doc:meta])* $event:ident gives $guard:ident) => {
        $(#[$doc])*
        #[must_use = "events do nothing unless performed"]
        pub struct $event<'a, T: ?Sized> {
            lock: &'a RwLock<T>,
            access: Access<'a>,
        }

        impl<'a, T: ?Sized> Event for $event<'a, T> {
            type Output = $guard<'a, T>;
            forwarded!(access: Access<'a>, Accessing<'e>);
            forwarded!(describe access);

            fn complete<'e>(&'e self, branch: Pin<&mut Accessing<'e>>) -> $guard<'a, T> {
                self.access.complete(branch);
                $guard::new(self.lock)
            }
        }

        impl<T: ?Sized> fmt::Debug for $event<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($event))
            }
        }

        awaitable!(['a, T: ?Sized] $event<'a, T>, single);
    };
}

access_event! {
    /// The event of locking a [`RwLock`] for reading. See [`RwLock::read_evt`].
    ReadLockEvt gives RwLockReadGuard
}

access_event! {
    /// The event of locking a [`RwLock`] for writing. See [`RwLock::write_evt`].
    WriteLockEvt gives RwLockWriteGuard
}
