//! How far the cycle of the old space has come.

use crate::space::mark::Marker;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// A part of a cycle, see `collect/cycle.rs`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Idle,
    Marking,
    Sweeping,
}

#[derive(Default)]
pub(crate) struct Cycle {
    /// The number of a phase. Changed while all threads are stopped, or by the thread that sweeps the last part.
    phase: AtomicUsize,
    /// The number of marks that have begun. Changed while all threads are stopped.
    marks: AtomicU64,
    pub(crate) marker: Marker,
    /// The number of bytes that were in the old space when the mark began, less those that are marked.
    pub(crate) left: AtomicUsize,
    /// The bytes of the old space at which the mark should be complete.
    pub(crate) goal: AtomicUsize,
    /// The number of bytes that a slice marks.
    pub(crate) pace: AtomicUsize,
    /// The number of full collections that threads wait for. While it is larger than `full`, the next collection of any thread
    /// is one.
    pub(crate) full_wanted: AtomicU64,
    /// The number of full collections.
    pub(crate) full: AtomicU64,
    /// The time of all slices in nanoseconds.
    pub(crate) slices: AtomicU64,
}

impl Cycle {
    pub(crate) fn phase(&self) -> Phase {
        [Phase::Idle, Phase::Marking, Phase::Sweeping][self.phase.load(Ordering::Relaxed)]
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as usize, Ordering::Relaxed);
    }

    /// Returns the number of marks that have begun.
    #[inline]
    pub(crate) fn marks(&self) -> u64 {
        self.marks.load(Ordering::Relaxed)
    }

    /// Counts a mark that begins, and returns its number.
    pub(crate) fn count_mark(&self) -> u64 {
        self.marks.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the time of all slices.
    pub(crate) fn slice_time(&self) -> Duration {
        Duration::from_nanos(self.slices.load(Ordering::Relaxed))
    }
}
