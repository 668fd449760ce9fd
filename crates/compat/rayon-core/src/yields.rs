//! Letting other jobs run.

use crate::current::current;
use crate::registry::Registry;
use crate::runner::Runner;
use crate::server::let_others_pass;
use lisle_runtime::fiber;

/// What came of a yield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A job was run.
    Executed,
    /// There was no job.
    Idle,
}

/// Runs a job of the current pool, if one waits, on this thread first. Lets the other fibers of the domain
/// have their turn if there is no job. Returns `None` on a thread that is in no pool.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// use rayon::Yield;
///
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
/// pool.install(|| {
///     rayon::spawn(|| ());
///     assert_eq!(rayon::yield_now(), Some(Yield::Executed));
///     assert_eq!(rayon::yield_now(), Some(Yield::Idle));
/// });
/// assert_eq!(rayon::yield_now(), None);
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
pub fn yield_now() -> Option<Yield> {
    let index = fiber::domain()?;
    Some(yield_in(&current(), index))
}

/// Does the same as [`yield_now`], for a job that waits on this thread.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// use rayon::Yield;
///
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
/// pool.install(|| {
///     rayon::spawn(|| ());
///     assert_eq!(rayon::yield_local(), Some(Yield::Executed));
/// });
/// assert_eq!(rayon::yield_local(), None);
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
pub fn yield_local() -> Option<Yield> {
    let index = fiber::domain()?;
    Some(yield_local_in(&current(), index))
}

/// Runs a job that waits in the pool, of which this is the domain with the given index.
pub(crate) fn yield_in(registry: &Registry, index: usize) -> Yield {
    ran(registry.take_any(index).map(|job| job.run(Runner::Other)).is_some())
}

/// Runs a job that waits on this domain, which has the given index.
pub(crate) fn yield_local_in(registry: &Registry, index: usize) -> Yield {
    ran(registry.take_local(index).map(|job| job.run(Runner::Other)).is_some())
}

fn ran(one: bool) -> Yield {
    if one {
        let_others_pass();
        Yield::Executed
    } else {
        // What the caller waits for may be done by a fiber that has begun.
        fiber::yield_now();
        Yield::Idle
    }
}
