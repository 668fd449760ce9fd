//! What an exploration has come to, as a value and as text.

use super::bridge::Steps;
use super::spins::Spin;
use crate::explore::{Counts, Schedule};
use lisle_runtime::WaitGraph;
use std::fmt;
use std::panic::Location;

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Every schedule that could differ.
    Exhaustive,
    /// As many as were asked for, of more.
    GivenUp,
    /// Those with so few interruptions.
    Preemptions(u32),
    /// Some, drawn by chance.
    Sampled,
    /// One.
    Replayed,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            How::Exhaustive => write!(f, "exhaustive"),
            How::GivenUp => write!(f, "given up before all was explored"),
            How::Preemptions(most) => write!(f, "bounded by {most} interruptions"),
            How::Sampled => write!(f, "sampled"),
            How::Replayed => write!(f, "one schedule"),
        }
    }
}

/// What an exploration has come to.
#[derive(Debug)]
pub struct Verdict {
    pub(super) counts: Counts,
    pub(super) how: How,
    pub(super) failure: Option<Failure>,
}

impl Verdict {
    /// Returns how many executions there were, by their endings.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns `true` if every schedule was explored.
    pub fn is_exhaustive(&self) -> bool {
        self.how == How::Exhaustive
    }

    /// Returns what has gone wrong, if anything has.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { complete, redundant, .. } = self.counts;
        if let Some(failure) = &self.failure {
            return write!(f, "after {complete} executions that went well: {failure}");
        }
        write!(f, "{}: {complete} executions, all of them end", self.how)?;
        if redundant > 0 {
            write!(f, " ({redundant} more were redundant)")?;
        }
        Ok(())
    }
}

/// How an execution has gone wrong.
#[derive(Debug)]
pub struct Failure {
    pub(super) what: What,
    pub(super) schedule: Schedule,
    pub(super) steps: Vec<Steps>,
    /// What could not be unwound after it.
    pub(super) stuck: Option<String>,
    /// Loops whose parts have not begun, which nothing promises to run at the same time as others.
    pub(super) unbegun: Vec<&'static Location<'static>>,
}

#[derive(Debug)]
pub(super) enum What {
    Panicked(String),
    Blocked(WaitGraph),
    Spins(Vec<Spin>, WaitGraph),
    /// It was followed for so many steps; the last of them repeat, if this is not empty.
    Endless(Vec<Steps>),
    Stuck,
}

impl Failure {
    /// Returns the schedule as a short text, for [`Checker::replay`](super::Checker::replay).
    pub fn token(&self) -> String {
        self.schedule.to_string()
    }

    /// Returns `true` if the other one has gone wrong in the same way.
    pub(super) fn is_like(&self, other: &Failure) -> bool {
        match (&self.what, &other.what) {
            (What::Panicked(message), What::Panicked(other)) => message == other,
            (What::Blocked(graph), What::Blocked(other)) => graph.fibers.len() == other.fibers.len(),
            (What::Spins(spins, graph), What::Spins(others, other)) => {
                spins.len() == others.len() && graph.fibers.len() == other.fibers.len()
            }
            _ => false,
        }
    }

    /// Returns what waits for what, if the program can never go on.
    pub fn blocked(&self) -> Option<&WaitGraph> {
        match &self.what {
            What::Blocked(graph) | What::Spins(_, graph) => Some(graph),
            _ => None,
        }
    }

    /// Returns what asks again and again for what nobody alive will change, if the program can never go on.
    pub fn spins(&self) -> &[Spin] {
        match &self.what {
            What::Spins(spins, _) => spins,
            _ => &[],
        }
    }

    /// Returns what was panicked with, if that is what has gone wrong.
    pub fn panicked(&self) -> Option<&str> {
        match &self.what {
            What::Panicked(message) => Some(message),
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Panicked(message) => writeln!(f, "{message}")?,
            What::Blocked(graph) => {
                writeln!(f, "nothing can go on\n{graph}")?;
                if graph.tasks.iter().chain(&graph.fibers).any(|blocked| blocked.waits.is_empty()) {
                    writeln!(f, "{UNTOLD}")?;
                }
            }
            What::Spins(spins, graph) => {
                writeln!(f, "a livelock: nothing can go on but what does the same again and again")?;
                spins.iter().try_for_each(|spin| writeln!(f, "{spin}"))?;
                if !graph.fibers.is_empty() {
                    writeln!(f, "{graph}")?;
                }
            }
            What::Endless(repeated) => {
                writeln!(f, "an execution does not end, as far as it was followed")?;
                if !repeated.is_empty() {
                    write!(f, "a livelock: what does not end is this, again and again:")?;
                    repeated.iter().try_for_each(|steps| write!(f, "\n    {steps}"))?;
                    writeln!(f)?;
                }
            }
            What::Stuck => writeln!(f, "an execution cannot be given up")?,
        }
        for site in &self.unbegun {
            writeln!(
                f,
                "the parts of the loop at {site} that have not begun could: \
                         but nothing promises that they run at the same time as the others"
            )?;
        }
        if let Some(stuck) = &self.stuck {
            writeln!(f, "what was left could not be unwound: {stuck}")?;
        }
        write!(f, "the schedule:")?;
        // What matters is what came last.
        let left_out = self.steps.len().saturating_sub(SHOWN);
        if left_out > 0 {
            write!(f, "\n    ...")?;
        }
        self.steps[left_out..].iter().try_for_each(|steps| write!(f, "\n    {steps}"))?;
        write!(f, "\nto run it again: LISLE_CHECK_REPLAY={}", self.schedule)
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.count == 1 { "step" } else { "steps" };
        match self.site {
            Some(site) => write!(f, "{} {times} of what was spawned at {site}", self.count),
            None => write!(f, "{} {times} of the program itself", self.count),
        }
    }
}

/// What is said of those of whom it is not known what they wait for.
const UNTOLD: &str = "What does not tell waits for a future that is none of Lisle's, or for an event that does not \
                      describe itself: as far as can be seen, for something outside of the program, which nobody \
                      in it will bring about. Put a channel in its place";

/// So many changes from one process to another are shown of a schedule.
const SHOWN: usize = 40;
