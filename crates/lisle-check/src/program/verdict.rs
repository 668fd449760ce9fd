//! What an exploration has come to, as a value and as text.

use super::failure::Failure;
use super::limit::{Limit, Seconds};
use super::memory::Used;
use super::progress;
use super::trace::Trace;
use crate::explore::Counts;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Every schedule that could differ.
    Exhaustive,
    /// A part of these.
    Part,
    /// Those with so few interruptions.
    Preemptions(u32),
    /// A part of these, among them all with so many interruptions or fewer.
    PartOfPreemptions { most: u32, explored: Option<u32> },
    /// Some, drawn by chance.
    Sampled,
    /// One.
    Replayed,
}

/// What an exploration has come to.
#[derive(Debug)]
pub struct Verdict {
    pub(super) counts: Counts,
    /// What was drawn by chance besides.
    pub(super) sampled: Counts,
    pub(super) how: How,
    pub(super) memory: Used,
    /// What has ended it before its end.
    pub(super) limit: Option<Limit>,
    /// An estimate of what was looked at, if that was a part.
    pub(super) explored: Option<f64>,
    pub(super) elapsed: Duration,
    pub(super) observed: Option<u64>,
    pub(super) kept: Option<Kept>,
    pub(super) failure: Option<Failure>,
    /// What was returned first, if it was asked whether all is the same.
    pub(super) result: Option<String>,
    /// What the one schedule did.
    pub(super) trace: Option<Trace>,
}

/// Whether what remains has been saved.
#[derive(Debug)]
pub(super) enum Kept {
    In(PathBuf),
    /// It could not be, and why.
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

    /// Returns how many executions there were, by their endings.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns how many schedules were drawn by chance beside those that were explored, by their
    /// endings. They are not among the [counts](Verdict::counts). See
    /// [`Checker::sampling`](super::Checker::sampling).
    pub fn sampled(&self) -> Counts {
        self.sampled
    }

    /// Returns `true` if every schedule was explored.
    pub fn is_exhaustive(&self) -> bool {
        self.how == How::Exhaustive
    }

    /// Returns `true` if nothing has gone wrong in what was looked at, but that was not all: a bound
    /// was hit, or schedules were drawn by chance. [`Checker::must_be_exhaustive`] makes a failure
    /// of that.
    ///
    /// [`Checker::must_be_exhaustive`]: super::Checker::must_be_exhaustive
    pub fn is_bounded(&self) -> bool {
        self.failure.is_none() && !matches!(self.how, How::Exhaustive | How::Replayed)
    }

    /// Returns the number of executions that differ for the memory model: in what each fiber does,
    /// in what its loads read, in the order of the stores to each atomic, and in what it gets from
    /// channels and locks. Only executions that come to their end are counted, each once however
    /// often it was run.
    ///
    /// If no operation can see anything but the newest value that is each of them.
    pub fn graphs(&self) -> u64 {
        match self.memory {
            Used::Weak { graphs, .. } => graphs,
            Used::Newest | Used::Sc => self.counts.complete,
        }
    }

    /// Returns what has ended the exploration before all was explored, if that is how it has ended.
    pub fn limit(&self) -> Option<Limit> {
        self.limit
    }

    /// Returns an estimate of the explored share of all schedules, from 0 to 1. It takes all
    /// branches for equally large (Knuth, *Estimating the efficiency of backtrack programs*, 1975),
    /// and may be far off. It is zero where schedules were drawn by chance.
    pub fn explored(&self) -> f64 {
        if self.is_exhaustive() { 1.0 } else { self.explored.unwrap_or(0.0) }
    }

    /// Returns how long it has taken, together with what was explored before it was resumed.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns how many executions differ in what was observed, if they were
    /// [counted](super::Checker::observed).
    pub fn observed(&self) -> Option<u64> {
        self.observed
    }

    /// Returns where what remains is saved, if it is.
    pub fn saved(&self) -> Option<&Path> {
        match &self.kept {
            Some(Kept::In(path)) => Some(path),
            _ => None,
        }
    }

    /// Returns what has gone wrong, if anything has.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Returns what the schedule did, if it was [one](super::Checker::replay).
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }

    /// Returns what has gone wrong, if anything has, and gives up the rest.
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
    /// Writes what was looked at, and what has ended that.
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
    lisle_runtime::model::grouped(number as usize)
}
