//! The report of a domain on which something runs for long, with the fibers and tasks that wait
//! there meanwhile.

use super::awaited::Awaited;
use super::wait_graph::{RunningFiber, counted};
use crate::shim::clock;
use std::fmt;
use std::time::Duration;

/// A report that a fiber or task keeps its domain while others of that domain wait.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Stall {
    /// The index of the domain.
    pub domain: usize,
    /// The fiber or task that runs there, as far as it is known.
    pub fiber: Option<RunningFiber>,
    /// How long the domain has been seen in this turn, to about ten milliseconds, or `None` for
    /// less than that.
    pub lasted: Option<Duration>,
    /// The work that waits for the domain.
    pub delayed: Delayed,
    /// The wait of the domain's thread in the kernel. `None` if it computes, or if the system does
    /// not tell.
    pub asleep: Option<Asleep>,
}

/// The wait of a thread in the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asleep {
    /// A futex. Locks, condition variables, channels and joins of the standard library and of C
    /// libraries wait by it.
    Futex,
    /// The system call with this number.
    Call(i64),
}

impl fmt::Display for Asleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asleep::Futex => f.write_str(
                "its thread sleeps in the kernel, in a futex: in a lock, a condition variable, a channel, `park` or `join` \
                 of the standard library, or of a C library. Another fiber of the domain, which cannot go on, \
                 may have to end this wait: use the types of this library (`sync`, `channel`, `thread`), or `blocking`",
            ),
            Asleep::Call(call) => write!(
                f,
                "its thread sleeps in the kernel, in the system call {call}: use this library's own sockets and sleep, or \
                 `blocking`"
            ),
        }
    }
}

/// The work that waits until a domain is done with its present turn.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Delayed {
    /// `true` if fibers or tasks of the domain are ready to go on.
    pub ready: bool,
    /// The number of fibers or tasks that have not begun.
    pub unbegun: usize,
    /// `true` if other threads have woken fibers of the domain, or placed new ones there.
    pub woken: bool,
    /// How long a timer of the domain is overdue.
    pub timer: Option<Duration>,
    /// Descriptors that fibers of the domain wait for, with their addresses.
    pub descriptors: Vec<Awaited>,
}

impl Delayed {
    /// Returns `true` if nothing waits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Delayed, Report, Runtime};
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    ///
    /// assert!(Delayed::default().is_empty());
    /// let (tx, rx) = mpsc::channel();
    /// let tell = move |report: &Report| match report {
    ///     Report::Stall(stall) => drop(tx.send(stall.delayed.clone())),
    ///     _ => {}
    /// };
    /// let builder = Runtime::builder().domains(1).stall_report(Some(Duration::from_millis(20)));
    /// builder.on_report(tell).run(|| {
    ///     drop(lisle::spawn(|| ())); // waits for this domain
    ///     assert!(!rx.recv().unwrap().is_empty()); // blocks the domain until the report comes
    /// });
    /// ```
    pub fn is_empty(&self) -> bool {
        !self.ready && self.unbegun == 0 && !self.woken && self.timer.is_none() && self.descriptors.is_empty()
    }
}

/// Rounds a duration to a step that is easy to read.
fn readable(duration: Duration) -> Duration {
    let step = if duration < Duration::from_secs(1) { 1_000_000 } else { 100_000_000 };
    let nanos = clock::saturating_nanos(duration);
    Duration::from_nanos((nanos / step * step).max(1_000_000))
}

/// The number of descriptors that are written.
const TOLD: usize = 8;

impl fmt::Display for Delayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = Vec::new();
        if let Some(late) = self.timer {
            all.push(format!("a timer is overdue by {:?}", readable(late)));
        }
        let (ready, waiting): (Vec<_>, Vec<_>) =
            self.descriptors.iter().partition(|awaited| awaited.is_ready);
        for (which, what) in [(ready, "ready"), (waiting, "waited for there")] {
            if let [one] = which[..] {
                all.push(format!("a descriptor is {what}: {one}"));
            } else if !which.is_empty() {
                let told: Vec<_> = which.iter().take(TOLD).map(ToString::to_string).collect();
                let more = which.len().saturating_sub(TOLD);
                let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                all.push(format!(
                    "{} are {what}: {}{more}",
                    counted(which.len(), "descriptor"),
                    told.join(", ")
                ));
            }
        }
        if self.ready {
            all.push("others are ready to go on".to_owned());
        }
        match self.unbegun {
            0 => {}
            1 => all.push("1 has not begun".to_owned()),
            more => all.push(format!("{more} have not begun")),
        }
        if self.woken {
            all.push("wakes from other threads have come".to_owned());
        }
        f.write_str(&all.join("; "))
    }
}

impl Stall {
    /// Returns a text with the fiber that keeps the domain, and the time.
    pub(crate) fn who(&self) -> String {
        let domain = self.domain;
        let who = self.fiber.as_ref().map_or_else(|| "code between two fibers".to_owned(), RunningFiber::who);
        let lasted = self.lasted.map_or_else(String::new, |lasted| format!("for {:?} ", readable(lasted)));
        format!("{who} still runs on domain {domain}, {lasted}without blocking")
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, and others wait: {}; ", self.who(), self.delayed)?;
        match &self.asleep {
            Some(asleep) => asleep.fmt(f),
            None => f.write_str(
                "it could call yield_now, or, if it waits for something foreign, blocking, or this library's own locks, \
                 sockets and sleep",
            ),
        }
    }
}
