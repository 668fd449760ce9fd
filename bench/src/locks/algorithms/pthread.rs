//! The mutexes of the C library, by their own functions. In C++ `std::mutex` is the normal one.

use super::Lock;
use std::{cell::UnsafeCell, marker::PhantomData, mem::MaybeUninit};

/// Of which kind a [`Pthread`] mutex is.
pub(crate) trait Kind: 'static {
    const KIND: libc::c_int;
}

/// Sleeps at once if the mutex is held.
pub(crate) struct Normal;

/// Spins for a while before it sleeps.
pub(crate) struct Adaptive;

impl Kind for Normal {
    const KIND: libc::c_int = libc::PTHREAD_MUTEX_NORMAL;
}

impl Kind for Adaptive {
    const KIND: libc::c_int = libc::PTHREAD_MUTEX_ADAPTIVE_NP;
}

/// In a box, since such a mutex must not be moved.
pub(crate) struct Pthread<K>(Box<UnsafeCell<libc::pthread_mutex_t>>, PhantomData<fn(K)>);

// SAFETY: a mutex of pthread's is made to be used by several threads at once, through a shared
// pointer.
unsafe impl<K> Sync for Pthread<K> {}
// SAFETY: it may be unlocked only by the thread that has locked it, which `with` sees to; any
// thread may destroy it.
unsafe impl<K> Send for Pthread<K> {}

// SAFETY: POSIX guarantees both for code between `pthread_mutex_lock` and `pthread_mutex_unlock`.
unsafe impl<K: Kind> Lock for Pthread<K> {
    fn new() -> Self {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: it is given room for the attributes, and makes them.
        done(unsafe { libc::pthread_mutexattr_init(attributes.as_mut_ptr()) });
        // SAFETY: the attributes have been made.
        done(unsafe { libc::pthread_mutexattr_settype(attributes.as_mut_ptr(), K::KIND) });
        let mutex = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        // SAFETY: the mutex has its final place, and nobody uses it yet; the attributes have been
        // made.
        done(unsafe { libc::pthread_mutex_init(mutex.get(), attributes.as_ptr()) });
        // SAFETY: the attributes have been made and are not used any more.
        done(unsafe { libc::pthread_mutexattr_destroy(attributes.as_mut_ptr()) });
        Pthread(mutex, PhantomData)
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        // SAFETY: the mutex has been made. A thread that locks it twice would deadlock, which is
        // safe.
        done(unsafe { libc::pthread_mutex_lock(self.0.get()) });
        let result = f();
        // SAFETY: this thread has locked it above.
        done(unsafe { libc::pthread_mutex_unlock(self.0.get()) });
        result
    }
}

impl<K> Drop for Pthread<K> {
    fn drop(&mut self) {
        // SAFETY: it has been made, and nobody holds or uses it, as it is dropped.
        done(unsafe { libc::pthread_mutex_destroy(self.0.get()) });
    }
}

/// These functions fail only where they are used wrongly.
#[inline]
fn done(status: libc::c_int) {
    assert_eq!(status, 0, "a mutex of pthread's is used as it may be");
}
