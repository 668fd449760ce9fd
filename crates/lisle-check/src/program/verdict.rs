//! What an exploration has come to, as a value and as text.

use super::bridge::Steps;
use super::difference::Difference;
use super::limit::{Limit, Seconds};
use super::memory::{DataRace, Used};
use super::progress;
use super::spins::Spin;
use super::trace::{Trace, page};
use crate::explore::{Counts, Schedule};
use lisle_runtime::WaitGraph;
use std::fmt;
use std::panic::Location;
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
        let (result, trace) = (None, None);
        Verdict { counts, how, memory, limit, explored, elapsed, observed, kept, failure, result, trace }
    }

    /// Returns how many executions there were, by their endings.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns `true` if every schedule was explored.
    pub fn is_exhaustive(&self) -> bool {
        self.how == How::Exhaustive
    }

    /// Returns the number of executions that differ for the memory model: in what each fiber does, in what
    /// its loads read, in the order of the stores to each atomic, and in what it gets from channels and
    /// locks. Only executions that come to their end are counted, each once however often it was run.
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

    /// Returns an estimate of the explored share of all schedules, from 0 to 1. It takes all branches for
    /// equally large (Knuth, *Estimating the efficiency of backtrack programs*, 1975), and may be far off. It
    /// is zero where schedules were drawn by chance.
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
        if let Some(failure) = &self.failure {
            return write!(f, "after {} executions that went well: {failure}", grouped(complete));
        }
        match (self.how, &self.result) {
            (How::Replayed, None) => return write!(f, "one schedule, which ends"),
            (How::Replayed, Some(result)) => return write!(f, "one schedule, which ends with {result}"),
            _ => {}
        }
        self.write_how(f)?;
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
            (How::Preemptions(most), _) => write!(f, "bounded by {most} interruptions: "),
            (How::Replayed, _) => write!(f, "one schedule: "),
            (How::Sampled, Some(Limit::Time(_))) => write!(f, "sampled for {elapsed}: "),
            (How::Sampled, Some(Limit::Interrupt)) => write!(f, "sampled, interrupted after {elapsed}: "),
            (How::Sampled, _) => write!(f, "sampled: "),
            (_, Some(Limit::Interrupt)) => write!(f, "interrupted after {elapsed}: "),
            (_, _) if is_by_executions => write!(f, "given up before all was explored: "),
            (How::Part | How::PartOfPreemptions { .. }, _) => write!(f, "given up after {elapsed}: "),
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

/// How an execution has gone wrong.
#[derive(Debug)]
pub struct Failure {
    pub(super) what: What,
    pub(super) schedule: Schedule,
    /// What the schedule did.
    pub(super) trace: Trace,
    /// What could not be unwound after it.
    pub(super) stuck: Option<String>,
    /// Loops whose parts have not begun, which nothing promises to run at the same time as others.
    pub(super) unbegun: Vec<&'static Location<'static>>,
}

#[derive(Debug)]
pub(super) enum What {
    Panicked(String),
    Blocked(WaitGraph),
    Differs(Box<Difference>),
    Race(DataRace),
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
            (What::Differs(_), What::Differs(_)) => true,
            (What::Spins(spins, graph), What::Spins(others, other)) => {
                spins.len() == others.len() && graph.fibers.len() == other.fibers.len()
            }
            (What::Race(race), What::Race(other)) => race.is_like(other),
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

    /// Returns the two accesses to a [cell](crate::cell) that nothing orders, if that is what has gone wrong.
    pub fn race(&self) -> Option<&DataRace> {
        match &self.what {
            What::Race(race) => Some(race),
            _ => None,
        }
    }

    /// Returns what was panicked with, if that is what has gone wrong.
    pub fn panicked(&self) -> Option<&str> {
        match &self.what {
            What::Panicked(message) => Some(message),
            _ => None,
        }
    }

    /// Returns the two schedules that come to different results, if that is what has gone wrong.
    pub fn difference(&self) -> Option<&Difference> {
        match &self.what {
            What::Differs(difference) => Some(difference),
            _ => None,
        }
    }

    /// Returns what the schedule did, step by step.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns a page of HTML with the same, which needs no other file: the columns, and a slider
    /// through the steps. The arrow keys move it.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::sync::Mutex;
    ///
    /// let verdict = lisle_check::Checker::new().explore(|| {
    ///     let lock = Mutex::new(0);
    ///     let _held = lock.lock();
    ///     drop(lock.lock());
    /// });
    /// let page = verdict.failure().unwrap().html();
    /// assert!(page.starts_with("<!doctype html>") && page.contains("lock mutex"));
    /// ```
    pub fn html(&self) -> String {
        let title = match &self.what {
            What::Panicked(_) => "A schedule that panics",
            What::Blocked(_) => "A schedule that cannot go on",
            What::Race(_) => "A schedule with a data race",
            What::Differs(_) => "Two schedules with different results",
            What::Spins(..) | What::Endless(_) | What::Stuck => "A schedule that does not end",
        };
        let report = format!("{}\n{}", Summary(self), Again(self));
        match &self.what {
            What::Differs(difference) => {
                let [first, second] = difference.traces();
                page::write(title, &report, &[("The first schedule", first), ("The second schedule", second)])
            }
            _ => page::write(title, &report, &[("", &self.trace)]),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Summary(self))?;
        match &self.what {
            What::Differs(difference) => {
                let [first, second] = difference.traces();
                writeln!(f, "\nthe first schedule:\n{first}")?;
                match difference.same_before() {
                    0 | 1 => writeln!(f, "\nthe second schedule:\n{second}")?,
                    from => {
                        writeln!(f, "\nthe second schedule, from step {from} on:\n{}", second.from(from))?
                    }
                }
            }
            _ => writeln!(f, "\nthe schedule:\n{}", self.trace)?,
        }
        write!(f, "\n{}", Again(self))
    }
}

/// What has gone wrong, without the schedule.
struct Summary<'a>(&'a Failure);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.what {
            What::Panicked(message) => writeln!(f, "{message}")?,
            What::Blocked(graph) => {
                write!(f, "nothing can go on\n{graph}")?;
                if graph.tasks.iter().chain(&graph.fibers).any(|blocked| blocked.waits.is_empty()) {
                    write!(f, "\n{UNTOLD}")?;
                }
            }
            What::Spins(spins, graph) => {
                writeln!(f, "a livelock: nothing can go on but what does the same again and again")?;
                spins.iter().try_for_each(|spin| writeln!(f, "{spin}"))?;
                if !graph.fibers.is_empty() {
                    writeln!(f, "{graph}")?;
                }
            }
            What::Race(race) => writeln!(f, "{race}")?,
            What::Differs(difference) => write!(f, "{difference}")?,
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
        for site in &self.0.unbegun {
            writeln!(
                f,
                "the parts of the loop at {site} that have not begun could: \
                 but nothing promises that they run at the same time as the others"
            )?;
        }
        match &self.0.stuck {
            Some(stuck) => writeln!(f, "what was left could not be unwound: {stuck}"),
            None => Ok(()),
        }
    }
}

/// How to run it again.
struct Again<'a>(&'a Failure);

impl fmt::Display for Again<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let What::Differs(difference) = &self.0.what {
            writeln!(f, "to run the first again: LISLE_CHECK_REPLAY={}", difference.schedules[0])?;
            return write!(f, "to run the second again: LISLE_CHECK_REPLAY={}", difference.schedules[1]);
        }
        write!(f, "to run it again: LISLE_CHECK_REPLAY={}", self.0.schedule)
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
