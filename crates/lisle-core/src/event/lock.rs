//! The library's own lock, for critical sections of a few instructions. The queues of waiters lie
//! under it, and so does other state that threads share.
//!
//! Taking it costs one locked read-modify-write, and releasing it one plain store. No user code
//! runs under it, except the functions given to a [`Source`](crate::event::Source). A thread that waits
//! for it therefore spins, then yields, and at last sleeps for 50 µs at a time. A queued lock would
//! need a second read-modify-write on release, which is 5 to 6 ns of the 20 that a message may
//! take.

use crate::shim::cell::UnsafeCell;
use crate::shim::const_fn;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

#[cfg(not(lisle_loom))]
use crate::shim::{
    Backoff,
    atomic::{AtomicBool, Ordering},
    unseen,
};

/// A value that one thread at a time accesses, for a few instructions.
///
/// The flag comes first: taking the lock then also fetches the first fields of the value.
#[derive(Debug)]
#[repr(C)]
pub struct Lock<T: ?Sized> {
    #[cfg(not(lisle_loom))]
    held: AtomicBool,
    /// Loom has no fair spinning, so under loom the lock is loom's own mutex. The models check the
    /// protocols above the lock.
    #[cfg(lisle_loom)]
    held: loom::sync::Mutex<()>,
    #[cfg(lisle_loom)]
    life: Life,
    value: UnsafeCell<T>,
}

/// Detects a lock that is taken after it was dropped. Loom does not see that memory has been freed.
/// A model that wants this check drops the lock in place and does not free its memory.
#[cfg(lisle_loom)]
#[derive(Debug)]
struct Life(std::sync::atomic::AtomicBool);

#[cfg(lisle_loom)]
impl Drop for Life {
    fn drop(&mut self) {
        self.0.store(false, std::sync::atomic::Ordering::Relaxed);
    }
}

// SAFETY: the lock gives out one `&mut T` at a time, to the thread that holds it, so sharing the
// lock means sending the value back and forth.
unsafe impl<T: ?Sized + Send> Sync for Lock<T> {}
// SAFETY: the owner of the lock owns the value.
unsafe impl<T: ?Sized + Send> Send for Lock<T> {}

impl<T> Lock<T> {
    const_fn! {
        pub fn new(value: T) -> Self {
            Lock {
                #[cfg(not(lisle_loom))]
                held: AtomicBool::new(false),
                #[cfg(lisle_loom)]
                held: loom::sync::Mutex::new(()),
                #[cfg(lisle_loom)]
                life: Life(true.into()),
                value: UnsafeCell::new(value),
            }
        }
    }
}

#[cfg(lisle_loom)]
impl<T> Lock<T> {
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

#[cfg(not(lisle_loom))]
impl<T> Lock<T> {
    #[inline]
    pub fn into_inner(self) -> T {
        let this = std::mem::ManuallyDrop::new(self);
        gone(&this.held);
        // SAFETY: the lock is not used again, nor dropped.
        this.value.with(|value| unsafe { value.read() })
    }
}

/// An object is gone with its lock. A model is told, since another one may come to the same place.
#[cfg(not(lisle_loom))]
impl<T: ?Sized> Drop for Lock<T> {
    #[inline]
    fn drop(&mut self) {
        gone(&self.held);
    }
}

#[cfg(not(lisle_loom))]
#[inline]
fn gone(held: &AtomicBool) {
    crate::shim::model::touched(std::ptr::from_ref(held).addr(), crate::shim::model::Touch::Gone);
}

impl<T: ?Sized> Lock<T> {
    /// Tells a model the kind of access to the value under the lock. A holder that does not call
    /// this counts as a writer.
    #[inline]
    pub(crate) fn touched(&self, touch: crate::shim::model::Touch) {
        crate::shim::model::touched(std::ptr::from_ref(&self.held).cast::<()>().addr(), touch);
    }
}

impl<T: ?Sized> Lock<T> {
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        // SAFETY: `&mut self` excludes a holder of the lock.
        self.value.with_mut(|value| unsafe { &mut *value })
    }

    /// Takes the lock. The holder must neither suspend its fiber nor take the same lock again: the
    /// threads that want the lock, including its own, would spin for ever. It may panic; the lock
    /// is then released and not poisoned.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        #[cfg(not(lisle_loom))]
        if self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait();
        }
        self.guard()
    }

    /// Does the same as [`lock`](Lock::lock). This tells no model: the caller reports its access to
    /// the value.
    #[inline]
    pub(crate) fn lock_unseen(&self) -> Guard<'_, T, false> {
        #[cfg(not(lisle_loom))]
        if self.unseen().compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait();
        }
        self.guard()
    }

    /// Returns the flag, of which no model is told.
    #[cfg(not(lisle_loom))]
    #[inline(always)]
    fn unseen(&self) -> &unseen::AtomicBool {
        #[cfg(feature = "model")]
        return self.held.unseen();
        #[cfg(not(feature = "model"))]
        &self.held
    }

    /// Returns the guard of the lock, which this thread has taken. Under loom it is taken here.
    #[inline(always)]
    fn guard<const SEEN: bool>(&self) -> Guard<'_, T, SEEN> {
        #[cfg(not(lisle_loom))]
        return Guard { lock: self, _borrow: PhantomData };
        #[cfg(lisle_loom)]
        {
            assert!(
                self.life.0.load(std::sync::atomic::Ordering::Relaxed),
                "a lock was used after it was dropped"
            );
            let held = self.held.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            Guard { lock: self, _borrow: PhantomData, _held: held }
        }
    }

    /// Takes the lock if no other has it. Otherwise returns `None`.
    #[inline]
    pub fn try_lock(&self) -> Option<Guard<'_, T>> {
        #[cfg(not(lisle_loom))]
        {
            // A look does not take the line away from the holder.
            let is_free = !self.held.load(Ordering::Relaxed)
                && self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
            is_free.then(|| Guard { lock: self, _borrow: PhantomData })
        }
        #[cfg(lisle_loom)]
        {
            let held = self.held.try_lock().ok()?;
            Some(Guard { lock: self, _borrow: PhantomData, _held: held })
        }
    }

    /// Releases the lock, whichever thread has it.
    ///
    /// # Safety
    ///
    /// No thread of this process has it: it was inherited by a forked child.
    #[cfg(not(lisle_loom))]
    pub unsafe fn break_open(&self) {
        self.held.store(false, Ordering::Release);
    }

    #[cfg(not(lisle_loom))]
    #[cold]
    fn wait(&self) {
        let mut backoff = Backoff::new();
        loop {
            while self.held.load(Ordering::Relaxed) {
                backoff.wait();
            }
            if self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }
}

/// A guard that releases the lock when dropped, also while unwinding. A model is told so if it is
/// `SEEN`.
pub struct Guard<'a, T: ?Sized, const SEEN: bool = true> {
    lock: &'a Lock<T>,
    /// Makes the guard `Send` and `Sync` exactly as the `&mut T` for which it stands.
    _borrow: PhantomData<&'a mut T>,
    #[cfg(lisle_loom)]
    _held: loom::sync::MutexGuard<'a, ()>,
}

impl<T: ?Sized, const SEEN: bool> Deref for Guard<'_, T, SEEN> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a guard exists only while the lock is held, and `&mut T` needs `&mut` of this
        // same guard, which is `Send` and `Sync` as `&mut T` is. The previous holder's release
        // happens before our acquire.
        self.lock.value.with(|value| unsafe { &*value })
    }
}

impl<T: ?Sized, const SEEN: bool> DerefMut for Guard<'_, T, SEEN> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `&mut self` makes this the only borrow through the guard.
        self.lock.value.with_mut(|value| unsafe { &mut *value })
    }
}

#[cfg(not(lisle_loom))]
impl<T: ?Sized, const SEEN: bool> Drop for Guard<'_, T, SEEN> {
    #[inline]
    fn drop(&mut self) {
        if SEEN {
            self.lock.held.store(false, Ordering::Release);
        } else {
            self.lock.unseen().store(false, Ordering::Release);
        }
    }
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::{Guard, Lock};
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Threads that share a guard share its value. If the guard were `Sync` though the value is
    /// not, two implementations would fit here, and the test would not compile.
    #[test]
    fn a_guard_is_not_shared_if_its_value_must_not_be() {
        trait Fits<Which> {
            const FITS: bool = true;
        }
        impl<T: ?Sized> Fits<()> for T {}
        impl<T: ?Sized + Sync> Fits<u8> for T {}
        const { assert!(<Guard<'_, Cell<u8>> as Fits<_>>::FITS) };
    }

    #[test]
    fn excludes_on_more_threads_than_cores() {
        let (threads, rounds) = if cfg!(miri) { (4, 20) } else { (16, 10_000) };
        let counter = Lock::new(0_u64);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let mut guard = counter.lock();
                        let read = *guard;
                        std::hint::black_box(&read);
                        *guard = read + 1;
                    }
                });
            }
        });
        assert_eq!(*counter.lock(), threads * rounds);
    }

    #[test]
    fn a_lock_that_is_held_is_not_waited_for_if_it_is_tried() {
        let lock = Lock::new(1);
        let held = lock.try_lock().expect("nobody has it");
        assert!(lock.try_lock().is_none());
        drop(held);
        assert_eq!(*lock.try_lock().expect("it has been released"), 1);
    }

    #[test]
    fn a_panic_under_the_lock_lets_go_of_it() {
        let lock = Lock::new(1);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let _guard = lock.lock();
            panic!("inside");
        }));
        assert!(outcome.is_err());
        assert_eq!(*lock.lock(), 1);
    }
}
