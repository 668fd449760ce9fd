//! A domain whose turns a model decides: the same program, in a schedule of the model's choice.
//!
//! The domain is the only one of its runtime. Each operation that others can see gives the domain
//! back (`PerformerContext::visible`), and each turn is one step of a *process*: a fiber, or a task that has
//! had to wait. Between two turns the domain collects all ready processes, and an [`Explorer`]
//! chooses the one that runs. Time passes only when the explorer fires a timer. So an execution
//! depends on its choices alone.
//!
//! An execution that must not go on is unwound like a runtime that shuts down, and the domain is
//! used again.

mod explorer;
pub(super) mod few;
mod steps;
mod timers;
mod told;
mod unwinding;

pub(crate) use explorer::Process;
pub use explorer::{Again, Armed, Ended, Explorer, Nature, Time};

use super::Worker;
use super::either::{Either, either};
use super::held::resting::Load;
use super::parts::Parts;
use crate::event::MODEL_ERA;
use crate::shim::atomic::Ordering;
use crate::shim::model::{Report, is_running, set_report};
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use crate::spawned::runnable::Runnable;
use few::Few;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr::NonNull;
use steps::Waits;
use timers::Pending;

/// Panics if this thread is one of a runtime: to run a model here, or to wait for one, would block a
/// domain.
#[track_caller]
pub fn assert_no_domain() {
    assert!(
        super::with_current(|worker| worker.is_none()),
        "a model cannot be run inside a fiber: it would block the fiber's domain"
    );
}

/// A process that can run, unless it waits for a condition.
#[derive(Clone, Copy)]
struct Ready {
    who: NonNull<Runnable>,
    process: Process,
}

/// The state of a domain for a model.
#[derive(Default)]
pub(super) struct Modelled {
    explorer: Cell<Option<NonNull<dyn Explorer>>>,
    ready: RefCell<Vec<Ready>>,
    /// The processes among which the explorer may choose; kept for its memory.
    offered: RefCell<Vec<Process>>,
    /// The fibers that the step in progress has spawned.
    spawned: Few<NonNull<Runnable>>,
    /// The processes that wait for a condition, such as a free lock, with a function that tests it.
    waiting: Few<Waits>,
    /// The processes that wait until they may ask again.
    asking: Few<NonNull<Runnable>>,
    /// The parts of loops that have taken no step.
    pub(super) parts: Parts,
    /// The execution is being unwound.
    is_ending: Cell<bool>,
    /// Gets the accesses of the processes. The accesses of the scheduler decide nothing.
    report: Cell<Option<Report>>,
    /// Something could not be unwound.
    is_stuck: Cell<bool>,
    /// How often a fiber has been unwound in this execution.
    unwound: Cell<u32>,
    timers: Few<Pending>,
    now: Cell<u64>,
    /// When the execution has begun.
    begun: Cell<u64>,
}

/// Reports accesses, until it is dropped.
pub(super) struct Reported;

impl Drop for Reported {
    fn drop(&mut self) {
        set_report(None);
    }
}

/// Takes the explorer back when it is dropped.
struct Explored<'a>(&'a Modelled);

impl Drop for Explored<'_> {
    fn drop(&mut self) {
        self.0.explorer.set(None);
        set_report(self.0.report.take());
    }
}

impl Worker {
    /// Returns the explorer of the execution under way.
    pub(super) fn explorer(&self) -> Option<&dyn Explorer> {
        // SAFETY: `execute` keeps it while it is here.
        self.modelled.explorer.get().map(|explorer| unsafe { explorer.as_ref() })
    }

    /// Reports the accesses of the process that runs from now on.
    #[inline(always)]
    pub(super) fn report(&self) -> Option<Reported> {
        is_running().then(|| {
            set_report(self.modelled.report.get());
            Reported
        })
    }

    /// Returns `true` if a model schedules this domain.
    pub(crate) fn is_modelled(&self) -> bool {
        self.explorer().is_some()
    }

    /// Runs a program in the schedule that `explorer` chooses, until all of its fibers and tasks
    /// have ended, nothing can run, or the explorer gives it up. The rest is unwound then. Returns
    /// also the waits that cannot be unwound.
    ///
    /// # Panics
    ///
    /// If an earlier execution has left fibers that cannot be unwound.
    pub fn execute(
        &self,
        explorer: &dyn Explorer,
        site: &'static Location<'static>,
        program: Box<dyn FnOnce() + Send>,
    ) -> (Ended, Option<String>) {
        let modelled = &self.modelled;
        assert!(!modelled.is_stuck.get(), "an earlier execution still holds this thread");
        // SAFETY: the guard takes it back before the borrow ends.
        let erased = unsafe { std::mem::transmute::<&dyn Explorer, &'static dyn Explorer>(explorer) };
        modelled.explorer.set(Some(NonNull::from(erased)));
        modelled.report.set(set_report(None));
        let _explored = Explored(modelled);
        modelled.begun.set(MODEL_ERA);
        modelled.now.set(MODEL_ERA);
        let fiber = Fiber::new(program, Traits::default(), site);
        self.spawn(fiber, None);
        // Nobody's step has spawned it.
        modelled.spawned.clear();
        // SAFETY: this is the reference of a handle, and there is no handle.
        unsafe { fiber_cell::release(fiber) };
        let mut offered = modelled.offered.take();
        let ended = self.explore(explorer, &mut offered);
        modelled.offered.replace(offered);
        let stuck = if matches!(ended, Ended::Complete) { None } else { self.unwind_all() };
        modelled.is_stuck.set(stuck.is_some());
        (ended, stuck)
    }

    fn explore(&self, explorer: &dyn Explorer, offered: &mut Vec<Process>) -> Ended {
        self.modelled.parts.clear();
        self.domain.woken_from_outside.store(false, Ordering::Relaxed);
        loop {
            self.collect();
            // The next execution sets it back.
            if self.domain.woken_from_outside.load(Ordering::Relaxed) {
                explorer.is_disturbed();
                return Ended::GivenUp;
            }
            offered.clear();
            self.offer_ready(offered);
            self.offer_timers(explorer, offered);
            let rests = self.modelled.parts.are_all(offered);
            if rests {
                explorer.rests_on_parts(offered);
            } else if offered.is_empty() {
                offered.extend(explorer.asks_last());
            }
            if offered.is_empty() || rests {
                return self.end_blocked(explorer);
            }
            let Some(process) = explorer.next(offered) else { return Ended::GivenUp };
            let next = self.take_ready(process);
            self.modelled.parts.begins(process);
            match next {
                Some(next) => self.take_step(next),
                None if self.fire(process, explorer) => {}
                None => return Ended::GivenUp,
            }
        }
    }

    /// Takes everything that is ready out of the domain's queues.
    #[inline(always)]
    fn collect(&self) {
        self.take_inbox();
        self.offer_surplus();
        let mut ready = self.modelled.ready.borrow_mut();
        let mut add = |who| ready.push(Ready { who, process: self.process_of(who) });
        self.queues.take_all(&mut add);
        while let Some(next) = self.domain.stealable.take_oldest() {
            add(next);
        }
        // Each step comes here, and mostly nothing is there.
        if self.shared.common.len() > 0 {
            std::iter::from_fn(|| self.shared.common.take()).for_each(add);
        }
    }

    /// Adds the processes that are ready and can go on to `offered`.
    #[inline]
    fn offer_ready(&self, offered: &mut Vec<Process>) {
        let ready = self.modelled.ready.borrow();
        if self.all_can_go_on() {
            // They are few: to copy them one by one is faster than to prepare for many.
            for ready in ready.iter() {
                offered.push(ready.process);
            }
        } else {
            let can_go_on = ready.iter().filter(|ready| self.can_go_on(ready.who));
            offered.extend(can_go_on.map(|ready| ready.process));
        }
    }

    /// Takes a process out of the ready ones. Returns `None` if it is not ready.
    #[inline]
    fn take_ready(&self, process: Process) -> Option<NonNull<Runnable>> {
        let mut ready = self.modelled.ready.borrow_mut();
        let at = ready.iter().position(|ready| ready.process == process)?;
        Some(ready.swap_remove(at).who)
    }

    /// Takes a step of a ready process. It is inlined up to the switch: a return after that is
    /// mispredicted.
    #[inline(always)]
    fn take_step(&self, next: NonNull<Runnable>) {
        let turn = self.next_turn();
        self.modelled.asking.retain(|asking| *asking != next);
        // SAFETY: a queued entry is alive, and the domain that takes it runs it.
        match unsafe { either(next) } {
            Either::Fiber(fiber) if !self.is_hooked() => self.run_hooked::<false>(fiber, turn),
            Either::Fiber(fiber) => self.run(fiber, turn),
            Either::Task(task) => self.run_on_runner(Load::Task(task), turn),
        }
        if !self.modelled.spawned.is_empty() {
            self.begin_spawned();
        }
    }

    /// Runs the fibers that the step has spawned up to the first thing that others see. It is a
    /// part of the step: nobody can tell when they begin.
    fn begin_spawned(&self) {
        while !self.modelled.spawned.is_empty() {
            let mut spawned = self.modelled.spawned.change(std::mem::take);
            self.collect();
            for fiber in spawned.drain(..) {
                self.modelled.ready.borrow_mut().retain(|ready| ready.who != fiber);
                if let Some(explorer) = self.explorer() {
                    explorer.begins(self.process_of(fiber));
                }
                self.run(fiber.cast(), self.next_turn());
            }
            // Its memory is used again.
            self.modelled.spawned.change(|next| {
                spawned.append(next);
                *next = spawned;
            });
        }
    }

    /// Ends an execution in which nothing can go on.
    fn end_blocked(&self, explorer: &dyn Explorer) -> Ended {
        let waiting = self.take_waiting();
        let is_ready = |waits: &&Waits| waiting.contains(&waits.who);
        let of_waits = |waits: &Waits| (self.process_of(waits.who), waits.awaited);
        let waiting: Vec<_> = self.modelled.waiting.read().iter().filter(is_ready).map(of_waits).collect();
        explorer.is_over(&waiting);
        self.wait_in_earnest();
        self.end_of_all()
    }

    /// Lets processes that wait for locks wait as they would without a model, so that the wait
    /// graph can name them.
    fn wait_in_earnest(&self) {
        loop {
            let waiting = self.take_waiting();
            if waiting.is_empty() {
                return;
            }
            self.modelled.ready.borrow_mut().retain(|ready| !waiting.contains(&ready.who));
            waiting.into_iter().for_each(|next| self.take_step(next));
            self.collect();
        }
    }

    /// Takes the processes that wait, without processes that ask again and again or have not begun.
    fn take_waiting(&self) -> Vec<NonNull<Runnable>> {
        let (ready, asking) = (self.modelled.ready.borrow(), self.modelled.asking.read());
        let waits = |ready: &&Ready| !asking.contains(&ready.who) && !self.modelled.parts.has(ready.process);
        ready.iter().filter(waits).map(|ready| ready.who).collect()
    }

    fn end_of_all(&self) -> Ended {
        if self.shared.live() == 0 {
            return Ended::Complete;
        }
        Ended::Blocked(self.shared.snapshot().graph)
    }
}
