//! The guards of a readers-writer lock.

use super::RwLock;
use super::raw::Mode;
use crate::event::visible_doing;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// A guard that keeps a [`RwLock`] locked for reading until it is dropped.
///
/// ```compile_fail,E0277
/// # use lisle_core as lisle;
/// fn may_move<T: Send>() {}
/// may_move::<lisle::sync::RwLockReadGuard<'static, std::cell::Cell<()>>>();
/// ```
#[must_use = "a guard that is dropped at once locks nothing"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
}

/// A guard that keeps a [`RwLock`] locked for writing until it is dropped.
///
/// ```compile_fail,E0277
/// # use lisle_core as lisle;
/// fn may_be_shared<T: Sync>() {}
/// may_be_shared::<lisle::sync::RwLockWriteGuard<'static, std::cell::Cell<()>>>();
/// ```
#[must_use = "a guard that is dropped at once locks nothing"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// Makes the guard `Send` and `Sync` exactly as the `&mut T` for which it stands.
    _borrow: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// Creates the guard for a performer that has just locked the lock.
    #[inline(always)]
    pub(super) fn new(lock: &'a RwLock<T>) -> Self {
        RwLockReadGuard { lock }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Creates the guard for a performer that has just locked the lock.
    #[inline(always)]
    pub(super) fn new(lock: &'a RwLock<T>) -> Self {
        RwLockWriteGuard { lock, _borrow: PhantomData }
    }

    /// Turns the writer into a reader, with no other writer in between. This is not a method, since
    /// it could hide a method of the value.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::{RwLock, RwLockWriteGuard};
    ///
    /// let lock = RwLock::new(1);
    /// let mut writer = lock.write();
    /// *writer = 2;
    /// let reader = RwLockWriteGuard::downgrade(writer);
    /// assert!(lock.try_read().is_some()); // others may read again
    /// assert!(lock.try_write().is_none());
    /// assert_eq!(*reader, 2);
    /// ```
    pub fn downgrade(guard: Self) -> RwLockReadGuard<'a, T> {
        let guard = ManuallyDrop::new(guard);
        guard.lock.raw.downgrade();
        RwLockReadGuard::new(guard.lock)
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: while this guard exists, there are only other readers. The unlocks of all
        // previous writers happen before this reader's lock.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one, and writing needs `&mut` of it. The unlocks of all
        // previous holders happen before this writer's lock.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `&mut self` makes this the only borrow through the guard.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        visible_doing("end reading", &self.lock.raw.label, &self.lock.raw);
        self.lock.raw.unlock(Mode::Read);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        visible_doing("end writing", &self.lock.raw.label, &self.lock.raw);
        self.lock.raw.unlock(Mode::Write);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
