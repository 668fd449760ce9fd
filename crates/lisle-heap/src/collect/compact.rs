//! Compaction: old objects that lie scattered move together.

use crate::inner::Inner;
use crate::lock::lock;
use crate::object::{Cell, each_word_and_weak, header_of};
use crate::place::Place;
use crate::raw::{Raw, is_pointer, moved, untagged};
use crate::space::blocks_for;
use crate::world::Stopped;
use std::sync::atomic::Ordering;

/// Corrects a word that refers to an object that has moved.
///
/// # Safety
///
/// If the word is a pointer, it points to the payload of an old object, or to where one was.
unsafe fn correct(cell: &Cell) {
    let raw = cell.load(Ordering::Relaxed);
    if is_pointer(raw) {
        // SAFETY: passed on to the caller.
        if let Some(to) = unsafe { header_of(untagged(raw)).new_place() } {
            cell.store(moved(raw, to), Ordering::Relaxed);
        }
    }
}

impl Inner {
    /// Moves objects out of sparse blocks, corrects all words, and gives the memory back.
    ///
    /// # Safety
    ///
    /// All threads have stopped. A whole cycle has ended in this stop, so each object is old and alive, and no log, queue or list
    /// of the cycle has an entry.
    pub(super) unsafe fn compact(&self, stopped: &Stopped<'_, Place>) {
        let mut old = lock(&self.old);
        // SAFETY: all words of the heap are corrected before anything looks at them.
        unsafe {
            let emptied = old.empty_sparse();
            old.each_object(|payload| each_word_and_weak(payload, |cell| correct(cell)));
            for place in stopped.members() {
                place.each_session(|session| _ = session.roots.each(|root| correct(root)));
            }
            self.globals.each(|word, _| correct(word));
            self.guards.each(|word| correct(word));
            self.cycle.marker.each_weak(|payload: &mut Raw| {
                if let Some(to) = header_of(*payload).new_place() {
                    *payload = to;
                }
            });
            let keep = blocks_for(self.nursery.size(), self.movers.load(Ordering::Relaxed));
            old.give_back_emptied(emptied, keep);
        }
    }
}
