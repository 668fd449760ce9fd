//! Jobs without a scope.

use crate::context::BroadcastContext;
use crate::current::current;
use crate::queue::{Job, Owner, Run};
use crate::registry::{Registry, User};
use crate::runner::{Ended, Runner};
use std::sync::Arc;

/// Spawns a job in the current pool, and does not wait for it.
///
/// The newest job of a thread runs first. The job may wait for events.
///
/// If it panics, the panic goes to the pool's [panic handler](crate::ThreadPoolBuilder::panic_handler).
/// Without one it ends the process.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let (tx, rx) = std::sync::mpsc::channel();
/// rayon::spawn(move || tx.send(6 * 7).unwrap());
/// assert_eq!(rx.recv(), Ok(42));
/// ```
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    spawn_in(&current(), func);
}

/// Spawns a job in the current pool, as [`spawn`] does. It runs after those that the same thread has spawned
/// by this function before.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
/// let (tx, rx) = std::sync::mpsc::channel();
/// pool.install(|| {
///     for i in 0..3 {
///         let tx = tx.clone();
///         rayon::spawn_fifo(move || tx.send(i).unwrap());
///     }
/// });
/// drop(tx);
/// assert_eq!(rx.iter().collect::<Vec<_>>(), [0, 1, 2]);
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    spawn_fifo_in(&current(), func);
}

pub(crate) fn spawn_in(registry: &Arc<Registry>, f: impl FnOnce() + Send + 'static) {
    registry.push(job(registry.used(), f));
}

pub(crate) fn spawn_fifo_in(registry: &Arc<Registry>, f: impl FnOnce() + Send + 'static) {
    registry.push_in_order(job(registry.used(), f));
}

pub(crate) fn spawn_broadcast_in(
    registry: &Arc<Registry>,
    f: impl Fn(BroadcastContext<'_>) + Send + Sync + 'static,
) {
    let f = Arc::new(f);
    for index in 0..registry.num_threads() {
        let (f, user) = (f.clone(), registry.used());
        let pool = registry.clone();
        registry.push_broadcast(index, job(user, move || f(BroadcastContext::new(index, &pool))));
    }
}

fn job(user: User, f: impl FnOnce() + Send + 'static) -> Job {
    Box::new(Unscoped { user, f })
}

/// A job that nothing waits for.
struct Unscoped<F> {
    user: User,
    f: F,
}

impl<F: FnOnce()> Run for Unscoped<F> {
    fn run(self: Box<Self>, _: Runner) -> Ended {
        let Unscoped { user, f } = *self;
        user.registry().contain(f);
        Ended::Job
    }

    fn owner(&self) -> Owner {
        Owner::NONE
    }
}
