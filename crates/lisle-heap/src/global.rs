//! Handles that belong to no session.

use crate::local::Local;
use crate::raw::{Raw, tagged};
use crate::scope::Scope;
use crate::table::Table;
use crate::word::{Holds, Source, Word};
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A handle to a word that may be sent to other threads. It keeps the object alive until it is dropped, or
/// until the heap is.
///
/// A global handle in a plain field of an object, or in a channel that such a field has, is a root all the same. If its object refers back
/// to that one, both stay for as long as the heap.
///
/// [`Scope::global`](crate::Scope::global) makes it, [`Scope::take`](crate::Scope::take) turns it into a
/// handle of a scope, and a reference to it is a [`Source`](crate::Source).
///
/// # Examples
///
/// ```
/// use lisle_heap::{Heap, Object};
/// use std::thread;
///
/// #[derive(Object)]
/// struct Message {
///     text: String,
/// }
///
/// let heap = Heap::new();
/// let message = heap.enter(|s| {
///     let message = s.alloc::<Message>(Message::init("hello".into()));
///     s.global::<Message>(message)
/// });
/// let length = thread::spawn(move || heap.enter(|s| s.take(message).get(s).text.len())).join();
/// assert_eq!(length.unwrap(), 5);
/// ```
pub struct Global<W: Word> {
    table: Arc<Table>,
    index: usize,
    _word: PhantomData<fn(W) -> W>,
}

impl<W: Word> Global<W> {
    /// Returns the handle to the word with this number in the table, which is one of type `W`.
    pub(crate) fn of_index(table: Arc<Table>, index: usize) -> Self {
        Self { table, index, _word: PhantomData }
    }

    /// Returns the word, if the handle is one of the heap with this table.
    fn load(&self, here: &Table) -> Option<Raw> {
        std::ptr::eq(&*self.table, here).then(|| self.table.load(self.index))
    }

    fn wrong(&self, here: &str) -> String {
        let there = self.table.heap();
        format!(
            "a global handle of the heap `{there}` was used in the heap `{here}`. Use it in a session of its own heap"
        )
    }
}

/// The clone is a handle of its own. It can be made outside.
impl<W: Word> Clone for Global<W> {
    fn clone(&self) -> Self {
        Self::of_index(self.table.clone(), self.table.copy(self.index))
    }
}

impl<W: Word> Drop for Global<W> {
    fn drop(&mut self) {
        self.table.remove(self.index);
    }
}

impl<W: Word> fmt::Debug for Global<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Global").field("heap", &self.table.heap()).finish_non_exhaustive()
    }
}

/// The error for a global handle that was used in another heap than its own. The handle is in it.
pub struct WrongHeap<W: Word> {
    /// The name of the heap in which the handle was used.
    pub here: String,
    /// The handle.
    pub global: Global<W>,
}

impl<W: Word> fmt::Debug for WrongHeap<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WrongHeap").field("here", &self.here).field("global", &self.global).finish()
    }
}

impl<W: Word> fmt::Display for WrongHeap<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.global.wrong(&self.here))
    }
}

impl<W: Word> Error for WrongHeap<W> {}

impl<'s> Scope<'s> {
    /// Makes a handle that may be sent to other threads, and keeps the object alive until it is dropped.
    pub fn global<'a, W: Word>(&'a self, value: impl Source<'a, W>) -> Global<W> {
        let table = self.table().clone();
        let index = table.add(value.raw(&table));
        Global::of_index(table, index)
    }

    /// Makes a local handle of a global one, which ends.
    ///
    /// # Panics
    ///
    /// If `global` is a handle of another heap.
    #[track_caller]
    pub fn take<W: Word>(&self, global: Global<W>) -> Local<'s, W> {
        match self.try_take(global) {
            Ok(local) => local,
            Err(wrong) => panic!("{wrong}"),
        }
    }

    /// Makes a local handle of a global one, which ends.
    ///
    /// # Errors
    ///
    /// If `global` is a handle of another heap. It is in the error.
    pub fn try_take<W: Word>(&self, global: Global<W>) -> Result<Local<'s, W>, WrongHeap<W>> {
        match global.load(self.table()) {
            Some(raw) => Ok(self.push(raw)),
            None => Err(WrongHeap { here: self.table().heap().to_owned(), global }),
        }
    }
}

// SAFETY: the table has a word of type `W` for the handle.
unsafe impl<'a, V: Word, W: Holds<V>> Source<'a, W> for &Global<V> {
    #[track_caller]
    fn raw(&self, here: &Table) -> Raw {
        match self.load(here) {
            Some(raw) => tagged(raw, W::TAG),
            None => panic!("{}", self.wrong(here.heap())),
        }
    }
}
