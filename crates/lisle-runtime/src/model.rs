//! Executions of a program in schedules that a model chooses. For lisle-check.

use crate::runtime::Builder;
use crate::sched::worker::Worker;
pub use crate::sched::worker::modelled::{Again, Armed, Ended, Explorer, Nature, Time, assert_no_domain};
use crate::shim::model::Running;
use crate::stack::overflow;
use std::io;
use std::panic::Location;
use std::time::Duration;

/// Returns a number with its digits in groups of three.
pub fn grouped(number: usize) -> String {
    crate::report::grouped(number)
}

/// Has `last` called when a fiber overflows its stack, on its thread and after the message, before
/// the process ends. The first call of the process counts.
///
/// It is called in a signal handler: it must neither allocate nor lock, nor touch a thread-local
/// variable that is initialized lazily or has a destructor. It may wait.
pub fn on_overflow(last: fn()) {
    overflow::call_last(last);
}

/// Returns how long this thread has had a processor.
pub fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to `time` and to nothing else. If it fails the time stays zero.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A thread that runs programs as a model chooses.
pub struct Executions<'a>(&'a Worker);

impl Executions<'_> {
    /// Runs a program in the schedule that `explorer` chooses; see [`Ended`]. The remaining fibers
    /// and tasks are unwound then. Returns also the waits that cannot be unwound, such as a fiber
    /// that catches the unwinding and waits again.
    ///
    /// # Panics
    ///
    /// If an earlier execution has left fibers that cannot be unwound.
    pub fn run(
        &self,
        explorer: &dyn Explorer,
        site: &'static Location<'static>,
        program: impl FnOnce() + Send + 'static,
    ) -> (Ended, Option<String>) {
        self.0.execute(explorer, site, Box::new(program))
    }
}

/// Makes this thread one that runs programs as a model chooses, and calls `f`.
///
/// # Errors
///
/// Returns an error if the system provides no poller.
///
/// # Panics
///
/// If this thread is one of a runtime already.
pub fn executions<R>(builder: Builder, f: impl FnOnce(&Executions<'_>) -> R) -> io::Result<R> {
    let _running = Running::begin();
    builder.domains(1).worked(|worker| f(&Executions(worker)))
}
