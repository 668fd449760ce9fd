//! Programs as values.
//!
//! A [`Task`] is the rest of a program: nothing, an end of the whole program, or an operation with
//! the function from its result to the next task. Making a task does nothing. The functions are
//! `Fn`, and behind an `Arc`. So a task is cloned in a nanosecond, and may be interpreted any
//! number of times, on any thread.
//!
//! *Invariant:* an interpreter learns everything from [`Node`]; the builders beside this module
//! only put nodes together.

mod cells;
mod control;
mod operation;
mod outside;
mod steps;

pub use cells::{IVar, MemoryCell, Mutex, ivar, mem, mutex};
pub(super) use control::ending_in_answer;
pub use control::{
    Joined, answer, die, exit, fork, fork_on, fork_value, give, join, repeat, sequence, set_timeout, sleep,
};
pub use operation::{Continuation, Op, OpV, Sequel};
pub use outside::{append, print, read_file, read_line};

use super::value::Datum;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// Where in the source an operation was written.
pub(super) type Site = &'static Location<'static>;

/// A program, or the rest of one, as a value.
///
/// It is made by the functions of [`task`](super), and does nothing until an interpreter gets it:
/// [`run`](super::run()) performs it, [`check`](super::check()) explores all of its executions.
///
/// # Examples
///
/// ```
/// use lisle_check::task::{InMemory, Task, check, exit, print, run_in};
///
/// let hello: Task = print("Hello World").then(exit(0));
/// assert!(check(hello.clone()).is_ok());
/// assert_eq!(run_in(InMemory::new(), hello).output, "Hello World");
/// ```
#[derive(Clone)]
pub struct Task {
    pub(super) node: Arc<Node>,
    pub(super) name: Option<Arc<str>>,
}

/// The first step of a task.
pub(super) enum Node {
    /// Ends the task.
    Die,
    /// Ends the program.
    Exit { code: i32, site: Site },
    /// Gives the program's answer, and ends the task.
    Answer { value: Datum, site: Site },
    /// Performs an operation, and goes on with its reply.
    Ask { request: Request, site: Site, then: Continuation<Datum> },
}

/// An operation. The number of a cell is the interpreter's name for it.
#[derive(Clone)]
pub(super) enum Request {
    /// Makes a cell. The reply is its number.
    New(Content),
    Fork {
        task: Task,
        domain: Option<usize>,
    },
    Load(u32),
    Store(u32, Datum),
    /// The reply is the old value.
    Update(u32, Change),
    /// Fills an IVar.
    Fill(u32, Datum),
    /// Waits for an IVar.
    Await(u32),
    Lock(u32),
    /// The reply is a `bool`.
    TryLock(u32),
    Unlock(u32),
    Print(Arc<str>),
    /// The reply is an `Option<String>`.
    ReadLine,
    Append {
        file: Arc<str>,
        text: Arc<str>,
    },
    /// The reply is an `Option<String>`.
    ReadFile(Arc<str>),
    Sleep(Duration),
}

/// The content of a new cell.
#[derive(Clone)]
pub(super) enum Content {
    Memory(Datum),
    IVar,
    Mutex,
}

/// The function of an atomic operation: the new value of a cell, or `None` to leave the old one.
pub(super) type Change = Arc<dyn Fn(&Datum) -> Option<Datum> + Send + Sync>;

impl Task {
    pub(super) fn new(node: Node) -> Self {
        Task { node: Arc::new(node), name: None }
    }

    /// Gives the task a name, which appears in reports beside the path of forks that leads to it.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_check::task::{check, die, fork, print};
    ///
    /// let program = fork(print("a").then(die()).named("Anna")).then(print("b")).then(die());
    /// assert!(check(program).to_string().contains("Anna"));
    /// ```
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = match &*self.node {
            Node::Die => "die".to_owned(),
            Node::Exit { code, .. } => format!("exit({code})"),
            Node::Answer { value, .. } => format!("answer({value:?})"),
            Node::Ask { request, site, .. } => format!("{request:?} at {site}, .."),
        };
        write!(f, "Task({first})")
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Request::New(_) => "new cell",
            Request::Fork { .. } => "fork",
            Request::Load(_) => "load",
            Request::Store(..) => "store",
            Request::Update(..) => "update",
            Request::Fill(..) => "write an IVar",
            Request::Await(_) => "read an IVar",
            Request::Lock(_) => "lock",
            Request::TryLock(_) => "try to lock",
            Request::Unlock(_) => "unlock",
            Request::Print(_) => "print",
            Request::ReadLine => "read a line",
            Request::Append { .. } => "append",
            Request::ReadFile(_) => "read a file",
            Request::Sleep(_) => "sleep",
        })
    }
}
