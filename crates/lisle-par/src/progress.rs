//! How far loops have come.
//!
//! Those who take part add up what they have done, and look whether that is as much as somebody waits for. Who waits sets
//! that mark before it looks at the count for the last time; who counts adds before it looks at the mark. In the one order
//! of all these accesses one of the two comes second and sees the other.

use crate::event::{Attempt, Description, Event, Hidden, Label, Source, Step, awaitable};
use crate::shim::CachePadded;
use crate::shim::atomic::{AtomicU64, Ordering};
use std::fmt;
use std::pin::Pin;

/// Nobody waits for anything.
const NO_MARK: u64 = u64::MAX;

/// How many steps of loops have been done, to be looked at or waited for while they run.
///
/// [`ParallelIterator::progress`](crate::iter::ParallelIterator::progress) has a loop counted. Several may be counted
/// together, one after the other or at the same time.
///
/// # What is counted
///
/// The steps of the iterator that `progress` was called on. A loop is run in blocks of steps, see
/// [`grain`](crate::iter::ParallelIterator::grain); when a block ends, all of its steps are done, be it that its last
/// item was consumed or that no more of its items were wanted, as by a search. Not counted is a block that ended in a panic,
/// and what is never begun: because a search was over before, or the loop was stopped. So the count never falls, it comes
/// to the total if the loop is run to its end, and may stay below if not.
///
/// To the total a loop adds its length when it begins.
///
/// Whoever sees a count also sees what was written in the steps that are counted.
///
/// # Cost
///
/// One atomic addition a block, which takes some microseconds, and as long as nobody waits nothing else. The counter has
/// room for 2^64 steps.
///
/// ```
/// use lisle::par::Progress;
/// use lisle::par::prelude::*;
/// use lisle::{Event, choose, fiber};
///
/// lisle::run(|| {
///     let progress = Progress::new();
///     fiber::scope(|scope| {
///         let mut fiber = scope.spawn(|| {
///             (0..10_000_u64).into_par_iter().progress(&progress).map(|n| n * n).sum::<u64>()
///         });
///         let mut seen = 0;
///         let sum = loop {
///             let next = choose((
///                 progress.changed_evt(seen).wrap(Some),
///                 progress.reached_evt(10_000).wrap(|_| None),
///             ));
///             match next.sync() {
///                 Some(done) => seen = done, // draw a bar: `seen` of `progress.total()`
///                 None => break fiber.join().unwrap(),
///             }
///         };
///         assert_eq!(sum, 333_283_335_000);
///     });
///     assert_eq!((progress.done(), progress.total()), (10_000, 10_000));
/// });
/// ```
pub struct Progress {
    counts: CachePadded<Counts>,
    /// Those who wait. Under its lock the mark is set.
    waiting: Source<(), u64>,
}

struct Counts {
    done: AtomicU64,
    /// The least count that somebody waits for.
    mark: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Of no loops.
    #[track_caller]
    pub fn new() -> Self {
        let counts =
            Counts { done: AtomicU64::new(0), mark: AtomicU64::new(NO_MARK), total: AtomicU64::new(0) };
        Progress { counts: CachePadded(counts), waiting: Source::labelled(Label::new("progress"), ()) }
    }

    /// The same progress, with a name for those who ask who waits.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Progress { waiting: self.waiting.named(name), ..self }
    }

    /// How many steps have been done, in all loops.
    pub fn done(&self) -> u64 {
        self.counts.done.load(Ordering::Acquire)
    }

    /// How many steps all loops have that have begun.
    pub fn total(&self) -> u64 {
        self.counts.total.load(Ordering::Relaxed)
    }

    /// The event of `count` steps being done. It gives how many are, and is ready for good from then on.
    ///
    /// It may never happen, if the loop is stopped or panics: then choose between this and the end of whoever runs it.
    ///
    /// # Cancel safety
    ///
    /// Nothing is taken. A loser of a choice leaves a mark at which the loop looks once whether somebody waits.
    ///
    /// # Fairness
    ///
    /// All who wait for what has been reached are woken.
    ///
    /// ```
    /// use lisle::par::{Progress, prelude::*};
    /// use lisle::{Event, fiber};
    ///
    /// let progress = Progress::new();
    /// lisle::run(|| {
    ///     fiber::scope(|scope| {
    ///         scope.spawn(|| (0..1_000).into_par_iter().progress(&progress).for_each(drop));
    ///         assert!(progress.reached_evt(500).sync() >= 500);
    ///     });
    /// });
    /// assert_eq!(progress.reached_evt(1_001).poll(), None);
    /// ```
    pub fn reached_evt(&self, count: u64) -> ReachedEvt<'_> {
        ReachedEvt { progress: self, count }
    }

    /// The event of more than `since` steps being done: [`reached_evt`](Progress::reached_evt) of `since + 1`.
    ///
    /// Performed again and again, with what it gave the last time, it wakes the performer as often as each block. If you
    /// want to look less often, wait for a larger step, or for a time, as well.
    pub fn changed_evt(&self, since: u64) -> ReachedEvt<'_> {
        self.reached_evt(since.saturating_add(1))
    }

    /// A loop of so many steps begins.
    pub(super) fn begin(&self, steps: usize) {
        self.counts.total.fetch_add(steps as u64, Ordering::Relaxed);
    }

    /// So many steps have been done.
    #[inline]
    pub(super) fn add(&self, steps: usize) {
        let Counts { done, mark, .. } = &*self.counts;
        // Not only because of the mark: this is what gives those who see the count the steps' writes.
        let now = done.fetch_add(steps as u64, Ordering::SeqCst).wrapping_add(steps as u64);
        if now >= mark.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    /// The mark has been reached: has all who wait look, and set it anew if it is too early for them.
    #[cold]
    fn wake(&self) {
        self.waiting.update(|(), waiters| {
            self.counts.mark.store(NO_MARK, Ordering::SeqCst);
            waiters.retry_all();
        });
    }
}

impl Default for Progress {
    #[track_caller]
    fn default() -> Self {
        Progress::new()
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("done", &self.done())
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}

/// The event of so many steps being done, see [`Progress::reached_evt`].
#[must_use = "events do nothing unless performed"]
#[derive(Debug, Clone, Copy)]
pub struct ReachedEvt<'a> {
    progress: &'a Progress,
    count: u64,
}

impl ReachedEvt<'_> {
    fn reached(&self) -> Option<u64> {
        Some(self.progress.counts.done.load(Ordering::SeqCst)).filter(|&done| done >= self.count)
    }
}

impl Event for ReachedEvt<'_> {
    type Output = u64;
    type Branch<'e>
        = Hidden<'e, (), u64>
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        true
    }
    fn branch(&self) -> Self::Branch<'_> {
        self.progress.waiting.hidden()
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        // SAFETY: the branch is of this event.
        unsafe { branch.try_commit(attempt, |()| self.reached()) }
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        let take = |(): &mut ()| {
            let mark = &self.progress.counts.mark;
            if self.count < mark.load(Ordering::Relaxed) {
                mark.store(self.count, Ordering::SeqCst);
            }
            // If it is too early, whoever gets there sees the mark, and takes the lock when this waits in the queue.
            self.reached()
        };
        // SAFETY: the branch is of this event.
        unsafe { branch.publish(attempt, take) }
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        // SAFETY: the branch is of this event.
        unsafe { branch.withdraw(attempt) }
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> u64 {
        // SAFETY: the branch is of this event.
        unsafe { branch.take() }
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        branch.describe("wait for", waits);
    }
}

awaitable!(['a] ReachedEvt<'a>);
