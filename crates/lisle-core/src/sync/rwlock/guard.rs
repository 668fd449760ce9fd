//! What a readers-writer lock gives to those who have it.

use super::RwLock;
use super::raw::Mode;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// Keeps a [`RwLock`] locked for reading until it is dropped.
///
/// ```compile_fail,E0277
/// fn may_move<T: Send>() {}
/// may_move::<lisle::sync::RwLockReadGuard<'static, std::cell::Cell<()>>>();
/// ```
#[must_use = "a guard that is dropped at once locks nothing"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
}

/// Keeps a [`RwLock`] locked for writing until it is dropped.
///
/// ```compile_fail,E0277
/// fn may_be_shared<T: Sync>() {}
/// may_be_shared::<lisle::sync::RwLockWriteGuard<'static, std::cell::Cell<()>>>();
/// ```
#[must_use = "a guard that is dropped at once locks nothing"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// It is shared between threads and sent as what it stands for.
    _borrow: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// For whoever has just locked it.
    #[inline(always)]
    pub(super) fn new(lock: &'a RwLock<T>) -> Self {
        RwLockReadGuard { lock }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// For whoever has just locked it.
    #[inline(always)]
    pub(super) fn new(lock: &'a RwLock<T>) -> Self {
        RwLockWriteGuard { lock, _borrow: PhantomData }
    }

    /// Goes on as a reader; no writer comes between. Not a method, since those are the value's.
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
        // SAFETY: while this guard is there, there are other readers only; the writers before have let go of the lock, and
        // we have taken it since.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one, and writing needs `&mut` of it; whoever had the lock before has let go of
        // it, and we have taken it since.
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
        self.lock.raw.unlock(Mode::Read);
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
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
