//! Names of tasks and cells that do not depend on the order in which tasks run.
//!
//! A task is named by the forks that lead to it: `main.0.2` is the third task that the first task
//! forked by the main one has forked. A cell is named by the task that made it, and how many it had
//! made before. *Invariant:* a program that does the same in two schedules uses the same names, so
//! their memories at the end can be compared.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// The path of forks that leads from the main task to a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(pub Vec<u32>);

impl Path {
    /// Returns the path of the task that this one forks after it has forked `forks` others.
    pub(super) fn child(&self, forks: u32) -> Path {
        Path(self.0.iter().copied().chain([forks]).collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("main")?;
        self.0.iter().try_for_each(|step| write!(f, ".{step}"))
    }
}

/// A task: its path, and its name if it has one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskName {
    /// The forks that lead to the task.
    pub path: Path,
    /// The name that [`Task::named`](super::Task::named) gave.
    pub name: Option<Arc<str>>,
    /// Where the task was forked, which for the main task is nowhere.
    pub forked_at: Option<&'static Location<'static>>,
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} ({})", self.path),
            None => self.path.fmt(f),
        }
    }
}

/// A memory cell, an IVar or a mutex: its maker, and how many cells that task had made before.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellName {
    /// The task that made the cell.
    pub maker: Path,
    /// The number of cells that the task had made before.
    pub index: u32,
    /// Where the cell was made.
    pub made_at: &'static Location<'static>,
}

impl fmt::Display for CellName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.maker, self.index)
    }
}
