//! How an execution has gone wrong, as a value, as text, and as a page.

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
    /// A step does not end.
    Lasts(Lasting),
    /// What was given up cannot be unwound.
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

    /// Returns what asks again and again for what nobody alive will change, if the program can
    /// never go on.
    pub fn spins(&self) -> &[Spin] {
        match &self.what {
            What::Spins(spins, _) => spins,
            _ => &[],
        }
    }

    /// Returns the two accesses to a [cell](crate::cell) that nothing orders, if that is what has
    /// gone wrong.
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

/// What has gone wrong, without the schedule.
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
            What::Lasts(lasting) => writeln!(f, "{lasting}")?,
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

/// What is said where a program in which time has passed panics.
const VIRTUAL: &str = "(time is virtual in a check: `Instant::now` and `Instant::elapsed` do not know how much has passed; \
                       `lisle::time::now` does)";

/// What is said of those of whom it is not known what they wait for.
const UNTOLD: &str = "What does not tell waits for a future that is none of Lisle's, or for an event that does not \
                      describe itself: as far as can be seen, for something outside of the program, which nobody \
                      in it will bring about. Put a channel in its place";
