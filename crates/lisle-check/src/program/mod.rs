//! Running a program of Lisle's through its schedules.

mod asking;
mod bridge;
mod checker;
mod division;
mod executing;
mod objects;
mod spins;
mod verdict;

pub use checker::Checker;
pub use spins::Spin;
pub(crate) use spins::read_at;
pub use verdict::{Failure, Verdict};

/// Runs a program through every schedule.
///
/// The program is run as a fiber. It may spawn fibers and tasks and use channels, choices, locks and
/// timers as it likes; each is run as it is. It is run once for each class of schedules that could
/// differ, on the calling thread, so it has to come to the same when its fibers are scheduled in the
/// same way: it must not depend on the time of day, on addresses, or on what other executions have
/// left. Time is virtual.
///
/// # Panics
///
/// If the program panics in a schedule, or a fiber of it does that nobody joins, or if fibers are left
/// that wait and nothing can wake. The message says how, and has a token: with `LISLE_CHECK_REPLAY=token`
/// in the environment the same test runs that schedule alone.
///
/// # Examples
///
/// ```
/// lisle_check::check(|| {
///     let (tx, rx) = lisle::channel();
///     let sender = lisle::spawn(move || tx.send(1).unwrap());
///     assert_eq!(rx.recv(), Ok(1));
///     sender.join().unwrap();
/// });
/// ```
///
/// A schedule in which it goes wrong is found, however rare it is:
///
/// ```should_panic
/// use lisle::sync::Mutex;
/// use std::sync::Arc;
///
/// lisle_check::check(|| {
///     let (one, other) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
///     let (a, b) = (one.clone(), other.clone());
///     let crosswise = lisle::spawn(move || *b.lock() + *a.lock());
///     assert_eq!(*one.lock() + *other.lock(), 3);
///     crosswise.join().unwrap();
/// });
/// ```
#[track_caller]
pub fn check(program: impl Fn() + Send + Sync + 'static) {
    Checker::new().check(program);
}
