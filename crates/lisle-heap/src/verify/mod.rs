//! The check of a heap.

use crate::inner::Inner;
use crate::lock::lock;
use crate::object::{Cell, WORD, each_word_and_weak, header_of};
use crate::place::Place;
use crate::raw::{Raw, is_pointer, untagged};
use crate::space::Logged;
use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::ptr;
use std::sync::atomic::Ordering;

/// What [`Heap::verify`](crate::Heap::verify) has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the heap is not in order: {}", self.0)
    }
}

impl Error for Fault {}

struct Check<'a> {
    place: &'a Place,
    /// The addresses of the payloads of all objects.
    objects: HashSet<usize>,
    logged: HashSet<Logged>,
    fault: Option<String>,
}

impl Check<'_> {
    fn fail(&mut self, what: impl FnOnce() -> String) {
        if self.fault.is_none() {
            self.fault = Some(what());
        }
    }

    /// Checks a word. `owner` is the old object that it is part of.
    fn word(&mut self, cell: &Cell, owner: Option<Raw>, of: impl Fn() -> String) {
        let raw = cell.load(Ordering::Relaxed);
        if !is_pointer(raw) {
            return;
        }
        if raw.is_null() || !self.objects.contains(&untagged(raw).addr()) {
            return self.fail(|| format!("a word of {} points to {raw:p}, where there is no object", of()));
        }
        let Some(owner) = owner.and_then(ptr::NonNull::new) else { return };
        let logged = self.logged.contains(&Logged::Slot(ptr::NonNull::from(cell)))
            || self.logged.contains(&Logged::Object(owner));
        if self.place.young.is_young(raw) && !logged {
            self.fail(|| {
                format!("a word of {}, an old object, points to a young object and is not logged", of())
            });
        }
    }

    /// Checks a word outside of all objects. The next minor collection does not look at it unless it may be young.
    fn root(&mut self, cell: &Cell, may_be_young: bool, of: &str) {
        self.word(cell, None, || of.into());
        let raw = cell.load(Ordering::Relaxed);
        if is_pointer(raw) && self.place.young.is_young(raw) && !may_be_young {
            self.fail(|| format!("a word of {of} points to a young object, and is not known to"));
        }
    }

    /// Checks the words of an object.
    ///
    /// # Safety
    ///
    /// It is an object of the heap.
    unsafe fn object(&mut self, payload: Raw, old: bool) {
        // SAFETY: passed on to the caller.
        unsafe {
            let desc = header_of(payload).desc();
            let of = || format!("a `{}`", (desc.name)());
            each_word_and_weak(payload, |cell| self.word(cell, old.then_some(payload), of));
        }
    }
}

impl Inner {
    /// Checks the heap, while all other threads are stopped.
    ///
    /// # Safety
    ///
    /// This thread is inside, in this place, and no reference to an object is used afterwards.
    pub(crate) unsafe fn verify(&self, place: &Place) -> Result<(), Fault> {
        let stopped = self.stop_in_turn(place);
        let old = &*lock(&self.old);
        // SAFETY: all threads have stopped.
        unsafe {
            let mut check = Check { place, objects: HashSet::new(), logged: HashSet::new(), fault: None };
            for place in stopped.members() {
                check.logged.extend(place.young.log_entries().iter().copied());
            }
            // The objects of a block of the nursery lie one after the other.
            let mut young = Vec::new();
            let in_use = stopped.members().filter_map(|place| place.young.block_in_use());
            for (begin, used) in self.nursery.blocks().chain(in_use) {
                let mut at = 0;
                while at < used {
                    let payload = begin.add(at + WORD);
                    let header = header_of(payload);
                    if header.is_free() || header.new_place().is_some() {
                        check.fail(|| format!("a young object at {payload:p} has no header"));
                        break;
                    }
                    young.push(payload);
                    at += (1 + header.desc().words(payload)) * WORD;
                }
            }
            let (mut olds, mut bytes) = (Vec::new(), 0);
            let dead = old.colours.dead;
            old.each_object(|payload| {
                if header_of(payload).colour() != dead {
                    olds.push(payload);
                }
            });
            check.objects.extend(young.iter().chain(&olds).map(|payload| payload.addr()));
            let free: HashSet<Raw> = old.free_cells().map(|(_, payload)| payload).collect();
            if free.len() != old.free_cells().count() {
                check.fail(|| "a free cell is listed twice".into());
            }
            old.each_cell(|words, payload, swept| {
                let header = header_of(payload);
                if header.is_free() {
                    if !free.contains(&payload) {
                        check.fail(|| format!("a free cell at {payload:p} is not listed"));
                    }
                } else {
                    if free.contains(&payload) {
                        check.fail(|| format!("a cell with an object, at {payload:p}, is listed as free"));
                    }
                    let needed = 1 + header.desc().words(payload);
                    if needed > words {
                        check.fail(|| format!("an object of {needed} words is in a cell of {words}"));
                    }
                    if swept && header.colour() == dead {
                        check.fail(|| format!("an old object at {payload:p} has the colour of dead ones"));
                    }
                    bytes += words * WORD;
                }
            });
            for &payload in &olds {
                check.object(payload, true);
            }
            for &payload in &young {
                check.object(payload, false);
            }
            self.guards.each(|word| check.word(word, None, || "the guarded objects".into()));
            for place in stopped.members() {
                place.each_session(|session| {
                    _ = session.roots.each(|root| check.root(root, session.changed.get(), "the roots"));
                });
            }
            self.globals.each(|word, may_be_young| check.root(word, may_be_young, "the global handles"));
            let small = old.bytes() - old.large_bytes();
            if bytes != small {
                check.fail(|| format!("the cells of objects have {bytes} bytes, and {small} are counted"));
            }
            check.fault.map_or(Ok(()), |fault| Err(Fault(fault)))
        }
    }
}

#[cfg(test)]
mod tests;
