//! Messages that own memory and are counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A message. Its number lies in memory of its own, so reading it after it was dropped is found.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) number: Box<usize>,
    alive: Arc<AtomicUsize>,
}

impl Clone for Message {
    fn clone(&self) -> Self {
        self.alive.fetch_add(1, Ordering::Relaxed);
        Message { number: self.number.clone(), alive: self.alive.clone() }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The messages of one test.
#[derive(Default)]
pub(crate) struct Messages(Arc<AtomicUsize>);

impl Messages {
    pub(crate) fn make(&self, number: usize) -> Message {
        self.0.fetch_add(1, Ordering::Relaxed);
        Message { number: Box::new(number), alive: self.0.clone() }
    }

    pub(crate) fn assert_all_dropped(self) {
        assert_eq!(self.0.load(Ordering::Relaxed), 0, "every message is dropped once");
    }
}
