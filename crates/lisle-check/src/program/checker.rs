//! The settings of a check: the schedules that it runs, and their number.

mod explore;
mod kept;
mod limits;
mod loops;
mod schedules;

use super::division::Division;
use super::limit::Limits;
use super::memory::{Detail, Memory};
use super::saved::Saved;
use super::way::ScheduleChoice;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The settings of a check. See [`check`](super::check).
///
/// By default it explores every schedule that could differ, each once.
///
/// # Examples
///
/// A program with too many schedules to run them all:
///
/// ```
/// use lisle_check::Checker;
/// use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
/// use std::sync::Arc;
///
/// let program = || {
///     let values = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
///     let setters = [(); 20].map(|()| {
///         let values = values.clone();
///         lisle::spawn(move || values.each_ref().map(|value| value.store(1, SeqCst)))
///     });
///     let seen = lisle::spawn(move || values.each_ref().map(|value| value.load(SeqCst)));
///     assert_eq!(seen.join().unwrap(), [1, 1]);
///     drop(setters);
/// };
/// let verdict = Checker::new().priorities(7, 3).executions(10_000).explore(program);
/// let failure = verdict.failure().expect("it is found by chance, but with a known probability");
///
/// // The schedule is a short text, which brings it back on any machine.
/// let again = Checker::new().replay(&failure.token()).unwrap().explore(program);
/// assert_eq!(again.failure().unwrap().panicked(), failure.panicked());
/// ```
#[derive(Debug, Clone)]
#[must_use = "it does nothing until it is given a program"]
pub struct Checker {
    way: ScheduleChoice,
    limits: Limits,
    steps: usize,
    patience: Duration,
    division: Division,
    rounds: u32,
    memory: Memory,
    detail: Detail,
    past_failures: bool,
    workers: Option<usize>,
    samples: bool,
    must_be_exhaustive: bool,
    observed: bool,
    save: Option<PathBuf>,
    resume: Option<Arc<(PathBuf, Saved)>>,
}

impl Checker {
    /// Creates a checker that explores every schedule, of at most 100,000 steps each, and gives up
    /// after a million executions.
    pub fn new() -> Self {
        Checker {
            way: ScheduleChoice::All,
            limits: Limits { executions: 1_000_000, time: None },
            steps: 100_000,
            patience: Duration::from_secs(20),
            division: Division::default(),
            rounds: 10,
            memory: Memory::default(),
            detail: Detail::None,
            past_failures: false,
            workers: None,
            samples: true,
            must_be_exhaustive: false,
            observed: false,
            save: None,
            resume: None,
        }
    }

    /// Sets the memory model of the program's [atomics](crate::atomic). Without it that is
    /// [`Memory::Rc11`].
    ///
    /// # Examples
    ///
    /// Two loads overtake two stores. Most processors allow that, and so does Rust:
    ///
    /// ```
    /// use lisle_check::atomic::{AtomicU32, Ordering::Relaxed};
    /// use lisle_check::{Checker, Memory};
    /// use std::sync::Arc;
    ///
    /// let store_buffering = || {
    ///     let flags = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    ///     let of_other = flags.clone();
    ///     let other = lisle::spawn(move || {
    ///         of_other[1].store(1, Relaxed);
    ///         of_other[0].load(Relaxed)
    ///     });
    ///     flags[0].store(1, Relaxed);
    ///     let seen = flags[1].load(Relaxed);
    ///     assert_ne!(seen + other.join().unwrap(), 0);
    /// };
    /// let checker = Checker::new();
    /// assert!(checker.explore(store_buffering).failure().is_some());
    /// assert!(checker.clone().memory(Memory::Tso).explore(store_buffering).failure().is_some());
    /// assert!(checker.memory(Memory::Sc).explore(store_buffering).failure().is_none());
    /// ```
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// Counts the executions that differ observably. Two others are the same to the program,
    /// although some of their steps have another order.
    ///
    /// ```
    /// use lisle_check::Checker;
    /// use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
    /// use std::sync::Arc;
    ///
    /// let verdict = Checker::new().observed().explore(|| {
    ///     let value = Arc::new(AtomicU32::new(0));
    ///     let writers = [1, 2, 3].map(|n| {
    ///         let value = value.clone();
    ///         lisle::spawn(move || value.store(n, SeqCst))
    ///     });
    ///     value.load(SeqCst);
    ///     writers.map(|writer| writer.join().unwrap());
    /// });
    /// // Three stores and a load have 24 orders. The load sees one of the stores, or none.
    /// assert_eq!(verdict.counts().complete, 24);
    /// assert_eq!(verdict.observed(), Some(4));
    /// ```
    pub fn observed(mut self) -> Self {
        self.observed = true;
        self
    }
}

impl Default for Checker {
    fn default() -> Self {
        Checker::new()
    }
}
