//! How far loops have come.
//!
//! The participants of a loop add up the steps that they have done, and compare the count with the
//! *mark*, the least count that a waiter waits for. A waiter sets the mark before it reads the
//! count for the last time; a participant adds before it reads the mark. In the single total order
//! of these accesses, one of the two comes second and sees the other.

use crate::event::{
    Description, Hidden, Label, Source, add_to, awaitable, declare, gone, single, visible_on,
};
use crate::shim::CachePadded;
use crate::shim::atomic::{AtomicU64, Ordering};
use lisle_core::Event;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;

/// The mark if no waiter waits.
const NO_MARK: u64 = u64::MAX;

/// A counter of the steps that loops have done, which can be read or waited for while they run.
///
/// [`ParallelIterator::progress`](crate::iter::ParallelIterator::progress) makes a loop count.
/// Several loops may be counted together, in sequence or at the same time.
///
/// # What is counted
///
/// The steps of the iterator on which `progress` was called are counted. A loop is run in blocks of
/// steps, see [`grain`](crate::iter::ParallelIterator::grain). All steps of a block count as done
/// when the block ends, because its last item was consumed or because no more of its items were
/// wanted, as in a search. A block that ends in a panic is not counted, nor is a block that is
/// never begun because a search was over before or the loop was stopped. Hence the count never
/// falls. It reaches the total if the loop is run to its end, and may stay below it if not.
///
/// A loop adds its length to the total when it begins.
///
/// A thread that sees a count also sees the writes of the steps that are counted.
///
/// # Cost
///
/// It costs one atomic addition for each block of some microseconds, and nothing else as long as no
/// waiter waits. The counter has room for 2^64 steps.
///
/// ```
/// # use lisle_par::facade as lisle;
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
    /// The waiters. The mark is set under the lock of this source.
    waiting: Source<(), u64>,
}

struct Counts {
    done: AtomicU64,
    /// The least count that a waiter waits for.
    mark: AtomicU64,
    total: AtomicU64,
}

// Counts, which change in one step.
impl UnwindSafe for Progress {}
impl RefUnwindSafe for Progress {}

impl Progress {
    /// Creates a counter of no loops.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::{Progress, prelude::*};
    ///
    /// let progress = Progress::new();
    /// (0..10).into_par_iter().progress(&progress).for_each(drop);
    /// (0..5).into_par_iter().progress(&progress).for_each(drop); // counted together
    /// assert_eq!((progress.done(), progress.total()), (15, 15));
    /// ```
    #[track_caller]
    pub fn new() -> Self {
        let counts =
            Counts { done: AtomicU64::new(0), mark: AtomicU64::new(NO_MARK), total: AtomicU64::new(0) };
        Progress { counts: CachePadded(counts), waiting: Source::labelled(Label::new("progress"), ()) }
    }

    /// Names this progress; reports about waiters show the name.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::{Event, Runtime, fiber, par::Progress};
    /// use std::sync::Arc;
    ///
    /// Runtime::builder().domains(1).run(|| {
    ///     let progress = Arc::new(Progress::new().named("copied"));
    ///     let watched = progress.clone();
    ///     drop(lisle::spawn(move || watched.reached_evt(1).sync()));
    ///     fiber::yield_now(); // the other fiber begins to wait
    ///     assert_eq!(lisle::waiting().fibers[0].waits[0].object.name(), Some("copied"));
    /// });
    /// ```
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Progress { waiting: self.waiting.named(name), ..self }
    }

    /// Returns the number of steps that have been done, in all loops.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::{Progress, prelude::*};
    ///
    /// let progress = Progress::new();
    /// let found = (0..1_000_000).into_par_iter().progress(&progress).find_any(|n| *n == 3);
    /// assert_eq!(found, Some(3));
    /// assert!(progress.done() <= progress.total()); // a search need not come to the end
    /// ```
    pub fn done(&self) -> u64 {
        visible_on(self.words());
        self.counts.done.load(Ordering::Acquire)
    }

    /// Returns the number of steps of all loops that have begun.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::{Progress, prelude::*};
    ///
    /// let progress = Progress::new();
    /// let lazy = (0..1_000).into_par_iter().progress(&progress);
    /// assert_eq!(progress.total(), 0); // the loop has not begun
    /// lazy.for_each(drop);
    /// assert_eq!(progress.total(), 1_000);
    /// ```
    pub fn total(&self) -> u64 {
        visible_on(self.words());
        self.counts.total.load(Ordering::Relaxed)
    }

    /// Returns the event that `count` steps are done. Its value is the number of steps that are
    /// done, and it stays ready from then on.
    ///
    /// If the loop is stopped or panics, the event may never happen. If that is possible, choose
    /// between the event and the end of the code that runs the loop.
    ///
    /// # Cancel safety
    ///
    /// Nothing is taken. A branch that loses a choice leaves the mark set, which makes the loop
    /// check once for waiters.
    ///
    /// # Fairness
    ///
    /// All waiters whose count has been reached are woken.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
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

    /// Returns the event that more than `since` steps are done:
    /// [`reached_evt`](Progress::reached_evt) of `since + 1`.
    ///
    /// A caller that performs it repeatedly, each time with the value that it gave before, may be
    /// woken after each block. To be woken less often, wait for a larger step, or for a time as
    /// well.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::{Progress, prelude::*};
    /// use lisle::{Event, fiber};
    ///
    /// lisle::run(|| {
    ///     let progress = Progress::new();
    ///     fiber::scope(|scope| {
    ///         scope.spawn(|| (0..1_000).into_par_iter().progress(&progress).for_each(drop));
    ///         let mut seen = 0;
    ///         while seen < 1_000 {
    ///             seen = progress.changed_evt(seen).sync(); // each time more than the time before
    ///         }
    ///         assert_eq!(progress.changed_evt(seen).poll(), None);
    ///     });
    /// });
    /// ```
    pub fn changed_evt(&self, since: u64) -> ReachedEvt<'_> {
        self.reached_evt(since.saturating_add(1))
    }

    /// Adds a loop of `steps` steps to the total.
    pub(super) fn begin(&self, steps: usize) {
        visible_on(self.words());
        let total = &self.counts.total;
        add_to(total, || total.fetch_add(steps as u64, Ordering::Relaxed), |_| true);
    }

    /// Returns the object by which a model knows the counts.
    #[inline(always)]
    fn words(&self) -> &Counts {
        &self.counts
    }

    /// Adds `steps` steps that have been done.
    #[inline]
    pub(super) fn add(&self, steps: usize) {
        let Counts { done, mark, .. } = &*self.counts;
        // The order is strong not only because of the mark: threads that read the count see the
        // writes of the steps through it.
        visible_on(self.words());
        let add = || done.fetch_add(steps as u64, Ordering::SeqCst).wrapping_add(steps as u64);
        let now = add_to(done, add, |now| *now < mark.load(Ordering::Relaxed));
        if now >= mark.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Has all waiters look at the count, after the mark has been reached. Waiters for which it is
    /// too early set the mark anew.
    #[cold]
    fn wake(&self) {
        self.waiting.update(|(), waiters| {
            self.counts.mark.store(NO_MARK, Ordering::SeqCst);
            waiters.retry_all();
        });
    }
}

/// A model has to know that other counts may come to the same place in memory.
impl Drop for Counts {
    #[inline]
    fn drop(&mut self) {
        gone(self);
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

/// The event that a number of steps is done, see [`Progress::reached_evt`].
#[must_use = "events do nothing unless performed"]
#[derive(Debug, Clone, Copy)]
pub struct ReachedEvt<'a> {
    progress: &'a Progress,
    count: u64,
}

impl ReachedEvt<'_> {
    fn reached(&self) -> Option<u64> {
        declare(self.progress.words());
        Some(self.progress.counts.done.load(Ordering::SeqCst)).filter(|&done| done >= self.count)
    }

    /// Does the same for a performer that is about to wait.
    fn mark_or_reached(&self) -> Option<u64> {
        declare(self.progress.words());
        let mark = &self.progress.counts.mark;
        if self.count < mark.load(Ordering::Relaxed) {
            mark.store(self.count, Ordering::SeqCst);
        }
        // If it is too early, the participant that reaches the mark sees it, and takes the lock
        // when this waiter is in the queue.
        self.reached()
    }
}

impl Event for ReachedEvt<'_> {
    type Output = u64;
    single! { |this, branch: Hidden<'e, (), u64>, attempt|
        branch: this.progress.waiting.hidden(),
        // SAFETY: the branch is of this event.
        try_commit: unsafe { branch.try_commit(attempt, |()| this.reached()) },
        // SAFETY: the branch is of this event.
        publish: unsafe { branch.publish(attempt, |()| this.mark_or_reached()) },
        // SAFETY: the branch is of this event.
        withdraw: unsafe { branch.withdraw(attempt) }
    }

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> u64 {
        // SAFETY: the branch is of this event.
        unsafe { branch.take() }
    }
    fn describe<'e>(&'e self, branch: &Self::Branch<'e>, waits: &mut Description) {
        branch.describe("wait for", waits);
    }
}

awaitable!(['a] ReachedEvt<'a>, single);
