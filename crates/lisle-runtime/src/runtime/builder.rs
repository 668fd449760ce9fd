//! The start of a runtime: its settings, and `run` from start to end.

use super::threads::{DomainThread, pinned_to, start_domains, start_threads};
use super::{Runtime, failed};
use crate::PanicPolicy;
use crate::affinity;
use crate::event::cannot_be_checked;
use crate::event::lock::Lock;
use crate::fiber::{Hooks, no_suspend};
use crate::fork;
use crate::jobs::offers::Offers;
use crate::report::Deadlock;
use crate::report::{self, Handler, Report};
use crate::sched::common::Common;
use crate::sched::deadlock_policy::{Deadlocks, OnDeadlock};
use crate::sched::groups::Groups;
use crate::sched::lookouts::Lookouts;
use crate::sched::monitor;
use crate::sched::monitor_handle::Monitor;
use crate::sched::questions::Snapshots;
use crate::sched::reactor::{Driver, Reactor};
use crate::sched::shared::{RUNNING, Shared};
use crate::sched::worker::{self, Worker};
use crate::sched::{Domain, dump, overflow};
use crate::shim::{
    CachePadded,
    atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering},
    clock,
    sync::{Arc, Mutex, OnceLock},
};
use crate::spawned::fiber_cell::{Fiber, Traits};
use crate::spawned::hooks::HookList;
use crate::spawned::this_stack;
use crate::stack::{self, spare::SpareStacks};
use lisle_core::internal::seam::{self, Seam};
use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::thread;
use std::time::{Duration, Instant};

/// A builder that sets up a runtime and starts it.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// let answer = lisle::Runtime::builder().domains(2).thread_name("answers").run(|| 6 * 7);
/// assert_eq!(answer, 42);
/// ```
#[derive(Debug, Clone)]
#[doc(alias = "ThreadPoolBuilder")]
pub struct Builder {
    domains: usize,
    pin: bool,
    stack_size: usize,
    thread_name: String,
    hooks: HookList,
    panic_policy: PanicPolicy,
    stall_report: Option<Duration>,
    drain: bool,
    shutdown_deadline: Duration,
    pub(super) on_deadlock: OnDeadlock,
    returns_deadlock: bool,
    closed_world: bool,
    handler: Option<Handler>,
    dump_on: Option<i32>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            domains: affinity::processors(),
            pin: false,
            stack_size: stack::DEFAULT_USABLE_SIZE,
            thread_name: "lisle".into(),
            hooks: HookList::default(),
            panic_policy: PanicPolicy::default(),
            stall_report: Some(Duration::from_secs(1)),
            drain: false,
            shutdown_deadline: Duration::from_secs(5),
            on_deadlock: OnDeadlock::default(),
            returns_deadlock: false,
            closed_world: false,
            handler: None,
            dump_on: None,
        }
    }
}

impl Builder {
    /// Sets the number of domains. The default is one for each processor that this process may use.
    ///
    /// More domains than processors cost some memory each, and gain nothing for code that computes:
    /// no more of them are woken for it than there are processors. Fibers on a domain whose thread is
    /// blocked are taken over all the same, but after some 20 ms instead of 0.1 ms. For code that
    /// blocks its thread, `fiber::blocking` is the better way.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let runtime = lisle::Runtime::builder().domains(3).start()?;
    /// assert_eq!(runtime.domains(), 3);
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// ```should_panic
    /// # use lisle_runtime::facade as lisle;
    /// let _ = lisle::Runtime::builder().domains(0);
    /// ```
    #[must_use]
    #[track_caller]
    #[doc(alias = "num_threads")]
    pub fn domains(mut self, count: usize) -> Self {
        assert!(count > 0, "`domains(0)`: a runtime needs at least one domain");
        self.domains = count;
        self
    }

    /// Sets whether each domain's thread is pinned to a processor. Off by default: pinning helps on
    /// a machine that does nothing else, and hurts on one that does.
    ///
    /// [`run`](Builder::run) pins the calling thread while it runs. A thread that a fiber starts
    /// with the standard library is pinned like its domain, because the system inherits the pin;
    /// threads of `lisle::thread` and [`blocking`](crate::blocking) are not pinned.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::thread::available_parallelism;
    ///
    /// let all = available_parallelism()?;
    /// lisle::Runtime::builder().domains(1).pin(true).run(|| {
    ///     assert_eq!(available_parallelism()?.get(), 1);
    ///     assert_eq!(lisle::blocking(available_parallelism)?, all); // not pinned
    ///     std::io::Result::Ok(())
    /// })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[must_use]
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = pin;
        self
    }

    /// Sets the usable bytes of each fiber's stack, 1 MiB by default. This is address space: memory
    /// is taken as the stack grows, and given back. A value below 16 KiB is raised to that.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// lisle::Runtime::builder().domains(1).stack_size(8 << 20).run(|| {
    ///     let zeros = [0_u8; 4 << 20]; // more than the usual 1 MiB
    ///     assert_eq!(std::hint::black_box(&zeros).iter().max(), Some(&0));
    /// });
    /// ```
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes.max(stack::MIN_USABLE_SIZE);
        self
    }

    /// Sets the prefix of the thread names, `lisle` by default. A dash and the domain's index
    /// follow it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// lisle::Runtime::builder().domains(2).thread_name("net").run(|| {
    ///     let fiber = lisle::fiber::spawn_on(1, || std::thread::current().name().map(str::to_owned));
    ///     assert_eq!(fiber.join().unwrap().as_deref(), Some("net-1"));
    /// });
    /// ```
    #[must_use]
    pub fn thread_name(mut self, prefix: impl Into<String>) -> Self {
        self.thread_name = prefix.into();
        self
    }

    /// Sets the policy for a panic of a fiber that is not joined.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{PanicPolicy, Report, Runtime};
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    ///
    /// static REPORTS: AtomicU32 = AtomicU32::new(0);
    /// let count = |_: &Report| _ = REPORTS.fetch_add(1, Relaxed);
    /// let builder = Runtime::builder().domains(1).drain(true).on_report(count);
    ///
    /// builder.clone().run(|| drop(lisle::spawn(|| panic!("nobody joins me"))));
    /// assert_eq!(REPORTS.load(Relaxed), 1);
    ///
    /// let builder = builder.panic_policy(PanicPolicy::Ignore);
    /// builder.run(|| drop(lisle::spawn(|| panic!("nobody minds"))));
    /// assert_eq!(REPORTS.load(Relaxed), 1);
    /// ```
    #[must_use]
    pub fn panic_policy(mut self, policy: PanicPolicy) -> Self {
        self.panic_policy = policy;
        self
    }

    /// Adds hooks that are called whenever a fiber of this runtime is resumed or suspended, after
    /// the hooks that were added before. See [`Hooks`].
    #[must_use]
    #[track_caller]
    pub fn hooks(mut self, hooks: impl Hooks) -> Self {
        self.hooks.add(hooks, Location::caller());
        self
    }

    /// Sets after how long a fiber or task that does not block is reported, if others of its domain
    /// wait meanwhile; see [`on_report`](Builder::on_report). One second by default; `None` for
    /// never.
    ///
    /// Others wait if they are ready to go on or have not begun, if another thread has woken them,
    /// if their timer is overdue, or if their descriptor is ready. The report says which of these
    /// it was, and for how long.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Report, Runtime};
    /// use std::{sync::mpsc, time::Duration};
    ///
    /// let (tx, rx) = mpsc::channel();
    /// let tell = move |report: &Report| match report {
    ///     Report::Stall(stall) => drop(tx.send(stall.domain)),
    ///     _ => {}
    /// };
    /// let builder = Runtime::builder().domains(1).stall_report(Some(Duration::from_millis(20)));
    /// builder.on_report(tell).run(|| {
    ///     drop(lisle::spawn(|| ())); // waits for this domain
    ///     assert_eq!(rx.recv(), Ok(0)); // blocks the domain until the report comes
    /// });
    /// ```
    #[must_use]
    pub fn stall_report(mut self, after: Option<Duration>) -> Self {
        self.stall_report = after;
        self
    }

    /// Sets the handler of the runtime's reports: fibers that keep their domain, deadlocks, panics
    /// of fibers that are not joined, and fibers that have not ended in time; see [`Report`]. By
    /// default they are written to standard error.
    ///
    /// `handle` is called on a thread of the runtime that others wait for: its monitor, or a
    /// domain's thread, there perhaps on the stack of a fiber. It must not wait for fibers of the
    /// runtime, and should only note something down: put it into a
    /// [mailbox](crate::channel::unbounded), a log or a counter. If it panics, the panic
    /// and the report are written to standard error and go no further. A report about the same
    /// thread that is made while `handle` runs goes to standard error, too.
    ///
    /// A message before the end of the process goes to standard error in any case. So do reports
    /// that belong to no runtime: from plain threads, and from threads that serve all runtimes.
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Report, Runtime, fiber};
    /// use std::sync::mpsc;
    ///
    /// let (tx, rx) = mpsc::channel();
    /// Runtime::builder()
    ///     .domains(1)
    ///     .on_report(move |report| {
    ///         if let Report::Panic(panic) = report {
    ///             let _ = tx.send(panic.name.clone());
    ///         }
    ///     })
    ///     .drain(true)
    ///     .run(|| drop(fiber::Builder::new().name("forsaken").spawn(|| panic!("not joined"))));
    /// assert_eq!(rx.recv().unwrap().as_deref(), Some("forsaken"));
    /// ```
    #[must_use]
    pub fn on_report(mut self, handle: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        self.handler = Some(Handler::new(handle));
        self
    }

    /// Sets a signal at which the runtime reports the wait graph, the running fibers, and the
    /// fibers that keep their domains: [`Report::Waiting`], see [`on_report`](Builder::on_report).
    /// No signal by default.
    ///
    /// A separate thread answers, and it needs no domain for that. The signal is caught from then
    /// on for the rest of the process, see `lisle::signal`. If it cannot be caught, or if no signal
    /// has this number, starting the runtime fails.
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use libc::SIGQUIT;
    /// use lisle::{Report, Runtime};
    /// use std::sync::mpsc;
    ///
    /// let (tx, rx) = mpsc::channel();
    /// let handle = move |report: &Report| drop(tx.send(report.to_string()));
    /// Runtime::builder().domains(1).dump_on(SIGQUIT).on_report(handle).run(move || {
    ///     let (_tx, never) = lisle::channel::named::<u32>("numbers", 0);
    ///     drop(lisle::fiber::Builder::new().name("waits").spawn(move || never.recv()));
    ///     lisle::fiber::yield_now();
    ///     // As a user does with Ctrl-\ on a terminal, or with `kill -QUIT`, while this fiber keeps its
    ///     // domain.
    ///     // SAFETY: the signal is caught.
    ///     unsafe { libc::raise(SIGQUIT) };
    ///     let dump = rx.recv().unwrap();
    ///     assert!(dump.starts_with("wait graph: "));
    /// });
    /// ```
    #[must_use]
    pub fn dump_on(mut self, signal: i32) -> Self {
        self.dump_on = Some(signal);
        self
    }

    /// Sets whether [`run`](Builder::run) waits for all fibers to end once its function has
    /// returned. By default it does not: fibers that are left are unwound at their next blocking
    /// call.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    ///
    /// static HAS_ENDED: AtomicBool = AtomicBool::new(false);
    /// lisle::Runtime::builder().domains(1).drain(true).run(|| {
    ///     drop(lisle::spawn(|| {
    ///         lisle::fiber::yield_now();
    ///         HAS_ENDED.store(true, Relaxed);
    ///     }));
    /// }); // without `drain` the fiber might be unwound where it yields
    /// assert!(HAS_ENDED.load(Relaxed));
    /// ```
    #[must_use]
    pub fn drain(mut self, drain: bool) -> Self {
        self.drain = drain;
        self
    }

    /// Sets the time for which [`run`](Builder::run) waits for fibers to unwind once its function
    /// has returned. Five seconds by default; `Duration::MAX` waits for as long as it takes. `run`
    /// waits in any case for the fibers that have begun on its caller's thread, and [reports
    /// them](Builder::on_report) when this time is over: others may still use values that they have
    /// lent.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{Runtime, channel::unbounded};
    /// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    /// use std::time::Duration;
    ///
    /// static STOP: AtomicBool = AtomicBool::new(false);
    /// let builder = Runtime::builder().domains(2).shutdown_deadline(Duration::from_millis(1));
    /// builder.run(|| {
    ///     let (began, begun) = unbounded();
    ///     drop(lisle::fiber::spawn_on(1, move || {
    ///         began.send(()).unwrap();
    ///         while !STOP.load(Relaxed) {} // neither waits nor ends
    ///     }));
    ///     begun.recv().unwrap();
    /// }); // returns all the same, and reports the other fiber
    /// STOP.store(true, Relaxed);
    /// ```
    #[must_use]
    pub fn shutdown_deadline(mut self, deadline: Duration) -> Self {
        self.shutdown_deadline = deadline;
        self
    }

    /// Sets the policy for a deadlock: every fiber waits, and nothing could wake one: no timer, no
    /// descriptor, no other thread, and no foreign call, except one that only waits for a fiber. By
    /// default the fibers are unwound, and [`run`](Builder::run) panics with the wait graph as
    /// text. With [`OnDeadlock::Report`] the text goes to [`on_report`](Builder::on_report).
    ///
    /// A deadlock is noticed within a tenth of a second, and only for half a minute after the last
    /// fiber has begun to wait. Everything reported is a deadlock: a thread that is not known to
    /// sleep counts as one that could wake a fiber. This includes every thread that the program has
    /// started, and the thread that has called [`start`](Builder::start);
    /// [`closed_world`](Builder::closed_world) leaves these out. Where the threads of the process
    /// cannot be counted, which is anywhere but on Linux, nothing is noticed without
    /// `closed_world`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use lisle::{OnDeadlock, Report, Runtime, channel};
    /// use std::sync::mpsc;
    ///
    /// let (tell, told) = mpsc::channel();
    /// let tell = move |report: &Report| drop(tell.send(report.to_string()));
    /// let builder = Runtime::builder().domains(1).closed_world(true).on_report(tell);
    /// let runtime = builder.on_deadlock(OnDeadlock::Report).start()?;
    ///
    /// let (tx, rx) = channel::named::<u32>("numbers", 0);
    /// let waits = runtime.spawn(move || rx.recv());
    /// assert!(told.recv().unwrap().contains("receive from channel 'numbers'"));
    /// tx.send(7).unwrap(); // `closed_world` was wrong: this thread could send
    /// assert_eq!(waits.join().unwrap(), Ok(7)); // the report has ended nothing
    /// # std::io::Result::Ok(())
    /// ```
    #[must_use]
    pub fn on_deadlock(mut self, policy: OnDeadlock) -> Self {
        self.on_deadlock = policy;
        self
    }

    /// Promises that only this runtime's own fibers wake them: no other thread of the program (such
    /// as the thread of a [`kill_safe`](lisle_core::kill_safe) server), and no other runtime. A
    /// deadlock is then noticed although there are such threads, see
    /// [`on_deadlock`](Builder::on_deadlock).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::thread;
    ///
    /// let other = thread::spawn(thread::park); // might wake a fiber, for all that is known
    /// let outcome = lisle::Runtime::builder().domains(1).closed_world(true).try_run(|| {
    ///     let (_tx, rx) = lisle::channel::<u32>();
    ///     rx.recv()
    /// });
    /// assert!(outcome.is_err());
    /// other.thread().unpark();
    /// # other.join().unwrap();
    /// ```
    #[must_use]
    pub fn closed_world(mut self, closed: bool) -> Self {
        self.closed_world = closed;
        self
    }

    /// Does the same as [`run`](Builder::run), but if no fiber can ever go on, shuts the runtime
    /// down, unwinds its fibers, and returns the wait graph as an error.
    ///
    /// # Errors
    ///
    /// Returns a deadlock, see [`on_deadlock`](Builder::on_deadlock), whatever policy is set there.
    /// The deadlock may also be one of the fibers that [`drain`](Builder::drain) waits for; the
    /// value of `f` is then lost.
    ///
    /// # Panics
    ///
    /// Panics as [`run`](Builder::run) does.
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let outcome = lisle::Runtime::builder().domains(1).closed_world(true).try_run(|| {
    ///     let (_tx, rx) = lisle::channel::named::<u32>("numbers", 0);
    ///     rx.recv() // no fiber sends, but one could
    /// });
    /// let deadlock = outcome.unwrap_err();
    /// assert_eq!(deadlock.waiting().fibers[0].waits[0].object.name(), Some("numbers"));
    /// ```
    #[track_caller]
    pub fn try_run<F: FnOnce() -> T, T>(mut self, f: F) -> Result<T, Deadlock> {
        self.returns_deadlock = true;
        self.run_to_end(f)
    }

    /// Starts a runtime, runs `f` in it as a fiber, shuts it down and returns the value of `f`.
    ///
    /// The calling thread becomes domain 0 for that time, and `f` runs on it, so `f` may borrow and
    /// need not be `Send`. Fibers that have not ended when `f` returns are unwound, unless
    /// [`drain`](Builder::drain) is set, which waits for them. A fiber that does not end in time is
    /// reported (see [`on_report`](Builder::on_report)), and its thread is left behind.
    ///
    /// # Panics
    ///
    /// Panics with the panic of `f`; with a deadlock, unless [`on_deadlock`](Builder::on_deadlock) says
    /// otherwise; if the system gives no threads or pollers; or if called inside another runtime, where the
    /// fiber should call `f` itself. A runtime of one domain needs no thread but the caller's: if the system
    /// refuses the thread that watches it, the runtime [reports](crate::Report::NoThread) that.
    ///
    /// # Forks
    ///
    /// If a fiber forks the process, the child may execute a program or end. The first time that it
    /// waits, or when the fiber ends, it is aborted with a message: it has none of the other threads.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let mut words = vec!["warp"];
    /// let builder = lisle::Runtime::builder().domains(2);
    /// builder.run(|| words.push("weft")); // it borrows
    /// assert_eq!(words, ["warp", "weft"]);
    /// ```
    ///
    /// In a fiber there is a runtime already:
    ///
    /// ```should_panic
    /// # use lisle_runtime::facade as lisle;
    /// lisle::run(|| lisle::run(|| ()));
    /// ```
    #[track_caller]
    pub fn run<F: FnOnce() -> T, T>(self, f: F) -> T {
        match self.run_to_end(f) {
            Ok(value) => value,
            Err(deadlock) => panic!("{deadlock}"),
        }
    }

    #[track_caller]
    fn run_to_end<F: FnOnce() -> T, T>(self, f: F) -> Result<T, Deadlock> {
        let mut f = Some(f);
        let mut result = None;
        let deadlock = self.run_fiber(&mut || result = f.take().map(|f| catch_unwind(AssertUnwindSafe(f))));
        match (result, deadlock) {
            // All fibers waited when the deadlock was found, so a result that `f` has since is due
            // to the unwinding.
            (_, Some(deadlock)) => Err(deadlock),
            (Some(Ok(value)), None) => Ok(value),
            (Some(Err(panic)), None) => resume_unwind(panic),
            (None, None) => unreachable!("`run_fiber` returns when the fiber has finished"),
        }
    }

    /// Starts a runtime, runs `main` in it as a fiber, and shuts it down. Not generic: it is
    /// compiled once, and not for each program's function.
    #[track_caller]
    fn run_fiber(self, main: &mut dyn FnMut()) -> Option<Deadlock> {
        let site = Location::caller();
        no_suspend::refuse(|| format!("run a runtime (started at {site})"));
        // A checked program has one runtime, which its model runs.
        #[cfg(feature = "model")]
        if worker::with_current(|worker| worker.is_some_and(Worker::is_modelled)) {
            main();
            return None;
        }
        assert!(
            worker::with_current(|worker| worker.is_none()),
            "a runtime cannot be started inside a fiber: it would block the fiber's domain"
        );
        assert!(!thread::panicking(), "a runtime cannot be started while its thread unwinds from a panic");
        let drain = self.drain;
        let deadline = self.shutdown_deadline;
        let (shared, mut drivers, pins) = self.prepare(true).unwrap_or_else(|error| failed(&error));
        let first = drivers.remove(0);
        let _caller = shared.deadlocks.caller();
        let runtime = Runtime::new(shared.clone());
        start_threads(&shared, &runtime.threads, drivers, &pins, 1).unwrap_or_else(|error| failed(&error));
        let _pinned = pinned_to(pins.first().copied().flatten());

        Worker::new(shared.clone(), 0, first).enter(|worker| {
            let traits = Traits { panic_policy: shared.panic_policy, ..Traits::default() };
            let fiber = Fiber::new(main, traits, site);
            worker.spawn(fiber, Some(0));
            // SAFETY: the handle's reference keeps the fiber alive until it is released below.
            let finished = || unsafe { fiber.as_ref() }.finished.with(|finished| *finished);
            // Only a deadlock stops the runtime before that.
            worker.work(&|| finished() || shared.is_stopping());
            // SAFETY: the fiber is not used any more.
            unsafe { crate::spawned::fiber_cell::release(fiber) };
            if drain {
                shared.drain();
                worker.work(&|| shared.live() == 0 || shared.is_stopping());
            }
            shared.stop();
            let end = clock::instant_after(deadline);
            let has_told = Cell::new(false);
            worker.work(&|| {
                if shared.may_leave() || Instant::now() < end {
                    return shared.may_leave();
                }
                // Others may borrow from these fibers, and from this thread, which is about to
                // return to the caller's code.
                let begun = worker.begun(3);
                let may_end = begun.is_empty();
                if !may_end && !has_told.replace(true) {
                    shared.report(&Report::Staying(begun));
                }
                may_end
            });
            shared.leave(0);
            let shutdown = runtime.finish(end);
            worker.wind_up();
            if !shutdown.is_clean() {
                shared.report(&Report::Unfinished(shutdown));
            }
        });
        shared.deadlocks.fatal().cloned()
    }

    /// Makes this thread the only domain of a runtime. `f` drives the domain itself.
    #[cfg(feature = "model")]
    pub(crate) fn worked<R>(self, f: impl FnOnce(&Worker) -> R) -> io::Result<R> {
        worker::modelled::assert_no_domain();
        let (shared, mut drivers, _) = self.prepare(true)?;
        let runtime = Runtime::new(shared.clone());
        Ok(Worker::new(shared.clone(), 0, drivers.remove(0)).enter(|worker| {
            let result = f(worker);
            shared.stop();
            // Each execution has unwound its remaining fibers, as far as possible.
            let end = clock::instant_after(Duration::from_millis(100));
            worker.work(&|| shared.may_leave() || Instant::now() >= end);
            shared.leave(0);
            drop(runtime.finish(Instant::now()));
            worker.wind_up();
            result
        }))
    }

    /// Starts a runtime with all domains on threads of its own.
    ///
    /// # Errors
    ///
    /// Returns an error if the system gives no threads or pollers, or if the signal of
    /// [`dump_on`](Builder::dump_on) cannot be caught.
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::time::Duration;
    ///
    /// let runtime = lisle::Runtime::builder().domains(1).start()?;
    /// let fiber = runtime.spawn(|| 1 + 1);
    /// assert_eq!(fiber.join().unwrap(), 2);
    /// assert!(runtime.shutdown(Duration::from_secs(5)).is_clean());
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn start(self) -> io::Result<Runtime> {
        self.start_by(|runtime, drivers, pins| {
            start_threads(&runtime.shared, &runtime.threads, drivers, pins, 0)
        })
    }

    /// Starts a runtime on threads that the program starts itself: threads with names or stacks of their
    /// own, with work to do before and after, from a pool, or of a scope.
    ///
    /// `spawn` is called once for each domain, in order, and gets the domain. It has another thread call
    /// [`run`](DomainThread::run), which returns when the runtime has ended. Fibers may be spawned before
    /// that, and begin when their domain runs. A domain that is dropped runs nothing: fibers that are
    /// placed on it wait until the runtime ends.
    ///
    /// A shutdown waits for the domains, as it does otherwise, and not for the threads' work after that.
    /// [`thread_name`](Builder::thread_name) has no effect on these threads.
    ///
    /// # Errors
    ///
    /// As for [`start`](Builder::start), and the error of `spawn`. The domains that have begun then end.
    ///
    /// # Panics
    ///
    /// Panics with the panic of `spawn`. The domains that have begun then end.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// use std::{sync::mpsc, thread};
    ///
    /// let (tx, rx) = mpsc::channel();
    /// thread::scope(|scope| {
    ///     let builder = lisle::Runtime::builder().domains(2);
    ///     let runtime = builder.start_on(|domain| {
    ///         let (index, tx) = (domain.index(), tx.clone());
    ///         scope.spawn(move || {
    ///             domain.run();
    ///             tx.send(index).unwrap();
    ///         });
    ///         Ok(())
    ///     })?;
    ///     assert_eq!(runtime.run(|| 6 * 7), 42);
    ///     drop(runtime); // so the threads end, for which the scope waits
    ///     std::io::Result::Ok(())
    /// })?;
    /// drop(tx);
    /// assert_eq!(rx.iter().sum::<usize>(), 0 + 1);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn start_on(self, spawn: impl FnMut(DomainThread) -> io::Result<()>) -> io::Result<Runtime> {
        self.start_by(|runtime, drivers, pins| start_domains(&runtime.shared, drivers, pins, 0, spawn))
    }

    #[track_caller]
    fn start_by(
        self,
        start: impl FnOnce(&Runtime, Vec<Driver>, &[Option<core_affinity::CoreId>]) -> io::Result<()>,
    ) -> io::Result<Runtime> {
        cannot_be_checked(
            "a runtime with threads of its own",
            "they run beside the model",
            "Spawn fibers where they are, or use `run`, which runs its function in the model",
        );
        affinity::unpinned(|| {
            let (shared, drivers, pins) = self.prepare(false)?;
            let runtime = Runtime::new(shared);
            start(&runtime, drivers, &pins)?;
            Ok(runtime)
        })
    }

    #[allow(clippy::type_complexity)]
    fn prepare(
        self,
        is_run: bool,
    ) -> io::Result<(Arc<Shared>, Vec<Driver>, Vec<Option<core_affinity::CoreId>>)> {
        seam::set(Seam { contained: report::contained, is_raised_again: this_stack::is_raised_again });
        stack::overflow::install(overflow::describe);
        stack::check_size(self.stack_size)?;
        let mut domains = Vec::new();
        let mut drivers = Vec::new();
        for index in 0..self.domains {
            let (reactor, driver) = Reactor::new()?;
            domains.push(Arc::new(Domain::new(index, reactor)));
            drivers.push(driver);
        }
        static NUMBERS: AtomicUsize = AtomicUsize::new(0);
        let cores = if self.pin { core_affinity::get_core_ids().unwrap_or_default() } else { Vec::new() };
        let pins = (0..self.domains).map(|index| cores.get(index % cores.len().max(1)).copied()).collect();
        let shared = Arc::new(Shared {
            domains: domains.into(),
            stack_size: self.stack_size,
            panic_policy: self.panic_policy,
            stall_report: self.stall_report,
            thread_name: self.thread_name,
            hooks: self.hooks.after_process(),
            monitor: Monitor::default(),
            snapshot: Snapshots::default(),
            deadlocks: Deadlocks {
                policy: self.on_deadlock,
                is_returned: self.returns_deadlock,
                closed_world: self.closed_world,
                found: OnceLock::new(),
                callers: AtomicUsize::new(0),
            },
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            idle: CachePadded(AtomicUsize::new(0)),
            searching: CachePadded(AtomicUsize::new(self.domains)),
            processors: thread::available_parallelism().map_or(1, Into::into),
            offers: Offers::new(),
            phase: AtomicU8::new(RUNNING),
            left: AtomicUsize::new(0),
            has_last_left: Default::default(),
            common: CachePadded(Common::new()),
            groups: Groups::new(),
            lookouts: Lookouts::new(),
            spawned_outside: AtomicU64::new(0),
            outside: Lock::new(crate::sched::counts::Tally::default()),
            spare_stacks: SpareStacks::new(),
            handler: self.handler,
            dumps: Mutex::new(None),
            has_told_of_stacks: AtomicBool::new(false),
            has_told_of_sockets: AtomicBool::new(false),
            has_told_of_threads: AtomicBool::new(false),
            generation: fork::watch(),
        });
        match monitor::start(&shared) {
            // Its caller's thread is all that it needs, and it can do without being watched.
            Err(error) if is_run && self.domains == 1 => monitor::is_refused(&shared, &error),
            started => started?,
        }
        if let Some(signal) = self.dump_on {
            let dumps = dump::start(&shared, signal)?;
            shared.dumps.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).replace(dumps);
        }
        Ok((shared, drivers, pins))
    }
}
