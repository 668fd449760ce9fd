//! A schedule of a program: the tasks of each turn, and their steps.
//!
//! *Invariant:* performing the turns from the beginning leads to the outcome, or to the conflict,
//! of the schedule.

use super::locals::{Action, Locals, TRUE};
use super::machine::Actor;
use super::slots::CellKind;
use crate::task::names::TaskName;
use std::fmt;
use std::panic::Location;

/// The turns of one execution, from its beginning. Steps that take no turn are not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The turns in their order.
    pub turns: Vec<Vec<Step>>,
}

/// The step of one task in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The task.
    pub task: TaskName,
    /// The operation, with its result.
    pub did: String,
    /// Where the operation was written.
    pub at: Option<&'static Location<'static>>,
}

impl Schedule {
    /// Returns `true` if the schedule has no turns.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Returns the number of turns.
    pub fn len(&self) -> usize {
        self.turns.len()
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return writeln!(f, "    (before the first turn)");
        }
        for (turn, number) in self.turns.iter().zip(1..) {
            for (step, index) in turn.iter().zip(0..) {
                match index {
                    0 => write!(f, "{number:>5}. ")?,
                    _ => write!(f, "     + ")?,
                }
                writeln!(f, "{step}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.task, self.did)?;
        self.at.map_or(Ok(()), |at| write!(f, "  ({at})"))
    }
}

/// Returns the request of `actor` as text, with the reply if there is one.
pub(super) fn describe(locals: &Locals, actor: Actor, reply: Option<u32>) -> String {
    let value = |number: u32| locals.value(number);
    let memory = |cell: u32| locals.slots.cell(cell, CellKind::Memory).expect("the cell has a name");
    let ivar = |cell: u32| locals.slots.cell(cell, CellKind::IVar).expect("the IVar has a name");
    let mutex = |cell: u32| locals.slots.cell(cell, CellKind::Mutex).expect("the mutex has a name");
    let replied = reply.map(|reply| format!(": {:?}", value(reply))).unwrap_or_default();
    let local = locals.get(actor.local);
    let in_memory = if actor.slot == local.task { "" } else { " (its store reaches memory)" };
    match &local.action {
        Action::Load(cell) => format!("loads {}{replied}", memory(*cell)),
        Action::Store(cell, stored) => {
            format!("stores {:?} in {}{in_memory}", value(*stored), memory(*cell))
        }
        Action::Update(cell, _) => format!("updates {}, before{replied}", memory(*cell)),
        Action::Fill(cell, filled) => format!("writes {:?} to IVar {}", value(*filled), ivar(*cell)),
        Action::Lock(cell) => format!("locks mutex {}", mutex(*cell)),
        Action::TryLock(cell) if reply.is_none() => format!("tries to lock mutex {}", mutex(*cell)),
        Action::TryLock(cell) if reply == Some(TRUE) => {
            format!("tries to lock mutex {}, and does", mutex(*cell))
        }
        Action::TryLock(cell) => format!("tries to lock mutex {}, in vain", mutex(*cell)),
        Action::Unlock(cell) => format!("unlocks mutex {}", mutex(*cell)),
        Action::Append { file, text } => match locals.slots.file_name(*file) {
            Some(name) => format!("appends {text:?} to file {name:?}"),
            None => format!("prints {text:?}"),
        },
        Action::ReadLine => format!("reads a line{replied}"),
        Action::ReadFile(file) => {
            format!("reads file {:?}{replied}", locals.slots.file_name(*file).expect("a file has a name"))
        }
        Action::Answer(answer) => format!("answers {:?}", value(*answer)),
        Action::Fail(what) => what.to_string(),
        Action::Exit(code) => format!("exits with code {code}"),
        Action::Die | Action::New { .. } | Action::Fork { .. } | Action::Await(_) | Action::Sleep(_) => {
            unreachable!("silent steps take no turn")
        }
    }
}
