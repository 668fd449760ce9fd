//! Foreign calls that block the thread, on threads of their own.

mod pool;

use super::no_suspend;
use crate::channel::{self, RecvError};
use crate::event::calls::Call;
use crate::event::{Label, cannot_be_checked, described, sync_masked};
use crate::report;
use crate::sched::worker::{self, Worker};
use crate::spawned::foreign_calls::Counted;
use crate::time::after;
use lisle_core::{Event, choose};
use pool::Job;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

/// How long a call waits before it asks for a thread again, if the system has refused one.
const RETRY: Duration = Duration::from_millis(20);

/// Runs `f`, which may block its OS thread, without blocking the current domain: on a pool of
/// threads that grows and shrinks with need. The caller waits as
/// [`Event::sync`](lisle_core::Event::sync) does. A plain thread runs `f` itself.
///
/// If the system refuses a thread, the call waits until there is one, or until another call is over
/// whose thread it can use. The runtime reports that once, with the limits: see
/// [`Report::NoThread`](crate::Report::NoThread).
///
/// A shutdown of the runtime does not end the wait, since a foreign call cannot be taken back, and
/// neither does a [deadline](lisle_core::time::with_deadline) or a
/// [cancellation](crate::fiber::JoinHandle::cancel). But
/// if the runtime shuts down because of a [deadlock](crate::Builder::on_deadlock), and `f` itself
/// waits for an event, `f` is unwound from there like a fiber.
///
/// # Panics
///
/// With the panic of `f`.
///
/// # Forks
///
/// A forked child has a pool of its own. If `f` itself forks, it has to end the process, or execute a
/// program, in the child: its caller is not there. The child ends with a message if `f` returns.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// lisle::run(|| {
///     let text = lisle::blocking(|| std::fs::read_to_string("Cargo.toml")).unwrap();
///     assert!(text.contains("[package]"));
/// });
/// ```
#[track_caller]
pub fn blocking<F, T>(f: F) -> T
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let site = Location::caller();
    cannot_be_checked(
        "a blocking call",
        "it runs on a thread beside the model",
        "Call the function itself, if it waits for nothing that the program does, or put a fiber in its place",
    );
    no_suspend::refuse(|| format!("wait for a blocking call (made at {site})"));
    let in_fiber = |worker: &&Worker| worker.current_fiber().is_some();
    let Some(runtime) =
        worker::with_current(|worker| worker.filter(in_fiber).map(|worker| worker.shared().number))
    else {
        return f();
    };
    let (done, result) = channel::bounded(1);
    let call = Call::new(runtime);
    let running = call.clone();
    let counted = Counted::new();
    let job: Job = Box::new(move || {
        let _counted = counted;
        let result = catch_unwind(AssertUnwindSafe(|| running.run(f)));
        // The caller waits. If its runtime was abandoned, no receiver is left.
        let _ = done.send(result);
    });
    let mut submitted = pool::submit(job);
    let label = Label::anywhere("blocking call").made_at(site);
    let answer = described(result.recv_evt(), |waits| match call.sleeper() {
        // The call waits for an event, as fibers do, so it counts like a fiber in the wait graph.
        Some(sleeper) => waits.on_held("wait for", &label, 0, [sleeper]),
        None => waits.on_the_world("wait for", &label, 0),
    });
    while let Err(error) = submitted {
        worker::with_current(|worker| {
            let told = worker.map(|worker| &worker.shared().has_told_of_threads);
            told.into_iter().for_each(|told| report::no_thread(told, &error, "they wait for one"));
        });
        let again = described(after(RETRY), |waits| {
            waits.on_the_world("wait for", &Label::anywhere("thread for a blocking call"), 0);
            waits.note("the system gives none");
        });
        let answered = choose(((&answer).wrap(Some), again.wrap(|()| None)));
        match sync_masked(&answered) {
            Some(answer) => return taken(answer),
            None => submitted = pool::grow(),
        }
    }
    taken(sync_masked(&answer))
}

/// Returns the value of a call that has ended, or goes on with its panic.
fn taken<T>(answer: Result<thread::Result<T>, RecvError>) -> T {
    match answer.expect("a blocking call answers") {
        Ok(value) => value,
        Err(panic) => resume_unwind(panic),
    }
}
