//! The choice of schedules.

use crate::explore::{Drawn, Schedule};
use std::fmt;

/// The choice of schedules.
#[derive(Debug, Clone)]
pub(super) enum Way {
    All,
    Preemptions(u32),
    Random { seed: u64 },
    Priorities { seed: u64, depth: u32 },
    Portfolio { seed: u64 },
    Replay(Schedule),
}

impl Way {
    /// Returns the strategies that take turns, if they draw executions one by one.
    pub(super) fn drawn(&self) -> Option<Vec<Drawn>> {
        match *self {
            Way::All | Way::Replay(_) => None,
            Way::Preemptions(most) => Some(vec![Drawn::Bounded { most }]),
            Way::Random { seed } => Some(vec![Drawn::Random { seed }]),
            Way::Priorities { seed, depth } => Some(vec![Drawn::Priorities { seed, depth }]),
            Way::Portfolio { seed } => Some(vec![
                Drawn::Random { seed },
                Drawn::Priorities { seed, depth: 2 },
                Drawn::Priorities { seed, depth: 3 },
                Drawn::Bounded { most: 2 },
            ]),
        }
    }

    /// Returns `true` if the schedules are drawn at random.
    pub(super) fn is_drawn_by_chance(&self) -> bool {
        matches!(self, Way::Random { .. } | Way::Priorities { .. } | Way::Portfolio { .. })
    }

    /// Returns `true` if each execution begins only after the one before has ended.
    pub(super) fn is_one_after_the_other(&self) -> bool {
        matches!(self, Way::Preemptions(_) | Way::Replay(_))
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::All => write!(f, "every schedule"),
            Way::Preemptions(most) => write!(f, "the schedules with up to {most} interruptions"),
            Way::Random { seed } => write!(f, "schedules at random, from the seed {seed},"),
            Way::Priorities { seed, depth } => {
                write!(f, "schedules by priorities, from the seed {seed}, for a depth of {depth},")
            }
            Way::Portfolio { seed } => write!(f, "a portfolio of schedules, from the seed {seed},"),
            Way::Replay(schedule) => write!(f, "the schedule {schedule}"),
        }
    }
}
