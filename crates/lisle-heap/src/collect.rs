//! Collections.
//!
//! A *minor* collection moves the young objects that are reachable to the old space (`space/minor.rs`). A *full*
//! collection is a minor one, after which the nursery is empty; then it marks all reachable objects
//! (`space/mark.rs`), and sweeps the old space.
//!
//! A collection runs on the thread that is inside. It sees the roots of all open sessions. The
//! roots of threads that are in `outside` do not change meanwhile, since such a thread waits at the gate.

use crate::full::Full;
use crate::inner::Inner;
use crate::object::{Cell, Desc, Header, WORD, header_of, set_header};
use crate::raw::Raw;
use crate::space::{Logged, Mover, Spaces, blocks_for};
use crate::stats::Stats;
use lisle_core::internal::abort;
use std::time::Instant;

/// What a collection looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// The objects that were allocated since the last collection.
    Minor,
    /// All objects.
    Full,
}

/// Runs the destructors of a dead object's plain fields.
///
/// # Safety
///
/// The object is dead, has a destructor, and its destructor has not run.
pub(crate) unsafe fn destroy(payload: Raw) {
    // SAFETY: the object has its header.
    let desc = unsafe { header_of(payload).desc() };
    if let Some(drop) = desc.drop {
        abort::if_it_unwinds(
            format_args!("the destructor of a heap object of type `{desc:?}` has panicked"),
            // SAFETY: the object's destructor has not run.
            || unsafe { drop(payload) },
        );
    }
}

impl Inner {
    /// Calls `visit` for each root of each session, and for each global handle.
    ///
    /// # Safety
    ///
    /// This thread is inside.
    pub(crate) unsafe fn each_root(&self, mut visit: impl FnMut(&Cell)) {
        // SAFETY: passed on to the caller; the threads of other sessions wait at the gate before they use
        // their roots.
        unsafe {
            for session in &(*self.sessions.get()).open {
                session.as_ref().roots.each(&mut visit);
            }
        }
        self.globals.each(visit);
    }

    /// Collects.
    ///
    /// # Safety
    ///
    /// This thread is inside, and no reference to an object is used afterwards.
    pub(crate) unsafe fn collect(&self, kind: Kind) {
        let begun = Instant::now();
        // SAFETY: passed on to the caller.
        unsafe {
            self.minor();
            if kind == Kind::Full {
                self.full();
            }
            let stats = &mut (*self.spaces.get()).stats;
            let took = begun.elapsed();
            stats.collection_time += took;
            stats.longest_pause = stats.longest_pause.max(took);
        }
        // The objects that moved have taken room that the next young objects need. So the next allocation looks.
        self.place.close();
    }

    /// Collects so that the nursery is empty, and all its next objects have room in the old space.
    ///
    /// # Errors
    ///
    /// If the limit, or the system, has no room for them.
    ///
    /// # Safety
    ///
    /// As for `collect`.
    pub(crate) unsafe fn make_room(&self, asked: usize) -> Result<(), Full> {
        // SAFETY: passed on to the caller.
        unsafe {
            let spaces = self.spaces.get();
            let old_bytes = (*spaces).old.bytes() + self.place.used();
            let due = old_bytes >= (*spaces).threshold;
            // After a collection that the program has asked for, the nursery is closed and may be empty.
            if due || self.place.used() > 0 {
                self.collect(if due { Kind::Full } else { Kind::Minor });
            }
            self.ensure_room(0, asked)
        }
    }

    /// Makes sure that there is room for `large` bytes beside the objects of the nursery.
    ///
    /// # Safety
    ///
    /// As for `collect`.
    unsafe fn ensure_room(&self, large: usize, asked: usize) -> Result<(), Full> {
        // SAFETY: passed on to the caller.
        unsafe {
            for last in [false, true] {
                let old = &mut (*self.spaces.get()).old;
                let needed = old.bytes().saturating_add(self.place.size()).saturating_add(large);
                let within = needed <= self.limit;
                if within && old.reserve(blocks_for(self.place.size())) {
                    self.place.open();
                    return Ok(());
                }
                if last {
                    // The next allocation comes here, too.
                    self.place.close();
                    return Err(Full { asked, live: old.bytes(), limit: (!within).then_some(self.limit) });
                }
                self.collect(Kind::Full);
            }
        }
        unreachable!("the second round returns")
    }

    /// Makes room for a large object of `words` words, the header included, and writes the header.
    ///
    /// # Safety
    ///
    /// As for `collect`.
    pub(crate) unsafe fn large_room(&self, words: usize, desc: &'static Desc) -> Result<Raw, Full> {
        // An array may be as long as memory is; its size must not overflow.
        let bytes = words.saturating_mul(WORD);
        // SAFETY: passed on to the caller.
        unsafe {
            let spaces = self.spaces.get();
            if self.place.is_stressed() || (*spaces).old.bytes().saturating_add(bytes) >= (*spaces).threshold
            {
                self.collect(Kind::Full);
            }
            self.ensure_room(bytes, bytes)?;
            let mut payload = (*spaces).old.take_large(words);
            if payload.is_none() {
                self.collect(Kind::Full);
                payload = (*spaces).old.take_large(words);
            }
            let live = (*spaces).old.bytes();
            let payload = payload.ok_or(Full { asked: bytes, live, limit: None })?;
            set_header(payload, Header::new(desc, (*spaces).old.colour));
            (*spaces).stats.allocated_bytes += bytes as u64;
            Ok(payload)
        }
    }

    unsafe fn minor(&self) {
        // SAFETY: passed on to the caller. The reference to the spaces is used for no other call into the
        // heap: destructors cannot enter it.
        unsafe {
            let spaces = &mut *self.spaces.get();
            let used = self.place.used();
            let before = spaces.old.bytes();
            let mut mover = Mover::new(&self.place, &mut spaces.old);
            self.each_root(|root| mover.correct(root));
            for entry in self.place.log_entries().drain(..) {
                match entry {
                    Logged::Slot(slot) => mover.correct(slot.as_ref()),
                    Logged::Object(object) => mover.correct_all(object.as_ptr()),
                }
            }
            mover.finish();
            for payload in self.place.take_droppable() {
                if header_of(payload.as_ptr()).new_place().is_none() {
                    destroy(payload.as_ptr());
                }
            }
            self.place.restart();
            spaces.stats.minor_collections += 1;
            spaces.stats.allocated_bytes += used as u64;
            spaces.stats.promoted_bytes += (spaces.old.bytes() - before) as u64;
        }
    }

    /// Collects the old space. The nursery is empty.
    unsafe fn full(&self) {
        // SAFETY: as above.
        unsafe {
            let spaces = &mut *self.spaces.get();
            spaces.old.colour = spaces.old.colour.other();
            let Spaces { old, marker, .. } = spaces;
            self.each_root(|root| marker.reach(root, old.colour));
            marker.finish(old);
            old.sweep(|payload| destroy(payload));
            let keep = blocks_for(self.place.size());
            spaces.old.give_back(keep);
            spaces.stats.full_collections += 1;
            spaces.stats.live_bytes = spaces.old.bytes();
            let grown = (spaces.old.bytes() as f64 * self.ratio) as usize;
            spaces.threshold = grown.max(4 * self.place.size());
        }
    }

    /// Returns what the heap has done so far.
    ///
    /// # Safety
    ///
    /// This thread is inside.
    pub(crate) unsafe fn stats(&self) -> Stats {
        // SAFETY: passed on to the caller.
        let spaces = unsafe { &*self.spaces.get() };
        let mut stats = spaces.stats.clone();
        stats.allocated_bytes += self.place.used() as u64;
        stats.logged_stores = self.place.logged();
        stats.old_bytes = spaces.old.bytes();
        stats.reserved_bytes = spaces.old.reserved() + self.place.size();
        stats
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // No session is open, so all objects are dead.
        // SAFETY: this was the last handle of the heap. Each object's destructor runs once.
        unsafe {
            for payload in self.place.take_droppable() {
                destroy(payload.as_ptr());
            }
            let old = &mut (*self.spaces.get()).old;
            old.each_object(|payload| {
                if header_of(payload).desc().drop.is_some() {
                    destroy(payload);
                }
            });
        }
    }
}
