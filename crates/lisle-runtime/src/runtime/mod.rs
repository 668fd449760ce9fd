//! Runtimes: the code that starts domains and ends them.

mod builder;
mod default;
mod handle;
mod statistics;
mod threads;

pub use builder::Builder;
pub use default::InstallDefaultError;
pub(crate) use default::{default_runtime, try_default_runtime};
pub use handle::Handle;
pub use statistics::{Statistics, statistics};
pub use threads::DomainThread;

use crate::event::cannot_be_checked;
use crate::fiber::no_suspend;
use crate::fiber::{JoinError, JoinHandle, placed, spawn_unchecked};
use crate::report::Report;
use crate::report::Shutdown;
use crate::report::WaitGraph;
use crate::sched::destination::Destination;
use crate::sched::shared::Shared;
use crate::sched::snapshot::{self};
use crate::sched::worker;
use crate::shim::{
    atomic::{AtomicBool, Ordering},
    clock,
    sync::{Arc, Mutex},
};
use crate::spawned::fiber_cell::Traits;
use std::fmt;
use std::io;
use std::panic::{Location, resume_unwind};
use std::thread;
use std::time::{Duration, Instant};

impl Shared {
    /// Spawns a fiber on this runtime, from any thread.
    ///
    /// # Safety
    ///
    /// The borrows of `f` and its result outlive the fiber and its unclaimed result.
    #[track_caller]
    pub(crate) unsafe fn spawn<F, T>(
        this: &Arc<Self>,
        f: F,
        destination: Destination,
        site: &'static Location<'static>,
    ) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        this.must_be_here();
        if worker::with_current(|worker| worker.is_some_and(|w| Arc::ptr_eq(w.shared(), this))) {
            // SAFETY: passed on to the caller.
            return unsafe { spawn_unchecked(f, Traits::default(), destination, site) };
        }
        cannot_be_checked(
            "a fiber of another runtime",
            "it runs beside the model",
            "Spawn it where the program runs, by `lisle::spawn`",
        );
        let (fiber, domain) = placed(this, f, Traits::default(), destination, None, site);
        this.spawn_outside(fiber, domain);
        // SAFETY: made with result type `T`; the second reference is the handle's.
        unsafe { JoinHandle::new(fiber) }
    }

    /// Runs `f` as a fiber of this runtime, and waits for it.
    #[track_caller]
    fn run<F, T>(this: &Arc<Self>, f: F) -> T
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let site = Location::caller();
        no_suspend::refuse(|| format!("wait for a fiber (spawned at {site})"));
        let _caller = this.deadlocks.caller();
        // SAFETY: `join_masked` waits until the fiber has ended, whatever happens.
        let handle = unsafe { Shared::spawn(this, f, Destination::Anywhere, site) };
        let outcome = handle.join_masked().map_err(JoinError::into_panic);
        match (outcome, this.deadlocks.fatal()) {
            (Err(Ok(panic)), _) => resume_unwind(panic),
            // The fibers were unwound, so the result of this one depends on that and is not an
            // answer.
            (_, Some(deadlock)) => panic!("{deadlock}"),
            (Ok(value), None) => value,
            (Err(Err(error)), None) => panic!("{error}"),
        }
    }
}

#[track_caller]
fn failed(error: &io::Error) -> ! {
    panic!("a runtime could not be started: {error}")
}

/// A runtime with all domains on threads of its own, see [`Builder::start`].
///
/// Dropping it shuts it down, and waits for up to a second.
///
/// A forked child has none of these threads. There a call that needs them panics, and dropping does
/// nothing.
#[doc(alias = "ThreadPool")]
pub struct Runtime {
    shared: Arc<Shared>,
    /// The threads of domains that are joined when the runtime has ended. Threads that
    /// [`start_on`](Builder::start_on) has been given are not among them.
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
    /// Set when there is nothing for a drop to do: it has been shut down, or it stays.
    is_let_go: AtomicBool,
}

impl Runtime {
    /// Returns a builder, which sets up a runtime and starts it.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    fn new(shared: Arc<Shared>) -> Self {
        Runtime { shared, threads: Mutex::default(), is_let_go: AtomicBool::new(false) }
    }

    /// Returns the number of domains.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let runtime = lisle::Runtime::builder().domains(2).start()?;
    /// assert_eq!(runtime.domains(), 2);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn domains(&self) -> usize {
        self.shared.domains.len()
    }

    /// Spawns a fiber on this runtime, from any thread. See [`spawn`](crate::spawn).
    ///
    /// After a shutdown the fiber is not run, and joining it returns an error that says this.
    ///
    /// # Panics
    ///
    /// Panics in a forked child, which has none of the threads of this runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let (tx, rx) = lisle::channel();
    /// drop(runtime.spawn(move || tx.send(7))); // goes on without its handle
    /// assert_eq!(rx.recv(), Ok(7));
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { Shared::spawn(&self.shared, f, Destination::Anywhere, Location::caller()) }
    }

    /// Runs `f` as a fiber of this runtime and waits for it, which allows `f` to borrow.
    ///
    /// # Panics
    ///
    /// Panics with the panic of `f`. Panics if the runtime is shut down before `f` has returned, and in
    /// a forked child, which has none of the threads of this runtime. A deadlock shuts it down, unless [`on_deadlock`](Builder::on_deadlock) says otherwise.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::panic::{AssertUnwindSafe, catch_unwind};
    ///
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let words = ["warp", "weft"];
    /// assert_eq!(runtime.run(|| words.concat().len()), 8); // it borrows
    ///
    /// let number = || runtime.run(|| "x".parse::<u32>().unwrap());
    /// assert!(catch_unwind(AssertUnwindSafe(number)).is_err());
    /// assert_eq!(runtime.run(|| 1 + 1), 2); // the panic has not ended the runtime
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn run<F, T>(&self, f: F) -> T
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        Shared::run(&self.shared, f)
    }

    /// Returns the wait graph: each parked fiber with its name, its spawn location and its wait,
    /// with the name of the awaited object and the location where the object was made. The plain
    /// threads of the process that wait are listed, too. The `Display` form of the graph is its
    /// text.
    ///
    /// Futures are not listed, since their executors are unknown.
    ///
    /// Blocks the calling thread while each domain looks at its fibers: a few milliseconds for ten
    /// thousand fibers. A domain that does not answer, because it has a fiber that does not block,
    /// makes this take a tenth of a second. Such a domain is listed as silent, with that fiber, and
    /// with the facts that are known without its help. Where fibers wait for sockets, the system is
    /// asked for their addresses, which takes a microsecond or two each. The domains do not look at
    /// the same moment, so a message that was on its way between them may show twice or not at all.
    ///
    /// A function given to a [`Source`](crate::event::Source) must not call this.
    ///
    /// # Panics
    ///
    /// Panics in a forked child, which has none of the threads to ask.
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{channel, sync::Condition};
    /// use std::sync::Arc;
    ///
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let door = Arc::new(Condition::new().named("door"));
    /// let helper = {
    ///     let door = door.clone();
    ///     runtime.run(|| lisle::fiber::Builder::new().name("helper").spawn(move || door.wait()))
    /// };
    /// runtime.run(lisle::fiber::yield_now); // the helper comes to the door
    ///
    /// let graph = runtime.waiting();
    /// assert_eq!(graph.fibers[0].name.as_deref(), Some("helper"));
    /// assert_eq!(graph.fibers[0].waits[0].object.name(), Some("door"));
    /// println!("{graph}");
    /// door.signal();
    /// helper.join().unwrap();
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn waiting(&self) -> WaitGraph {
        self.shared.must_be_here();
        self.shared.snapshot().graph
    }

    /// Returns a handle to the runtime: code that has it can spawn on the runtime and ask for its
    /// waits, while other code has this value.
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let handle = runtime.handle();
    /// assert_eq!(std::thread::spawn(move || handle.spawn(|| 6 * 7).join().unwrap()).join().unwrap(), 42);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared.clone())
    }

    /// Returns the counts of the runtime so far.
    ///
    /// A domain publishes its counts every few turns and before it sleeps, so the counts of one
    /// that works may be some turns behind. Plain threads that run no domain of the runtime count
    /// only if a task of theirs is reified.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let (before, after) = runtime.run(|| {
    ///     let before = runtime.statistics();
    ///     lisle::spawn(|| ()).join().unwrap();
    ///     (before, runtime.statistics())
    /// });
    /// assert_eq!(after.fibers - before.fibers, 1);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn statistics(&self) -> Statistics {
        self.shared().statistics()
    }

    /// Shuts the runtime down: fibers are unwound where they block now, or at their next blocking
    /// call. Waits for at most `deadline`, and returns the fibers that were still running then;
    /// their threads are left behind. `Duration::MAX` waits without a limit.
    ///
    /// # Panics
    ///
    /// Panics if a fiber of this runtime calls it, which would wait for itself. Panics in a forked
    /// child, which has none of the threads to wait for.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::time::Duration;
    ///
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let (_tx, rx) = lisle::channel::<u32>();
    /// let waits = runtime.spawn(move || rx.recv()); // and nobody sends
    /// let shutdown = runtime.shutdown(Duration::from_secs(60)); // unwinds it
    /// assert!(shutdown.is_clean());
    /// assert!(waits.join().unwrap_err().is_cancelled());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn shutdown(self, deadline: Duration) -> Shutdown {
        self.end(deadline)
    }

    fn end(&self, deadline: Duration) -> Shutdown {
        self.shared.must_be_here();
        assert!(!self.is_inside(), "a runtime cannot be shut down by one of its own fibers");
        self.shared.stop();
        self.finish(clock::instant_after(deadline))
    }

    /// Shuts the runtime down and does not wait for that: fibers are unwound where they block now, or at
    /// their next blocking call, and the threads end by themselves when the fibers have ended. A fiber of
    /// the runtime may call it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let (_tx, rx) = lisle::channel::<u32>();
    /// let waits = runtime.spawn(move || rx.recv()); // and nobody sends
    /// runtime.shutdown_background();
    /// assert!(waits.join().unwrap_err().is_cancelled());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn shutdown_background(self) {
        if self.shared.is_inherited() {
            return;
        }
        self.is_let_go.store(true, Ordering::Relaxed);
        self.shared.stop();
    }

    /// Returns `true` if the calling code runs on one of this runtime's domains.
    fn is_inside(&self) -> bool {
        worker::with_current(|worker| worker.is_some_and(|w| Arc::ptr_eq(w.shared(), &self.shared)))
    }

    /// Waits for the domains to leave, until `end` at the latest.
    fn finish(&self, end: Instant) -> Shutdown {
        self.is_let_go.store(true, Ordering::Relaxed);
        let mut threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(|p| p.into_inner()));
        self.shared.wait_for_end(end);
        let shutdown = self.shared.abandon();
        for thread in threads.drain(..) {
            if shutdown.is_clean() {
                // The thread of a domain ends after it has counted itself as left, and it has no panic to
                // report.
                let _ = thread.join();
            }
        }
        self.shared.monitor.end();
        let dumps = self.shared.dumps.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        drop(dumps);
        shutdown
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if self.shared.is_inherited() {
            // The system may use the memory of these threads for others in this process.
            let threads = std::mem::take(self.threads.get_mut().unwrap_or_else(|p| p.into_inner()));
            return threads.into_iter().for_each(std::mem::forget);
        }
        if self.is_let_go.load(Ordering::Relaxed) {
            return;
        }
        if self.is_inside() {
            // A fiber cannot wait for itself: the threads end by themselves when their fibers have.
            self.shared.stop();
        } else {
            let shutdown = self.end(Duration::from_secs(1));
            if !shutdown.is_clean() {
                self.shared.report(&Report::Unfinished(shutdown));
            }
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("domains", &self.domains()).finish_non_exhaustive()
    }
}

/// Starts a runtime with a domain for each processor, runs `f` in it as a fiber, shuts it down and
/// returns the value of `f`. See [`Builder::run`].
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// let answer = lisle::run(|| {
///     let (tx, rx) = lisle::channel();
///     lisle::spawn(move || tx.send(42));
///     rx.recv().unwrap()
/// });
/// assert_eq!(answer, 42);
/// ```
#[track_caller]
pub fn run<F: FnOnce() -> T, T>(f: F) -> T {
    Builder::default().run(f)
}

/// Returns the wait graph of the runtime whose fiber calls this, see [`Runtime::waiting`]. On a
/// plain thread, which is in no runtime, only the waiting threads are listed.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// let graph = lisle::Runtime::builder().domains(1).run(|| {
///     let (_tx, rx) = lisle::channel::named::<u32>("numbers", 0);
///     drop(lisle::spawn(move || rx.recv()));
///     lisle::fiber::yield_now(); // the other fiber begins to wait
///     lisle::waiting()
/// });
/// assert!(graph.to_string().contains("receive from channel 'numbers' (made at"));
/// ```
pub fn waiting() -> WaitGraph {
    match worker::with_current(|worker| worker.map(|worker| worker.shared().clone())) {
        Some(shared) => shared.snapshot().graph,
        None => WaitGraph { threads: snapshot::threads(), ..WaitGraph::default() },
    }
}
