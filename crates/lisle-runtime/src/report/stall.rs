//! A domain on which something runs for long, and what waits there meanwhile.

use super::awaited::Awaited;
use super::wait_graph::{RunningFiber, counted};
use crate::shim::clock;
use std::fmt;
use std::time::Duration;

/// A fiber or task that keeps its domain while others of it wait.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Stall {
    /// On which domain.
    pub domain: usize,
    /// Who runs there, as far as it is known.
    pub fiber: Option<RunningFiber>,
    /// For how long the domain has been seen to be in this turn, to about ten milliseconds. `None`: for less than that.
    pub lasted: Option<Duration>,
    /// Who waits for it.
    pub delayed: Delayed,
}

/// What waits for a domain to be done with what it runs.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Delayed {
    /// Fibers or tasks of it are ready to go on.
    pub ready: bool,
    /// So many have not begun.
    pub unbegun: usize,
    /// Other threads have woken fibers of it, or placed new ones there.
    pub woken: bool,
    /// A timer of it is overdue by so much.
    pub timer: Option<Duration>,
    /// What fibers of it wait for and has become ready: descriptors, with their addresses.
    pub descriptors: Vec<Awaited>,
}

impl Delayed {
    /// Nobody waits.
    pub fn is_empty(&self) -> bool {
        !self.ready && self.unbegun == 0 && !self.woken && self.timer.is_none() && self.descriptors.is_empty()
    }
}

/// So long durations are told in steps that one can read.
fn readable(duration: Duration) -> Duration {
    let step = if duration < Duration::from_secs(1) { 1_000_000 } else { 100_000_000 };
    let nanos = clock::saturating_nanos(duration);
    Duration::from_nanos((nanos / step * step).max(1_000_000))
}

/// The first of many, in words.
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
    /// Who keeps the domain, and for how long.
    pub(crate) fn who(&self) -> String {
        let domain = self.domain;
        let who = self.fiber.as_ref().map_or_else(|| "code between two fibers".to_owned(), RunningFiber::who);
        let lasted = self.lasted.map_or_else(String::new, |lasted| format!("for {:?} ", readable(lasted)));
        format!("{who} still runs on domain {domain}, {lasted}without blocking")
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, and others wait: {}; it could call yield_now, or, if it waits for something foreign, blocking, or this \
             library's own locks, sockets and sleep",
            self.who(),
            self.delayed
        )
    }
}
