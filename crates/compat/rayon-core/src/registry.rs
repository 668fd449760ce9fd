//! What a pool is: a runtime, the jobs that wait on its domains, and its handlers.

use crate::fifo::Fifo;
use crate::home::Home;
use crate::queue::{DomainQueue, End, InjectedQueue, Job};
use crate::server::{Broadcaster, Server, ServerFlag};
use lisle_core::event::is_interruption;
use lisle_runtime::{Handle, Runtime, fiber};
use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;

/// A pool.
pub(crate) struct Registry {
    handle: Handle,
    /// By the index of the domain.
    domains: Box<[Domain]>,
    injected: InjectedQueue,
    /// Of the injected jobs.
    server: ServerFlag,
    panic_handler: Option<Box<PanicHandler>>,
    /// Set if the program has started the runtime itself: it has other work for the domains than loops.
    has_other_work: bool,
    /// How many still use the pool: its `ThreadPool`, and each job that was spawned without a scope.
    users: AtomicUsize,
    /// The runtime, if it ends with its last user.
    runtime: Mutex<Option<Runtime>>,
}

/// The jobs that wait on a domain.
pub(crate) struct Domain {
    pub(crate) queue: DomainQueue,
    /// Of the queue.
    server: ServerFlag,
    /// Those of `spawn_fifo`.
    pub(crate) fifo: Fifo,
    broadcasts: Mutex<VecDeque<Job>>,
}

/// Which queue a server serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    Of(usize),
    Injected,
}

impl Domain {
    fn new(first: End) -> Self {
        Domain {
            queue: DomainQueue::new(first),
            server: ServerFlag::new(),
            fifo: Fifo::default(),
            broadcasts: Mutex::default(),
        }
    }

    /// Takes the oldest job of a broadcast.
    pub(crate) fn take_broadcast(&self) -> Option<Job> {
        locked(&self.broadcasts).pop_front()
    }
}

thread_local! {
    /// The pool of the domain that runs on this thread, if that is known.
    static HERE: RefCell<Option<Arc<Registry>>> = const { RefCell::new(None) };
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// Creates the pool of a runtime that is started as one.
    pub(crate) fn new(handle: Handle, first: End, panic_handler: Option<Box<PanicHandler>>) -> Self {
        Registry {
            domains: (0..handle.domains()).map(|_| Domain::new(first)).collect(),
            handle,
            injected: InjectedQueue::default(),
            server: ServerFlag::new(),
            panic_handler,
            has_other_work: false,
            users: AtomicUsize::new(1),
            runtime: Mutex::new(None),
        }
    }

    /// Creates the pool of a runtime that the program has started itself.
    pub(crate) fn of_program(handle: Handle) -> Self {
        Registry { has_other_work: true, ..Registry::new(handle, End::Newest, None) }
    }

    /// Calls `f` with the pool of the domain that runs on this thread, if that is known.
    #[inline]
    pub(crate) fn with_here<R>(f: impl FnOnce(&Arc<Registry>) -> R) -> Option<R> {
        // Destructors of thread-locals may come when this one is gone.
        HERE.try_with(|here| here.borrow().as_ref().filter(|here| here.index().is_some()).map(f)).ok()?
    }

    /// Notes which pool the domain of this thread belongs to, or that it runs none any more.
    pub(crate) fn is_here(registry: Option<Arc<Registry>>) {
        // The pool before may go with this reference, and its panic handler with it. A thread that ends has
        // none to note.
        drop(HERE.try_with(|here| here.replace(registry)));
    }

    pub(crate) fn has_other_work(&self) -> bool {
        self.has_other_work
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns a number that tells pools apart, for debugging.
    pub(crate) fn id(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    pub(crate) fn num_threads(&self) -> usize {
        self.domains.len()
    }

    /// Returns the index of the domain that runs this code, if that belongs to this pool.
    #[inline]
    pub(crate) fn index(&self) -> Option<usize> {
        self.handle.domain()
    }

    /// Runs `op` in this pool: here, if this is a fiber of it; else in a new fiber, for which this waits.
    #[track_caller]
    pub(crate) fn install<R: Send>(&self, op: impl FnOnce() -> R + Send) -> R {
        match self.index() {
            Some(_) => op(),
            None => self.handle.run(op),
        }
    }

    /// Has the runtime end with its last user.
    pub(crate) fn own(&self, runtime: Runtime) {
        *locked(&self.runtime) = Some(runtime);
    }

    /// Counts in a user of the pool, who is counted out when the guard is dropped.
    pub(crate) fn used(self: &Arc<Self>) -> User {
        self.users.fetch_add(1, Ordering::Relaxed);
        User(self.clone())
    }

    /// Counts out the pool's `ThreadPool`, or another user.
    pub(crate) fn unused(&self) {
        if self.users.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(runtime) = locked(&self.runtime).take()
        {
            // Nothing runs any more that anybody waits for, but perhaps the job that has just ended.
            runtime.shutdown_background();
        }
    }

    /// Runs `f`. A panic goes to the panic handler; without one it ends the process.
    pub(crate) fn contain(&self, f: impl FnOnce()) {
        match (catch_unwind(AssertUnwindSafe(f)), &self.panic_handler) {
            (Ok(()), _) => {}
            // No panic: the runtime ends, and with it the fiber.
            (Err(payload), _) if is_interruption(&*payload) => resume_unwind(payload),
            (Err(panic), Some(handle)) => {
                let aborts = AbortIfItUnwinds;
                handle(panic);
                std::mem::forget(aborts);
            }
            (Err(_), None) => drop(AbortIfItUnwinds),
        }
    }

    /// Has a job run, on this domain first if it belongs to the pool.
    pub(crate) fn push(self: &Arc<Self>, job: Job) {
        match Home::of(self) {
            Some(home) => home.push(job),
            None => self.inject(job),
        }
    }

    /// Does the same, after the jobs of the same thread.
    pub(crate) fn push_in_order(self: &Arc<Self>, job: Job) {
        match Home::of(self) {
            Some(home) => home.push_in_order(job),
            None => self.inject(job),
        }
    }

    /// Has a job of a thread run that is not in the pool.
    pub(crate) fn inject(self: &Arc<Self>, job: Job) {
        self.injected.push(job);
        self.is_pushed(Which::Injected);
    }

    /// Has a job run on the domain `index`, after those that wait there.
    pub(crate) fn push_broadcast(self: &Arc<Self>, index: usize, job: Job) {
        locked(&self.domains[index].broadcasts).push_back(job);
        let broadcaster = Broadcaster::new(self.clone(), index);
        drop(self.handle.spawn_on(index, move || broadcaster.run()));
    }

    /// Sees to a server, after a job was added to a queue.
    #[inline]
    pub(crate) fn is_pushed(self: &Arc<Self>, which: Which) {
        if self.server_flag(which).raise() {
            self.spawn_server(which);
        }
    }

    pub(crate) fn domain(&self, index: usize) -> &Domain {
        &self.domains[index]
    }

    pub(crate) fn server_flag(&self, which: Which) -> &ServerFlag {
        match which {
            Which::Of(index) => &self.domains[index].server,
            Which::Injected => &self.server,
        }
    }

    pub(crate) fn spawn_server(self: &Arc<Self>, which: Which) {
        let server = Server::new(self.clone(), which);
        match self.index() {
            Some(_) => drop(fiber::Builder::new().first_free().spawn(move || server.run())),
            None => drop(self.handle.spawn(move || server.run())),
        }
    }

    /// Takes a job from a queue, on any thread.
    pub(crate) fn steal(&self, which: Which) -> Option<Job> {
        match which {
            Which::Of(index) => self.domains[index].queue.steal(),
            Which::Injected => self.injected.steal(),
        }
    }

    pub(crate) fn is_empty(&self, which: Which) -> bool {
        match which {
            Which::Of(index) => self.domains[index].queue.is_empty(),
            Which::Injected => self.injected.is_empty(),
        }
    }
}

/// A user of a pool: its runtime does not end before this is dropped.
pub(crate) struct User(Arc<Registry>);

impl User {
    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.0
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.0.unused();
    }
}

/// A guard that ends the process if it is dropped, as rayon does if a panic has nowhere to go.
struct AbortIfItUnwinds;

impl Drop for AbortIfItUnwinds {
    fn drop(&mut self) {
        eprintln!("Rayon: detected unexpected panic; aborting");
        std::process::abort();
    }
}
