//! What a scope knows of its jobs: how many there are, and whether one has panicked.

use super::count::Count;
use crate::context::BroadcastContext;
use crate::home::Home;
use crate::queue::{Job, Owner, Run};
use crate::registry::Registry;
use crate::runner::{Ended, Runner};
use crate::server::let_others_pass;
use lisle_core::event::Interrupted;
use lisle_core::event::step::{self, Forbidden};
use lisle_runtime::internal::owner;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) struct Base<'scope> {
    registry: Arc<Registry>,
    count: Count,
    /// The first panic.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Set if a job was dropped, because its runtime ends.
    is_cut_short: AtomicBool,
    /// Set if nothing may wait where the scope was opened. Then it cannot wait for jobs.
    fenced: Option<Forbidden>,
    #[allow(clippy::type_complexity)]
    marker: PhantomData<Box<dyn FnOnce(&Base<'scope>) + Send + Sync + 'scope>>,
}

impl<'scope> Base<'scope> {
    #[track_caller]
    pub(super) fn new(registry: Arc<Registry>) -> Self {
        Base {
            registry,
            count: Count::new(),
            panic: Mutex::new(None),
            is_cut_short: AtomicBool::new(false),
            fenced: step::forbidden(),
            marker: PhantomData,
        }
    }

    pub(super) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Runs `op`, which may spawn jobs, waits for these, and returns the result.
    pub(super) fn complete<R>(&self, op: impl FnOnce() -> R) -> R {
        let result = self.contain(op);
        self.count.complete(|| self.run_own());
        if let Some(panic) = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take() {
            owner::raise(panic);
        }
        if self.is_cut_short.load(Ordering::Relaxed) {
            owner::raise(Box::new(Interrupted));
        }
        result.expect("without a result there is a panic")
    }

    /// Runs the scope's own jobs. Returns `true` if the last of all jobs was one of these.
    ///
    /// Others' jobs do not run here: they may wait for something that comes after the scope, and the scope would
    /// not end before them.
    fn run_own(&self) -> bool {
        let Some(home) = Home::of(&self.registry) else { return false };
        while let Some(job) = home.take_own(Owner::of(self)) {
            if job.run(Runner::Owner) == Ended::Scope {
                return true;
            }
            let_others_pass();
        }
        false
    }

    /// Calls `f`, and notes its panic.
    fn contain<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        catch_unwind(AssertUnwindSafe(f)).map_err(|panic| self.note(panic)).ok()
    }

    #[cold]
    fn note(&self, panic: Box<dyn Any + Send>) {
        let unheard = {
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            if first.is_none() { first.replace(panic) } else { Some(panic) }
        };
        lisle_core::internal::panics::forget_panic(unheard);
    }
}

/// A scope, of either kind.
pub(super) trait Scoped<'scope>: Sync {
    fn base(&self) -> &Base<'scope>;
}

/// Makes a job of `f`, for which `scope` waits.
///
/// # Panics
///
/// Panics if nothing may wait where the scope was opened.
pub(super) fn job<'scope, S, F>(scope: &S, f: F) -> Job
where
    S: Scoped<'scope> + 'scope,
    F: FnOnce(&S) + Send + 'scope,
{
    if let Some(forbidden) = scope.base().fenced {
        forbidden.refuse("wait for a job of a scope or of a broadcast");
    }
    scope.base().count.enter();
    let job: Box<dyn Run + Send + 'scope> =
        Box::new(Counted { scope: NonNull::from(scope), f: ManuallyDrop::new(f), marker: PhantomData });
    // SAFETY: the scope, and so 'scope, does not end before the job has run or has been dropped.
    unsafe { std::mem::transmute::<Box<dyn Run + Send + 'scope>, Job>(job) }
}

/// Spawns a job for each domain of the pool.
pub(super) fn broadcast<'scope, S, F>(scope: &S, f: F)
where
    S: Scoped<'scope> + 'scope,
    F: Fn(&S, BroadcastContext<'_>) + Send + Sync + 'scope,
{
    let (registry, f) = (scope.base().registry(), Arc::new(f));
    for index in 0..registry.num_threads() {
        let (f, pool) = (f.clone(), registry.clone());
        registry
            .push_broadcast(index, job(scope, move |scope| f(scope, BroadcastContext::new(index, &pool))));
    }
}

impl fmt::Debug for Base<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base")
            .field("pool_id", &self.registry.id())
            .field("count", &self.count)
            .field("panic", &self.panic)
            .finish()
    }
}

/// A job that its scope waits for, until it has run or is dropped.
struct Counted<'scope, S: Scoped<'scope>, F> {
    scope: NonNull<S>,
    f: ManuallyDrop<F>,
    marker: PhantomData<&'scope ()>,
}

// SAFETY: the scope is shared, which is what it is made for, and `f` may go to another thread.
unsafe impl<'scope, S: Scoped<'scope>, F: Send> Send for Counted<'scope, S, F> {}

impl<'scope, S: Scoped<'scope>, F> Counted<'scope, S, F> {
    /// Passes the function to `end`, and counts the job out.
    ///
    /// # Safety
    ///
    /// Called once, as the last step of the job, which is not dropped afterwards.
    #[inline]
    unsafe fn end(&mut self, runner: Runner, end: impl FnOnce(&S, F)) -> Ended {
        // SAFETY: taken once.
        let f = unsafe { ManuallyDrop::take(&mut self.f) };
        // SAFETY: the scope waits for this job.
        let scope = unsafe { self.scope.as_ref() };
        scope.base().contain(|| end(scope, f));
        // SAFETY: the job has ended, and nothing of it is left.
        unsafe { Count::exit(NonNull::from(&scope.base().count), runner) }
    }
}

impl<'scope, S: Scoped<'scope>, F: FnOnce(&S)> Run for Counted<'scope, S, F> {
    fn run(self: Box<Self>, runner: Runner) -> Ended {
        let mut this = ManuallyDrop::new(*self);
        // SAFETY: this job ends here, and is not dropped.
        unsafe { this.end(runner, |scope, f| f(scope)) }
    }

    fn owner(&self) -> Owner {
        // SAFETY: the scope waits for this job.
        Owner::of(unsafe { self.scope.as_ref() }.base())
    }
}

impl<'scope, S: Scoped<'scope>, F> Drop for Counted<'scope, S, F> {
    fn drop(&mut self) {
        // SAFETY: the job will not run, and is not dropped again.
        unsafe {
            self.end(Runner::Other, |scope, f| {
                scope.base().is_cut_short.store(true, Ordering::Relaxed);
                drop(f);
            });
        }
    }
}
