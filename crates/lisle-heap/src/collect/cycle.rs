//! The cycles of the old space: a mark, and a sweep.
//!
//! | [phase](Phase) | begins | meanwhile |
//! |---|---|---|
//! | idle | when all is swept | |
//! | marking | in the stop of a minor collection, when the old space has reached its threshold | threads that allocate mark in slices |
//! | sweeping | in the stop of a minor collection, when all is marked | threads that allocate sweep in slices |
//!
//! So a cycle stops the program no longer than its minor collections do: the first marks the roots, the last turns the colours
//! round. A slice comes with each block that a thread takes from the nursery, and its length is such that the mark is complete when the
//! old space has grown to the ratio that [`Builder::ratio`](crate::Builder::ratio) sets.
//!
//! A full collection does all that is left in one stop, and then a whole cycle.

use super::{Kind, destroy};
use crate::inner::Inner;
use crate::lock::lock;
use crate::place::Place;
use crate::space::{BLOCK, NO_SHADE, Old, Phase, Stack, blocks_for, shade_of};
use crate::world::Stopped;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The least and the largest number of bytes that a slice marks. The latter takes some 200 µs.
const SLICES: (usize, usize) = (1 << 15, 1 << 18);

/// The least numbers of parked sessions and of global handles of which a slice, or the stop of a minor collection, marks the
/// objects.
const AT_ONCE: Count = Count { sessions: 64, globals: 1 << 10 };
const ALL: Count = Count { sessions: usize::MAX, globals: usize::MAX };

/// How many roots are to be marked.
#[derive(Clone, Copy)]
struct Count {
    sessions: usize,
    globals: usize,
}

/// The number of blocks, or large objects, that a slice sweeps.
const SWEPT_AT_ONCE: usize = 8;

/// A cycle begins when so much of the growth that the ratio allows is used. The rest is for the time of the mark.
const BEGIN: f64 = 0.7;

fn set_shade(stopped: &Stopped<'_, Place>, shade: usize) {
    stopped.members().for_each(|place| place.young.set_shade(shade));
}

impl Inner {
    /// Does a part of the cycle, if one goes on: as much as is due for a block of the nursery.
    ///
    /// # Safety
    ///
    /// This thread is inside, in this place.
    pub(crate) unsafe fn slice(&self, place: &Place) {
        let phase = self.cycle.phase();
        if phase == Phase::Idle {
            return;
        }
        let begun = Instant::now();
        // SAFETY: passed on to the caller.
        unsafe {
            match phase {
                Phase::Idle => {}
                Phase::Marking => self.mark_slice(place, self.cycle.pace.load(Ordering::Relaxed)),
                Phase::Sweeping => self.sweep_slice(SWEPT_AT_ONCE),
            }
        }
        let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.cycle.slices.fetch_add(took, Ordering::Relaxed);
    }

    unsafe fn mark_slice(&self, place: &Place, bytes: usize) {
        let colours = lock(&self.old).colours;
        let mut stack = self.cycle.marker.stack(colours, self.nursery.range());
        // SAFETY: passed on to the caller.
        unsafe {
            stack.take_shaded(&place.young);
            self.mark_roots([place], AT_ONCE, &mut stack);
        }
        let words = stack.work(bytes / size_of::<usize>());
        let left = self.cycle.left.load(Ordering::Relaxed);
        self.cycle.left.store(left.saturating_sub(words * size_of::<usize>()), Ordering::Relaxed);
    }

    fn sweep_slice(&self, parts: usize) {
        for _ in 0..parts {
            // A destructor may run meanwhile, so nothing is locked.
            let (part, dead) = {
                let mut old = lock(&self.old);
                (old.take_unswept(), old.colours.dead)
            };
            let Some(part) = part else { return };
            // SAFETY: the object is dead, and its destructor has not run.
            let swept = part.sweep(dead, |payload| unsafe { destroy(payload) });
            let mut old = lock(&self.old);
            if old.put_back(swept) {
                self.is_swept(&mut old);
            }
        }
    }

    /// Ends a cycle.
    fn is_swept(&self, old: &mut Old) {
        old.give_back(blocks_for(self.nursery.size(), self.movers.load(Ordering::Relaxed)));
        let live = old.used();
        let growth = live as f64 * (self.ratio - 1.0);
        let least = 4 * self.nursery.size();
        old.threshold = live.saturating_add((growth * BEGIN) as usize).max(least);
        self.cycle.goal.store(live.saturating_add(growth as usize).max(least + least / 4), Ordering::Relaxed);
        self.cycle.set_phase(Phase::Idle);
        lock(&self.stats).live_bytes = old.bytes();
    }

    /// Goes on to the next phase, if it is time, and sets the pace of slices. In the stop of a minor collection that has moved so many
    /// bytes.
    ///
    /// # Safety
    ///
    /// The nursery is empty.
    pub(crate) unsafe fn go_on_with_cycle(&self, stopped: &Stopped<'_, Place>, moved: usize) {
        // SAFETY: passed on to the caller.
        unsafe {
            match self.cycle.phase() {
                Phase::Idle => {
                    let old = lock(&self.old);
                    if self.stress || old.used() >= old.threshold {
                        drop(old);
                        self.begin_mark(stopped);
                    }
                }
                Phase::Marking => {
                    let all_roots = self.collect_marked(stopped, AT_ONCE);
                    if all_roots && self.cycle.marker.is_empty() {
                        self.end_mark(stopped);
                    }
                }
                Phase::Sweeping => {}
            }
        }
        if self.cycle.phase() == Phase::Marking {
            self.set_pace(moved);
        }
    }

    /// Sets the pace so that the mark is complete when the old space has grown to its goal, if each minor collection moves so
    /// many bytes.
    fn set_pace(&self, moved: usize) {
        let used = lock(&self.old).used();
        let grows = self.cycle.goal.load(Ordering::Relaxed).saturating_sub(used);
        let minors = (grows / moved.max(self.nursery.size() / 64)).max(1);
        let slices = minors * (self.nursery.size() / BLOCK);
        let pace = self.cycle.left.load(Ordering::Relaxed) / slices;
        self.cycle.pace.store(pace.clamp(SLICES.0, SLICES.1), Ordering::Relaxed);
    }

    /// Begins a mark with the objects to which the roots of running sessions refer. The roots of parked sessions do not change,
    /// so they are marked little by little.
    unsafe fn begin_mark(&self, stopped: &Stopped<'_, Place>) {
        let mut old = lock(&self.old);
        old.born = old.colours.marked;
        set_shade(stopped, shade_of(old.colours));
        let mut stack = self.cycle.marker.stack(old.colours, self.nursery.range());
        let mark = self.cycle.count_mark();
        for place in stopped.members() {
            // SAFETY: passed on to the caller.
            unsafe { place.begin_mark(mark, |root| stack.reach(root)) };
        }
        self.globals.begin_mark(mark);
        // SAFETY: passed on to the caller.
        unsafe { self.mark_roots(stopped.members(), AT_ONCE, &mut stack) };
        self.cycle.left.store(old.bytes(), Ordering::Relaxed);
        self.cycle.set_phase(Phase::Marking);
    }

    /// Marks the objects to which some roots refer: of parked sessions in these places, and global ones. Returns `true` if all roots
    /// of the snapshot have been looked at.
    ///
    /// # Safety
    ///
    /// The threads of the places have stopped, or are this one.
    unsafe fn mark_roots<'a>(
        &self,
        places: impl IntoIterator<Item = &'a Place>,
        some: Count,
        stack: &mut Stack<'_>,
    ) -> bool {
        let mut all = self.globals.mark_some(some.globals, |word| stack.reach(word));
        for place in places {
            // SAFETY: passed on to the caller.
            all &=
                unsafe { place.mark_sessions(self.cycle.marks(), some.sessions, |root| stack.reach(root)) };
        }
        all
    }

    /// Puts the objects that stores have marked, and the objects of some roots, into the queue. Returns `true` if all roots have been looked
    /// at.
    unsafe fn collect_marked(&self, stopped: &Stopped<'_, Place>, some: Count) -> bool {
        let mut stack = self.cycle.marker.stack(lock(&self.old).colours, self.nursery.range());
        // SAFETY: the threads of all places are stopped.
        unsafe {
            for place in stopped.members() {
                stack.take_shaded(&place.young);
            }
            self.mark_roots(stopped.members(), some, &mut stack)
        }
    }

    /// Ends a mark, after which nothing is left to mark but what ephemerons and guards keep alive, and begins to sweep.
    unsafe fn end_mark(&self, stopped: &Stopped<'_, Place>) {
        let mut old = lock(&self.old);
        self.cycle
            .marker
            .finish(&old, self.nursery.range(), |stack| self.guards.take_dead(stack, &self.globals));
        set_shade(stopped, NO_SHADE);
        old.set_external(self.cycle.marker.take_external());
        old.colours = old.colours.rotated();
        old.born = old.colours.unmarked;
        old.put_aside();
        self.cycle.set_phase(Phase::Sweeping);
        lock(&self.stats).full_collections += 1;
        if old.is_swept() {
            self.is_swept(&mut old);
        }
    }

    /// Completes the cycle that goes on, and then a whole one. The nursery is empty.
    ///
    /// # Safety
    ///
    /// All threads have stopped.
    pub(crate) unsafe fn whole_cycle(&self, stopped: &Stopped<'_, Place>) {
        // SAFETY: passed on to the caller.
        unsafe {
            self.complete_cycle(stopped);
            self.begin_mark(stopped);
            self.complete_cycle(stopped);
        }
        self.cycle.full.fetch_add(1, Ordering::Relaxed);
    }

    unsafe fn complete_cycle(&self, stopped: &Stopped<'_, Place>) {
        // SAFETY: passed on to the caller.
        unsafe {
            if self.cycle.phase() == Phase::Marking {
                self.collect_marked(stopped, ALL);
                self.end_mark(stopped);
            }
        }
        self.sweep_slice(usize::MAX);
        debug_assert_eq!(self.cycle.phase(), Phase::Idle);
    }

    /// Marks and sweeps for so long, or to the end of a cycle. Returns `true` if more is left to do.
    ///
    /// # Safety
    ///
    /// This thread is inside, in this place, and no reference to an object is used afterwards.
    pub(crate) unsafe fn step(&self, place: &Place, time: Duration) -> bool {
        let (begun, mut goes_on) = (Instant::now(), self.cycle.phase() != Phase::Idle);
        // SAFETY: passed on to the caller.
        unsafe {
            loop {
                self.hold_if_asked(place);
                match self.cycle.phase() {
                    Phase::Idle => {
                        let old = lock(&self.old);
                        // The next cycle may be due as soon as this one ends, and so on.
                        if goes_on || old.used() < old.threshold {
                            return false;
                        }
                        drop(old);
                        goes_on = true;
                        self.collect(place, Kind::Minor);
                    }
                    Phase::Marking if self.cycle.marker.is_empty() => self.collect(place, Kind::Minor),
                    Phase::Marking | Phase::Sweeping => self.slice(place),
                }
                if begun.elapsed() >= time {
                    return self.cycle.phase() != Phase::Idle;
                }
            }
        }
    }
}
