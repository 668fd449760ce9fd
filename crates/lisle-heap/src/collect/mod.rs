//! Collections.
//!
//! A *minor* collection moves the young objects that are reachable to the old space (`space/minor`), and goes on with the
//! [cycle](cycle) of the old space. A *full* collection is a minor one and a whole cycle in one stop.
//!
//! A collection stops the other threads (`world`). It sees the roots of all open sessions. A thread in `outside`
//! does not change its roots meanwhile, since it comes in when the collection is over. Held threads help to move
//! objects. Destructors run on the thread that collects, which is inside, so that they cannot enter the heap.

mod compact;
mod cycle;
mod room;

use crate::inner::Inner;
use crate::lock::lock;
use crate::object::{header_of, weak_word};
use crate::place::Place;
use crate::raw::{NONE, Raw, is_pointer, moved, untagged};
use crate::space::{Logged, Mover, Phase, Pool, blocks_for};
use crate::stats::Stats;
use crate::world::Stopped;
use lisle_core::internal::{abort, seam};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A session with more roots is reported.
const MANY_ROOTS: usize = 1 << 20;

/// What a collection looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// The objects that were allocated since the last collection.
    Minor,
    /// All objects.
    Full,
    /// All objects. Then the old ones that lie scattered move together, and the memory between them goes back to the system: for a
    /// program that has let go of much and goes on for long. Stops all threads for as long as a full collection takes, and about
    /// half as long again. Large objects do not move.
    Compact,
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
    /// Stops all other threads. Returns `None` after another thread has done so, and gone on.
    pub(crate) fn stop<'a>(&'a self, place: &'a Place) -> Option<Stopped<'a, Place>> {
        let begun = Instant::now();
        let stopped = self.world.stop(place, |late| self.report(late))?;
        self.note_stop(begun);
        Some(stopped)
    }

    /// Stops all other threads. If others do so, waits for its turn.
    pub(crate) fn stop_in_turn<'a>(&'a self, place: &'a Place) -> Stopped<'a, Place> {
        let begun = Instant::now();
        let stopped = self.world.stop_in_turn(place, |late| self.report(late));
        self.note_stop(begun);
        stopped
    }

    /// Reports a thread that has not stopped for a second.
    fn report(&self, late: &Place) {
        seam::write(&format!(
            "the heap `{}` waits for a second to collect, for {}. Code that waits, blocks or computes for long goes into `Scope::outside`, \
             or calls `Scope::poll`",
            self.name(),
            late.describe()
        ));
    }

    /// Reports a session with many handles, once for each heap: no limit counts them, so a loop that makes them would only be seen by
    /// the memory of the process.
    fn report_roots(&self, place: &Place, roots: usize) {
        if !self.roots_reported.swap(true, Ordering::Relaxed) {
            seam::write(&format!(
                "a session of the heap `{}` has {roots} handles, of {}. A loop that makes handles opens a scope in each round with `Scope::scope`",
                self.name(),
                place.describe()
            ));
        }
    }

    fn note_stop(&self, begun: Instant) {
        let mut stats = lock(&self.stats);
        stats.longest_stop = stats.longest_stop.max(begun.elapsed());
    }

    /// Collects.
    ///
    /// # Safety
    ///
    /// This thread is inside, in this place, and no reference to an object is used afterwards.
    pub(crate) unsafe fn collect(&self, place: &Place, kind: Kind) {
        if kind == Kind::Compact {
            let stopped = self.stop_in_turn(place);
            // SAFETY: passed on to the caller.
            unsafe { self.collect_stopped(&stopped, kind) };
            drop(stopped);
            return self.guards.tell();
        }
        let before = self.collections(kind);
        if kind == Kind::Full {
            // So a thread that collects all the time lets no other one wait.
            self.cycle.full_wanted.fetch_max(before + 1, Ordering::Relaxed);
        }
        // A collection of another thread that began after this call is as good.
        while self.collections(kind) == before {
            if let Some(stopped) = self.stop(place) {
                // SAFETY: passed on to the caller.
                unsafe { self.collect_stopped(&stopped, kind) };
            }
        }
        self.guards.tell();
    }

    fn collections(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Minor => lock(&self.stats).minor_collections,
            // A cycle that ends in the stop of a minor collection may have begun long before.
            Kind::Full | Kind::Compact => self.cycle.full.load(Ordering::Relaxed),
        }
    }

    /// Opens the nursery if all objects of a full one have room in the old space.
    fn open_nursery(&self, stopped: &Stopped<'_, Place>) {
        let mut old = lock(&self.old);
        let (size, movers) = (self.nursery.size(), self.most_movers(stopped));
        if old.used().saturating_add(self.most_moved()) <= self.limit && old.reserve(blocks_for(size, movers))
        {
            self.movers.store(movers, Ordering::Relaxed);
            self.nursery.open();
        }
    }

    /// Returns the largest number of bytes that the objects of a full nursery take in the old space: a cell may be a quarter
    /// larger than its object.
    fn most_moved(&self) -> usize {
        self.nursery.size() + self.nursery.size() / 4
    }

    fn most_movers(&self, stopped: &Stopped<'_, Place>) -> usize {
        stopped.members().count().min(self.processors)
    }

    /// Collects while all others have stopped.
    ///
    /// # Safety
    ///
    /// As for `collect`.
    pub(crate) unsafe fn collect_stopped(&self, stopped: &Stopped<'_, Place>, kind: Kind) {
        let begun = Instant::now();
        let wanted = self.cycle.full_wanted.load(Ordering::Relaxed) > self.collections(Kind::Full);
        let kind = if wanted && kind == Kind::Minor { Kind::Full } else { kind };
        // SAFETY: passed on to the caller.
        unsafe {
            let moved = self.minor(stopped);
            match kind {
                Kind::Minor => self.go_on_with_cycle(stopped, moved),
                Kind::Full => self.whole_cycle(stopped),
                Kind::Compact => {
                    self.whole_cycle(stopped);
                    self.compact(stopped);
                }
            }
        }
        self.open_nursery(stopped);
        let mut stats = lock(&self.stats);
        let took = begun.elapsed();
        stats.collection_time += took;
        stats.longest_pause = stats.longest_pause.max(took);
    }

    /// Returns the bytes of young objects.
    fn young_bytes(&self, stopped: &Stopped<'_, Place>) -> usize {
        self.nursery.used() + stopped.members().map(|place| place.young.used()).sum::<usize>()
    }

    /// Moves the young objects that are reachable. Returns the number of bytes that were moved, with those that the objects own elsewhere.
    unsafe fn minor(&self, stopped: &Stopped<'_, Place>) -> usize {
        let (used, before) = (self.young_bytes(stopped), lock(&self.old).bytes());
        let mut external = 0_usize;
        // SAFETY: passed on to the caller.
        unsafe {
            let mut mover = Mover::new(self.nursery.range(), &self.old);
            if stopped.members().filter(|place| place.young.take_log_incomplete()).count() > 0 {
                self.correct_all_old(&mut mover);
            }
            for place in stopped.members() {
                let roots = place.each_young_root(|root| mover.correct(root));
                if roots > MANY_ROOTS {
                    self.report_roots(place, roots);
                }
            }
            self.globals.each_young(|word| mover.correct(word));
            self.guards.each_young(|word| mover.correct(word));
            for place in stopped.members() {
                for entry in place.young.log_entries().drain(..) {
                    match entry {
                        Logged::Slot(slot) => mover.correct(slot.as_ref()),
                        Logged::Object(object) => mover.correct_all(object.as_ptr()),
                    }
                }
            }
            self.finish(stopped, mover);
            for place in stopped.members() {
                place.young.take_droppable(|payload| match header_of(payload).new_place() {
                    None => destroy(payload),
                    Some(new) => {
                        external = external.saturating_add(header_of(new).desc().external_bytes(new));
                    }
                });
                place.young.take_weak(|payload| self.move_weak(payload));
                place.young.restart(&self.nursery);
            }
            self.cycle.marker.no_weak_is_young();
            self.nursery.restart(self.stress);
        }
        self.add_external(external);
        let promoted = lock(&self.old).bytes() - before;
        let mut stats = lock(&self.stats);
        stats.minor_collections += 1;
        stats.allocated_bytes += used as u64;
        stats.promoted_bytes += promoted as u64;
        promoted.saturating_add(external)
    }

    /// Moves the young objects to which any old object refers, since a log is incomplete. The mover has not moved anything yet.
    ///
    /// # Safety
    ///
    /// As for `minor`.
    unsafe fn correct_all_old(&self, mover: &mut Mover<'_>) {
        let mut old = lock(&self.old);
        let (all, dead) = (old.take_all(), old.colours.dead);
        // The mover locks it.
        drop(old);
        all.each_object(|payload| {
            // SAFETY: the object is one of the old space. One that is dead, and not swept, refers to no young one.
            unsafe {
                if header_of(payload).colour() != dead {
                    mover.correct_all(payload);
                }
            }
        });
        lock(&self.old).put_back_all(all);
    }

    /// Counts the bytes that objects own elsewhere which have become old.
    fn add_external(&self, bytes: usize) {
        let mut old = lock(&self.old);
        let all = old.external().saturating_add(bytes);
        old.set_external(all);
        // They are born marked.
        if self.cycle.phase() == Phase::Marking {
            self.cycle.marker.add_external(bytes);
        }
    }

    /// Counts the bytes that a new object owns elsewhere.
    ///
    /// # Safety
    ///
    /// The object has just been made, on this thread, which is inside, in this place.
    pub(crate) unsafe fn note_external(&self, place: &Place, payload: Raw) {
        // SAFETY: passed on to the caller.
        let bytes = unsafe { header_of(payload).desc().external_bytes(payload) };
        if place.young.is_young(payload) {
            place.young.note_external(bytes);
        } else {
            self.add_external(bytes);
        }
    }

    /// Corrects the word of a weak object that was young, if the object is alive.
    ///
    /// # Safety
    ///
    /// All objects that are alive have moved.
    unsafe fn move_weak(&self, payload: Raw) {
        // SAFETY: the object was young, and so may its target be.
        unsafe {
            let Some(payload) = header_of(payload).new_place() else { return };
            let word = weak_word(payload);
            let raw = word.load(Ordering::Relaxed);
            if is_pointer(raw) && self.nursery.range().contains(raw) {
                let target = header_of(untagged(raw)).new_place();
                word.store(target.map_or(NONE, |target| moved(raw, target)), Ordering::Relaxed);
            }
            self.cycle.marker.add_weak(payload);
        }
    }

    /// Moves all that can be reached from the objects that have moved. The held threads help if there is much.
    fn finish(&self, stopped: &Stopped<'_, Place>, mut mover: Mover<'_>) {
        let mut others = 0;
        while others == 0 {
            if mover.finish_alone() {
                return;
            }
            others = stopped.held().min(self.movers.load(Ordering::Relaxed) - 1);
        }
        let pool = Pool::new();
        pool.begin();
        let mine = Mutex::new(Some(mover));
        stopped.with_help(others, &|| {
            let mine = lock(&mine).take();
            let beside = || Mover::new(self.nursery.range(), &self.old);
            match mine {
                Some(mut mover) => mover.finish_beside(&pool),
                None => beside().join(&pool),
            }
        });
    }

    /// Returns what the heap has done so far.
    pub(crate) fn stats(&self) -> Stats {
        let mut stats = lock(&self.stats).clone();
        stats.slice_time = self.cycle.slice_time();
        stats.allocated_bytes += self.nursery.used() as u64;
        self.world.each(|place| {
            stats.places += 1;
            stats.allocated_bytes += place.young.used() as u64;
            stats.logged_stores += place.young.logged();
        });
        let old = lock(&self.old);
        stats.old_bytes = old.bytes();
        stats.external_bytes = old.external();
        stats.reserved_bytes = old.reserved() + self.nursery.size();
        stats
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // No session is open, so all objects are dead.
        // SAFETY: this was the last handle of the heap. Each object's destructor runs once.
        unsafe {
            self.world.each(|place| {
                place.young.take_droppable(|payload| destroy(payload));
            });
            lock(&self.old).each_object(|payload| {
                if header_of(payload).desc().drop.is_some() {
                    destroy(payload);
                }
            });
        }
    }
}
