//! Where a thread of a pool gets its work, and where it sleeps.
//!
//! Who is about to sleep says so, and then looks once more whether there is something to do. Who
//! has something for it looks whether it sleeps, after that. Both swap the same flag: the one that
//! comes second has seen what the first did before.

use crate::shim::atomic::{AtomicBool, Ordering};
use crate::shim::sync::{Mutex, MutexGuard};
use crate::shim::thread::{self, Thread};
use std::sync::{OnceLock, PoisonError};

/// What others share with one thread.
pub(crate) struct Inbox<W> {
    /// What the thread has not looked at yet. A world submits once for each thread.
    submitted: Mutex<Vec<W>>,
    has_submitted: AtomicBool,
    asleep: AtomicBool,
    thread: OnceLock<Thread>,
}

impl<W> Inbox<W> {
    pub(crate) fn new() -> Self {
        Inbox {
            submitted: Mutex::new(Vec::new()),
            has_submitted: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            thread: OnceLock::new(),
        }
    }

    fn submitted(&self) -> MutexGuard<'_, Vec<W>> {
        self.submitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the calling thread the one that takes, and sleeps here.
    pub(crate) fn is_for_this_thread(&self) {
        let _ = self.thread.set(thread::current());
    }

    /// Gives the thread something to do, and wakes it.
    pub(crate) fn submit(&self, work: W) {
        self.submitted().push(work);
        self.has_submitted.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Wakes the thread if it sleeps.
    pub(crate) fn wake(&self) {
        if self.asleep.swap(false, Ordering::SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    /// Takes what was submitted.
    pub(crate) fn take(&self, kept: &mut Vec<W>) {
        if self.has_submitted.load(Ordering::Acquire) {
            self.has_submitted.store(false, Ordering::Relaxed);
            kept.append(&mut self.submitted());
        }
    }

    /// Drops what was submitted, since the thread ends.
    #[cfg(not(lisle_loom))]
    pub(crate) fn clear(&self) {
        // Work that is dropped may run calls, for which nobody is to wait here.
        let left = std::mem::take(&mut *self.submitted());
        drop(left);
    }

    /// Sleeps until something is submitted, or the thread is woken, or has something to do, which
    /// it says itself.
    pub(crate) fn sleep(&self, has_to_do: impl Fn() -> bool) {
        self.asleep.swap(true, Ordering::SeqCst);
        while self.asleep.load(Ordering::SeqCst) && !self.has_submitted.load(Ordering::SeqCst) && !has_to_do()
        {
            thread::park();
        }
        self.asleep.swap(false, Ordering::SeqCst);
    }
}
