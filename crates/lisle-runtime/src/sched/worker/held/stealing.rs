//! The notes of a domain about stealing, its own and others'.

use crate::queue::ring::BATCH;
use crate::shim::clock;
use std::cell::Cell;
use std::ops::RangeInclusive;

/// How many turns a thief must have had for each of the tasks that it has taken, if that was worth
/// it: one that goes back after its first message has had one.
pub(in crate::sched::worker) const TURNS: u64 = 2;
/// Or for how long each must have kept it busy, in nanoseconds: a few times the cost of the cache
/// lines that a task brings along.
pub(in crate::sched::worker) const WORTH: u64 = 2_000;
/// The shortest and the longest time for which a thief leaves tasks alone, in nanoseconds.
pub(in crate::sched::worker) const PAUSES: RangeInclusive<u64> = 250_000..=16_000_000;
/// How many fibers are taken at most.
pub(in crate::sched::worker) const SHARE: u64 = BATCH as u64;
/// How many spawns pass until the next look for a domain that sleeps, if none does and at least as
/// many wait.
pub(in crate::sched::worker) const LOOK: u64 = 8;
/// The longest pause, in spawns, between wakes of idle domains that find nothing.
pub(in crate::sched::worker) const LONGEST_PAUSE: u32 = 4096;

/// Tasks that were taken, and whether that is worth it.
#[derive(Clone, Copy, Default)]
pub(in crate::sched::worker) struct Trial {
    /// The number of tasks that were taken last, the time, and the number of the domain's turn. Zero
    /// once their worth has been found out.
    pub(in crate::sched::worker) taken: u64,
    pub(in crate::sched::worker) since: u64,
    pub(in crate::sched::worker) turn: u32,
    /// When tasks may be taken again, and how long the pause until then is.
    pub(in crate::sched::worker) next: u64,
    pub(in crate::sched::worker) pause: u64,
}

/// The notes of a domain about stealing, its own and others'.
#[derive(Default)]
pub(in crate::sched::worker) struct Stealing {
    pub(in crate::sched::worker) trial: Cell<Trial>,
    /// How many more spawns pass before the next look for an idle domain.
    pub(in crate::sched::worker) passed: Cell<u64>,
    /// How many more spawns pass before an idle domain is woken again, and the length of the whole
    /// pause.
    pub(in crate::sched::worker) pause: Cell<(u32, u32)>,
    /// How often others had taken something when an idle domain was last woken.
    pub(in crate::sched::worker) stolen_before: Cell<u64>,
}

impl Stealing {
    /// Notes that the domain has nothing to run: if it has stolen tasks, finds out their worth.
    #[inline]
    pub(in crate::sched::worker) fn has_come_to_an_end(&self, turn: u32) {
        if self.trial.get().taken > 0 {
            self.conclude(turn);
        }
    }

    #[cold]
    fn conclude(&self, turn: u32) {
        let trial = self.trial.get();
        let now = clock::now();
        let turns = u64::from(turn.wrapping_sub(trial.turn));
        let time = now.saturating_sub(trial.since);
        let is_worth_it = turns >= trial.taken * TURNS || time >= trial.taken * WORTH;
        let longer = (trial.pause * 2).clamp(*PAUSES.start(), *PAUSES.end());
        let pause = if is_worth_it { 0 } else { longer };
        self.trial.set(Trial { taken: 0, next: now + pause, pause, ..trial });
    }
}

#[cfg(all(test, not(lisle_loom)))]
mod tests {
    use super::*;

    /// Returns the notes of a thief that has taken four tasks, at its next end, `turns` turns
    /// later.
    fn after(turns: u32, pause: u64, since: u64) -> Trial {
        let stealing = Stealing::default();
        stealing.trial.set(Trial { taken: 4, since, turn: u32::MAX, next: 0, pause });
        stealing.has_come_to_an_end(u32::MAX.wrapping_add(turns));
        stealing.trial.get()
    }

    #[test]
    fn tasks_that_go_back_at_once_are_left_alone_for_longer_each_time() {
        // No time has passed since a time to come.
        let (shortest, longest) = PAUSES.into_inner();
        for (before, then) in [(0, shortest), (shortest, 2 * shortest), (longest, longest)] {
            let trial = after(7, before, u64::MAX);
            assert_eq!((trial.taken, trial.pause), (0, then));
            assert!(trial.next > then);
        }
    }

    #[test]
    fn tasks_that_stay_or_take_long_may_be_taken_again_at_once() {
        assert_eq!(after(8, 1_000_000, u64::MAX).pause, 0, "they stayed");
        assert_eq!(after(1, 1_000_000, clock::now() - 4 * WORTH).pause, 0, "they took long");
    }

    #[test]
    fn one_that_has_taken_none_has_nothing_to_find_out() {
        let stealing = Stealing::default();
        stealing.has_come_to_an_end(1);
        assert_eq!(stealing.trial.get().pause, 0);
    }
}
