//! The report of the fibers that still ran when a runtime's time to shut down was over.

use super::wait_graph::{Blocked, Performer, RunningFiber, who};
use crate::event::BlockedOn;
use std::fmt;
use std::panic::Location;

/// A fiber or task that did not end in time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Straggler {
    /// The domain of the fiber or task.
    pub domain: usize,
    /// Whether it is a fiber or a task.
    pub kind: Performer,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it was spawned.
    pub site: Location<'static>,
    /// Its waits, if it waits. It catches the unwinding, or cannot be unwound from there: foreign code
    /// has called it, or a function of C++ with `catch (...)`, which may swallow a panic, or it is in
    /// a destructor that a panic runs. `None` if it runs, and does not give its domain back.
    pub waits: Option<Vec<BlockedOn>>,
}

/// The number of stragglers that are described in the text.
const TOLD: usize = 8;

/// The result of a shutdown.
#[derive(Debug, Clone, Default)]
#[must_use = "it tells whether fibers were still running"]
#[non_exhaustive]
pub struct Shutdown {
    /// The fibers that were still there: running fibers that did not give their domain back, one
    /// per domain, and waiting fibers. Fibers that wait on a domain that another fiber keeps are
    /// unknown.
    pub stragglers: Vec<Straggler>,
    /// The number of fibers and tasks that have not ended, including stragglers.
    pub unfinished: usize,
}

impl Shutdown {
    /// Returns `true` if everything has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::sync::{atomic::{AtomicBool, Ordering::Relaxed}, mpsc};
    /// use std::time::Duration;
    ///
    /// static STOP: AtomicBool = AtomicBool::new(false);
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let (began, begun) = mpsc::channel();
    /// drop(runtime.spawn(move || {
    ///     began.send(()).unwrap();
    ///     while !STOP.load(Relaxed) {} // neither waits nor ends
    /// }));
    /// begun.recv().unwrap();
    /// let shutdown = runtime.shutdown(Duration::from_millis(1));
    /// assert!(!shutdown.is_clean());
    /// assert_eq!((shutdown.unfinished, shutdown.stragglers[0].domain), (1, 0));
    /// STOP.store(true, Relaxed);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn is_clean(&self) -> bool {
        self.unfinished == 0
    }
}

impl From<RunningFiber> for Straggler {
    fn from(fiber: RunningFiber) -> Self {
        Straggler { domain: fiber.domain, kind: fiber.kind, name: fiber.name, site: *fiber.site, waits: None }
    }
}

impl Straggler {
    /// Creates a straggler that waits. Returns `None` if it has no domain or no site, so is not a
    /// fiber.
    pub(crate) fn waiting(waiter: Blocked) -> Option<Self> {
        let (domain, site) = (waiter.domain?, *waiter.site?);
        Some(Straggler { domain, kind: waiter.kind, name: waiter.name, site, waits: Some(waiter.waits) })
    }
}

impl fmt::Display for Straggler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = who(self.kind, 1, self.name.as_deref(), Some(&self.site));
        let Some(waits) = &self.waits else {
            return write!(f, "{who} still runs on domain {}", self.domain);
        };
        write!(f, "{who} still waits on domain {}", self.domain)?;
        let mut before = ", to ";
        for wait in waits {
            write!(f, "{before}{} {}", wait.operation, wait.object)?;
            before = " or ";
        }
        Ok(())
    }
}

impl fmt::Display for Shutdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return f.write_str("all fibers have ended");
        }
        let have = if self.unfinished == 1 {
            "1 fiber has".into()
        } else {
            format!("{} fibers have", self.unfinished)
        };
        write!(f, "{have} not ended in time")?;
        let (told, untold) = self.stragglers.split_at(self.stragglers.len().min(TOLD));
        told.iter().try_for_each(|straggler| write!(f, "; {straggler}"))?;
        if untold.is_empty() { Ok(()) } else { write!(f, "; and {} more", untold.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fiber_and_several() {
        let text = |unfinished| Shutdown { stragglers: Vec::new(), unfinished }.to_string();
        assert_eq!(text(0), "all fibers have ended");
        assert_eq!(text(1), "1 fiber has not ended in time");
        assert_eq!(text(2), "2 fibers have not ended in time");
    }
}
