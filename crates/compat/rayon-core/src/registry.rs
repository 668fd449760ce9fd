//! What a pool is: a runtime, the jobs that wait on its domains, and its handlers.

use crate::builder;
use crate::error::ThreadPoolBuildError;
use crate::fifo::Fifo;
use crate::queue::{End, Entry, Job, Owner, Queue, Woke};
use lisle_core::event::is_interruption;
use lisle_runtime::jobs::heartbeat;
use lisle_runtime::loops::owner;
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
    /// The jobs of threads that are not in the pool.
    injected: Queue,
    /// Which job of its own queue a domain takes first.
    first: End,
    panic_handler: Option<Box<PanicHandler>>,
    /// How many still use the pool: its `ThreadPool`, and each job that was spawned without a scope.
    users: AtomicUsize,
    /// The runtime, if it ends with its last user.
    runtime: Mutex<Option<Runtime>>,
}

/// The jobs that wait on a domain.
#[derive(Default)]
struct Domain {
    queue: Queue,
    /// Those of `spawn_fifo`.
    fifo: Fifo,
    broadcasts: Mutex<VecDeque<Job>>,
}

/// Which queue a server serves.
#[derive(Debug, Clone, Copy)]
enum Which {
    Of(usize),
    Injected,
}

thread_local! {
    /// The pool of the domain that runs on this thread, if that is known.
    static HERE: RefCell<Option<Arc<Registry>>> = const { RefCell::new(None) };
}

/// The pools of runtimes that were not started as pools, and the global one.
static KNOWN: Mutex<Vec<Arc<Registry>>> = Mutex::new(Vec::new());

/// The global pool. Held while that is started.
static GLOBAL: Mutex<Option<Arc<Registry>>> = Mutex::new(None);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    pub(crate) fn new(handle: Handle, first: End, panic_handler: Option<Box<PanicHandler>>) -> Self {
        Registry {
            domains: (0..handle.domains()).map(|_| Domain::default()).collect(),
            handle,
            injected: Queue::default(),
            first,
            panic_handler,
            users: AtomicUsize::new(1),
            runtime: Mutex::new(None),
        }
    }

    /// Returns the pool of the code that runs here: that of its runtime, or else the global one.
    pub(crate) fn current() -> Arc<Registry> {
        let known = HERE.with_borrow(|here| here.as_ref().filter(|here| here.index().is_some()).cloned());
        known.unwrap_or_else(|| match Handle::try_current() {
            Some(handle) => {
                let registry = Registry::of(handle);
                Registry::is_here(Some(registry.clone()));
                registry
            }
            None => Registry::global(),
        })
    }

    /// Notes which pool the domain of this thread belongs to, or that it runs none any more.
    pub(crate) fn is_here(registry: Option<Arc<Registry>>) {
        // What is dropped may be the last that is left of a pool.
        drop(HERE.replace(registry));
    }

    /// Returns the pool of a runtime that was not started as one.
    fn of(handle: Handle) -> Arc<Registry> {
        let mut known = locked(&KNOWN);
        known.retain(|registry| !registry.handle.has_ended());
        if let Some(registry) = known.iter().find(|registry| registry.handle == handle) {
            return registry.clone();
        }
        known.push(Arc::new(Registry::new(handle, End::Newest, None)));
        known[known.len() - 1].clone()
    }

    /// Returns the global pool: the default runtime, which is started if it has not been.
    pub(crate) fn global() -> Arc<Registry> {
        let mut global = locked(&GLOBAL);
        // A forked child has none of its parent's threads.
        if let Some(registry) = global.as_ref().filter(|registry| !registry.handle.has_ended()) {
            return registry.clone();
        }
        // If the program has started the default runtime already, that is the pool.
        let registry = match builder::start_global() {
            Ok(registry) => {
                locked(&KNOWN).push(registry.clone());
                registry
            }
            Err(_) => Registry::of(Handle::default_runtime()),
        };
        global.insert(registry).clone()
    }

    /// Makes the pool that `start` returns the global one.
    pub(crate) fn install_global(
        start: impl FnOnce() -> Result<Arc<Registry>, ThreadPoolBuildError>,
    ) -> Result<(), ThreadPoolBuildError> {
        let mut global = locked(&GLOBAL);
        let registry = start()?;
        locked(&KNOWN).push(registry.clone());
        *global = Some(registry);
        Ok(())
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
    pub(crate) fn push(self: &Arc<Self>, owner: Owner, job: Job) {
        self.enter(self.index(), Entry::new(owner, job));
    }

    /// Does the same, after the jobs that were put into `fifo` before. `fifo` is that of the domain `index`.
    pub(crate) fn push_fifo(self: &Arc<Self>, index: usize, owner: Owner, fifo: &Fifo, job: Job) {
        fifo.push(job);
        self.enter(Some(index), Entry::oldest_of(owner, fifo.clone()));
    }

    /// Does the same, with the list of this domain itself.
    pub(crate) fn push_in_order(self: &Arc<Self>, job: Job) {
        match self.index() {
            Some(index) => self.push_fifo(index, Owner::NONE, &self.domains[index].fifo, job),
            None => self.enter(None, Entry::new(Owner::NONE, job)),
        }
    }

    /// Has a job run on the domain `index`, after those that wait there.
    pub(crate) fn push_broadcast(self: &Arc<Self>, index: usize, job: Job) {
        locked(&self.domains[index].broadcasts).push_back(job);
        let broadcaster = Broadcaster { registry: self.clone(), index, has_begun: false };
        drop(self.handle.spawn_on(index, move || broadcaster.run()));
    }

    fn enter(self: &Arc<Self>, index: Option<usize>, entry: Entry) {
        let which = index.map_or(Which::Injected, Which::Of);
        if self.queue(which).push(entry) {
            self.spawn_server(which);
        }
    }

    fn queue(&self, which: Which) -> &Queue {
        match which {
            Which::Of(index) => &self.domains[index].queue,
            Which::Injected => &self.injected,
        }
    }

    fn spawn_server(self: &Arc<Self>, which: Which) {
        let server = Server { registry: self.clone(), which, has_begun: false };
        match self.index() {
            Some(_) => drop(fiber::Builder::new().first_free().spawn(move || server.run())),
            None => drop(self.handle.spawn(move || server.run())),
        }
    }

    /// Returns the end of a queue from which the code that runs here takes jobs.
    fn end(&self, which: Which) -> End {
        match which {
            Which::Of(index) if self.index() == Some(index) => self.first,
            // What was put off first is likely the largest, and its domain comes to it last.
            _ => End::Oldest,
        }
    }

    /// Takes a job that waits on this domain, which has the given index.
    pub(crate) fn take_local(&self, index: usize) -> Option<Entry> {
        let domain = &self.domains[index];
        let broadcast = || locked(&domain.broadcasts).pop_front().map(|job| Entry::new(Owner::NONE, job));
        domain.queue.take_aside(self.first).or_else(broadcast)
    }

    /// Takes a job that waits anywhere in the pool, on this domain first.
    pub(crate) fn take_any(&self, index: usize) -> Option<Entry> {
        let others = (index + 1..self.domains.len()).chain(0..index);
        self.take_local(index)
            .or_else(|| {
                others.into_iter().find_map(|other| self.domains[other].queue.take_aside(End::Oldest))
            })
            .or_else(|| self.injected.take_aside(End::Oldest))
    }

    /// Takes a job of the scope `owner`, if that is what the domain with this index, which is this one,
    /// would run next.
    pub(crate) fn take_own(&self, index: usize, owner: Owner) -> Option<Entry> {
        self.domains[index].queue.take_own(owner)
    }

    /// Returns `true` if jobs wait on the domain with this index.
    pub(crate) fn has_pending(&self, index: usize) -> bool {
        !self.domains[index].queue.is_empty()
    }
}

/// Runs `op` in the global pool, of which the calling thread is no part.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn in_global_pool<R: Send>(op: impl FnOnce() -> R + Send) -> R {
    Registry::global().install(op)
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

/// A fiber that is to run the jobs of a queue.
struct Server {
    registry: Arc<Registry>,
    which: Which,
    has_begun: bool,
}

impl Server {
    fn run(mut self) {
        self.has_begun = true;
        let registry = &self.registry;
        let (queue, end) = (registry.queue(self.which), registry.end(self.which));
        queue.server_begins();
        while let Some((entry, needs_server)) = queue.take(end) {
            if needs_server {
                registry.spawn_server(self.which);
            }
            match entry.run() {
                // It has waited for the job, and comes first.
                Woke::One => fiber::yield_now(),
                Woke::None => let_others_pass(),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.has_begun {
            // The runtime ends.
            self.registry.queue(self.which).give_up();
        }
    }
}

/// A fiber that is to run a job of a broadcast.
struct Broadcaster {
    registry: Arc<Registry>,
    index: usize,
    has_begun: bool,
}

impl Broadcaster {
    fn run(mut self) {
        self.has_begun = true;
        let domain = &self.registry.domains[self.index];
        while let Some(entry) = domain.queue.take_aside(self.registry.first) {
            entry.run();
            let_others_pass();
        }
        let job = locked(&domain.broadcasts).pop_front();
        // If there is none, code that yields has run it.
        job.map(|job| job());
    }
}

impl Drop for Broadcaster {
    fn drop(&mut self) {
        if !self.has_begun {
            let job = locked(&self.registry.domains[self.index].broadcasts).pop_front();
            drop(job);
        }
    }
}

/// Lets other fibers of the domain have their turn, if it is time, as joins do.
#[inline]
pub(crate) fn let_others_pass() {
    let (word, pending) = (heartbeat::here(), owner::pending());
    if word.is_wanted() || (!word.is_quiet() && pending.count()) {
        owner::heartbeat(pending);
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
