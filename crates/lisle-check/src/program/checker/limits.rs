//! The limits of an exploration, and the number of its workers.

use super::Checker;
use std::time::Duration;

impl Checker {
    /// Sets the number of executions after which the exploration is given up. Executions before a
    /// [resumption](Checker::resume) do not count.
    pub fn executions(mut self, most: u64) -> Self {
        self.limits.executions = most;
        self
    }

    /// Sets the time after which the exploration is given up. A running execution is then given up
    /// before its next step. If there is a failure, the search for a shorter schedule takes at most
    /// a tenth of the time more.
    ///
    /// ```
    /// use lisle::sync::Mutex;
    /// use lisle_check::{Checker, Limit};
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// let time = Duration::from_millis(200);
    /// let verdict = Checker::new().time(time).explore(|| {
    ///     let total = Arc::new(Mutex::new(0));
    ///     let adders = [(); 8].map(|()| {
    ///         let total = total.clone();
    ///         lisle::spawn(move || *total.lock() += 1)
    ///     });
    ///     adders.map(|adder| adder.join().unwrap());
    /// });
    /// // Eight fibers take a lock in 40,320 orders.
    /// if !verdict.is_exhaustive() {
    ///     assert_eq!(verdict.limit(), Some(Limit::Time(time)));
    ///     assert!(verdict.explored() < 1.0);
    /// }
    /// ```
    pub fn time(mut self, most: Duration) -> Self {
        self.limits.time = Some(most);
        self
    }

    /// Makes [`check`](Checker::check) and [`check_same_result`](Checker::check_same_result) panic
    /// if not every schedule was explored: a bound was reached, or schedules are drawn at random.
    /// By default they write to the standard error that a limit has ended them.
    ///
    /// ```should_panic
    /// use lisle::sync::Mutex;
    /// use lisle_check::Checker;
    /// use std::sync::Arc;
    ///
    /// Checker::new().executions(100).must_be_exhaustive().check(|| {
    ///     let total = Arc::new(Mutex::new(0));
    ///     let adders = [(); 8].map(|()| {
    ///         let total = total.clone();
    ///         lisle::spawn(move || *total.lock() += 1)
    ///     });
    ///     adders.map(|adder| adder.join().unwrap());
    /// });
    /// ```
    pub fn must_be_exhaustive(mut self) -> Self {
        self.must_be_exhaustive = true;
        self
    }

    /// Sets the number of steps after which an execution counts as endless.
    pub fn steps(mut self, most: usize) -> Self {
        self.steps = most;
        self
    }

    /// Sets the time after which a step counts as endless. The default is 20 seconds, or the
    /// [time](Checker::time) of the exploration if that is shorter.
    ///
    /// A step lasts until the next operation that others could see. So a step is endless if it
    /// loops without such an operation, or waits for something outside of Lisle: then no other
    /// fiber can run. The failure names it. Its thread cannot be ended, and is left behind.
    ///
    /// ```
    /// use lisle_check::Checker;
    /// use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    /// use std::time::Duration;
    ///
    /// static IS_SET: AtomicBool = AtomicBool::new(false);
    ///
    /// let verdict = Checker::new().patience(Duration::from_secs(1)).explore(|| {
    ///     while !IS_SET.load(SeqCst) {
    ///         std::hint::spin_loop(); // neither is of Lisle's
    ///     }
    /// });
    /// let report = verdict.failure().unwrap().to_string();
    /// assert!(report.contains("a step does not end"));
    /// # IS_SET.store(true, SeqCst);
    /// ```
    pub fn patience(mut self, most: Duration) -> Self {
        self.patience = most;
        self
    }

    /// Goes on after a failure. The verdict has the first failure, and its
    /// [counts](crate::Verdict::counts) say how many executions went wrong, and how.
    /// [`explore_each`](Checker::explore_each) tells the ending of each execution.
    ///
    /// ```
    /// use lisle::sync::Mutex;
    /// use lisle_check::Checker;
    /// use std::sync::Arc;
    ///
    /// let verdict = Checker::new().past_failures().explore(|| {
    ///     let (one, other) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
    ///     let (a, b) = (one.clone(), other.clone());
    ///     let crosswise = lisle::spawn(move || *b.lock() + *a.lock());
    ///     assert_eq!(*one.lock() + *other.lock(), 3);
    ///     crosswise.join().unwrap();
    /// });
    /// assert!(verdict.is_exhaustive());
    /// assert_eq!((verdict.counts().complete, verdict.counts().blocked), (2, 1));
    /// ```
    pub fn past_failures(mut self) -> Self {
        self.past_failures = true;
        self
    }

    /// Sets the number of threads that run executions, each its own, at the same time.
    ///
    /// By default one thread runs a thousand executions, and most programs do not have more; then
    /// the other processors help. With [`preemptions`](Checker::preemptions), where each execution
    /// follows from the one before, it stays alone.
    ///
    /// Only the count of redundant executions depends on the number. With another number the first
    /// failure may be another one, but a program that fails always fails. Schedules that are drawn
    /// from a seed are always the same.
    ///
    /// # Panics
    ///
    /// If the number is zero.
    ///
    /// ```
    /// use lisle_check::Checker;
    /// use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
    /// use std::sync::Arc;
    ///
    /// let program = || {
    ///     let value = Arc::new(AtomicU32::new(0));
    ///     let adders = [(); 3].map(|()| {
    ///         let value = value.clone();
    ///         lisle::spawn(move || value.fetch_add(1, SeqCst))
    ///     });
    ///     adders.map(|adder| adder.join().unwrap());
    /// };
    /// let alone = Checker::new().workers(1).explore(program);
    /// let together = Checker::new().workers(3).explore(program);
    /// assert_eq!(alone.counts(), together.counts());
    /// ```
    pub fn workers(mut self, number: usize) -> Self {
        assert!(number > 0, "the number of workers cannot be 0: a worker runs the executions");
        self.workers = Some(number);
        self
    }
}
