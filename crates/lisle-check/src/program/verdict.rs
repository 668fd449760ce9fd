//! The verdict of an exploration, as a value and as text.

use super::failure::Failure;
use super::limit::{Limit, Seconds};
use super::memory::Used;
use super::progress;
use super::trace::Trace;
use crate::explore::Counts;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The extent of an exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Every schedule that could differ.
    Exhaustive,
    /// A part of these.
    Part,
    /// Every schedule with at most this many interruptions.
    Preemptions(u32),
    /// A part of these, among them all with at most `explored` interruptions.
    PartOfPreemptions { most: u32, explored: Option<u32> },
    /// Some, drawn at random.
    Sampled,
    /// One.
    Replayed,
}

/// The verdict of an exploration.
#[derive(Debug)]
pub struct Verdict {
    pub(super) counts: Counts,
    /// The counts of schedules that were drawn besides.
    pub(super) sampled: Counts,
    pub(super) how: How,
    pub(super) memory: Used,
    /// The limit that has ended it early.
    pub(super) limit: Option<Limit>,
    /// An estimate of the explored share, if it is a part.
    pub(super) explored: Option<f64>,
    pub(super) elapsed: Duration,
    pub(super) observed: Option<u64>,
    pub(super) kept: Option<Kept>,
    pub(super) failure: Option<Failure>,
    /// The first result, if results were compared.
    pub(super) result: Option<String>,
    /// The trace of the only schedule.
    pub(super) trace: Option<Trace>,
}

/// Whether the rest of the exploration has been saved.
#[derive(Debug)]
pub(super) enum Kept {
    In(PathBuf),
    /// It could not be saved at this path, for this reason.
    Not(PathBuf, String),
}

impl Verdict {
    pub(super) fn new(counts: Counts, how: How, memory: Used, failure: Option<Failure>) -> Self {
        let (limit, explored, observed, kept, elapsed) = (None, None, None, None, Duration::ZERO);
        let (sampled, result, trace) = (Counts::default(), None, None);
        Verdict {
            counts,
            sampled,
            how,
            memory,
            limit,
            explored,
            elapsed,
            observed,
            kept,
            failure,
            result,
            trace,
        }
    }

    /// Returns the counts of executions, by their endings.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the counts of schedules that were drawn at random beside the exploration, by their
    /// endings. They are not among the [counts](Verdict::counts). See
    /// [`Checker::sampling`](super::Checker::sampling).
    pub fn sampled(&self) -> Counts {
        self.sampled
    }

    /// Returns `true` if every schedule was explored.
    pub fn is_exhaustive(&self) -> bool {
        self.how == How::Exhaustive
    }

    /// Returns `true` if nothing has gone wrong, but not every schedule was explored: a bound was
    /// reached, or schedules were drawn at random. [`Checker::must_be_exhaustive`] makes this a
    /// failure.
    ///
    /// [`Checker::must_be_exhaustive`]: super::Checker::must_be_exhaustive
    pub fn is_bounded(&self) -> bool {
        self.failure.is_none() && !matches!(self.how, How::Exhaustive | How::Replayed)
    }

    /// Returns the number of executions that the memory model distinguishes: by the operations of
    /// each fiber, the stores that its loads read, the order of the stores to each atomic, and the
    /// messages and locks that it gets. It counts only complete executions, each once however often
    /// it ran.
    ///
    /// If each operation can see only the newest value, this is the number of complete executions.
    pub fn graphs(&self) -> u64 {
        match self.memory {
            Used::Weak { graphs, .. } => graphs,
            Used::Newest | Used::Sc => self.counts.complete,
        }
    }

    /// Returns the limit that has ended the exploration early, if one has.
    pub fn limit(&self) -> Option<Limit> {
        self.limit
    }

    /// Returns an estimate of the explored share of all schedules, from 0 to 1. It assumes that all
    /// branches are equally large (Knuth, *Estimating the efficiency of backtrack programs*, 1975),
    /// and may be far off. It is zero where schedules were drawn at random.
    pub fn explored(&self) -> f64 {
        if self.is_exhaustive() { 1.0 } else { self.explored.unwrap_or(0.0) }
    }

    /// Returns the time of the exploration, with the time before it was resumed.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns the number of executions that differ observably, if they were
    /// [counted](super::Checker::observed).
    pub fn observed(&self) -> Option<u64> {
        self.observed
    }

    /// Returns the path at which the rest of the exploration is saved, if it is.
    pub fn saved(&self) -> Option<&Path> {
        match &self.kept {
            Some(Kept::In(path)) => Some(path),
            _ => None,
        }
    }

    /// Returns the failure, if there is one.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Returns the trace of the schedule, if there was only [one](super::Checker::replay).
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }

    /// Returns the failure, if there is one, and drops the rest.
    pub fn into_failure(self) -> Option<Failure> {
        self.failure
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { complete, redundant, .. } = self.counts;
        let drawn = self.sampled.distinct();
        if let Some(failure) = &self.failure {
            write!(f, "after {} executions that went well", grouped(complete))?;
            if self.sampled.complete > 0 {
                write!(f, ", and {} that were drawn by chance", grouped(self.sampled.complete))?;
            }
            return write!(f, ": {failure}");
        }
        match (self.how, &self.result) {
            (How::Replayed, None) => return write!(f, "one schedule, which ends"),
            (How::Replayed, Some(result)) => return write!(f, "one schedule, which ends with {result}"),
            _ => {}
        }
        self.write_how(f)?;
        if complete == 0 {
            return write!(f, "no execution has come to its end");
        }
        write!(f, "{} executions", grouped(complete))?;
        match self.memory {
            Used::Weak { memory, graphs } => write!(f, " of {} graphs under {memory}", grouped(graphs))?,
            Used::Sc => write!(f, ", with every order taken for SeqCst")?,
            Used::Newest => {}
        }
        write!(f, ", all end")?;
        if self.result.is_some() {
            write!(f, ", same result")?;
        }
        if redundant > 0 {
            write!(f, " ({} more were redundant)", grouped(redundant))?;
        }
        if let Some(observed) = self.observed {
            write!(f, ", {} of them observably different", grouped(observed))?;
        }
        if let Some(explored) = self.explored {
            write!(f, ", {}", progress::share(explored))?;
        }
        if drawn > 0 && !self.is_exhaustive() {
            write!(f, ", and {} drawn by chance", grouped(drawn))?;
        }
        match &self.kept {
            None => Ok(()),
            Some(Kept::In(path)) => write!(f, "\nto go on: LISLE_CHECK_RESUME={}", path.display()),
            Some(Kept::Not(path, error)) => {
                write!(f, "\nwhat remains could not be saved in {}: {error}", path.display())
            }
        }
    }
}

impl Verdict {
    /// Writes the extent of the exploration, and the limit that has ended it.
    fn write_how(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elapsed = Seconds(self.elapsed);
        let is_by_executions = matches!(self.limit, Some(Limit::Executions(_)));
        match (self.how, self.limit) {
            (How::Exhaustive, _) => write!(f, "exhaustive: "),
            (How::Preemptions(most), _) => write!(f, "not exhaustive, bounded by {most} interruptions: "),
            (How::Replayed, _) => write!(f, "one schedule: "),
            (How::Sampled, Some(Limit::Time(_))) => write!(f, "sampled for {elapsed}: "),
            (How::Sampled, Some(Limit::Interrupt)) => write!(f, "sampled, interrupted after {elapsed}: "),
            (How::Sampled, _) => write!(f, "sampled: "),
            (_, Some(Limit::Interrupt)) => write!(f, "not exhaustive, interrupted after {elapsed}: "),
            (_, _) if is_by_executions => write!(f, "not exhaustive, given up before all was explored: "),
            (How::Part | How::PartOfPreemptions { .. }, _) => {
                write!(f, "not exhaustive, given up after {elapsed}: ")
            }
        }?;
        match self.how {
            How::PartOfPreemptions { most, explored: None } => {
                write!(f, "not even all without interruptions, of those with up to {most}: ")
            }
            How::PartOfPreemptions { most, explored: Some(explored) } => {
                write!(f, "all with up to {explored} interruptions, and a part of those with up to {most}: ")
            }
            _ => Ok(()),
        }
    }
}

/// Returns a number with its digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
    lisle_runtime::internal::model::grouped(number as usize)
}
