//! The choice of schedules.

use crate::explore::{Drawn, Schedule};
use std::fmt;

/// The choice of schedules.
#[derive(Debug, Clone)]
pub(super) enum ScheduleChoice {
    All,
    Preemptions(u32),
    Random { seed: u64 },
    Priorities { seed: u64, depth: u32 },
    Portfolio { seed: u64 },
    Replay(Schedule),
}

impl ScheduleChoice {
    /// Returns the strategies that take turns, if they draw executions one by one.
    pub(super) fn drawn(&self) -> Option<Vec<Drawn>> {
        match *self {
            ScheduleChoice::All | ScheduleChoice::Replay(_) => None,
            ScheduleChoice::Preemptions(most) => Some(vec![Drawn::Bounded { most }]),
            ScheduleChoice::Random { seed } => Some(vec![Drawn::Random { seed }]),
            ScheduleChoice::Priorities { seed, depth } => Some(vec![Drawn::Priorities { seed, depth }]),
            ScheduleChoice::Portfolio { seed } => Some(vec![
                Drawn::Random { seed },
                Drawn::Priorities { seed, depth: 2 },
                Drawn::Priorities { seed, depth: 3 },
                Drawn::Bounded { most: 2 },
            ]),
        }
    }

    /// Returns `true` if the schedules are drawn at random.
    pub(super) fn is_drawn_by_chance(&self) -> bool {
        matches!(
            self,
            ScheduleChoice::Random { .. }
                | ScheduleChoice::Priorities { .. }
                | ScheduleChoice::Portfolio { .. }
        )
    }

    /// Returns `true` if each execution begins only after the one before has ended.
    pub(super) fn is_one_after_the_other(&self) -> bool {
        matches!(self, ScheduleChoice::Preemptions(_) | ScheduleChoice::Replay(_))
    }
}

impl fmt::Display for ScheduleChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduleChoice::All => write!(f, "every schedule"),
            ScheduleChoice::Preemptions(most) => write!(f, "the schedules with up to {most} interruptions"),
            ScheduleChoice::Random { seed } => write!(f, "schedules at random, from the seed {seed},"),
            ScheduleChoice::Priorities { seed, depth } => {
                write!(f, "schedules by priorities, from the seed {seed}, for a depth of {depth},")
            }
            ScheduleChoice::Portfolio { seed } => {
                write!(f, "a portfolio of schedules, from the seed {seed},")
            }
            ScheduleChoice::Replay(schedule) => write!(f, "the schedule {schedule}"),
        }
    }
}
