//! Marking the objects of the old space that are reachable. The nursery is empty meanwhile.

use crate::object::{Cell, Colour, each_word, header_of, set_header};
use crate::raw::{Raw, is_pointer, untagged};
use crate::space::old::Old;
use std::sync::atomic::Ordering;

/// At most so many elements of an array are looked at in one step, so that its elements do not fill the
/// stack all at once.
const STEP: usize = 1 << 10;

/// An object that is marked, and whose words, or elements from `from` on, have not been looked at.
struct Pending {
    payload: Raw,
    from: usize,
}

#[derive(Default)]
pub(crate) struct Marker {
    stack: Vec<Pending>,
    /// The system had no memory for the stack to grow, so a marked object is missing from it.
    incomplete: bool,
}

// SAFETY: the objects are `Send`, and the thread that has the value is the only one that marks.
unsafe impl Send for Marker {}

impl Marker {
    /// Marks the object to which the word points.
    #[inline]
    pub(crate) fn reach(&mut self, cell: &Cell, live: Colour) {
        let raw = cell.load(Ordering::Relaxed);
        if is_pointer(raw) {
            let payload = untagged(raw);
            // SAFETY: the word points to an object.
            unsafe {
                let header = header_of(payload);
                if header.colour() != live {
                    set_header(payload, header.with_colour(live));
                    self.push(payload, 0);
                }
            }
        }
    }

    fn push(&mut self, payload: Raw, from: usize) {
        if self.stack.len() == self.stack.capacity() && self.stack.try_reserve(1).is_err() {
            self.incomplete = true;
        } else {
            self.stack.push(Pending { payload, from });
        }
    }

    /// Marks all that can be reached from the objects that are marked.
    pub(crate) fn finish(&mut self, old: &Old) {
        loop {
            while let Some(Pending { payload, from }) = self.stack.pop() {
                self.look_at(payload, from, old.colour);
            }
            if !std::mem::take(&mut self.incomplete) {
                return;
            }
            // Each round marks at least the objects that did not find room in the stack.
            old.each_object(|payload| {
                // SAFETY: the object is in the old space.
                if unsafe { header_of(payload) }.colour() == old.colour {
                    self.look_at(payload, 0, old.colour);
                    while let Some(Pending { payload, from }) = self.stack.pop() {
                        self.look_at(payload, from, old.colour);
                    }
                }
            });
        }
    }

    fn look_at(&mut self, payload: Raw, from: usize, live: Colour) {
        // SAFETY: the object is in the old space, and its header is not changed but for its colour.
        unsafe {
            let desc = header_of(payload).desc();
            // The rest of an array lies under its elements in the stack.
            if let Some(next) = each_word(desc, payload, from, STEP, |cell| self.reach(cell, live)) {
                self.push(payload, next);
            }
        }
    }
}
