//! A failure of an execution, as a value, as text, and as a page.

use super::bridge::Steps;
use super::difference::Difference;
use super::memory::DataRace;
use super::spins::Spin;
use super::trace::{Trace, page};
use super::watch::Lasting;
use crate::explore::Schedule;
use lisle_runtime::WaitGraph;
use std::fmt;
use std::panic::Location;

/// A failure of an execution.
#[derive(Debug)]
pub struct Failure {
    pub(super) what: What,
    pub(super) schedule: Schedule,
    /// The trace of the schedule.
    pub(super) trace: Trace,
    /// The waits that could not be unwound after it.
    pub(super) stuck: Option<String>,
    /// The loops with parts that have not begun. Nothing promises that parts run at the same time.
    pub(super) unbegun: Vec<&'static Location<'static>>,
}

#[derive(Debug)]
pub(super) enum What {
    Panicked(String),
    Blocked(WaitGraph),
    Differs(Box<Difference>),
    Race(DataRace),
    Spins(Vec<Spin>, WaitGraph),
    /// It has reached the limit of steps. The list has the steps that its end repeats, if it does.
    Endless(Vec<Steps>),
    /// A step does not end.
    Lasts(Lasting),
    /// An execution that was given up cannot be unwound.
    Stuck,
}

impl Failure {
    /// Returns the schedule as a short text, for [`Checker::replay`](super::Checker::replay).
    pub fn token(&self) -> String {
        self.schedule.to_string()
    }

    /// Returns `true` if the other failure is of the same kind.
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

    /// Returns the wait graph, if the program can never go on.
    pub fn blocked(&self) -> Option<&WaitGraph> {
        match &self.what {
            What::Blocked(graph) | What::Spins(_, graph) => Some(graph),
            _ => None,
        }
    }

    /// Returns the loops that wait for a change that no process will make, if the program can never
    /// go on.
    pub fn spins(&self) -> &[Spin] {
        match &self.what {
            What::Spins(spins, _) => spins,
            _ => &[],
        }
    }

    /// Returns the two accesses to a [cell](crate::cell) that nothing orders, if the failure is a
    /// data race.
    pub fn race(&self) -> Option<&DataRace> {
        match &self.what {
            What::Race(race) => Some(race),
            _ => None,
        }
    }

    /// Returns the message of the panic, if the failure is a panic.
    pub fn panicked(&self) -> Option<&str> {
        match &self.what {
            What::Panicked(message) => Some(message),
            _ => None,
        }
    }

    /// Returns the two schedules with different results, if the failure is that results differ.
    pub fn difference(&self) -> Option<&Difference> {
        match &self.what {
            What::Differs(difference) => Some(difference),
            _ => None,
        }
    }

    /// Returns the trace of the schedule.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns the report as a page of HTML, with the columns, and a slider through the steps that
    /// the arrow keys move. The page needs no other file.
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
            What::Spins(..) | What::Endless(_) | What::Lasts(_) | What::Stuck => {
                "A schedule that does not end"
            }
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

/// The failure without the schedule.
struct Summary<'a>(&'a Failure);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.what {
            What::Panicked(message) => {
                writeln!(f, "{message}")?;
                if self.0.trace.has_time() {
                    writeln!(f, "{VIRTUAL}")?;
                }
            }
            What::Blocked(graph) => {
                write!(f, "nothing can go on\n{graph}")?;
                if graph.tasks.iter().chain(&graph.fibers).any(|blocked| blocked.waits.is_empty()) {
                    write!(f, "\n{UNTOLD}")?;
                }
            }
            What::Spins(spins, graph) => {
                writeln!(f, "a livelock: only loops that wait for a change can run")?;
                spins.iter().try_for_each(|spin| writeln!(f, "{spin}"))?;
                if !graph.fibers.is_empty() {
                    writeln!(f, "{graph}")?;
                }
            }
            What::Race(race) => writeln!(f, "{race}")?,
            What::Differs(difference) => write!(f, "{difference}")?,
            What::Endless(repeated) => {
                writeln!(f, "an execution does not end within the limit of steps")?;
                if !repeated.is_empty() {
                    write!(f, "a livelock: these steps repeat for ever:")?;
                    repeated.iter().try_for_each(|steps| write!(f, "\n    {steps}"))?;
                    writeln!(f)?;
                }
            }
            What::Lasts(lasting) => writeln!(f, "{lasting}")?,
            What::Stuck => writeln!(f, "an execution cannot be given up")?,
        }
        for site in &self.0.unbegun {
            writeln!(
                f,
                "some parts of the loop at {site} have not begun: nothing promises that they run at the \
                 same time as the others"
            )?;
        }
        match &self.0.stuck {
            Some(stuck) => writeln!(f, "the rest of the execution could not be unwound: {stuck}"),
            None => Ok(()),
        }
    }
}

/// The lines that say how to run the failure again.
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
            Some(site) => write!(f, "{} {times} of the fiber or task spawned at {site}", self.count),
            None => write!(f, "{} {times} of the program itself", self.count),
        }
    }
}

/// The hint after a panic of a program in which time has passed.
const VIRTUAL: &str = "(time is virtual in a check: `Instant::now` and `Instant::elapsed` do not know how much has passed; \
                       `lisle::time::now` does)";

/// The hint about fibers and tasks whose event is unknown.
const UNTOLD: &str = "An event that does not tell is a future from outside of Lisle, or an event without a \
                      description. To the checker it is outside of the program, and nothing in the program \
                      will make it happen. Put a channel in its place";
