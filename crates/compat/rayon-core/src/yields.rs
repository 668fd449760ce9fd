//! Letting other jobs run.

use crate::current::here;
use crate::home::Home;
use crate::queue::Job;
use crate::registry::Registry;
use crate::runner::Runner;
use crate::server::let_others_pass;
use lisle_runtime::fiber;
use std::sync::Arc;

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
    yield_in(&here()?)
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
    yield_local_in(&here()?)
}

/// Runs a job that waits in the pool, if this is a domain of it.
pub(crate) fn yield_in(registry: &Arc<Registry>) -> Option<Yield> {
    Some(ran(Home::of(registry)?.take_any()))
}

/// Runs a job that waits on this domain, if that is one of the pool.
pub(crate) fn yield_local_in(registry: &Arc<Registry>) -> Option<Yield> {
    Some(ran(Home::of(registry)?.take_local()))
}

fn ran(job: Option<Job>) -> Yield {
    let Some(job) = job else {
        // A fiber that has begun may do what the caller waits for.
        fiber::yield_now();
        return Yield::Idle;
    };
    job.run(Runner::Other);
    let_others_pass();
    Yield::Executed
}
