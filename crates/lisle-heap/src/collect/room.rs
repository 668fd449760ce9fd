//! Room for new objects, at safe points: a block of the nursery, or a collection that empties it.

use super::Kind;
use crate::full::Full;
use crate::inner::Inner;
use crate::lock::lock;
use crate::object::{Desc, Header, WORD, set_header};
use crate::place::Place;
use crate::raw::Raw;
use crate::space::{BLOCK, Phase};

/// An allocation of a large object does at most so many slices, which takes some 3 ms.
const MOST_SLICES: usize = 16;

impl Inner {
    /// Takes `words` words for a young object, the header included, at a safe point. Returns the payload.
    ///
    /// # Errors
    ///
    /// If the limit, or the system, has no room for more objects.
    ///
    /// # Safety
    ///
    /// As for `collect`.
    #[cold]
    pub(crate) unsafe fn room(&self, place: &Place, words: usize) -> Result<Raw, Full> {
        // SAFETY: passed on to the caller.
        unsafe {
            if self.stress {
                self.make_room(place, words, true)?;
                self.slice(place);
            }
            loop {
                self.hold_if_asked(place);
                if place.young.is_external_due() {
                    self.make_room(place, words, true)?;
                }
                if let Some(payload) = place.young.take_at_safe_point(words) {
                    self.open(place);
                    return Ok(payload);
                }
                if place.young.next_block(&self.nursery) {
                    self.slice(place);
                } else {
                    self.make_room(place, words, false)?;
                }
            }
        }
    }

    /// A safe point: waits while another thread has stopped all.
    pub(crate) fn hold_if_asked(&self, place: &Place) {
        if self.world.is_stopping() {
            self.world.hold(place);
        }
    }

    /// Lets the thread allocate to the end of its block, if no stop was asked for.
    fn open(&self, place: &Place) {
        if self.stress {
            return;
        }
        place.young.open();
        self.world.order_before_look();
        if self.world.is_stopping() {
            place.young.close();
        }
    }

    /// A safe point, for code that allocates nothing.
    ///
    /// # Safety
    ///
    /// As for `collect`.
    #[cold]
    pub(crate) unsafe fn poll(&self, place: &Place) {
        if self.stress || place.young.is_external_due() {
            // SAFETY: passed on to the caller.
            unsafe { self.collect(place, Kind::Minor) };
        } else {
            self.hold_if_asked(place);
        }
        self.open(place);
    }

    /// Collects so that the nursery has blocks, and their objects room in the old space. Does nothing if it has some, unless
    /// it is `forced`.
    unsafe fn make_room(&self, place: &Place, words: usize, forced: bool) -> Result<(), Full> {
        // SAFETY: passed on to the caller.
        let made = unsafe { self.make_room_in_stop(place, words, forced) };
        self.guards.tell();
        made
    }

    unsafe fn make_room_in_stop(&self, place: &Place, words: usize, forced: bool) -> Result<(), Full> {
        let Some(stopped) = self.stop(place) else { return Ok(()) };
        if self.nursery.has_blocks() && !forced {
            return Ok(());
        }
        // SAFETY: passed on to the caller.
        unsafe {
            self.collect_stopped(&stopped, Kind::Minor);
            if !self.nursery.has_blocks() {
                self.collect_stopped(&stopped, Kind::Full);
            }
        }
        if self.nursery.has_blocks() { Ok(()) } else { Err(self.full(words * WORD, self.most_moved())) }
    }

    /// Makes the error for `asked` bytes, which take `more` bytes in the old space.
    pub(crate) fn full(&self, asked: usize, more: usize) -> Full {
        let live = lock(&self.old).used();
        let within = live.saturating_add(more) <= self.limit;
        Full { asked, live, limit: (!within).then_some(self.limit) }
    }

    /// Makes room for a large object of `words` words, the header included, and writes the header.
    ///
    /// # Safety
    ///
    /// As for `collect`.
    pub(crate) unsafe fn large_room(
        &self,
        place: &Place,
        words: usize,
        desc: &'static Desc,
    ) -> Result<Raw, Full> {
        // An array may be as long as memory is; its size must not overflow.
        let bytes = words.saturating_mul(WORD);
        // SAFETY: passed on to the caller.
        unsafe { self.before_large(place, bytes) };
        for last in [false, true] {
            let mut old = lock(&self.old);
            let needed = old.used().saturating_add(self.most_moved()).saturating_add(bytes);
            let payload = if needed <= self.limit { old.take_large(words) } else { None };
            if let Some(payload) = payload {
                // SAFETY: it has just been taken.
                unsafe { set_header(payload, Header::new(desc, old.born)) };
                drop(old);
                lock(&self.stats).allocated_bytes += bytes as u64;
                return Ok(payload);
            }
            drop(old);
            if !last {
                // SAFETY: passed on to the caller.
                unsafe { self.collect(place, Kind::Full) };
            }
        }
        Err(self.full(bytes, bytes.saturating_add(self.most_moved())))
    }

    /// Goes on with the cycle as far as is due for a large object, which takes no block of the nursery.
    unsafe fn before_large(&self, place: &Place, bytes: usize) {
        let due = match self.cycle.phase() {
            Phase::Idle => {
                let old = lock(&self.old);
                old.used().saturating_add(bytes) >= old.threshold
            }
            Phase::Marking | Phase::Sweeping => {
                for _ in 0..(bytes / BLOCK).clamp(1, MOST_SLICES) {
                    self.hold_if_asked(place);
                    // SAFETY: passed on to the caller.
                    unsafe { self.slice(place) };
                }
                self.cycle.phase() == Phase::Marking && self.cycle.marker.is_empty()
            }
        };
        if due || self.stress {
            // SAFETY: passed on to the caller.
            unsafe { self.collect(place, Kind::Minor) };
        }
    }
}
