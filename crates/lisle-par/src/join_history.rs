//! The history of the joins that are part of no other join, which each thread keeps: whether it
//! pays to share them.
//!
//! Handing a half over and hearing of its end takes microseconds, and more with each domain that
//! takes part. So a join may take longer shared than alone, and its shared time does not tell its
//! time alone. A tree of 1,023 nodes, which takes 3 µs on one core, took 37 when fifteen other
//! domains helped, and therefore counted as too long to be left alone. So the history remembers
//! both times, and takes the shorter way. An unknown way is tried once, and the longer way is tried
//! again now and then. A join that takes long although it is shared is never tried alone: it might
//! take longer by as many times as there are domains.
//!
//! The system may have slowed down a single run. So the shorter of the last two runs counts.
//!
//! The history errs if the same code is given a much larger job. That job begins alone, until the
//! monitor finds the half that it has put off, see `join.rs`.

use super::by_code::{self, SLOTS, Slot, Table};
use super::cost_history::LONG;
use crate::shim::ticks;
use std::cell::Cell;

/// A join that takes less time alone, in ticks, is not shared: sharing it takes longer.
const SHORT: u64 = 10 * ticks::A_MICROSECOND;
/// A join that takes more time although it is shared is not tried alone.
const TRIED: u64 = 100 * ticks::A_MICROSECOND;
/// The number of runs of a short join until it is measured again.
const RELIANCE: u32 = 15;
/// The number of times that one way is taken before the other is tried again.
const PATIENCE: u32 = 1_023;

thread_local! {
    static MEMORY: Table<Known> = const { [const { Cell::new(Slot::empty(Known::NOTHING)) }; SLOTS] };
}

/// How a join is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinMode {
    /// Without a check whether other domains want its second half.
    Alone,
    /// By all domains that have no other work.
    Shared,
}

impl JoinMode {
    fn other(self) -> JoinMode {
        match self {
            JoinMode::Alone => JoinMode::Shared,
            JoinMode::Shared => JoinMode::Alone,
        }
    }
}

/// The history of one join.
#[derive(Debug, Clone, Copy)]
struct Known {
    alone: Cost,
    shared: Cost,
    /// The number of runs until a short join is measured again.
    until_measured: u32,
    /// The number of runs until the other way is tried.
    until_tried: u32,
}

/// The times of the last two runs in one way, in ticks; `u64::MAX` for a run that has not been.
#[derive(Debug, Clone, Copy)]
struct Cost {
    last: u64,
    before: u64,
}

impl Cost {
    const UNKNOWN: Cost = Cost { last: u64::MAX, before: u64::MAX };

    fn is_known(self) -> bool {
        self.last < u64::MAX
    }

    fn least(self) -> u64 {
        self.last.min(self.before)
    }

    fn note(&mut self, took: u64) {
        *self = Cost { last: took, before: self.last };
    }
}

impl Known {
    const NOTHING: Known =
        Known { alone: Cost::UNKNOWN, shared: Cost::UNKNOWN, until_measured: 0, until_tried: PATIENCE };

    /// Returns the way of the next run, and whether the run is measured.
    #[inline]
    fn choose(&mut self) -> (JoinMode, bool) {
        let alone = self.alone.least();
        if alone < SHORT {
            let is_measured = self.until_measured == 0;
            self.until_measured = if is_measured { RELIANCE } else { self.until_measured - 1 };
            return (JoinMode::Alone, is_measured);
        }
        let shared = self.shared.least();
        let is_alone_better = self.alone.is_known() && self.shared.is_known() && alone <= shared;
        let better = if is_alone_better { JoinMode::Alone } else { JoinMode::Shared };
        // A join that is tried alone must not take long when it is shared.
        let may_be_tried = is_alone_better || shared < TRIED;
        if may_be_tried && (self.until_tried == 0 || !self.alone.is_known()) {
            self.until_tried = PATIENCE;
            return (better.other(), true);
        }
        self.until_tried = self.until_tried.saturating_sub(1);
        (better, true)
    }

    fn learn(&mut self, way: JoinMode, took: u64) {
        match way {
            JoinMode::Alone => self.alone.note(took),
            JoinMode::Shared => self.shared.note(took),
        }
        if took < SHORT {
            // Alone, the join does not take longer.
            if way == JoinMode::Shared {
                self.alone.note(took);
            }
        } else {
            self.until_measured = 0;
        }
    }
}

fn with<R>(code: usize, f: impl FnOnce(&mut Known) -> R) -> R {
    MEMORY.with(|memory| by_code::with(memory, code, Known::NOTHING, f))
}

/// Returns the way in which the join `code` is run, and whether the run is measured.
#[inline]
pub(super) fn choose(code: usize) -> (JoinMode, bool) {
    with(code, Known::choose)
}

/// Notes the time that a run of the join `code` took.
pub(super) fn learn(code: usize, way: JoinMode, took: u64) {
    with(code, |known| known.learn(way, took));
}

/// Has the next run of the join `code` measured, because this one was disturbed: other domains look
/// for work, or the run took so long that the monitor has looked at it.
#[cold]
pub(super) fn was_disturbed(code: usize) {
    with(code, |known| known.until_measured = 0);
}

/// Notes that a run of the join `code` began alone, and lasted until other domains found it.
pub(super) fn was_found(code: usize) {
    with(code, |known| *known = Known { shared: Cost { last: LONG, before: u64::MAX }, ..Known::NOTHING });
}

/// Returns `true` if the join `code` may be so long that waking other domains for it at once pays.
pub(super) fn may_be_long(code: usize) -> bool {
    with(code, |known| known.shared.least() >= LONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u32 = 3 * PATIENCE;

    fn unknown() -> Known {
        Known::NOTHING
    }

    /// Runs a join that takes these times in the two ways, many times. Returns how many of these
    /// runs were alone, and how many of the last three.
    fn run(known: &mut Known, alone: u64, shared: u64) -> (u32, u32) {
        let (mut all, mut last) = (0, 0);
        for run in 0..MANY {
            let (way, is_measured) = known.choose();
            if is_measured {
                known.learn(way, if way == JoinMode::Alone { alone } else { shared });
            }
            let is_alone = u32::from(way == JoinMode::Alone);
            all += is_alone;
            last += if run >= MANY - 3 { is_alone } else { 0 };
        }
        (all, last)
    }

    #[test]
    fn what_is_short_is_left_alone_however_long_it_takes_shared() {
        for shared in [2 * SHORT, TRIED - 1] {
            let mut known = Known::NOTHING;
            assert_eq!(run(&mut known, SHORT / 2, shared), (MANY - 1, 3), "once was enough");
        }
    }

    #[test]
    fn a_short_one_is_measured_now_and_then() {
        let mut known = Known::NOTHING;
        known.learn(JoinMode::Shared, SHORT / 2);
        let measured = (0..10 * (RELIANCE + 1)).filter(|_| known.choose() == (JoinMode::Alone, true)).count();
        assert_eq!(measured, 10);
    }

    #[test]
    fn the_shorter_way_is_taken_and_the_other_tried_now_and_then() {
        let (alone, last) = run(&mut unknown(), 2 * SHORT, 4 * SHORT);
        assert!(last == 3 && alone < MANY && alone > MANY - 10, "{alone} of {MANY}");
        let (alone, last) = run(&mut unknown(), 40 * SHORT, 4 * SHORT);
        assert!(last == 0 && alone > 1 && alone < 10, "{alone} of {MANY}");
    }

    #[test]
    fn what_takes_long_although_it_is_shared_is_never_tried_alone() {
        assert_eq!(run(&mut unknown(), 100 * TRIED, TRIED), (0, 0));
    }

    #[test]
    fn one_slow_run_changes_nothing_and_two_do() {
        let mut known = Known::NOTHING;
        known.learn(JoinMode::Shared, SHORT / 2);
        known.learn(JoinMode::Alone, LONG);
        assert_eq!(known.choose(), (JoinMode::Alone, true));
        known.learn(JoinMode::Alone, LONG);
        assert_eq!(known.choose().0, JoinMode::Shared);
    }

    #[test]
    fn what_is_alone_because_others_were_busy_is_shared_again_later() {
        let mut known = Known::NOTHING;
        for (way, took) in
            [(JoinMode::Alone, 50 * TRIED), (JoinMode::Shared, 51 * TRIED), (JoinMode::Shared, 51 * TRIED)]
        {
            known.learn(way, took);
        }
        known.learn(JoinMode::Alone, 50 * TRIED);
        let (alone, last) = run(&mut known, 50 * TRIED, 5 * TRIED);
        assert!(last == 0 && alone <= 2 * PATIENCE, "{alone} of {MANY}");
    }

    #[test]
    fn what_others_found_is_shared_from_then_on() {
        let code = 0x4560;
        learn(code, JoinMode::Shared, SHORT / 2);
        assert_eq!(choose(code).0, JoinMode::Alone);
        assert!(!may_be_long(code));
        was_found(code);
        assert_eq!(choose(code), (JoinMode::Shared, true));
        assert!(may_be_long(code));
    }

    #[test]
    fn of_two_joins_at_one_place_the_later_one_wins() {
        let (one, two) = (0x10, 0x10 + (1 << 20));
        learn(one, JoinMode::Shared, 1);
        assert_eq!(choose(one).0, JoinMode::Alone);
        assert_eq!(choose(two).0, JoinMode::Shared);
        assert_eq!(choose(one).0, JoinMode::Shared);
    }
}
