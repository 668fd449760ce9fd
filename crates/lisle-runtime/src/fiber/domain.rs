//! The domain on which code runs, and the number of domains.

use crate::sched::worker;

/// Returns the index of the domain on which this code runs, from 0, or `None` on a thread that belongs
/// to no runtime.
///
/// A fiber has the same answer for as long as it lives. A task may have another one after each await.
/// A call in [`blocking`](crate::blocking()) runs on no domain.
///
/// # Examples
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::fiber::{self, spawn_on};
///
/// lisle::Runtime::builder().domains(2).run(|| {
///     assert_eq!(fiber::domain(), Some(0)); // `run` runs its function on the first
///     assert_eq!(spawn_on(1, fiber::domain).join().unwrap(), Some(1));
///     assert_eq!(lisle::blocking(fiber::domain), None);
/// });
/// assert_eq!(fiber::domain(), None);
/// ```
#[inline]
pub fn domain() -> Option<usize> {
    worker::with_current(|worker| worker.map(|worker| worker.domain().index))
}

/// Returns the number of domains of the runtime in which this code runs, or `None` on a thread that
/// belongs to no runtime. There, [`Handle::domains`](crate::Handle::domains) tells for a runtime that
/// one knows.
///
/// # Examples
///
/// A counter for each domain, which no two threads write:
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::fiber;
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// lisle::Runtime::builder().domains(3).run(|| {
///     let counts: Vec<_> = (0..fiber::domains().unwrap()).map(|_| AtomicU64::new(0)).collect();
///     fiber::scope(|scope| {
///         for _ in 0..100 {
///             scope.spawn(|| counts[fiber::domain().unwrap()].fetch_add(1, Relaxed));
///         }
///     });
///     assert_eq!(counts.len(), 3);
///     assert_eq!(counts.iter().map(|count| count.load(Relaxed)).sum::<u64>(), 100);
/// });
/// assert_eq!(fiber::domains(), None);
/// ```
#[inline]
pub fn domains() -> Option<usize> {
    worker::with_current(|worker| worker.map(|worker| worker.shared().domains.len()))
}
