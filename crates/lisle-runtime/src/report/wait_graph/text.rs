//! The wait graph as text.

use super::{Blocked, Performer, RunningFiber, WaitGraph};
use crate::event::{Label, Said};
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::panic::Location;

/// The properties that make waiters look the same, in the order in which they are sorted.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Look<'a> {
    kind: Performer,
    site: Option<&'static Location<'static>>,
    name: Option<&'a str>,
    waits: Vec<(&'static str, &'a Label)>,
    in_place: Option<&'static Location<'static>>,
}

impl Blocked {
    fn look(&self) -> Look<'_> {
        Look {
            kind: self.kind,
            site: self.site,
            name: self.name.as_deref(),
            waits: self.waits.iter().map(|wait| (wait.operation, &wait.object)).collect(),
            in_place: self.in_place,
        }
    }
}

/// Returns `fiber 'name' (spawned at ...)`, or the same for threads and for several of them.
pub(in crate::report) fn who(
    kind: Performer,
    count: usize,
    name: Option<&str>,
    site: Option<&Location<'_>>,
) -> String {
    let kind = match kind {
        Performer::Fiber => "fiber",
        Performer::Task => "task",
        Performer::Thread => "thread",
    };
    let mut text = match count {
        1 if name.is_some() => kind.to_owned(),
        1 => format!("a {kind}"),
        _ => format!("{} {kind}s", grouped(count)),
    };
    if let Some(name) = name {
        let _ = write!(text, " '{name}'");
    }
    if let Some(site) = site {
        let _ = write!(text, " (spawned at {site})");
    }
    text
}

/// Returns a number with its digits in groups of three.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns `one fiber`, `2,000 fibers` or `no fibers`.
pub(in crate::report) fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("one {what}"),
        _ => format!("{} {what}s", grouped(count)),
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&who(self.kind, 1, self.name.as_deref(), self.site))
    }
}

impl RunningFiber {
    /// Returns the kind and the name, and where it was spawned.
    pub(in crate::report) fn who(&self) -> String {
        who(self.kind, 1, self.name.as_deref(), Some(self.site))
    }
}

impl fmt::Display for RunningFiber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} runs on domain {}", self.who(), self.domain)
    }
}

/// The number of waiters of a block whose details are written.
const TOLD: usize = 8;

/// Writes the block for waiters that look the same.
fn block(f: &mut fmt::Formatter<'_>, alike: &[&Blocked]) -> fmt::Result {
    let first = alike[0];
    let who = who(first.kind, alike.len(), first.name.as_deref(), first.site);
    match first.in_place.filter(|_| first.kind == Performer::Fiber) {
        Some(task) => writeln!(f, "{who}, which runs a task (spawned at {task}):")?,
        None => writeln!(f, "{who}:")?,
    }
    waits(f, alike)?;
    if first.in_place.is_some() {
        writeln!(
            f,
            "    the task waits by a call, which keeps the fiber that runs it: write `.await` for a wait of the task alone"
        )?;
    }
    Ok(())
}

/// Writes the waits of waiters that look the same.
fn waits(f: &mut fmt::Formatter<'_>, alike: &[&Blocked]) -> fmt::Result {
    let first = alike[0];
    if first.waits.is_empty() {
        return writeln!(f, "    its event does not tell");
    }
    for (place, wait) in first.waits.iter().enumerate() {
        let or = if place > 0 { "or " } else { "" };
        write!(f, "    {or}{} {}", wait.operation, wait.object)?;
        let is_alike = |waiter: &&Blocked| {
            waiter.waits[place].note == wait.note && waiter.waits[place].address == wait.address
        };
        if alike.iter().all(is_alike) {
            writeln!(f, "{}", Said(wait))?;
        } else if wait.address.is_some() {
            // Waiters with different details are most often the clients of a server.
            alike.iter().take(TOLD).try_for_each(|waiter| write!(f, "{}", Said(&waiter.waits[place])))?;
            match alike.len().saturating_sub(TOLD) {
                0 => writeln!(f)?,
                more => writeln!(f, "; and {} more", grouped(more))?,
            }
        } else {
            writeln!(f)?;
        }
    }
    Ok(())
}

impl fmt::Display for WaitGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted_waiters = [(&self.fibers, "fiber"), (&self.tasks, "task"), (&self.threads, "thread")]
            .map(|(waiters, what)| counted(waiters.len(), what));
        let [fibers, tasks, threads] = counted_waiters;
        if self.tasks.is_empty() {
            write!(f, "{fibers} and {threads} wait")?;
        } else {
            write!(f, "{fibers}, {tasks} and {threads} wait")?;
        }
        write!(f, "; {} ready to go on", counted(self.ready, "fiber"))?;
        writeln!(f, "; {} not begun", counted(self.unbegun, "fiber"))?;
        let mut looks: BTreeMap<Look<'_>, Vec<&Blocked>> = BTreeMap::new();
        for waiter in self.waiters() {
            looks.entry(waiter.look()).or_default().push(waiter);
        }
        for alike in looks.values() {
            block(f, alike)?;
        }
        for running in &self.running {
            writeln!(f, "{running}")?;
        }
        for domain in &self.silent {
            writeln!(f, "domain {domain} has not answered, so what waits there is not known")?;
            if let Some(stall) = self.stuck.iter().find(|stall| stall.domain == *domain) {
                writeln!(f, "    {}", stall.who())?;
                if !stall.delayed.is_empty() {
                    writeln!(f, "    {}", stall.delayed)?;
                }
                if let Some(asleep) = &stall.asleep {
                    writeln!(f, "    {asleep}")?;
                }
            }
        }
        let Some(cycle) = self.cycle() else { return Ok(()) };
        writeln!(f, "a cycle of {}, each waiting for the next:", cycle.len())?;
        for waiter in cycle {
            write!(f, "    {waiter}: ")?;
            for (place, wait) in waiter.waits.iter().enumerate() {
                let or = if place > 0 { " or " } else { "" };
                write!(f, "{or}{} {}", wait.operation, wait.object)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped() {
        let all = [0, 7, 999, 1_000, 12_345, 1_234_567].map(grouped);
        assert_eq!(all, ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
    }
}
