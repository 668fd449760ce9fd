//! The local states of tasks, interned.
//!
//! A closure can be neither compared nor hashed. But the rest of a task is a function of its
//! beginning and of the replies that it has got, and replies can be compared. So a *local state* is
//! a node of a tree: a child of another by a reply. Each continuation is called once for each node,
//! and not once for each state of the whole program in which the task is there. So a step of the
//! checker is a few look-ups. For this, continuations are shared (`Arc<dyn Fn>`), and the program
//! is not run anew for each schedule.
//!
//! *Invariant:* equal numbers are equal rests of a task. The reverse does not hold: two tasks that
//! got different replies, and have forgotten them, count as different.

use super::slots::{ANSWER, CellKind, INPUT, MAIN, OUTPUT, Slots};
use crate::task::conflict::Kind;
use crate::task::guarded::guarded;
use crate::task::names::TaskName;
use crate::task::program::{Change, Content, Continuation, Node, Request, Site, Task};
use crate::task::value::Datum;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::sync::Arc;
use std::time::Duration;

/// The number of the value `()`.
pub(super) const UNIT: u32 = 0;
/// The number of the value `false`. `true` is the next.
pub(super) const FALSE: u32 = 1;
/// The number of the value `true`.
pub(super) const TRUE: u32 = 2;

/// The next step of a task, with cells resolved to slots, and values to their numbers.
#[derive(Clone)]
pub(super) enum Action {
    Die,
    /// A function of the program has panicked, or was given a foreign handle.
    Fail(Arc<str>),
    Exit(i32),
    Answer(u32),
    New {
        cell: u32,
        holds: Option<u32>,
    },
    Fork {
        child: u32,
        task: Task,
    },
    Load(u32),
    Store(u32, u32),
    Update(u32, Change),
    Fill(u32, u32),
    Await(u32),
    Lock(u32),
    TryLock(u32),
    Unlock(u32),
    Append {
        file: u32,
        text: Arc<str>,
    },
    ReadLine,
    ReadFile(u32),
    Sleep(Duration),
}

/// A local state.
pub(super) struct Local {
    /// The slot of the task.
    pub(super) task: u32,
    pub(super) action: Action,
    pub(super) site: Option<Site>,
    then: Option<Continuation<Datum>>,
    forks: u32,
    cells: u32,
}

/// All local states, values and slots that were met.
pub(super) struct Locals {
    pub(super) slots: Slots,
    values: IndexSet<Datum, FxBuildHasher>,
    locals: Vec<Local>,
    /// By a local state and a reply.
    next: FxHashMap<(u32, u32), u32>,
    /// The first local state of the task that is forked in a local state.
    children: FxHashMap<u32, u32>,
    /// The result of an atomic operation, by local state and value.
    changes: FxHashMap<(u32, u32), Result<Option<u32>, Arc<str>>>,
    /// A text with another added, by the numbers of the two.
    joined: FxHashMap<(u32, u32), u32>,
}

impl Locals {
    /// Creates the tables, and the local state of the main task.
    pub(super) fn new(main: &Task, slots: Slots) -> (Self, u32) {
        let mut locals = Locals {
            slots,
            values: IndexSet::default(),
            locals: Vec::new(),
            next: FxHashMap::default(),
            children: FxHashMap::default(),
            changes: FxHashMap::default(),
            joined: FxHashMap::default(),
        };
        locals.intern(Datum::new(()));
        locals.intern(Datum::new(false));
        locals.intern(Datum::new(true));
        let first = locals.add(MAIN, main, 0, 0);
        (locals, first)
    }

    pub(super) fn get(&self, local: u32) -> &Local {
        &self.locals[local as usize]
    }

    pub(super) fn name(&self, local: u32) -> &TaskName {
        &self.slots.task(self.get(local).task).name
    }

    pub(super) fn intern(&mut self, value: Datum) -> u32 {
        number(self.values.insert_full(value).0)
    }

    pub(super) fn value(&self, value: u32) -> &Datum {
        &self.values[value as usize]
    }

    /// Returns the local state after a reply.
    pub(super) fn after(&mut self, local: u32, reply: u32) -> u32 {
        if let Some(&next) = self.next.get(&(local, reply)) {
            return next;
        }
        let Local { task, site, forks, cells, .. } = *self.get(local);
        let then = self.get(local).then.clone().expect("a task that gets a reply has asked");
        let reply_value = self.value(reply).clone();
        let forks = forks + u32::from(matches!(self.get(local).action, Action::Fork { .. }));
        let cells = cells + u32::from(matches!(self.get(local).action, Action::New { .. }));
        let next = match guarded(|| then(reply_value)) {
            Ok(rest) => self.add(task, &rest, forks, cells),
            Err(message) => self.push(Local::panicked(task, message, site)),
        };
        self.next.insert((local, reply), next);
        next
    }

    /// Returns the first local state of the task that is forked in this one.
    pub(super) fn child(&mut self, local: u32) -> (u32, u32) {
        let Action::Fork { child, task } = self.get(local).action.clone() else {
            unreachable!("the task forks");
        };
        if let Some(&first) = self.children.get(&local) {
            return (child, first);
        }
        let first = self.add(child, &task, 0, 0);
        self.children.insert(local, first);
        (child, first)
    }

    /// Returns the result of a local state's atomic operation for a value.
    ///
    /// # Errors
    ///
    /// Returns the message of its panic.
    pub(super) fn changed(&mut self, local: u32, value: u32) -> Result<Option<u32>, Arc<str>> {
        if let Some(known) = self.changes.get(&(local, value)) {
            return known.clone();
        }
        let Action::Update(_, change) = self.get(local).action.clone() else {
            unreachable!("the task updates a memory cell");
        };
        let old = self.value(value).clone();
        let new = guarded(|| change(&old)).map(|new| new.map(|new| self.intern(new)));
        self.changes.insert((local, value), new.clone());
        new
    }

    /// Returns the number of a text, the empty one if there is none, with `more` added.
    pub(super) fn joined(&mut self, text: Option<u32>, more: &str) -> u32 {
        let more = self.intern(Datum::new(more.to_owned()));
        let Some(text) = text else {
            return more;
        };
        if let Some(&joined) = self.joined.get(&(text, more)) {
            return joined;
        }
        let joined = [self.value(text).take::<String>(), self.value(more).take()].concat();
        let joined = self.intern(Datum::new(joined));
        self.joined.insert((text, more), joined);
        joined
    }

    fn push(&mut self, local: Local) -> u32 {
        self.locals.push(local);
        number(self.locals.len() - 1)
    }

    fn add(&mut self, owner: u32, task: &Task, forks: u32, cells: u32) -> u32 {
        let (action, site, then) = match &*task.node {
            Node::Die => (Action::Die, None, None),
            Node::Exit { code, site } => (Action::Exit(*code), Some(*site), None),
            Node::Answer { value, site } => (Action::Answer(self.intern(value.clone())), Some(*site), None),
            Node::Ask { request, site, then } => {
                let action = self.resolve(owner, request, site, forks, cells);
                (action, Some(*site), Some(then.clone()))
            }
        };
        self.push(Local { task: owner, action, site, then, forks, cells })
    }

    fn resolve(&mut self, owner: u32, request: &Request, site: Site, forks: u32, cells: u32) -> Action {
        let wanted = match request {
            Request::Load(cell) | Request::Store(cell, _) | Request::Update(cell, _) => {
                Some((*cell, CellKind::Memory))
            }
            Request::Fill(cell, _) | Request::Await(cell) => Some((*cell, CellKind::IVar)),
            Request::Lock(cell) | Request::TryLock(cell) | Request::Unlock(cell) => {
                Some((*cell, CellKind::Mutex))
            }
            _ => None,
        };
        if wanted.is_some_and(|(cell, kind)| self.slots.cell(cell, kind).is_none()) {
            return Action::Fail("uses a cell that another run of the program has made".into());
        }
        match request {
            Request::New(content) => {
                let (kind, holds) = match content {
                    Content::Memory(value) => (CellKind::Memory, Some(self.intern(value.clone()))),
                    Content::IVar => (CellKind::IVar, None),
                    Content::Mutex => (CellKind::Mutex, None),
                };
                Action::New { cell: self.slots.make(owner, cells, kind, site), holds }
            }
            Request::Fork { task, .. } => {
                let child = self.slots.fork(owner, forks, task.name.clone(), site);
                Action::Fork { child, task: task.clone() }
            }
            Request::Load(cell) => Action::Load(*cell),
            Request::Store(cell, value) => Action::Store(*cell, self.intern(value.clone())),
            Request::Update(cell, change) => Action::Update(*cell, change.clone()),
            Request::Fill(cell, value) => Action::Fill(*cell, self.intern(value.clone())),
            Request::Await(cell) => Action::Await(*cell),
            Request::Lock(cell) => Action::Lock(*cell),
            Request::TryLock(cell) => Action::TryLock(*cell),
            Request::Unlock(cell) => Action::Unlock(*cell),
            Request::Print(text) => Action::Append { file: OUTPUT, text: text.clone() },
            Request::Append { file, text } => {
                Action::Append { file: self.slots.file(file), text: text.clone() }
            }
            Request::ReadLine => Action::ReadLine,
            Request::ReadFile(file) => Action::ReadFile(self.slots.file(file)),
            Request::Sleep(duration) => Action::Sleep(*duration),
        }
    }
}

impl Local {
    fn panicked(task: u32, message: Arc<str>, site: Option<Site>) -> Self {
        let message = format!("panicked: {message}").into();
        Local { task, action: Action::Fail(message), site, then: None, forks: 0, cells: 0 }
    }
}

impl Action {
    /// Returns the request, and the slot that it concerns. `None` if others could not notice the
    /// request.
    pub(super) fn concerns(&self) -> Option<(Kind, u32)> {
        match *self {
            Action::Load(cell) => Some((Kind::Load, cell)),
            Action::Store(cell, _) => Some((Kind::Store, cell)),
            Action::Update(cell, _) => Some((Kind::Update, cell)),
            Action::Fill(cell, _) => Some((Kind::Fill, cell)),
            Action::Lock(cell) => Some((Kind::Lock, cell)),
            Action::TryLock(cell) => Some((Kind::TryLock, cell)),
            Action::Unlock(cell) => Some((Kind::Unlock, cell)),
            Action::Append { file, .. } => Some((Kind::Append, file)),
            Action::ReadFile(file) => Some((Kind::ReadFile, file)),
            Action::ReadLine => Some((Kind::ReadLine, INPUT)),
            Action::Answer(_) => Some((Kind::Answer, ANSWER)),
            Action::Exit(_) => Some((Kind::Exit, MAIN)),
            Action::Fail(_) => Some((Kind::Fail, MAIN)),
            Action::Die | Action::New { .. } | Action::Fork { .. } | Action::Await(_) | Action::Sleep(_) => {
                None
            }
        }
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 things are interned")
}
