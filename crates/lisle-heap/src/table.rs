//! The words of global handles.

use crate::lock::lock;
use crate::object::Cell;
use crate::raw::{NONE, Raw, is_pointer};
use crate::space::Range;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard};

/// The words of all global handles of a heap, which also tells heaps apart.
///
/// A minor collection looks at the words that may be young, and not at all others. A mark looks at some words at a time while the
/// program goes on: `unmarked` and `removed` are its snapshot.
#[doc(hidden)]
pub struct Table {
    heap: String,
    nursery: Range,
    words: Mutex<Words>,
}

struct Entry {
    word: Cell,
    /// Whether it is in the list `young`.
    is_listed: bool,
    /// The number of the last mark that has seen the word. A word that was added during a mark counts as seen: its object was
    /// reachable, or has been allocated since.
    mark: u64,
}

#[derive(Default)]
struct Words {
    words: Vec<Entry>,
    unused: Vec<usize>,
    /// The table has room for so many words more, which a collection may add.
    kept: usize,
    /// The numbers of the words that may be young.
    young: Vec<usize>,
    /// The number of the last mark.
    mark: u64,
    /// The words from here up to `unmarked_end` have not been looked at by the mark that goes on.
    unmarked: usize,
    unmarked_end: usize,
    /// The words that were removed before the mark that goes on has looked at them.
    removed: Vec<Cell>,
}

impl Words {
    /// Makes room for the words that are kept, and for `more`.
    fn reserve(&mut self, more: usize) {
        self.words.reserve((self.kept + more).saturating_sub(self.unused.len()));
    }

    fn add(&mut self, raw: Raw, nursery: Range) -> usize {
        let index = self.unused.pop().unwrap_or_else(|| {
            self.words.push(Entry { word: Cell::new(NONE), is_listed: false, mark: 0 });
            self.words.len() - 1
        });
        let entry = &mut self.words[index];
        entry.word.store(raw, Ordering::Relaxed);
        entry.mark = self.mark;
        if is_pointer(raw) && nursery.contains(raw) && !entry.is_listed {
            entry.is_listed = true;
            self.young.push(index);
        }
        index
    }

    fn remove(&mut self, index: usize) {
        let is_unmarked = self.unmarked < self.unmarked_end;
        let entry = &mut self.words[index];
        let word = Cell::new(entry.word.swap(NONE, Ordering::Relaxed));
        if is_unmarked && entry.mark != self.mark {
            entry.mark = self.mark;
            self.removed.push(word);
        }
        self.unused.push(index);
    }
}

/// No other thread changes the table meanwhile.
pub(crate) struct Held<'a>(#[expect(dead_code, reason = "it is dropped")] MutexGuard<'a, Words>);

impl Table {
    pub(crate) fn new(heap: String, nursery: Range) -> Self {
        Self { heap, nursery, words: Mutex::default() }
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
        let words = &mut *self.lock();
        words.reserve(1);
        words.add(raw, self.nursery)
    }

    /// Keeps room for one word more, which `add_kept` adds.
    pub(crate) fn keep_room(&self) {
        let words = &mut *self.lock();
        words.kept += 1;
        words.reserve(0);
    }

    /// Adds a word for which there is room, so this allocates nothing.
    pub(crate) fn add_kept(&self, raw: Raw) -> usize {
        let words = &mut *self.lock();
        words.kept -= 1;
        words.add(raw, self.nursery)
    }

    /// Adds a copy of the word with this number, and returns the number of the copy. No collection comes between.
    pub(crate) fn copy(&self, index: usize) -> usize {
        let mut words = self.lock();
        words.reserve(1);
        let raw = words.words[index].word.load(Ordering::Relaxed);
        words.add(raw, self.nursery)
    }

    /// Returns the word with this number.
    pub(crate) fn load(&self, index: usize) -> Raw {
        self.lock().words[index].word.load(Ordering::Relaxed)
    }

    /// Removes the word with this number.
    pub(crate) fn remove(&self, index: usize) {
        self.lock().remove(index);
    }

    /// Calls `visit` for each word, and says whether it may be young.
    pub(crate) fn each(&self, mut visit: impl FnMut(&Cell, bool)) {
        self.lock().words.iter().for_each(|entry| visit(&entry.word, entry.is_listed));
    }

    /// Calls `visit` for each word that may be young, after which it is old.
    pub(crate) fn each_young(&self, mut visit: impl FnMut(&Cell)) {
        let Words { words, young, .. } = &mut *self.lock();
        for index in young.drain(..) {
            words[index].is_listed = false;
            visit(&words[index].word);
        }
    }

    /// Begins the mark with this number, which looks at the words with `mark_some`. No word is young.
    pub(crate) fn begin_mark(&self, mark: u64) {
        let mut words = self.lock();
        words.mark = mark;
        (words.unmarked, words.unmarked_end) = (0, words.words.len());
    }

    /// Calls `visit` for some of the words that the mark has not looked at: for `least` of them, or for a sixty-fourth of all if
    /// that is more, and for those that were removed. Returns `true` if none is left.
    pub(crate) fn mark_some(&self, least: usize, mut visit: impl FnMut(&Cell)) -> bool {
        let mut words = self.lock();
        let Words { words: entries, mark, unmarked, unmarked_end, removed, .. } = &mut *words;
        let end = unmarked.saturating_add(least.max(entries.len() / 64)).min(*unmarked_end);
        for entry in &mut entries[*unmarked..end] {
            if entry.mark != *mark {
                entry.mark = *mark;
                visit(&entry.word);
            }
        }
        *unmarked = end;
        removed.drain(..).for_each(|word| visit(&word));
        end == *unmarked_end
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("heap", &self.heap).finish_non_exhaustive()
    }
}
