//! Loops over all cores: join, parallel loops, reductions, scans, sorts.
//!
//! They run on the same domains as fibers and tasks. While no other domain is idle, they cost about
//! as much as a call.
//!
//! ```
//! use lisle::par::{self, prelude::*};
//!
//! lisle::run(|| {
//!     // Loops are written as iterators.
//!     let squares: Vec<u64> = (0..1_000_u64).into_par_iter().map(|n| n * n).collect();
//!     let sum: u64 = squares.par_iter().sum();
//!     assert_eq!(sum, 332_833_500);
//!
//!     // In a recursion, a join puts one half off.
//!     fn fibonacci(n: u64) -> u64 {
//!         if n < 2 {
//!             return n;
//!         }
//!         let (a, b) = par::join(|| fibonacci(n - 1), || fibonacci(n - 2));
//!         a + b
//!     }
//!     assert_eq!(fibonacci(20), 6_765);
//! });
//! ```
//!
//! [`join`] runs two halves, [`iter`] has the loops, [`scope()`] spawns jobs with promises, and
//! [`dag!`](macro@dag) runs a graph of computations.
//!
//! # How it divides
//!
//! Nothing is divided beforehand. A join records its second half, a loop records its remaining
//! steps, and both go on. When another domain is idle, it gets the oldest recorded entry, and the next
//! idle domain gets half of that entry. Therefore the caller has no grain to choose, and a loop that
//! turns out to be short pays no penalty. `src/jobs/README.md` of `lisle-runtime` gives the reasons,
//! and argues why no wait is in vain.
//!
//! # Where it runs
//!
//! - In a fiber: on the domains of its runtime. While a fiber waits for a part that another domain
//!   runs, its own domain runs other fibers. During a long computation, other fibers run and sockets
//!   and timers are polled about every 50 µs, or after the current step or half if it takes longer.
//!   This holds for loops, joins, jobs and graphs, scans and sorts. So a server keeps serving on the
//!   domains on which a loop runs.
//! - On a plain thread: on that thread, with the help of the domains of the default runtime, which
//!   is started if necessary.
//! - In a task, in a part of another loop, or in a half of a join: as in the code around it.
//!
//! # Caveats
//!
//! - A part may run on another thread and in another fiber than the code around it. It does not see
//!   the thread-locals and [`fiber::LocalKey`](crate::fiber::LocalKey)s of the caller. Values that
//!   cross over must be [`Send`].
//! - Parts of a loop must not wait for each other, because nothing guarantees that they run at the
//!   same time. They may wait for anything else, and their domain does other work meanwhile.
//! - A loop may let other fibers run. Do not hold a lock of the standard library across a loop if
//!   other fibers of the runtime want that lock: a fiber that blocks on it stops the thread on
//!   which the loop has to continue. The parts of the loop itself may take the lock before and
//!   after the loop, because they do not run in between. The locks of [`sync`](crate::sync) may be
//!   held.
//! - A step is not interrupted. A step of 10 ms keeps the other fibers of its domain waiting for
//!   10 ms. In a sort a step is one comparison, in a scan one operation. Collecting into a `BTreeMap`,
//!   `BTreeSet` or `BinaryHeap` of the standard library ends with one long step: one call builds the
//!   collection, and takes some ten nanoseconds for each item.

#[doc(inline)]
pub use lisle_par::*;
