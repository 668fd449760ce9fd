//! The reports that the library makes unasked: a fiber keeps its domain, no fiber can go on, a
//! panic has no joiner.
//!
//! All reports go through [`say`], to the handler of their runtime, or else to standard error.
//! Messages before the end of the process do not come here: `abort` writes its own message, and so
//! does the handler of stack overflows.
//!
//! A handler is foreign code in a critical place: on a domain between two fibers, or on the
//! monitor. So a panic of the handler is contained, and reports that the library makes while a
//! handler runs go to standard error, since the handler must not be called within itself.

mod awaited;
mod deadlock;
mod no_thread;
mod shutdown;
mod stall;
mod unjoined;
mod wait_graph;

pub use awaited::Awaited;
pub use deadlock::Deadlock;
pub use no_thread::{NoThread, no_thread};
pub use shutdown::{Shutdown, Straggler};
pub use stall::{Asleep, Delayed, Stall};
pub(crate) use unjoined::nobody_joins;
pub use unjoined::{PanicPolicy, Unjoined};
#[cfg(feature = "model")]
pub(crate) use wait_graph::grouped;
pub use wait_graph::{Blocked, Performer, RunningFiber, WaitGraph};

use crate::panics;
use crate::shim::sync::Arc;
use lisle_core::internal::seam;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

/// A message from a runtime, see [`Builder::on_report`](crate::Builder::on_report).
///
/// If no handler is set, its `Display` form is written to standard error, after `lisle: `.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Report {
    /// A fiber or task keeps its domain while others of that domain wait, see
    /// [`Builder::stall_report`](crate::Builder::stall_report).
    Stall(Stall),
    /// No fiber can ever go on, see [`Builder::on_deadlock`](crate::Builder::on_deadlock).
    Deadlock(Deadlock),
    /// A fiber or a task that has no joiner has panicked, see [`PanicPolicy`](crate::PanicPolicy).
    Panic(Unjoined),
    /// A runtime has ended, and some of its fibers have not.
    Unfinished(Shutdown),
    /// The time that [`run`](crate::Builder::run) gives fibers to unwind is over, and it still
    /// waits for the fibers described here. They are on the thread of its caller, and have caught
    /// the unwinding or cannot be unwound. Others may still use values that they have lent.
    Staying(Vec<String>),
    /// The system provides no stack for a fiber, which now waits until others of its runtime have ended,
    /// or there is room again. Reported once.
    NoStack(NoStack),
    /// The system refuses a thread that the library needs, where no caller can get the error. The
    /// work for the thread waits until there is one. Reported once for each need.
    NoThread(NoThread),
    /// The signal of [`Builder::dump_on`](crate::Builder::dump_on) has asked for the wait graph.
    Waiting(WaitGraph),
    /// Code that the library has called has panicked where no caller can get the panic, and the
    /// library's operation goes on. Such code is a waker, a destructor, or the description of an
    /// event.
    Contained(String),
    /// The system has refused something that a runtime needs. The text names the thing and the
    /// reason.
    System(String),
}

/// A report that a fiber waits for a stack.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NoStack {
    /// The index of its domain.
    pub domain: usize,
    /// The place where the waiting fiber was spawned.
    pub site: &'static Location<'static>,
    /// The reason why the system provides none.
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
                write!(f, "{} panicked and is not joined: {}", panic.who, panic.message)
            }
            Report::Unfinished(shutdown) => shutdown.fmt(f),
            Report::Staying(fibers) => write!(
                f,
                "`run` cannot return yet, since fibers on its thread have not ended, and other threads may borrow from \
                 them: {}. Code that catches the unwinding of a shutdown must end, or let the unwinding through. A \
                 wait in a call that no panic may leave is not unwound (a callback of foreign code, a `noexcept` \
                 function of C++ or one with `catch (...)`, a destructor that a panic runs): wake it",
                fibers.join(", ")
            ),
            Report::NoStack(NoStack { error, .. }) => write!(f, "fibers wait for a stack: {error}"),
            Report::NoThread(refused) => refused.fmt(f),
            Report::Waiting(graph) => write!(f, "wait graph: {graph}"),
            Report::Contained(what) => f.write_str(what),
            Report::System(what) => f.write_str(what),
        }
    }
}

/// The function that a program handles reports with.
#[derive(Clone)]
pub(crate) struct Handler(Arc<AssertUnwindSafe<Box<Handle>>>);

type Handle = dyn Fn(&Report) + Send + Sync;

impl Handler {
    pub(crate) fn new(handle: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        // Unwind safe: `say` contains a panic of the handler, and reports it.
        Handler(Arc::new(AssertUnwindSafe(Box::new(handle))))
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handler")
    }
}

thread_local! {
    /// The handler of the runtime that this thread works for. It has no destructor: a runtime may
    /// be run while the locals of its thread are destroyed.
    static CURRENT: RefCell<Option<ManuallyDrop<Handler>>> = const { RefCell::new(None) };
    static IS_REPORTING: Cell<bool> = const { Cell::new(false) };
}

/// Makes `handler` the one of this thread until the result is dropped.
pub(crate) fn through(handler: Option<Handler>) -> Through {
    Through(CURRENT.replace(handler.map(ManuallyDrop::new)))
}

/// A guard: while it exists, this thread reports through the handler of a runtime.
#[must_use = "reports go through the handler until this is dropped"]
pub(crate) struct Through(Option<ManuallyDrop<Handler>>);

impl Drop for Through {
    fn drop(&mut self) {
        let mine = CURRENT.replace(self.0.take());
        drop(mine.map(ManuallyDrop::into_inner));
    }
}

/// Reports to the runtime of this thread, if it works for one.
#[cold]
pub(crate) fn here(report: &Report) {
    let handler = CURRENT.with_borrow(|current| current.as_deref().cloned());
    say(handler.as_ref(), report);
}

/// Reports that foreign code has panicked and been contained.
#[cold]
pub(crate) fn contained(what: &str) {
    here(&Report::Contained(what.to_owned()));
}

/// Passes `report` to `handler`, or writes it to standard error. All reports go through this
/// function.
#[cold]
pub(crate) fn say(handler: Option<&Handler>, report: &Report) {
    /// Says that the handler runs, until it is dropped.
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
            "the handler of reports has panicked: {}; its report was: {report}",
            panics::message(&*panic)
        ));
        // The payload may panic in its destructor.
        std::mem::forget(panic);
    }
}
