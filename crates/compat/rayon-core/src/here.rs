//! Where code runs: on which thread of which pool.

use crate::current::{current, global};
use crate::handlers::handled;
use crate::registry::{Registry, Which};
use lisle_runtime::fiber;
use lisle_runtime::internal::owner;

/// Returns the number of threads of the current pool, or else of the global one.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build()?;
/// assert_eq!(pool.install(rayon::current_num_threads), 3);
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
#[inline]
pub fn current_num_threads() -> usize {
    fiber::domains()
        .or_else(|| handled().map(|(_, registry)| registry.num_threads()))
        .unwrap_or_else(|| global().num_threads())
}

/// Returns the index of the current thread in its pool, from 0, or `None` on a thread that is in no pool.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// assert_eq!(rayon::current_thread_index(), None);
/// assert!(rayon::scope(|_| rayon::current_thread_index()).is_some());
/// ```
#[inline]
pub fn current_thread_index() -> Option<usize> {
    fiber::domain().or_else(|| handled().map(|(index, _)| index))
}

/// Returns `true` if work waits on this thread that other threads could take, or `None` on a thread that is
/// in no pool. That is jobs, and what the joins that run here have put off.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
/// pool.install(|| {
///     assert_eq!(rayon::current_thread_has_pending_tasks(), Some(false));
///     rayon::spawn(|| ());
///     assert_eq!(rayon::current_thread_has_pending_tasks(), Some(true));
/// });
/// assert_eq!(rayon::current_thread_has_pending_tasks(), None);
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    let index = fiber::domain()?;
    Some(has_pending_tasks(&current(), index))
}

/// Returns the same for this domain, which has the given index in `registry`.
pub(crate) fn has_pending_tasks(registry: &Registry, index: usize) -> bool {
    !registry.is_empty(Which::Of(index)) || !owner::pending().is_empty()
}
