//! What a scope knows of its jobs: how many there are, and whether one has panicked.

use crate::context::BroadcastContext;
use crate::queue::{Job, Owner, Run, Woke};
use crate::registry::Registry;
use crate::server::let_others_pass;
use lisle_core::event::{Interrupted, sync_masked};
use lisle_core::sync::Condition;
use lisle_runtime::loops::owner;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) struct Base<'scope> {
    registry: Arc<Registry>,
    /// How many have not ended: the jobs, and the code that has opened the scope.
    running: AtomicUsize,
    /// Signalled by the last job, unless the code that has opened the scope was last.
    ended: Condition,
    /// The first panic.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Set if a job was dropped, because its runtime ends.
    is_cut_short: AtomicBool,
    #[allow(clippy::type_complexity)]
    marker: PhantomData<Box<dyn FnOnce(&Base<'scope>) + Send + Sync + 'scope>>,
}

impl<'scope> Base<'scope> {
    #[track_caller]
    pub(super) fn new(registry: Arc<Registry>) -> Self {
        Base {
            registry,
            running: AtomicUsize::new(1),
            ended: Condition::new(),
            panic: Mutex::new(None),
            is_cut_short: AtomicBool::new(false),
            marker: PhantomData,
        }
    }

    pub(super) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Runs `op`, which may spawn jobs, waits for these, and returns the result.
    pub(super) fn complete<R>(&self, op: impl FnOnce() -> R) -> R {
        let result = self.contain(op);
        self.run_own();
        if self.running.fetch_sub(1, Ordering::AcqRel) != 1 {
            // Not even the end of the runtime ends this wait, since jobs borrow from what would be unwound.
            sync_masked(&self.ended.wait_evt());
        }
        if let Some(panic) = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take() {
            owner::raise(panic);
        }
        if self.is_cut_short.load(Ordering::Relaxed) {
            owner::raise(Box::new(Interrupted));
        }
        result.expect("without a result there is a panic")
    }

    /// Runs the scope's own jobs.
    ///
    /// Others' jobs do not run here: they may wait for something that comes after the scope, and the scope would
    /// not end before them.
    fn run_own(&self) {
        while self.running.load(Ordering::Relaxed) != 1
            && let Some(index) = self.registry.index()
            && let Some(job) = self.registry.take_own(index, Owner::of(self))
        {
            job.run();
            let_others_pass();
        }
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
        lisle_core::panics::forget_panic(unheard);
    }

    /// Counts out a job that has ended.
    ///
    /// # Safety
    ///
    /// This is called once for each job, as its last step.
    unsafe fn exit(base: NonNull<Self>) -> Woke {
        // SAFETY: the scope waits for the count.
        let last = unsafe { base.as_ref() }.running.fetch_sub(1, Ordering::AcqRel) == 1;
        if !last {
            return Woke::None;
        }
        // SAFETY: the last job was counted out, so the code that has opened the scope waits for the signal. It
        // may go on as soon as the condition has released its lock, and nothing is touched after that.
        unsafe { base.as_ref() }.ended.signal();
        Woke::One
    }

    /// Makes a job of `f`, for which the scope waits.
    pub(super) fn job<F: FnOnce() + Send + 'scope>(&self, f: F) -> Job {
        self.running.fetch_add(1, Ordering::Relaxed);
        let counted = Counted { base: NonNull::from(self), f: ManuallyDrop::new(f), is_left: true };
        let job: Box<dyn Run + Send + 'scope> = Box::new(counted);
        // SAFETY: the scope, and so 'scope, does not end before the job has run or has been dropped.
        unsafe { std::mem::transmute::<Box<dyn Run + Send + 'scope>, Job>(job) }
    }

    /// Spawns a job for each domain of the pool.
    pub(super) fn broadcast<F: Fn(BroadcastContext<'_>) + Send + Sync + 'scope>(&self, f: F) {
        let f = Arc::new(f);
        for index in 0..self.registry.num_threads() {
            let (f, registry) = (f.clone(), self.registry.clone());
            let job = self.job(move || f(BroadcastContext::new(index, &registry)));
            self.registry.push_broadcast(index, job);
        }
    }
}

impl fmt::Debug for Base<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base")
            .field("pool_id", &self.registry.id())
            .field("running", &self.running)
            .field("panic", &self.panic)
            .finish()
    }
}

/// A job that its scope waits for, until it has run or is dropped.
struct Counted<'scope, F> {
    base: NonNull<Base<'scope>>,
    f: ManuallyDrop<F>,
    /// Set while `f` is there, and the job counts.
    is_left: bool,
}

// SAFETY: the base is shared, which is what it is made for, and `f` may go to another thread.
unsafe impl<F: Send> Send for Counted<'_, F> {}

impl<F: FnOnce()> Run for Counted<'_, F> {
    fn run(mut self: Box<Self>) -> Woke {
        self.is_left = false;
        // SAFETY: the scope waits for this job.
        let base = unsafe { self.base.as_ref() };
        // SAFETY: taken once: `is_left` was set until now.
        let f = unsafe { ManuallyDrop::take(&mut self.f) };
        base.contain(f);
        // SAFETY: the job has ended, and nothing of it is left.
        unsafe { Base::exit(self.base) }
    }

    fn owner(&self) -> Owner {
        Owner::of(self.base.as_ptr())
    }
}

impl<F> Drop for Counted<'_, F> {
    fn drop(&mut self) {
        if self.is_left {
            // SAFETY: taken once: `is_left` is set.
            let f = unsafe { ManuallyDrop::take(&mut self.f) };
            // SAFETY: the scope waits for this job.
            let base = unsafe { self.base.as_ref() };
            base.contain(|| drop(f));
            base.is_cut_short.store(true, Ordering::Relaxed);
            // SAFETY: the job will not run, and nothing of it is left.
            unsafe { Base::exit(self.base) };
        }
    }
}
