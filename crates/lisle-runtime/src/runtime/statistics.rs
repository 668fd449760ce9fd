//! The numbers of a runtime's fibers and tasks, and of the messages that they have exchanged.

use crate::sched::shared::Shared;
use crate::sched::worker::{self, Worker};
use std::fmt;

/// The counts of a runtime so far: [`Runtime::statistics`](crate::Runtime::statistics), [`statistics`].
///
/// They are the figures of table 2 in *Featherweight Threads for Communication* (Sivaramakrishnan,
/// Ziarek and Jagannathan 2011). Counting costs an addition for each message and each task, and a
/// few for each reification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Fibers that were spawned.
    pub fibers: u64,
    /// Tasks that were spawned.
    pub tasks: u64,
    /// Messages that passed from a sender to a receiver.
    pub communications: u64,
    /// Tasks that had to wait, for the first time, and so became records.
    pub reifications: u64,
    /// Tasks that became threads scheduled by themselves: because they asked for it, because they
    /// took long, or because their spawner was charged for others that did.
    pub inflations: u64,
    /// Turns of tasks on another domain than their previous turn.
    pub migrations: u64,
    /// How many bytes all reified tasks took together, each with its future and its record.
    pub reified_bytes: u64,
    /// How many bytes the largest of them took.
    pub largest_task: u64,
}

impl Statistics {
    /// Returns how many bytes a reified task took on average, or 0 if there was none.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Statistics, spawn_task};
    ///
    /// assert_eq!(Statistics::default().mean_task(), 0.0);
    /// lisle::run(|| {
    ///     let task = spawn_task(async { lisle::task::yield_now().await });
    ///     task.join().unwrap();
    ///     assert!(lisle::statistics().mean_task() > 0.0);
    /// });
    /// ```
    pub fn mean_task(&self) -> f64 {
        if self.reifications == 0 { 0.0 } else { self.reified_bytes as f64 / self.reifications as f64 }
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} fibers, {} tasks ({} reified, {} inflated, {} migrations), {} communications; a task takes \
             {:.0} bytes on average, {} at most",
            self.fibers,
            self.tasks,
            self.reifications,
            self.inflations,
            self.migrations,
            self.communications,
            self.mean_task(),
            self.largest_task
        )
    }
}

impl Shared {
    pub(super) fn statistics(&self) -> Statistics {
        worker::with_current(|worker| worker.into_iter().for_each(Worker::tell_tally));
        let mut sum = Statistics::default();
        let outside = self.outside.lock();
        let tallies = self.domains.iter().map(|domain| &domain.counts.tally).chain([&*outside]);
        for tally in tallies {
            sum.fibers += tally.fibers.get();
            sum.tasks += tally.tasks.get();
            sum.communications += tally.communications.get();
            sum.reifications += tally.reifications.get();
            sum.inflations += tally.inflations.get();
            sum.migrations += tally.migrations.get();
            sum.reified_bytes += tally.reified_bytes.get();
            sum.largest_task = sum.largest_task.max(tally.largest_task.get());
        }
        sum
    }
}

/// Returns the counts of the runtime of the calling fiber or task, see
/// [`Runtime::statistics`](crate::Runtime::statistics). On
/// a plain thread all are 0.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// let statistics = lisle::run(|| {
///     let (tx, rx) = lisle::channel();
///     let sum = lisle::spawn_task(async move { rx.recv_evt().await.unwrap() + 1 });
///     tx.send(1).unwrap();
///     assert_eq!(sum.join().unwrap(), 2);
///     lisle::statistics()
/// });
/// assert_eq!((statistics.fibers, statistics.tasks, statistics.reifications), (1, 1, 1));
/// ```
pub fn statistics() -> Statistics {
    worker::with_current(|worker| {
        worker.map_or_else(Statistics::default, |worker| worker.shared().statistics())
    })
}
