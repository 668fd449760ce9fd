//! The wait graph as a value.
//!
//! `sched/snapshot.rs` builds it, `text.rs` formats it, `cycle.rs` finds performers that wait for
//! each other.

mod cycle;
mod text;

#[cfg(feature = "model")]
pub(crate) use text::grouped;
pub(super) use text::{counted, who};

use super::stall::Stall;
use crate::event::BlockedOn;
use std::collections::HashMap;
use std::panic::Location;

/// The waits of a runtime, at about one moment: see [`Runtime::waiting`](crate::Runtime::waiting).
///
/// Its `Display` form has a block for each fiber and thread that waits. Equal blocks are merged.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WaitGraph {
    /// The fibers that wait.
    pub fibers: Vec<Blocked>,
    /// The tasks that wait.
    pub tasks: Vec<Blocked>,
    /// The plain OS threads that wait, in all of the process: they belong to no runtime.
    pub threads: Vec<Blocked>,
    /// The fibers that are known to run: the one that has asked, and the fibers whose domains did
    /// not answer.
    pub running: Vec<RunningFiber>,
    /// The number of fibers that could go on, and wait for their turn.
    pub ready: usize,
    /// The number of fibers that have not begun and of tasks that could go on.
    pub unbegun: usize,
    /// The domains that have not answered in time. The waits there are not listed.
    pub silent: Vec<usize>,
    /// The known facts about the domains in `silent`: the fiber that keeps each, the time, and the
    /// work that waits there.
    pub stuck: Vec<Stall>,
}

/// A performer that waits.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Blocked {
    /// The kind of performer.
    pub kind: Performer,
    /// The number of the performer, which [`BlockedOn::held_by`] refers to.
    pub id: usize,
    /// The name, if it has one.
    pub name: Option<String>,
    /// The place where it was spawned, or `None` for a thread.
    pub site: Option<&'static Location<'static>>,
    /// Its domain, or `None` for threads and tasks, which are on none while they wait.
    pub domain: Option<usize>,
    /// Its waits: the first of these that happens ends the wait. Empty if its event has no
    /// description.
    pub waits: Vec<BlockedOn>,
    /// Where the task was spawned that waits, by a call such as `sync` or `recv`, and keeps the
    /// fiber on whose stack it runs from going on: a task that was to wait alone would `await` its
    /// event. `None` if the fiber itself waits, or the task waits alone.
    pub in_place: Option<&'static Location<'static>>,
}

/// A kind of performer of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Performer {
    /// A fiber.
    Fiber,
    /// A task.
    Task,
    /// A plain OS thread.
    Thread,
}

/// A fiber or task that runs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunningFiber {
    /// The domain it runs on.
    pub domain: usize,
    /// The kind of performer.
    pub kind: Performer,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it was spawned.
    pub site: &'static Location<'static>,
}

impl WaitGraph {
    /// Returns performers each of which waits for the next, and the last for the first, if there
    /// are any: none of them will ever go on.
    ///
    /// The walk follows known holders: a fiber that is joined, a scope's fibers, the owner of a
    /// lock. The performer that would have sent on a channel is not known. A choice counts only if
    /// all its alternatives lead to such performers.
    ///
    /// Takes time and memory proportional to the number of waits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::sync::Mutex;
    /// use std::sync::Arc;
    ///
    /// let outcome = lisle::Runtime::builder().domains(1).closed_world(true).try_run(|| {
    ///     let lock = Arc::new(Mutex::new(0));
    ///     let _held = lock.lock();
    ///     let wants = lock.clone();
    ///     lisle::spawn(move || *wants.lock() += 1).join() // it waits for `_held`, this for it
    /// });
    /// let deadlock = outcome.unwrap_err();
    /// assert_eq!(deadlock.waiting().cycle().unwrap().len(), 2);
    /// ```
    pub fn cycle(&self) -> Option<Vec<&Blocked>> {
        cycle::find(self.waiters())
    }

    /// Returns all performers that wait.
    fn waiters(&self) -> impl Iterator<Item = &Blocked> + Clone {
        self.fibers.iter().chain(&self.tasks).chain(&self.threads)
    }

    /// Notes that a scope is held by its fibers, given as pairs of both their numbers.
    pub(crate) fn link_scopes(&mut self, members: &[(usize, usize)]) {
        let mut scopes: HashMap<usize, Vec<usize>> = HashMap::new();
        for &(scope, fiber) in members {
            scopes.entry(scope).or_default().push(fiber);
        }
        for waiter in self.fibers.iter_mut().chain(&mut self.tasks).chain(&mut self.threads) {
            for wait in waiter.waits.iter_mut().filter(|wait| wait.object.kind() == "scope") {
                wait.held_by = scopes.get(&wait.id).cloned().unwrap_or_default();
            }
        }
    }
}
