//! Scopes, whose jobs may borrow.

mod base;
mod count;

use crate::context::BroadcastContext;
use crate::current::{current, in_current};
use crate::fifo::Fifo;
use crate::home::Home;
use crate::registry::Registry;
use base::{Base, Scoped, broadcast, job};
use std::fmt;
use std::sync::Arc;

/// A scope into which jobs are spawned, see [`scope`].
pub struct Scope<'scope> {
    base: Base<'scope>,
}

/// A scope whose jobs run in the order of their spawning, see [`scope_fifo`].
pub struct ScopeFifo<'scope> {
    base: Base<'scope>,
    /// By the index of the domain.
    fifos: Box<[Fifo]>,
}

/// Runs `op` in the current pool with a scope, and returns when all jobs that were spawned into it have
/// ended.
///
/// On one thread the newest job runs first. In a fiber, the wait gives the domain to others; a job of a scope
/// may wait for events as well.
///
/// # Panics
///
/// Panics with the first panic of `op` or a job. In any case all jobs run, and have ended before.
///
/// Spawning panics in a scope that was opened in code that must not wait, for example in
/// `lisle::fiber::no_suspend`: the scope would have to wait for the job.
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let mut halves = [vec![3, 1, 2], vec![5, 4]];
/// rayon::scope(|s| {
///     for half in &mut halves {
///         s.spawn(|_| half.sort());
///     }
/// });
/// assert_eq!(halves, [vec![1, 2, 3], vec![4, 5]]);
/// ```
#[track_caller]
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    in_current(|registry| in_place(registry, op))
}

/// Does the same as [`scope`], but the jobs of one thread run in the order in which they were spawned.
///
/// # Panics
///
/// As for [`scope`].
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// use std::sync::Mutex;
///
/// let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
/// let order = Mutex::new(Vec::new());
/// pool.scope_fifo(|s| (0..3).for_each(|i| s.spawn_fifo({ let order = &order; move |_| order.lock().unwrap().push(i) })));
/// assert_eq!(order.into_inner().unwrap(), [0, 1, 2]);
/// # Ok::<(), rayon::ThreadPoolBuildError>(())
/// ```
#[track_caller]
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    in_current(|registry| in_place_fifo(registry, op))
}

/// Does the same as [`scope`], but `op` runs on the calling thread, also if that is in no pool. So it need
/// not be `Send`.
///
/// # Panics
///
/// As for [`scope`].
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// use std::{rc::Rc, sync::mpsc};
///
/// let (tx, rx) = mpsc::channel();
/// let here = Rc::new(1);
/// let sum = rayon::in_place_scope(|s| {
///     s.spawn(move |_| tx.send(2).unwrap());
///     *here + rx.recv().unwrap()
/// });
/// assert_eq!(sum, 3);
/// ```
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    in_place(current(), op)
}

/// Does the same as [`scope_fifo`], but `op` runs on the calling thread, as by [`in_place_scope`].
///
/// # Panics
///
/// As for [`scope`].
///
/// # Examples
///
/// ```
/// # use rayon_core as rayon;
/// let mut answers = [0, 0];
/// rayon::in_place_scope_fifo(|s| {
///     for (i, answer) in answers.iter_mut().enumerate() {
///         s.spawn_fifo(move |_| *answer = i);
///     }
/// });
/// assert_eq!(answers, [0, 1]);
/// ```
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    in_place_fifo(current(), op)
}

pub(crate) fn in_place<'scope, R>(registry: Arc<Registry>, op: impl FnOnce(&Scope<'scope>) -> R) -> R {
    let scope = Scope { base: Base::new(registry) };
    scope.base.complete(|| op(&scope))
}

pub(crate) fn in_place_fifo<'scope, R>(
    registry: Arc<Registry>,
    op: impl FnOnce(&ScopeFifo<'scope>) -> R,
) -> R {
    let fifos = (0..registry.num_threads()).map(|_| Fifo::default()).collect();
    let scope = ScopeFifo { base: Base::new(registry), fifos };
    scope.base.complete(|| op(&scope))
}

/// Runs `f` with the index of each domain of the pool, on that domain, and returns when all have ended.
pub(crate) fn on_each_domain(registry: Arc<Registry>, f: impl Fn(BroadcastContext<'_>) + Sync) {
    let f = &f;
    in_place(registry, |scope: &Scope<'_>| scope.spawn_broadcast(move |_, context| f(context)));
}

impl<'scope> Scope<'scope> {
    /// Spawns a job, which may borrow what outlives the scope, and may spawn others.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    ///
    /// let count = AtomicU32::new(0);
    /// rayon::scope(|s| {
    ///     s.spawn(|s| {
    ///         s.spawn(|_| _ = count.fetch_add(1, Relaxed));
    ///         count.fetch_add(1, Relaxed);
    ///     });
    /// });
    /// assert_eq!(count.into_inner(), 2);
    /// ```
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        self.base.registry().push(job(self, body));
    }

    /// Spawns a job for each thread of the pool.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// use std::sync::Mutex;
    ///
    /// let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build()?;
    /// let indices = Mutex::new(Vec::new());
    /// pool.scope(|s| s.spawn_broadcast(|_, context| indices.lock().unwrap().push(context.index())));
    /// assert_eq!(indices.into_inner().unwrap().iter().sum::<usize>(), 0 + 1 + 2);
    /// # Ok::<(), rayon::ThreadPoolBuildError>(())
    /// ```
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        broadcast(self, body);
    }
}

impl<'scope> ScopeFifo<'scope> {
    /// Spawns a job, as [`Scope::spawn`] does. It runs after those that the same thread has spawned before.
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// let mut words = [String::from("warp"), String::from("weft")];
    /// rayon::scope_fifo(|s| {
    ///     for word in &mut words {
    ///         s.spawn_fifo(|_| word.push('s'));
    ///     }
    /// });
    /// assert_eq!(words, ["warps", "wefts"]);
    /// ```
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        let job = job(self, body);
        let registry = self.base.registry();
        match Home::of(registry) {
            Some(home) => home.push_into(&self.fifos, job),
            None => registry.inject(job),
        }
    }

    /// Spawns a job for each thread of the pool, see [`Scope::spawn_broadcast`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use rayon_core as rayon;
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let count = AtomicUsize::new(0);
    /// rayon::scope_fifo(|s| s.spawn_broadcast(|_, _| _ = count.fetch_add(1, Relaxed)));
    /// assert_eq!(count.into_inner(), rayon::current_num_threads());
    /// ```
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        broadcast(self, body);
    }
}

impl<'scope> Scoped<'scope> for Scope<'scope> {
    #[inline]
    fn base(&self) -> &Base<'scope> {
        &self.base
    }
}

impl<'scope> Scoped<'scope> for ScopeFifo<'scope> {
    #[inline]
    fn base(&self) -> &Base<'scope> {
        &self.base
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("base", &self.base).finish()
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeFifo").field("num_fifos", &self.fifos.len()).field("base", &self.base).finish()
    }
}
