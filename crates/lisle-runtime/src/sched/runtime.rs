//! Runtimes: what starts domains, and what ends them.

mod builder;
mod default;

pub use builder::Builder;
pub use default::InstallDefaultError;
#[doc(hidden)]
pub use default::{default_runtime, started_default_runtime, try_default_runtime};

use super::Domain;
use super::common::Common;
use super::counts::Tally;
use super::deadlock::Deadlocks;
use super::monitor::Monitor;
use super::reactor::Driver;
use super::snapshot::{self, Snapshots};
use super::worker::{self, Worker};
use crate::event::lock::Lock;
use crate::fiber::hooks::HookList;
use crate::fiber::no_suspend;
use crate::fiber::{JoinError, JoinHandle, PanicPolicy, spawn_unchecked};
use crate::jobs::offers::Offers;
use crate::report::WaitGraph;
use crate::report::{self, Handler, Report};
use crate::report::{Shutdown, Straggler};
use crate::shim::{
    atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence},
    clock,
    sync::{Arc, Mutex},
};
use crate::signals::Caught;
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use crate::spawned::runnable::Runnable;
use std::fmt;
use std::io;
use std::panic::{Location, resume_unwind};
use std::ptr::NonNull;
use std::thread;
use std::time::{Duration, Instant};

const RUNNING: u8 = 0;
/// Fibers go on; somebody waits for all to have ended.
const DRAINING: u8 = 1;
/// Fibers are interrupted, and the workers end when all have ended.
const STOPPING: u8 = 2;
/// The time is over: workers end, whatever is left.
const ABANDONED: u8 = 3;

/// What the domains of a runtime share.
pub struct Shared {
    pub(crate) domains: Box<[Arc<Domain>]>,
    pub(crate) stack_size: usize,
    pub(crate) panic_policy: PanicPolicy,
    pub(super) stall_report: Option<Duration>,
    pub(super) thread_name: String,
    pub(super) hooks: HookList,
    pub monitor: Monitor,
    pub(super) snapshot: Snapshots,
    pub(super) deadlocks: Deadlocks,
    /// Tells runtimes apart.
    pub(crate) number: usize,
    /// How many domains sleep.
    pub idle: AtomicUsize,
    /// How many domains look for work, those that sleep included. At first all do: their threads are about to be there.
    pub searching: AtomicUsize,
    /// How many the process may use.
    pub processors: usize,
    /// What threads offer that are no workers.
    pub(crate) offers: Offers,
    phase: AtomicU8,
    /// How many workers have left.
    left: AtomicUsize,
    pub(super) common: Common,
    /// Those spawned by threads that are no workers; less the tasks that have ended on such threads.
    spawned_outside: AtomicU64,
    pub(crate) outside: Lock<Tally>,
    pub(super) handler: Option<Handler>,
    /// The signal at which it says who waits.
    pub(super) dumps: Mutex<Option<Caught>>,
    pub(super) has_told_of_stacks: AtomicBool,
    pub(super) has_told_of_sockets: AtomicBool,
}

impl Shared {
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        self.phase.load(Ordering::Relaxed) >= STOPPING
    }

    /// A fiber has ended. If somebody waits for the last one, it may have been that.
    #[inline]
    pub(super) fn fiber_ended(&self) {
        if self.phase.load(Ordering::Relaxed) != RUNNING {
            self.fiber_ended_late();
        }
    }

    #[cold]
    fn fiber_ended_late(&self) {
        // Of two domains that count their last fibers at once, at least one sees both counts.
        fence(Ordering::SeqCst);
        if self.live() == 0 {
            self.wake_all();
        }
    }

    pub(super) fn is_draining(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == DRAINING
    }

    fn drain(&self) {
        // Unless a deadlock has ended it.
        let _ = self.phase.compare_exchange(RUNNING, DRAINING, Ordering::SeqCst, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.left.load(Ordering::Acquire) == self.domains.len()
    }

    /// The domain with this index, which [`Shared::check`] has seen to exist.
    pub(super) fn domain(&self, index: usize) -> &Domain {
        &self.domains[index]
    }

    /// Refuses a domain that does not exist, before anything has been done.
    #[track_caller]
    pub(crate) fn check(&self, index: Option<usize>) {
        let count = self.domains.len();
        if let Some(index) = index.filter(|&index| index >= count) {
            panic!("there is no domain {index}: this runtime has {count}, numbered from 0");
        }
    }

    /// Does any other domain work, so that something may come from it soon?
    pub(super) fn others_work(&self) -> bool {
        self.idle.load(Ordering::Relaxed) + 1 < self.domains.len()
    }

    /// Wakes a domain that sleeps, other than `except`.
    pub(crate) fn wake_one(&self, except: usize) {
        let count = self.domains.len();
        for offset in 1..=count {
            let domain = &self.domains[(except + offset) % count];
            if domain.inbox.rouse() {
                domain.reactor.wake();
                return;
            }
        }
    }

    pub(super) fn wake_all(&self) {
        for domain in &self.domains {
            domain.inbox.rouse();
            domain.reactor.wake();
        }
    }

    /// Queues a fiber that has not begun, or a task, for whichever domain comes first.
    #[cold]
    pub(crate) fn push_common(&self, movable: NonNull<Runnable>) {
        // SAFETY: it is in no list, and stays until it runs.
        unsafe { self.common.push(movable) };
        self.wake_if_idle();
    }

    /// The same for what a ring has no room for.
    #[cold]
    pub(super) fn push_surplus(&self, movable: NonNull<Runnable>) {
        // SAFETY: as above.
        unsafe { self.common.push_surplus(movable) };
        self.wake_if_idle();
    }

    fn wake_if_idle(&self) {
        if self.idle.load(Ordering::SeqCst) > 0 {
            self.wake_one(0);
        }
    }

    /// Queues a fiber spawned by a thread that is no worker. It is refused if the runtime is being shut down: perhaps nobody is
    /// there any more who would take it.
    pub(crate) fn spawn_outside(&self, fiber: NonNull<Fiber>, domain: Option<usize>) {
        let count = || {
            self.spawned_outside.fetch_add(1, Ordering::SeqCst);
            self.outside.lock().fibers.add(1);
        };
        match domain {
            Some(index) => {
                count();
                self.domain(index).hand_over(fiber);
            }
            // SAFETY: a new fiber is in no list, and stays until it runs.
            None if unsafe { self.common.push_if_open(fiber.cast(), count) } => self.wake_if_idle(),
            // SAFETY: it has not begun, and nobody else has it.
            None => unsafe { fiber_cell::refuse(fiber) },
        }
    }

    /// Spawns a fiber, from anywhere.
    ///
    /// # Safety
    ///
    /// What `f` and its result borrow outlives the fiber and its unclaimed result.
    pub(super) unsafe fn spawn<F, T>(
        this: &Arc<Self>,
        f: F,
        site: &'static Location<'static>,
    ) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        if worker::with_current(|worker| worker.is_some_and(|w| Arc::ptr_eq(w.shared(), this))) {
            // SAFETY: passed on to the caller.
            return unsafe { spawn_unchecked(f, Traits::default(), None, site) };
        }
        let traits = Traits { panic_policy: this.panic_policy, ..Traits::default() };
        let fiber = Fiber::new(f, traits, site);
        this.spawn_outside(fiber, None);
        // SAFETY: made with result type `T`; the second reference is the handle's.
        unsafe { JoinHandle::new(fiber) }
    }

    /// A task has been reified by a thread that is no worker.
    pub(crate) fn task_from_outside(&self, bytes: usize) {
        self.spawned_outside.fetch_add(1, Ordering::SeqCst);
        let outside = self.outside.lock();
        outside.tasks.add(1);
        outside.reified(bytes);
    }

    /// Counts out a task that was reified. A runtime may go as soon as none is left.
    ///
    /// # Safety
    ///
    /// `home` is the runtime of such a task, which has ended.
    pub(crate) unsafe fn task_ended(home: *const Shared) {
        worker::with_current(|worker| match worker {
            Some(worker) if std::ptr::eq(Arc::as_ptr(worker.shared()), home) => {
                worker.domain.counts.finished.add(1);
                worker.shared().fiber_ended();
            }
            _ => {
                // SAFETY: alive, since the task has not been counted out.
                unsafe { Arc::increment_strong_count(home) };
                // SAFETY: the count that was just added.
                let home = unsafe { Arc::from_raw(home) };
                home.spawned_outside.fetch_sub(1, Ordering::SeqCst);
                home.fiber_ended();
            }
        });
    }

    /// As [`push_common`](Shared::push_common), by somebody who does not keep the runtime alive.
    ///
    /// # Safety
    ///
    /// `home` is alive until it has been given `task`, which is in no list and stays until it runs.
    pub(crate) unsafe fn push_common_at(home: *const Shared, task: NonNull<Runnable>) {
        // SAFETY: alive, by the caller's promise.
        unsafe { Arc::increment_strong_count(home) };
        // SAFETY: the count that was just added.
        unsafe { Arc::from_raw(home) }.push_common(task);
    }

    /// How many fibers have been spawned and have not ended, and tasks that have been reified; never too few.
    pub(super) fn live(&self) -> u64 {
        let finished: u64 = self.domains.iter().map(|domain| domain.counts.finished.get()).sum();
        // Before what was spawned inside: this is taken from for those that end outside.
        let outside = self.spawned_outside.load(Ordering::SeqCst);
        let spawned: u64 = self.domains.iter().map(|domain| domain.counts.spawned.get()).sum();
        let spawned = spawned.wrapping_add(outside);
        // Less than none: what has ended since it was looked at.
        u64::try_from(spawned.wrapping_sub(finished).cast_signed()).unwrap_or(0)
    }

    /// How many fibers lie where those wait that have not begun, but for those that were placed on a domain.
    pub(super) fn waiting_to_begin(&self) -> usize {
        let unbegun: u64 = self.domains.iter().map(|domain| domain.stealable.len()).sum();
        self.common.len() + usize::try_from(unbegun).unwrap_or(usize::MAX)
    }

    /// A worker leaves.
    pub(super) fn leave(&self, index: usize) {
        self.domains[index].has_left.store(true, Ordering::Release);
        self.left.fetch_add(1, Ordering::AcqRel);
    }

    /// May a worker that has nothing to run leave?
    fn may_leave(&self) -> bool {
        match self.phase.load(Ordering::Acquire) {
            RUNNING | DRAINING => false,
            STOPPING => self.live() == 0,
            _ => true,
        }
    }

    /// Has it fibers, and does nobody end it? Then it might be that none of them can go on.
    pub(super) fn may_be_dead(&self) -> bool {
        self.phase.load(Ordering::SeqCst) < STOPPING && self.live() > 0
    }

    /// Which turn each domain is in.
    pub(super) fn turns(&self) -> Vec<u64> {
        self.domains.iter().map(|domain| domain.counts.turn()).collect()
    }

    /// Says something of this runtime.
    pub(super) fn report(&self, report: &Report) {
        report::say(self.handler.as_ref(), report);
    }

    /// The same, the first time.
    pub(super) fn report_once(&self, is_said: &AtomicBool, report: impl FnOnce() -> Report) {
        if !is_said.swap(true, Ordering::Relaxed) {
            self.report(&report());
        }
    }

    pub(super) fn stop(&self) {
        // Before the phase: what has been queued by then is seen by workers that look whether they may leave.
        self.common.close();
        self.phase.fetch_max(STOPPING, Ordering::SeqCst);
        self.wake_all();
    }

    /// Tells workers that still wait for fibers to leave, and says what is left.
    fn abandon(self: &Arc<Self>) -> Shutdown {
        // As long as the domains can answer.
        let waiting = if self.has_ended() { Vec::new() } else { self.snapshot().graph.fibers };
        self.phase.store(ABANDONED, Ordering::Release);
        self.wake_all();
        let unfinished = usize::try_from(self.live()).unwrap_or(usize::MAX);
        if unfinished > 0 {
            // What has not ended may be a task, and refers to it.
            std::mem::forget(self.clone());
        }
        let running = self.domains.iter().filter_map(|domain| domain.running_now()).map(Straggler::from);
        let waiting = waiting.into_iter().filter_map(Straggler::waiting);
        let stragglers = if unfinished == 0 { Vec::new() } else { running.chain(waiting).collect() };
        Shutdown { stragglers, unfinished }
    }
}

#[track_caller]
fn failed(error: &io::Error) -> ! {
    panic!("a runtime could not be started: {error}")
}

/// A runtime with all domains on threads of its own, see [`Builder::start`].
///
/// Dropping it shuts it down, waiting for up to a second.
pub struct Runtime {
    shared: Arc<Shared>,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
}

impl Runtime {
    /// How to start a runtime.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(super) fn shared_arc(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn start_threads(
        &self,
        drivers: Vec<Driver>,
        pins: Vec<Option<core_affinity::CoreId>>,
        from: usize,
    ) -> io::Result<()> {
        for (index, driver) in (from..).zip(drivers) {
            let shared = self.shared.clone();
            let pin = pins[index];
            let spawned =
                thread::Builder::new().name(format!("{}-{index}", shared.thread_name)).spawn(move || {
                    let _pinned = builder::pinned_to(pin);
                    let left = shared.clone();
                    Worker::new(shared, index, driver).enter(|worker| {
                        worker.work(&|| worker.shared().may_leave());
                        worker.wind_up();
                        left.leave(index);
                        // Fibers that were given up stay as they are, and so does what others may have borrowed from
                        // them, this thread's locals included.
                        while !worker.is_empty() {
                            thread::park();
                        }
                    });
                });
            match spawned {
                Ok(thread) => {
                    self.threads.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(thread)
                }
                Err(error) => {
                    self.shared.stop();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// How many domains it has.
    pub fn domains(&self) -> usize {
        self.shared.domains.len()
    }

    /// Spawns a fiber on this runtime, from anywhere. See [`spawn`](crate::spawn).
    ///
    /// After a shutdown the fiber is not run; joining it says so.
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.spawn_unchecked(f, Location::caller()) }
    }

    /// Runs `f` as a fiber of this runtime and waits for it, so `f` may borrow.
    ///
    /// # Panics
    ///
    /// With the panic of `f`; or if the runtime is shut down before `f` has returned, by a deadlock unless
    /// [`on_deadlock`](Builder::on_deadlock) says otherwise.
    #[track_caller]
    pub fn run<F, T>(&self, f: F) -> T
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let site = Location::caller();
        no_suspend::refuse(|| format!("wait for a fiber (spawned at {site})"));
        let _caller = self.shared.deadlocks.caller();
        // SAFETY: `join_masked` waits until the fiber has ended, whatever happens.
        let handle = unsafe { self.spawn_unchecked(f, site) };
        let outcome = handle.join_masked().map_err(JoinError::into_panic);
        match (outcome, self.shared.deadlocks.fatal()) {
            (Err(Ok(panic)), _) => resume_unwind(panic),
            // What a fiber makes of the end of those that it waits for is no answer of its own.
            (_, Some(deadlock)) => panic!("{deadlock}"),
            (Ok(value), None) => value,
            (Err(Err(error)), None) => panic!("{error}"),
        }
    }

    /// # Safety
    ///
    /// What `f` and its result borrow outlives the fiber and its unclaimed result.
    unsafe fn spawn_unchecked<F, T>(&self, f: F, site: &'static Location<'static>) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // SAFETY: passed on to the caller.
        unsafe { Shared::spawn(&self.shared, f, site) }
    }

    /// Who waits for what: each fiber that is parked, with its name and place of spawning, and what it waits for,
    /// with that one's name and place of making; and the plain threads of the process that wait. To print it, use
    /// its `Display` form.
    ///
    /// Futures are not listed: nobody knows who polls them.
    ///
    /// Blocks the calling thread while each domain looks at its fibers, a few milliseconds for ten thousand, and for a
    /// tenth of a second if some domain does not answer, since it has a fiber that does not block: such a domain is
    /// listed as silent, with that fiber, and with what is known of the domain without its help. Where fibers wait for sockets
    /// the system is asked for their addresses, which takes a microsecond or two each. The domains' looks are not at one moment, so what was on its way between
    /// them may be seen twice or not at all.
    ///
    /// Not to be called by a function given to a [`Source`](crate::event::Source).
    ///
    /// ```
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
    pub fn waiting(&self) -> WaitGraph {
        self.shared.snapshot().graph
    }

    /// Shuts the runtime down: fibers are unwound at their next blocking call, or where they block now. Waits
    /// for at most `deadline` and says what was still running then; its threads are left behind. `Duration::MAX` is for as
    /// long as it takes.
    ///
    /// # Panics
    ///
    /// If called by a fiber of this runtime, which would wait for itself.
    pub fn shutdown(self, deadline: Duration) -> Shutdown {
        self.end(deadline)
    }

    fn end(&self, deadline: Duration) -> Shutdown {
        assert!(!self.is_inside(), "a runtime cannot be shut down by one of its own fibers");
        self.shared.stop();
        self.finish(clock::instant_after(deadline))
    }

    /// Is this one of the runtime's own fibers?
    fn is_inside(&self) -> bool {
        worker::with_current(|worker| worker.is_some_and(|w| Arc::ptr_eq(w.shared(), &self.shared)))
    }

    /// Waits for the workers to leave until `end`.
    fn finish(&self, end: Instant) -> Shutdown {
        let mut threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(|p| p.into_inner()));
        let mut pause = Duration::from_micros(20);
        while !self.shared.has_ended() && Instant::now() < end {
            thread::sleep(pause.min(end.saturating_duration_since(Instant::now())));
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        let shutdown = self.shared.abandon();
        for thread in threads.drain(..) {
            if shutdown.is_clean() {
                // A worker thread ends after it has said so; it has no panic to tell of.
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
        let started = !self.threads.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).is_empty();
        if started && self.is_inside() {
            // Nobody can wait for itself: the threads end by themselves when their fibers have.
            self.shared.stop();
        } else if started {
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

/// Starts a runtime with a domain for each processor, runs `f` in it as a fiber, shuts it down and returns
/// the value of `f`. See [`Builder::run`].
///
/// ```
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

/// Who waits for what in the runtime whose fiber calls this, see [`Runtime::waiting`]. On a plain thread, which is in no
/// runtime, only the threads that wait are listed.
///
/// ```
/// let graph = lisle::run(|| {
///     let (_tx, rx) = lisle::channel::named::<u32>("numbers", 0);
///     drop(lisle::spawn(move || rx.recv()));
///     lisle::fiber::yield_now();
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
