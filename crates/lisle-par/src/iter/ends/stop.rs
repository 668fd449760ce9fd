//! A flag by which participants tell each other to stop early.
//!
//! The flag is only a hint, as the flags of `at.rs` are: its accesses are relaxed.

use crate::event::{declare, gone};
use crate::shim::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether a participant has found a result that suffices for all.
pub(in crate::iter) struct Found(AtomicBool);

impl Found {
    pub(in crate::iter) fn new() -> Self {
        Found(AtomicBool::new(false))
    }

    pub(in crate::iter) fn set(&self) {
        declare(self);
        self.0.store(true, Relaxed);
    }

    pub(in crate::iter) fn is_set(&self) -> bool {
        declare(self);
        self.0.load(Relaxed)
    }
}

/// A loop that has not begun may be cloned.
impl Clone for Found {
    fn clone(&self) -> Self {
        Found(AtomicBool::new(self.0.load(Relaxed)))
    }
}

/// A model has to know that another flag may come to the same place in memory.
impl Drop for Found {
    #[inline]
    fn drop(&mut self) {
        gone(self);
    }
}

#[cfg(test)]
mod tests {
    use super::Found;

    #[test]
    fn it_is_set_once_and_for_all() {
        let found = Found::new();
        assert!(!found.is_set());
        found.set();
        assert!(found.is_set());
    }
}
