//! Locks of the heap's own data, which no panic leaves half changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic of another thread that had the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
