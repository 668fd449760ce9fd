//! Runs a program of Lisle's in its schedules.

mod asking;
mod bridge;
mod causes;
mod checker;
mod computed;
mod difference;
mod division;
mod executing;
mod exploration;
mod failure;
mod interrupt;
mod judge;
mod leaving;
mod limit;
mod memory;
mod objects;
mod own_thread;
mod progress;
mod queues;
mod quiet;
mod results;
mod reversal;
mod sampling;
mod saved;
pub(crate) mod shared;
mod spins;
mod timers;
mod together;
mod trace;
mod verdict;
mod watch;
mod way;

pub use checker::Checker;
pub use difference::Difference;
pub use failure::Failure;
pub use limit::Limit;
pub(crate) use memory::Access;
pub use memory::{CellAccess, DataRace, Memory, RaceSide};
pub use results::{Outcome, Outcomes};
pub use saved::ResumeError;
pub use spins::Spin;
pub(crate) use spins::read_at;
pub use trace::Trace;
pub use verdict::Verdict;

/// Runs a program in every schedule.
///
/// The program runs as a fiber. It may spawn fibers and tasks and use channels, choices, locks and
/// timers as it likes; each is run as it is. It runs once for each class of schedules that could
/// differ. So it must do the same in the same schedule: it must not depend on the time of day, on
/// addresses, or on state that other executions have left. Time is virtual. If there are many
/// executions, several [threads](Checker::workers) run them.
///
/// # Panics
///
/// If the program panics in a schedule, or a fiber of it panics that nobody joins, or if nothing
/// can wake the remaining fibers. The message says what went wrong, shows the schedule with a
/// column for each fiber, and has a token: with `LISLE_CHECK_REPLAY=token` in the environment the
/// same test runs that schedule alone. With `LISLE_CHECK_HTML=file.html` it writes the schedule as
/// a page.
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
/// The checker finds a schedule that goes wrong, however rare it is:
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

/// Runs a program in every schedule, and checks that it returns the same in each.
///
/// # Panics
///
/// As [`check`], and if two schedules have different results. The message shows two schedules that
/// differ in the order of two steps, if it can find them. See [`Checker::same_result`].
///
/// # Examples
///
/// ```
/// lisle_check::check_same_result(|| {
///     let (tx, rx) = lisle::channel();
///     for n in [1, 2] {
///         let tx = tx.clone();
///         lisle::spawn(move || tx.send(n).unwrap());
///     }
///     drop(tx);
///     rx.iter().sum::<i32>()
/// });
/// ```
#[track_caller]
pub fn check_same_result<R>(program: impl Fn() -> R + Send + Sync + 'static)
where
    R: PartialEq + std::fmt::Debug + Send + 'static,
{
    Checker::new().check_same_result(program);
}
