//! chili: forks and joins within a scope, which is passed along. It has no loops, and so is no
//! [`Pool`](super::Pool).

use chili::{Config, Scope, ThreadPool};
use std::num::NonZero;

pub(crate) struct Chili;

impl Chili {
    /// Starts a pool of `workers` workers, the calling thread being one of them.
    pub(crate) fn run<T>(workers: usize, main: impl FnOnce(&mut Scope<'_>) -> T) -> T {
        let pool =
            ThreadPool::with_config(Config { thread_count: NonZero::new(workers), ..Config::default() });
        main(&mut pool.scope())
    }
}
