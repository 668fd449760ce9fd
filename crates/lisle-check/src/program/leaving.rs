//! The schedule of an execution in which the process ends: by `exit`, by a panic that cannot go on, or
//! since a stack overflows.
//!
//! No code runs after that to print the schedule. So the thread that is about to end the process
//! waits until the watching thread has printed it.

use super::watch::{Pulse, Stage};
use lisle_runtime::internal::model;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// The numbers of the worker that is about to end the process, and of the worker whose schedule was
/// printed.
static LEAVES: AtomicUsize = AtomicUsize::new(0);
static TOLD: AtomicUsize = AtomicUsize::new(0);

/// The longest wait: there may be no watching thread.
const TURNS: u32 = 200;
const TURN: Duration = Duration::from_millis(10);

thread_local! {
    /// The number of this worker; zero on other threads. It has no destructor, since a handler
    /// reads it.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
    /// Notices the end of this thread.
    static LAST: Last = const { Last(RefCell::new(None)) };
}

struct Last(RefCell<Option<Arc<Pulse>>>);

impl Drop for Last {
    /// `exit` runs the destructors of its thread. Otherwise no step is in progress when it ends.
    fn drop(&mut self) {
        let is_in_step = |pulse: Arc<Pulse>| !pulse.is_in(Stage::Checker);
        if self.0.take().is_some_and(is_in_step) {
            leaves();
        }
    }
}

/// Waits until the schedule of this thread's execution has been printed.
pub(super) fn leaves() {
    let number = NUMBER.get();
    if number == 0 || LEAVES.compare_exchange(0, number, SeqCst, SeqCst).is_err() {
        return;
    }
    for _ in 0..TURNS {
        if TOLD.load(SeqCst) == number {
            return;
        }
        thread::sleep(TURN);
    }
}

/// Notes that this thread is a worker, until it is dropped.
pub(super) struct Worker(());

impl Worker {
    pub(super) fn new(pulse: &Arc<Pulse>) -> Self {
        model::on_overflow(leaves);
        NUMBER.set(pulse.number());
        LAST.with(|last| last.0.replace(Some(pulse.clone())));
        Worker(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        NUMBER.set(0);
        LAST.with(|last| drop(last.0.take()));
    }
}

/// Calls `tell` with the worker that is about to end the process, if `find` finds it.
pub(super) fn tell<P>(find: impl FnOnce(usize) -> Option<P>, tell: impl FnOnce(P)) {
    let number = LEAVES.load(SeqCst);
    if number != 0
        && TOLD.load(SeqCst) != number
        && let Some(pulse) = find(number)
    {
        tell(pulse);
        TOLD.store(number, SeqCst);
    }
}
