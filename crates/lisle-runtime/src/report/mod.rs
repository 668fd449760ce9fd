//! What the library says unasked: that a fiber keeps its domain, that none can go on, that a panic reaches nobody.
//!
//! All of it goes through [`say`], to the handler of the runtime that it is about, or else to standard error. What ends the
//! process does not come here: `abort` writes its last words itself, and so does the handler of stack overflows.
//!
//! A handler is foreign code in a place that others rely on, a worker between two fibers or the monitor. So a panic of it
//! goes no further, and what the library has to say while one runs goes to standard error, lest it call itself.

mod awaited;
mod deadlock;
mod shutdown;
mod stall;
mod unjoined;
mod wait_graph;

pub use awaited::Awaited;
pub use deadlock::Deadlock;
pub use shutdown::{Shutdown, Straggler};
pub use stall::{Delayed, Stall};
pub(crate) use unjoined::nobody_joins;
pub use unjoined::{PanicPolicy, Unjoined};
pub use wait_graph::{Blocked, Performer, RunningFiber, WaitGraph};

use crate::panics;
use crate::shim::sync::Arc;
use lisle_core::seam;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

/// Something that a runtime has to say, see [`Builder::on_report`](crate::Builder::on_report).
///
/// Its `Display` form is what is written to standard error, after `lisle: `, where no handler has been set.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Report {
    /// A fiber or task keeps its domain, and others of that domain wait, see
    /// [`Builder::stall_report`](crate::Builder::stall_report).
    Stall(Stall),
    /// No fiber can ever go on, see [`Builder::on_deadlock`](crate::Builder::on_deadlock).
    Deadlock(Deadlock),
    /// A fiber or a task has panicked, and nobody joins it, see [`PanicPolicy`](crate::PanicPolicy).
    Panic(Unjoined),
    /// A runtime has ended, and some of its fibers have not.
    Unfinished(Shutdown),
    /// The time that [`run`](crate::Builder::run) gives fibers to unwind is over, and it waits all the same, for these, in words. They
    /// are on its caller's thread, and have caught the unwinding or cannot be unwound; what they have lent, others may still use.
    Staying(Vec<String>),
    /// The system gives no stack to a fiber, which now waits until others have ended. Said once.
    NoStack(NoStack),
    /// Somebody has asked who waits, by the signal of [`Builder::dump_on`](crate::Builder::dump_on).
    Waiting(WaitGraph),
    /// Code that the library has called has panicked where nobody could be told, and what was called for goes on: a
    /// waker, a destructor, an event that was to tell what it waits for.
    Contained(String),
    /// The system has refused something that a runtime cannot do without. What it was, and why.
    System(String),
}

/// A fiber waits for a stack.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NoStack {
    /// On which domain.
    pub domain: usize,
    /// Where the fiber was spawned that was to begin.
    pub site: &'static Location<'static>,
    /// Why the system gives none.
    pub error: String,
}

impl NoStack {
    pub(crate) fn new(domain: usize, site: &'static Location<'static>, error: &std::io::Error) -> Self {
        NoStack { domain, site, error: error.to_string() }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Report::Stall(stall) => stall.fmt(f),
            Report::Deadlock(deadlock) => deadlock.fmt(f),
            Report::Panic(panic) => {
                write!(f, "{} panicked and nobody joins it: {}", panic.who, panic.message)
            }
            Report::Unfinished(shutdown) => shutdown.fmt(f),
            Report::Staying(fibers) => write!(
                f,
                "`run` cannot return yet, since others may borrow from what has not ended on its thread: {}; what catches \
                 the unwinding of a shutdown has to end, or to let it through",
                fibers.join(", ")
            ),
            Report::NoStack(NoStack { error, .. }) => write!(f, "fibers wait for a stack: {error}"),
            Report::Waiting(graph) => write!(f, "who waits: {graph}"),
            Report::Contained(what) => f.write_str(what),
            Report::System(what) => f.write_str(what),
        }
    }
}

/// What a program does with reports.
#[derive(Clone)]
pub(crate) struct Handler(Arc<AssertUnwindSafe<Box<Handle>>>);

type Handle = dyn Fn(&Report) + Send + Sync;

impl Handler {
    pub(crate) fn new(handle: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        // A panic of it is contained, and says so.
        Handler(Arc::new(AssertUnwindSafe(Box::new(handle))))
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handler")
    }
}

thread_local! {
    /// The handler of the runtime that this thread works for.
    static CURRENT: RefCell<Option<Handler>> = const { RefCell::new(None) };
    static IS_REPORTING: Cell<bool> = const { Cell::new(false) };
}

/// Makes `handler` the one of this thread. A worker calls it when it starts, and with `None` when it ends.
pub(crate) fn set_current(handler: Option<Handler>) {
    CURRENT.with(|current| *current.borrow_mut() = handler);
}

/// Reports to the runtime of this thread, if it works for one.
#[cold]
pub(crate) fn here(report: &Report) {
    // A thread that is ending may have dropped its own already.
    let handler = CURRENT.try_with(|current| current.borrow().clone()).ok().flatten();
    say(handler.as_ref(), report);
}

/// Reports that foreign code has panicked and been contained.
#[cold]
pub(crate) fn contained(what: &str) {
    here(&Report::Contained(what.to_owned()));
}

/// Says it. Everything that the library says unasked comes through here.
#[cold]
pub(crate) fn say(handler: Option<&Handler>, report: &Report) {
    /// The handler runs, until dropped.
    struct Reporting;
    impl Drop for Reporting {
        fn drop(&mut self) {
            IS_REPORTING.set(false);
        }
    }
    let Some(Handler(handle)) = handler.filter(|_| !IS_REPORTING.get()) else {
        return seam::write(&report.to_string());
    };
    let handled = {
        IS_REPORTING.set(true);
        let _reporting = Reporting;
        catch_unwind(AssertUnwindSafe(|| handle(report)))
    };
    if let Err(panic) = handled {
        seam::write(&format!(
            "the handler of reports has panicked: {}; what it was told is: {report}",
            panics::message(&*panic)
        ));
        // What it panicked with may panic as it is dropped.
        std::mem::forget(panic);
    }
}
