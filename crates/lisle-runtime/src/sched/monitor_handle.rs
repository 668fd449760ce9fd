//! The handle by which others wake the monitor of a runtime, and end it.

use crate::shim::sync::OnceLock;
use crate::shim::unseen::{AtomicBool, AtomicU64, Ordering};
use std::thread::Thread;

#[derive(Default)]
pub struct Monitor {
    pub(super) asleep: AtomicBool,
    pub(super) ended: AtomicBool,
    pub(super) thread: OnceLock<Thread>,
    /// Set while the system gives no thread for it.
    pub(super) is_missing: AtomicBool,
    /// When to ask for one again.
    pub(super) next_try: AtomicU64,
}

impl Monitor {
    /// Wakes the monitor if it sleeps. Called when work begins on a domain, or for it.
    #[inline]
    pub fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst)
            && self.asleep.swap(false, Ordering::AcqRel)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    /// Returns `true` if the system has given no thread for it.
    #[inline]
    pub(super) fn is_missing(&self) -> bool {
        self.is_missing.load(Ordering::Relaxed)
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}
