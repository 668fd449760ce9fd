//! The words of global handles.

use crate::lock::lock;
use crate::object::Cell;
use crate::raw::{NONE, Raw};
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard};

/// The words of all global handles of a heap, which also tells heaps apart.
#[doc(hidden)]
pub struct Table {
    heap: String,
    words: Mutex<Words>,
}

#[derive(Default)]
struct Words {
    words: Vec<Cell>,
    unused: Vec<usize>,
}

impl Words {
    fn add(&mut self, raw: Raw) -> usize {
        let index = self.unused.pop().unwrap_or_else(|| {
            self.words.push(Cell::new(NONE));
            self.words.len() - 1
        });
        self.words[index].store(raw, Ordering::Relaxed);
        index
    }
}

/// No other thread changes the table meanwhile.
pub(crate) struct Held<'a>(#[expect(dead_code, reason = "it is dropped")] MutexGuard<'a, Words>);

impl Table {
    pub(crate) fn new(heap: String) -> Self {
        Self { heap, words: Mutex::default() }
    }

    /// Returns the name of the heap.
    pub(crate) fn heap(&self) -> &str {
        &self.heap
    }

    fn lock(&self) -> MutexGuard<'_, Words> {
        lock(&self.words)
    }

    /// Keeps other threads from changing the table.
    pub(crate) fn hold(&self) -> Held<'_> {
        Held(self.lock())
    }

    /// Adds a word, and returns its number.
    pub(crate) fn add(&self, raw: Raw) -> usize {
        self.lock().add(raw)
    }

    /// Adds a copy of the word with this number, and returns the number of the copy. No collection comes between.
    pub(crate) fn copy(&self, index: usize) -> usize {
        let mut words = self.lock();
        let raw = words.words[index].load(Ordering::Relaxed);
        words.add(raw)
    }

    /// Returns the word with this number.
    pub(crate) fn load(&self, index: usize) -> Raw {
        self.lock().words[index].load(Ordering::Relaxed)
    }

    /// Removes the word with this number.
    pub(crate) fn remove(&self, index: usize) {
        let mut words = self.lock();
        words.words[index].store(NONE, Ordering::Relaxed);
        words.unused.push(index);
    }

    /// Calls `visit` for each word.
    pub(crate) fn each(&self, visit: impl FnMut(&Cell)) {
        self.lock().words.iter().for_each(visit);
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("heap", &self.heap).finish_non_exhaustive()
    }
}
