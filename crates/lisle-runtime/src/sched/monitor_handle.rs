//! By which the others wake the monitor of a runtime, and end it.

use crate::shim::atomic::{AtomicBool, Ordering};
use crate::shim::sync::OnceLock;
use std::thread::Thread;

#[derive(Default)]
pub struct Monitor {
    pub(super) asleep: AtomicBool,
    pub(super) ended: AtomicBool,
    pub(super) thread: OnceLock<Thread>,
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

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}
