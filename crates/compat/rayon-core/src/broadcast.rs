//! Running a closure on each thread of a pool.

use crate::context::BroadcastContext;
use crate::current::current;
use crate::registry::Registry;
use crate::scope::on_each_domain;
use crate::spawn::spawn_broadcast_in;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs `op` on each thread of the current pool, waits for all, and returns the results in the order of the
/// threads.
///
/// On each thread it runs after the jobs that wait there.
///
/// # Panics
///
/// Panics with the first panic of `op`. In any case it runs on all threads.
///
/// Panics, and calls nothing, in code that must not wait, for example in `lisle::fiber::no_suspend`.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build()?;
/// assert_eq!(pool.install(|| rayon::broadcast(|context| context.index() * 10)), [0, 10, 20]);
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    broadcast_in(current(), op)
}

/// Spawns `op` on each thread of the current pool, and does not wait.
///
/// The [panic handler](crate::ThreadPoolBuilder::panic_handler) of the pool gets a panic, as with
/// [`spawn`](crate::spawn()).
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build()?;
/// let (tx, rx) = std::sync::mpsc::channel();
/// pool.install(|| rayon::spawn_broadcast(move |context| tx.send(context.index()).unwrap()));
/// assert_eq!(rx.iter().sum::<usize>(), 0 + 1 + 2);
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    spawn_broadcast_in(&current(), op);
}

pub(crate) fn broadcast_in<R: Send>(
    registry: Arc<Registry>,
    op: impl Fn(BroadcastContext<'_>) -> R + Sync,
) -> Vec<R> {
    let results: Vec<_> = (0..registry.num_threads()).map(|_| Mutex::new(None)).collect();
    on_each_domain(registry, |context| {
        let slot = &results[context.index()];
        let result = op(context);
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let inner = |slot: Mutex<Option<R>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().map(|slot| inner(slot).expect("all have ended, without a panic")).collect()
}
