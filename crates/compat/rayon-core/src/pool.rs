//! Pools of the user's own.

use crate::broadcast::broadcast_in;
use crate::context::BroadcastContext;
use crate::here::has_pending_tasks;
use crate::join::join;
use crate::registry::Registry;
use crate::scope::{Scope, ScopeFifo, in_place, in_place_fifo};
use crate::spawn::{spawn_broadcast_in, spawn_fifo_in, spawn_in};
use crate::yields::{Yield, yield_in, yield_local_in};
use std::fmt;
use std::sync::Arc;

/// A pool: a runtime of Lisle, with a domain for each thread.
///
/// When it is dropped, its jobs still run, and then its threads end. The drop does not wait for them.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build()?;
/// let (words, lines) = pool.join(|| "a few words".split(' ').count(), || "a line".lines().count());
/// assert_eq!((words, lines), (3, 1));
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPool {
    registry: Arc<Registry>,
}

impl ThreadPool {
    pub(crate) fn of(registry: Arc<Registry>) -> Self {
        ThreadPool { registry }
    }

    /// Runs `op` in the pool, and waits for its result. What `op` calls, joins and loops for example, runs in
    /// the pool.
    ///
    /// On a thread of the pool, this calls `op`. In a fiber of another runtime, or of another pool, the fiber
    /// waits, and its domain runs others meanwhile.
    ///
    /// # Panics
    ///
    /// Panics with the panic of `op`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build()?;
    /// let word = String::from("warp");
    /// assert_eq!(pool.install(|| word.len() + rayon::current_num_threads()), 7); // it borrows
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    #[track_caller]
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.registry.install(op)
    }

    /// Runs `op` on each thread of the pool, see [`broadcast`](crate::broadcast()).
    ///
    /// # Panics
    ///
    /// Panics with the first panic of `op`. In any case it runs on all threads.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build()?;
    /// assert_eq!(pool.broadcast(|context| context.index()), [0, 1, 2]);
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        broadcast_in(self.registry.clone(), op)
    }

    /// Returns the number of threads of the pool.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.registry.num_threads()
    }

    /// Returns the index of the current thread in this pool, from 0, or `None` if it is not one of the pool.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    /// assert_eq!(pool.current_thread_index(), None);
    /// assert_eq!(pool.install(|| pool.current_thread_index()), Some(0));
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.registry.index()
    }

    /// Returns `true` if work waits on this thread that other threads of the pool could take, or `None` on a
    /// thread that is not one of the pool. See
    /// [`current_thread_has_pending_tasks`](crate::current_thread_has_pending_tasks()).
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        let index = self.registry.index()?;
        Some(has_pending_tasks(&self.registry, index))
    }

    /// Runs both closures in the pool, perhaps at the same time, see [`join`].
    ///
    /// # Panics
    ///
    /// As for [`join`].
    #[track_caller]
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| join(oper_a, oper_b))
    }

    /// Runs `op` in the pool with a scope, see [`scope`](crate::scope()).
    ///
    /// # Panics
    ///
    /// As for [`scope`](crate::scope()).
    #[track_caller]
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| in_place(self.registry.clone(), op))
    }

    /// Runs `op` in the pool with a scope whose jobs run in the order of their spawning, see
    /// [`scope_fifo`](crate::scope_fifo()).
    ///
    /// # Panics
    ///
    /// As for [`scope`](crate::scope()).
    #[track_caller]
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| in_place_fifo(self.registry.clone(), op))
    }

    /// Runs `op` on the calling thread with a scope whose jobs run in the pool, see
    /// [`in_place_scope`](crate::in_place_scope()).
    ///
    /// # Panics
    ///
    /// As for [`scope`](crate::scope()).
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        in_place(self.registry.clone(), op)
    }

    /// Does the same as [`in_place_scope`](ThreadPool::in_place_scope) with a scope whose jobs run in the
    /// order of their spawning.
    ///
    /// # Panics
    ///
    /// As for [`scope`](crate::scope()).
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        in_place_fifo(self.registry.clone(), op)
    }

    /// Spawns a job in the pool, see [`spawn`](crate::spawn()).
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// let (tx, rx) = std::sync::mpsc::channel();
    /// let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    /// pool.spawn(move || tx.send(rayon::current_thread_index()).unwrap());
    /// drop(pool); // the job still runs
    /// assert_eq!(rx.recv(), Ok(Some(0)));
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn_in(&self.registry, op);
    }

    /// Spawns a job in the pool, see [`spawn_fifo`](crate::spawn_fifo()).
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn_fifo_in(&self.registry, op);
    }

    /// Spawns `op` on each thread of the pool, see [`spawn_broadcast`](crate::spawn_broadcast()).
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        spawn_broadcast_in(&self.registry, op);
    }

    /// Runs a job of the pool, if this is one of its threads and one waits, see
    /// [`yield_now`](crate::yield_now()).
    pub fn yield_now(&self) -> Option<Yield> {
        yield_in(&self.registry)
    }

    /// Runs a job that waits on this thread, if this is one of the pool, see
    /// [`yield_local`](crate::yield_local()).
    pub fn yield_local(&self) -> Option<Yield> {
        yield_local_in(&self.registry)
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.registry.unused();
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .field("id", &self.registry.id())
            .finish()
    }
}
