//! The settings for loops over all cores, and for loops that ask again and again.

use super::Checker;

impl Checker {
    /// Sets the number of parts into which a loop of [`par`](lisle::par) is divided at most; 16 if
    /// it is not set. A loop with at most this many blocks is divided into single blocks, and all
    /// orders of their operations are explored. In a longer one, neighbouring blocks make one part,
    /// which runs them in their order. A block is one step of the loop, or as many as
    /// [`grain`](lisle::par::iter::ParallelIterator::grain) says. Sorts and scans are divided into
    /// about as many parts, which are shorter than on a runtime; with one part they run as on one
    /// core.
    ///
    /// # Panics
    ///
    /// If `most` is zero.
    pub fn parts(mut self, most: usize) -> Self {
        assert!(most > 0, "a loop has one part at least: the number of parts cannot be 0");
        self.division.parts = most;
        self
    }

    /// Divides each loop of [`par`](lisle::par) in every way, not only into the most parts. This
    /// shows a result that depends on the division: of a `reduce` whose operation is not
    /// associative, or of steps that share the state of their part. A loop of 2, 3, 4, 5 blocks can
    /// be divided in 2, 5, 15, 51 ways, and each way costs executions of its own. A sort is tried
    /// with one worker and with several, and each chunk of a scan with and without being added up
    /// before it is scanned.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::par::prelude::*;
    /// use lisle_check::Checker;
    ///
    /// let less = || {
    ///     let rest = [9, 4, 1].into_par_iter().reduce(|| 0, |a, b| a - b);
    ///     assert_eq!(rest, -14);
    /// };
    /// let verdict = Checker::new().every_division().explore(less);
    /// assert!(verdict.failure().is_some(), "it is -14, or -6, depending on who takes what");
    /// ```
    pub fn every_division(mut self) -> Self {
        self.division.is_chosen = true;
        self
    }

    /// Sets how many rounds in vain are explored of a loop that gives up after some; 10 if it is
    /// not set. This is for loops as `for _ in 0..3 { if is_so() { return } yield_now() }`. Each
    /// round costs executions of its own. If a loop asks more often, the checker explores the
    /// schedules in which its condition comes true, and the schedules in which the loop gives up
    /// when nothing else can run. With `u32::MAX` the checker explores every round. Use this with
    /// schedules that are [drawn at random](Checker::random): these let other threads run between
    /// the rounds.
    ///
    /// A round may take locks and release them. The checker does not see the data under a lock, so such a
    /// loop may change it although its rounds look alike. If the loop ends by itself, whatever others do,
    /// all of its rounds are explored. If several such loops end only together, this number of rounds of
    /// each is explored in every order, and after these the loops go on in turn.
    ///
    /// A loop asks again where it calls [`yield_now`](lisle::fiber::yield_now) or
    /// [`spin_loop`](crate::hint::spin_loop).
    pub fn rounds(mut self, most: u32) -> Self {
        self.rounds = most;
        self
    }
}
