//! Moving the young objects that are reachable to the old space.

use crate::object::{Cell, Header, each_word, header_of, set_header};
use crate::raw::{Raw, is_pointer, moved, untagged};
use crate::space::old::Old;
use crate::space::place::Place;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering;

/// Moves objects.
///
/// An object that has moved, and whose words have not been looked at, is *pending*. The pending objects
/// are a list through their old places, whose first word is not needed any more. So the depth of the
/// graph takes neither stack nor memory.
pub(crate) struct Mover<'a> {
    place: &'a Place,
    old: &'a mut Old,
    pending: Raw,
}

impl<'a> Mover<'a> {
    pub(crate) fn new(place: &'a Place, old: &'a mut Old) -> Self {
        Self { place, old, pending: ptr::null_mut() }
    }

    /// Moves the object to which the word points, if it is young, and corrects the word.
    #[inline]
    pub(crate) fn correct(&mut self, cell: &Cell) {
        let raw = cell.load(Ordering::Relaxed);
        if is_pointer(raw) && self.place.is_young(raw) {
            // SAFETY: the word points to an object, since all words do or are immediates.
            let to = unsafe { self.move_once(untagged(raw)) };
            cell.store(moved(raw, to), Ordering::Relaxed);
        }
    }

    /// Does so for each word of an object.
    ///
    /// # Safety
    ///
    /// `payload` is that of an old object.
    pub(crate) unsafe fn correct_all(&mut self, payload: Raw) {
        // SAFETY: passed on to the caller.
        unsafe {
            let desc = header_of(payload).desc();
            each_word(desc, payload, 0, usize::MAX, |cell| self.correct(cell));
        }
    }

    /// Returns the new place of a young object.
    #[inline]
    unsafe fn move_once(&mut self, from: Raw) -> Raw {
        // SAFETY: the object has a header and so many words; the cell has room for them.
        unsafe {
            let header = header_of(from);
            if let Some(to) = header.new_place() {
                return to;
            }
            let words = header.desc().words(from);
            let to = self.old.take(words + 1);
            copy(from, to, words);
            set_header(to, header.with_colour(self.old.colour));
            set_header(from, Header::moved_to(to));
            from.cast::<Raw>().write(self.pending);
            self.pending = from;
            to
        }
    }

    /// Moves all that can be reached from the objects that have moved.
    pub(crate) fn finish(mut self) {
        while !self.pending.is_null() {
            let from = self.pending;
            // SAFETY: a pending object has moved, and its first word is the next pending object.
            unsafe {
                self.pending = from.cast::<Raw>().read();
                let to = header_of(from).new_place().expect("a pending object has moved");
                self.correct_all(to);
            }
        }
    }
}

/// Copies so many words. Most objects are small, and a call of `memcpy` costs more than they do.
///
/// # Safety
///
/// `from` and `to` have so many words, and do not overlap.
#[inline]
unsafe fn copy(from: Raw, to: Raw, words: usize) {
    let (from, to) = (from.cast::<MaybeUninit<usize>>(), to.cast::<MaybeUninit<usize>>());
    // SAFETY: passed on to the caller.
    unsafe {
        if words <= 4 {
            for index in 0..words {
                to.add(index).write(from.add(index).read());
            }
        } else {
            to.copy_from_nonoverlapping(from, words);
        }
    }
}
