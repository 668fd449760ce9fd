//! Sparks: pure computations that use each other's results. They run in any order that respects these
//! dependences.
//!
//! [`dag!`](crate::dag!) writes a graph as bindings; [`Dag`] builds one piece by piece.
//!
//! The word spark is from P. Trinder, K. Hammond, H.-W. Loidl and S. Peyton Jones, *Algorithm + strategy =
//! parallelism* (Journal of Functional Programming, 1998), and from the Glasgow Haskell compiler. There it is
//! a piece of pure work that another processor may evaluate if it is free.

mod bindings;
mod inputs;
mod schedule;

pub use inputs::{Borrow, Inputs};

use super::owner;
use super::scope::scope;
use crate::event::lock::Lock;
use crate::shim::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::shim::clock::saturating_nanos;
use crate::shim::sync::{Arc, OnceLock};
use crate::shim::ticks;
use inputs::Slot;
use schedule::{Node, Running, estimate, remember};
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// A graph of computations that use each other's results.
///
/// A spark is added together with the sparks that it uses, which exist already; hence a cycle
/// cannot be expressed. Its function gets references to their results.
///
/// Short computations run where the results that they use were computed. Long ones are offered to other
/// domains; the sparks on which most depends go first. The cost of a spark is known if the same code has
/// built and run a graph on this thread before, or if [`cost`](Dag::cost) has given it.
///
/// # Cost
///
/// A spark takes two or three allocations, and some hundred nanoseconds. Combine computations that
/// are shorter than that into one spark.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::dag::Dag;
///
/// let text = "it was the best of times, it was the worst of times";
/// let mut dag = Dag::new();
/// let words = dag.spark((), |()| text.split(' ').collect::<Vec<_>>());
/// let count = dag.spark((&words,), |(words,)| words.len());
/// let longest = dag.spark((&words,), |(words,)| *words.iter().max_by_key(|word| word.len()).unwrap());
/// let report = dag.spark((&count, &longest), |(count, longest)| format!("{count} words, such as {longest}"));
/// let results = dag.run();
/// assert_eq!(results.get(&count), &12);
/// assert_eq!(results.take(report), "12 words, such as times,");
/// ```
///
/// A spark gets references to the results that it uses. The values that it borrows from outside must outlive
/// the graph:
///
/// ```compile_fail,E0597
/// # use lisle_par::facade as lisle;
/// let mut dag = lisle::par::dag::Dag::new();
/// {
///     let inside = 1;
///     dag.spark((), |()| inside + 1);
/// }
/// dag.run();
/// ```
///
/// ```compile_fail,E0507
/// # use lisle_par::facade as lisle;
/// let mut dag = lisle::par::dag::Dag::new();
/// let text = dag.spark((), |()| String::new());
/// dag.spark((&text,), |(text,)| -> String { *text });
/// ```
///
/// Other threads see the results and call the functions:
///
/// ```compile_fail,E0277
/// # use lisle_par::facade as lisle;
/// lisle::par::dag::Dag::new().spark((), |()| std::rc::Rc::new(1));
/// ```
#[derive(Default)]
pub struct Dag<'env> {
    nodes: Vec<Node<'env>>,
    number: Number,
}

/// The number of a graph, which differs from that of all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Number(u64);

impl Default for Number {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Number(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A computation of a [`Dag`] with a result of type `T`. Other sparks can use it, and [`Results`]
/// returns its result.
pub struct Spark<T> {
    slot: Slot<T>,
    index: usize,
    dag: Number,
}

impl<'env> Dag<'env> {
    /// Creates an empty graph.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::dag::Dag;
    ///
    /// let mut dag = Dag::new();
    /// let word = dag.spark((), |()| "spark");
    /// assert_eq!(dag.run().take(word), "spark");
    ///
    /// Dag::new().run(); // nothing to run
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Dag::default()
    }

    /// Adds a computation that uses the results of `inputs`: a tuple of references to sparks, or a
    /// slice of sparks.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// let mut dag = lisle::par::dag::Dag::new();
    /// let squares: Vec<_> = (0..10_u64).map(|n| dag.spark((), move |()| n * n)).collect();
    /// let sum = dag.spark(&squares, |squares| squares.into_iter().sum::<u64>());
    /// assert_eq!(dag.run().take(sum), 285);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if one of the sparks belongs to another graph.
    #[track_caller]
    pub fn spark<I, F, T>(&mut self, inputs: I, f: F) -> Spark<T>
    where
        I: Inputs,
        I::Kept: 'env,
        F: for<'r> FnOnce(<I::Kept as Borrow<'r>>::Refs) -> T + Send + 'env,
        T: Send + Sync + 'env,
    {
        let index = self.nodes.len();
        let mut used = Vec::new();
        let kept = inputs.keep(self, &mut used);
        for &used in &used {
            self.nodes[used].dependents.push(index);
        }
        let slot = Arc::new(OnceLock::new());
        let place = slot.clone();
        let compute = move || {
            let _ = place.set(f(kept.borrow()));
        };
        self.nodes.push(Node {
            compute: Lock::new(Some(Box::new(compute))),
            code: Self::spark::<I, F, T> as *const () as usize,
            site: Location::caller(),
            hint: None,
            missing: AtomicUsize::new(used.len()),
            dependents: Vec::new(),
            path: 0,
            cost: 0,
            took: AtomicU64::new(0),
        });
        Spark { slot, index, dag: self.number }
    }

    /// Sets the approximate duration of a spark, which is used instead of the measured one.
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use std::time::Duration;
    ///
    /// let mut dag = lisle::par::dag::Dag::new();
    /// let answer = dag.spark((), |()| 42);
    /// dag.cost(&answer, Duration::from_nanos(10));
    /// assert_eq!(dag.run().take(answer), 42);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the spark belongs to another graph.
    pub fn cost<T>(&mut self, spark: &Spark<T>, about: Duration) {
        assert_eq!(spark.dag, self.number, "the spark belongs to another graph");
        let ticks = u128::from(saturating_nanos(about)) * u128::from(ticks::A_MICROSECOND) / 1_000;
        self.nodes[spark.index].hint = Some(u64::try_from(ticks).unwrap_or(u64::MAX));
    }

    /// Runs all sparks, each after those that it uses, and returns when all have ended.
    ///
    /// Works wherever [`par::scope`](super::scope()) works, and waits in the same way.
    ///
    /// # Panics
    ///
    /// Panics with the panic of a spark. If several sparks panic, the panic of the one that was added first
    /// is raised. Sparks that use the result of a spark that has panicked do not run. All others have run
    /// before.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::dag::Dag;
    /// use std::panic::{AssertUnwindSafe, catch_unwind};
    ///
    /// let mut dag = Dag::new();
    /// let half = dag.spark((), |()| "no number".parse::<u32>().unwrap() / 2);
    /// dag.spark((&half,), |(half,)| half + 1); // does not run
    /// assert!(catch_unwind(AssertUnwindSafe(|| dag.run())).is_err());
    /// ```
    pub fn run(mut self) -> Results {
        estimate(&mut self.nodes);
        let running = Running { nodes: &self.nodes, panic: Lock::new(None) };
        if !running.nodes.is_empty() {
            scope(|s| running.begin(s));
        }
        remember(running.nodes);
        if let Some((_, panic)) = running.panic.into_inner() {
            owner::raise(panic);
        }
        Results(self.number)
    }
}

/// The results of a graph that has run. They are taken with its [`Spark`]s.
#[derive(Debug)]
pub struct Results(Number);

impl Results {
    /// Returns a reference to the result of a spark.
    ///
    /// # Panics
    ///
    /// Panics if the spark belongs to another graph.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::dag::Dag;
    ///
    /// let mut dag = Dag::new();
    /// let words = dag.spark((), |()| vec!["warp", "weft"]);
    /// let count = dag.spark((&words,), |(words,)| words.len());
    /// let results = dag.run();
    /// assert_eq!(results.get(&words)[1], "weft");
    /// assert_eq!(*results.get(&count), 2); // any number of times
    /// assert_eq!(*results.get(&count), 2);
    /// ```
    pub fn get<'r, T>(&'r self, spark: &'r Spark<T>) -> &'r T {
        self.check(spark);
        spark.slot.get().expect("all sparks of a graph that has run have run")
    }

    /// Returns the result of a spark by value.
    ///
    /// # Panics
    ///
    /// Panics if the spark belongs to another graph.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::dag::Dag;
    ///
    /// let mut dag = Dag::new();
    /// let word = dag.spark((), |()| String::from("weft"));
    /// let other = Dag::new().spark((), |()| 1);
    /// let results = dag.run();
    /// assert_eq!(results.take(word), "weft");
    /// // A spark of another graph has no result here.
    /// let wrong = std::panic::catch_unwind(|| results.take(other));
    /// assert!(wrong.is_err());
    /// ```
    pub fn take<T>(&self, spark: Spark<T>) -> T {
        self.check(&spark);
        // The sparks that used it have dropped their references.
        let slot = Arc::into_inner(spark.slot).and_then(OnceLock::into_inner);
        slot.expect("all sparks of a graph that has run have run")
    }

    fn check<T>(&self, spark: &Spark<T>) {
        assert_eq!(spark.dag, self.0, "the spark belongs to another graph");
    }
}

impl fmt::Debug for Dag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dag").field("sparks", &self.nodes.len()).finish()
    }
}

impl<T> fmt::Debug for Spark<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spark").field("index", &self.index).finish_non_exhaustive()
    }
}
