//! The verdict of the checker on a program.

use super::schedule::Schedule;
use crate::task::names::TaskName;
use crate::task::outcome::Outcome;
use crate::task::value::Value;
use std::fmt;
use std::panic::Location;

/// How many outcomes and conflicts a report shows.
const SHOWN: usize = 5;

/// The verdict of [`check`](super::check()).
///
/// Its `Display` form is a report for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The different outcomes, each with a shortest schedule that leads to it, the shortest first.
    pub outcomes: Vec<Possible>,
    /// The conflicts, each with a shortest schedule that leads to it, the shortest first.
    pub conflicts: Vec<Conflict>,
    /// Whether everything was explored.
    pub coverage: Coverage,
    /// The number of explored states.
    pub states: usize,
    /// The number of turns tried from these.
    pub turns: usize,
}

/// An outcome, and a schedule that leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Possible {
    /// The outcome.
    pub outcome: Outcome,
    /// A shortest schedule that leads to it.
    pub schedule: Schedule,
}

/// Whether everything was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Every state that any schedule leads to.
    Exhaustive,
    /// As many states as the [limit](super::Checker::states) allows, the states nearest to the
    /// beginning. There may be further outcomes and conflicts.
    Bounded,
}

/// Two requests that can be in one turn, but must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// One of the requests.
    pub first: Asked,
    /// The other.
    pub second: Asked,
    /// Why they must not be in one turn.
    pub why: &'static str,
    /// A shortest schedule after which both can be next.
    pub schedule: Schedule,
}

/// A request of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The task.
    pub task: TaskName,
    /// The request.
    pub what: String,
    /// Where the operation was written.
    pub at: Option<&'static Location<'static>>,
}

impl Verdict {
    /// Returns `true` if the explored states show no fault: there is no conflict, and only one
    /// outcome, which is [orderly](Outcome::is_orderly).
    ///
    /// [`coverage`](Verdict::coverage) says whether everything was explored.
    pub fn is_ok(&self) -> bool {
        self.conflicts.is_empty()
            && self.has_one_result()
            && self.outcomes.iter().all(|one| one.outcome.is_orderly())
    }

    /// Returns `true` if every explored order gives the same result.
    pub fn has_one_result(&self) -> bool {
        self.outcomes.len() == 1
    }

    /// Returns the two shortest schedules with different results, if there are different results.
    pub fn differing(&self) -> Option<(&Possible, &Possible)> {
        match &self.outcomes[..] {
            [first, second, ..] => Some((first, second)),
            _ => None,
        }
    }

    /// Returns the outcomes in which tasks wait for ever.
    pub fn deadlocks(&self) -> impl Iterator<Item = &Possible> {
        self.outcomes.iter().filter(|one| matches!(one.outcome.end, crate::task::End::Deadlock(_)))
    }

    /// Returns the answers of all outcomes that have one of this type, in order and without
    /// repetitions.
    pub fn answers<T: Value + Ord>(&self) -> Vec<T> {
        let mut answers: Vec<T> =
            self.outcomes.iter().filter_map(|one| one.outcome.answer_as().cloned()).collect();
        answers.sort();
        answers.dedup();
        answers
    }

    /// Returns `true` if the outcome is one that the checker has found.
    pub fn allows(&self, outcome: &Outcome) -> bool {
        self.outcomes.iter().any(|one| one.outcome == *outcome)
    }

    /// Returns the outcome, if there is no fault and everything was explored.
    ///
    /// # Panics
    ///
    /// Panics with the report otherwise.
    #[track_caller]
    pub fn assert_ok(&self) -> &Outcome {
        assert!(self.is_ok() && self.coverage == Coverage::Exhaustive, "{self}");
        &self.outcomes[0].outcome
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.coverage {
            Coverage::Exhaustive => write!(f, "exhaustive: ")?,
            Coverage::Bounded => write!(f, "bounded, not everything was looked at: ")?,
        }
        write!(f, "{} states, {} turns; ", self.states, self.turns)?;
        match (self.outcomes.len(), self.conflicts.len()) {
            (0, 0) => writeln!(f, "no execution has ended")?,
            (1, 0) => writeln!(f, "every order gives the same result")?,
            (1, conflicts) => writeln!(f, "one result, {}", count(conflicts, "conflict"))?,
            (outcomes, 0) => writeln!(f, "{outcomes} different results")?,
            (outcomes, conflicts) => {
                writeln!(f, "{}, {}", count(outcomes, "different result"), count(conflicts, "conflict"))?;
            }
        }
        for (conflict, number) in self.conflicts.iter().zip(1..).take(SHOWN) {
            write!(f, "\nconflict {number}: {conflict}")?;
        }
        more(f, self.conflicts.len(), "conflicts")?;
        for (possible, number) in self.outcomes.iter().zip(1..).take(SHOWN) {
            write!(f, "\nresult {number}: {}\n  after\n{}", possible.outcome, possible.schedule)?;
        }
        more(f, self.outcomes.len(), "results")
    }
}

fn count(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn more(f: &mut fmt::Formatter<'_>, count: usize, what: &str) -> fmt::Result {
    match count.checked_sub(SHOWN) {
        None | Some(0) => Ok(()),
        Some(left) => writeln!(f, "\n{left} more {what} are not shown"),
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "two tasks ask in one turn for what conflicts: {}", self.why)?;
        writeln!(f, "  {}\n  {}\n  after", self.first, self.second)?;
        self.schedule.fmt(f)
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.task, self.what)?;
        self.at.map_or(Ok(()), |at| write!(f, "  ({at})"))
    }
}
