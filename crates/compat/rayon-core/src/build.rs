//! Building pools.

use crate::builder::ThreadPoolBuilder;
use crate::current::install_global;
use crate::error::ThreadPoolBuildError;
use crate::pool::ThreadPool;
use crate::thread::{ThreadBuilder, ThreadSpawn};
use std::thread;

impl ThreadPoolBuilder {
    /// Builds a pool whose threads may borrow, calls `with_pool`, and waits for the threads to end.
    ///
    /// Each thread calls `wrapper`, which calls [`ThreadBuilder::run`].
    ///
    /// # Errors
    ///
    /// As for [`build`](ThreadPoolBuilder::build).
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// scoped_tls::scoped_thread_local!(static WORDS: Vec<&'static str>);
    ///
    /// let words = vec!["warp", "weft"];
    /// let count = rayon::ThreadPoolBuilder::new().build_scoped(
    ///     |thread| WORDS.set(&words, || thread.run()),
    ///     |pool| pool.install(|| WORDS.with(|words| words.len())),
    /// )?;
    /// assert_eq!(count, 2);
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        let wrapper = &wrapper;
        thread::scope(|scope| {
            let spawn = |thread: ThreadBuilder| {
                let mut builder = thread::Builder::new();
                if let Some(name) = thread.name() {
                    builder = builder.name(name.to_owned());
                }
                builder.spawn_scoped(scope, move || wrapper(thread)).map(drop)
            };
            let pool = self.spawn_handler(spawn).build()?;
            Ok(with_pool(&pool))
        })
    }
}

impl<S> ThreadPoolBuilder<S>
where
    S: ThreadSpawn,
{
    /// Builds a pool.
    ///
    /// # Errors
    ///
    /// Returns an error if the system gives no threads or stacks, with the error of the
    /// [`spawn_handler`](ThreadPoolBuilder::spawn_handler), and with
    /// [`use_current_thread`](ThreadPoolBuilder::use_current_thread).
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        Ok(ThreadPool::of(self.start_pool()?))
    }

    /// Starts Lisle's default runtime as the global pool. Without this call it is started when it is first
    /// needed.
    ///
    /// In a fiber the current pool is the runtime of that fiber, and not the global one.
    ///
    /// # Errors
    ///
    /// As for [`build`](ThreadPoolBuilder::build), and if there is a default runtime already.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// rayon::ThreadPoolBuilder::new().num_threads(3).build_global()?;
    /// assert_eq!(rayon::current_num_threads(), 3);
    /// assert!(rayon::ThreadPoolBuilder::new().build_global().is_err());
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        install_global(|| self.start_default_runtime())
    }
}
