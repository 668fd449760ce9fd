//! The outcome of an execution of a program.
//!
//! Both interpreters give an [`Outcome`], so a real outcome can be looked up among the outcomes
//! that the checker has found. *Invariant:* two executions have equal outcomes if and only if they
//! cannot be told apart from outside, and memory holds the same.

use super::names::{CellName, TaskName};
use super::value::{Datum, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;

/// The end of an execution, and its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// The value given to [`answer`](super::answer).
    pub answer: Option<Datum>,
    /// The printed text, as far as the [world](super::World) has recorded it.
    pub output: String,
    /// The files that were there or appended to, as far as the [world](super::World) has recorded
    /// it.
    pub files: BTreeMap<String, String>,
    /// The content of each place.
    pub memory: BTreeMap<CellName, Datum>,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// A task ended the program with this code.
    Exit(i32),
    /// All tasks have died.
    Finished,
    /// All tasks that are left wait, in the order of their paths.
    Deadlock(Vec<Waiting>),
    /// A task broke a rule.
    Fault(Fault),
}

/// A task that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The task.
    pub task: TaskName,
    /// The thing that it waits for.
    pub wants: Wants,
    /// The cell that it waits at.
    pub cell: CellName,
    /// Where the operation was written.
    pub at: &'static Location<'static>,
    /// The task that holds the mutex.
    pub holder: Option<TaskName>,
}

/// The things for which a task can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wants {
    /// An IVar to be filled.
    Value,
    /// A mutex to be free.
    Lock,
}

/// A rule that a task has broken, or a panic of one of its functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The task.
    pub task: TaskName,
    /// The broken rule, or the message of the panic.
    pub what: String,
    /// Where the operation was written. A panic happens in the continuation of the operation.
    pub at: Option<&'static Location<'static>>,
}

impl Outcome {
    /// Returns the exit code, if a task ended the program.
    pub fn exit_code(&self) -> Option<i32> {
        match self.end {
            End::Exit(code) => Some(code),
            _ => None,
        }
    }

    /// Returns the program's answer if there is one and it is a `T`.
    pub fn answer_as<T: Value>(&self) -> Option<&T> {
        self.answer.as_ref()?.downcast_ref()
    }

    /// Returns `true` if the program ended as programs should: by an exit, or with all tasks done.
    pub fn is_orderly(&self) -> bool {
        matches!(self.end, End::Exit(_) | End::Finished)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.end)?;
        if let Some(answer) = &self.answer {
            write!(f, "; the answer is {answer:?}")?;
        }
        if !self.output.is_empty() {
            write!(f, "; printed {:?}", self.output)?;
        }
        for (file, text) in &self.files {
            write!(f, "; file {file:?} contains {text:?}")?;
        }
        for (cell, value) in &self.memory {
            write!(f, "\n    cell {cell}, made at {}, holds {value:?}", cell.made_at)?;
        }
        Ok(())
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Exit(code) => write!(f, "exit with code {code}"),
            End::Finished => f.write_str("all tasks have died"),
            End::Fault(fault) => fault.fmt(f),
            End::Deadlock(waiting) => {
                f.write_str("a deadlock: every task that is left waits")?;
                waiting.iter().try_for_each(|one| write!(f, "\n    {one}"))
            }
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wants = match self.wants {
            Wants::Value => "waits for a value in IVar",
            Wants::Lock => "waits for mutex",
        };
        write!(f, "{} {wants} {} (made at {}) at {}", self.task, self.cell, self.cell.made_at, self.at)?;
        match (&self.holder, self.wants) {
            (Some(holder), _) if *holder == self.task => f.write_str(", which it holds itself"),
            (Some(holder), _) => write!(f, ", which {holder} holds"),
            (None, Wants::Value) => f.write_str(", which nobody can fill any more"),
            (None, Wants::Lock) => Ok(()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a fault: {} {}", self.task, self.what)?;
        self.at.map_or(Ok(()), |at| write!(f, ", at {at}"))
    }
}
