//! A worker whose turns a model decides: the same program, in a schedule of the model's choice.
//!
//! The worker is the only one of its runtime. Each operation that others can see gives the worker
//! back (`Context::visible`), and each turn is one step of a *process*: a fiber, or a task that has
//! had to wait. Between two turns everything that is ready is collected, and an [`Explorer`] says
//! what runs. Time passes only when it says so. So an execution depends on its answers alone.
//!
//! An execution that is not to go on is unwound like a runtime that shuts down, and the worker is
//! used again.

mod explorer;
mod steps;
mod timers;
mod told;
mod unwinding;

pub use explorer::{Again, Ended, Explorer, Nature, Process};

use super::Worker;
use super::either::{Either, either};
use super::parts::Parts;
use super::runner::Load;
use crate::shim::atomic::Ordering;
use crate::shim::clock;
use crate::shim::model::{Report, set_report};
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use crate::spawned::runnable::Runnable;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr::NonNull;
use steps::Waits;
use timers::Armed;

/// What a worker keeps for a model.
#[derive(Default)]
pub(super) struct Modelled {
    explorer: Cell<Option<NonNull<dyn Explorer>>>,
    ready: RefCell<Vec<NonNull<Runnable>>>,
    /// The fibers that the step in progress has spawned.
    spawned: RefCell<Vec<NonNull<Runnable>>>,
    /// What waits until something is so, such as that a lock is free, with the question whether it is.
    waiting: RefCell<Vec<Waits>>,
    /// What waits until it is to ask again.
    asking: RefCell<Vec<NonNull<Runnable>>>,
    /// The parts of loops that have taken no step.
    pub(super) parts: Parts,
    /// The execution is being unwound.
    is_ending: Cell<bool>,
    /// What is told what the processes touch. What the scheduler touches decides nothing.
    report: Cell<Option<Report>>,
    /// Something could not be unwound.
    is_stuck: Cell<bool>,
    /// How often a fiber has been unwound in this execution.
    unwound: Cell<u32>,
    timers: RefCell<Vec<Armed>>,
    now: Cell<u64>,
    /// When the execution has begun.
    begun: Cell<u64>,
}

/// Reports what is touched, until it is dropped.
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
    /// Returns what decides about the execution under way.
    pub(super) fn explorer(&self) -> Option<&dyn Explorer> {
        // SAFETY: `execute` keeps it while it is here.
        self.modelled.explorer.get().map(|explorer| unsafe { explorer.as_ref() })
    }

    /// Reports what the process touches that runs from now on.
    pub(super) fn report(&self) -> Reported {
        set_report(self.modelled.report.get());
        Reported
    }

    /// Returns `true` if a model decides what runs here.
    pub(crate) fn is_modelled(&self) -> bool {
        self.explorer().is_some()
    }

    /// Runs a program in the schedule that `explorer` chooses, until all of its fibers and tasks have
    /// ended, nothing can run, or the explorer gives it up. What is left then is unwound. Returns also
    /// what cannot be.
    ///
    /// # Panics
    ///
    /// If an earlier execution has left what cannot be unwound.
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
        modelled.begun.set(clock::now());
        modelled.now.set(modelled.begun.get());
        let fiber = Fiber::new(program, Traits::default(), site);
        self.spawn(fiber, None);
        // Nobody's step has spawned it.
        modelled.spawned.borrow_mut().clear();
        // SAFETY: this is the reference of a handle, and there is no handle.
        unsafe { fiber_cell::release(fiber) };
        let ended = self.explore(explorer);
        let stuck = if matches!(ended, Ended::Complete) { None } else { self.unwind_all() };
        modelled.is_stuck.set(stuck.is_some());
        (ended, stuck)
    }

    fn explore(&self, explorer: &dyn Explorer) -> Ended {
        let mut offered = Vec::new();
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
            offered.extend(
                self.modelled
                    .ready
                    .borrow()
                    .iter()
                    .filter(|ready| self.can_go_on(**ready))
                    .map(|ready| self.process_of(*ready)),
            );
            self.offer_timers(explorer, &mut offered);
            let rests = self.modelled.parts.are_all(&offered);
            if rests {
                explorer.rests_on_parts(&offered);
            } else if offered.is_empty() {
                offered.extend(explorer.asks_last());
            }
            if offered.is_empty() || rests {
                return self.end_blocked(explorer);
            }
            let Some(process) = explorer.next(&offered) else { return Ended::GivenUp };
            let ready = &self.modelled.ready;
            let at = ready.borrow().iter().position(|ready| self.process_of(*ready) == process);
            let next = at.map(|at| ready.borrow_mut().swap_remove(at));
            self.modelled.parts.begins(process);
            match next {
                Some(next) => self.take_step(next),
                None if self.fire(process, explorer) => {}
                None => return Ended::GivenUp,
            }
        }
    }

    /// Takes everything that is ready out of the worker's queues.
    fn collect(&self) {
        self.take_inbox();
        let mut ready = self.modelled.ready.borrow_mut();
        let next = || {
            let queued = self.queues.take_any().or_else(|| self.domain.stealable.take_oldest());
            queued.or_else(|| self.shared.common.take())
        };
        while let Some(next) = next() {
            ready.push(next);
        }
    }

    fn take_step(&self, next: NonNull<Runnable>) {
        let turn = self.next_turn();
        self.modelled.asking.borrow_mut().retain(|asking| *asking != next);
        // SAFETY: what was queued is alive, and the worker that takes it runs it.
        match unsafe { either(next) } {
            Either::Fiber(fiber) => self.run(fiber, turn),
            Either::Task(task) => self.run_on_runner(Load::Task(task), turn),
        }
        self.begin_spawned();
    }

    /// Runs the fibers that the step has spawned up to the first thing that others see. It is a part of
    /// the step: nobody can tell when they begin.
    fn begin_spawned(&self) {
        loop {
            let spawned = self.modelled.spawned.take();
            if spawned.is_empty() {
                return;
            }
            self.collect();
            for fiber in spawned {
                self.modelled.ready.borrow_mut().retain(|ready| *ready != fiber);
                if let Some(explorer) = self.explorer() {
                    explorer.begins(self.process_of(fiber));
                }
                self.run(fiber.cast(), self.next_turn());
            }
        }
    }

    /// Ends an execution in which nothing can go on.
    fn end_blocked(&self, explorer: &dyn Explorer) -> Ended {
        let waiting = self.take_waiting();
        let is_ready = |waits: &&Waits| waiting.contains(&waits.who);
        let of_waits = |waits: &Waits| (self.process_of(waits.who), waits.awaited);
        let waiting: Vec<_> = self.modelled.waiting.borrow().iter().filter(is_ready).map(of_waits).collect();
        explorer.is_over(&waiting);
        self.wait_in_earnest();
        self.end_of_all()
    }

    /// Lets those that wait for locks wait as they would without a model, so that they can be named.
    fn wait_in_earnest(&self) {
        loop {
            let waiting = self.take_waiting();
            if waiting.is_empty() {
                return;
            }
            self.modelled.ready.borrow_mut().retain(|ready| !waiting.contains(ready));
            waiting.into_iter().for_each(|next| self.take_step(next));
            self.collect();
        }
    }

    /// Returns what is ready to wait: neither what asks again and again, nor what has not begun.
    fn take_waiting(&self) -> Vec<NonNull<Runnable>> {
        let (ready, asking) = (self.modelled.ready.borrow(), self.modelled.asking.borrow());
        let waits = |ready: &&NonNull<Runnable>| {
            !asking.contains(ready) && !self.modelled.parts.has(self.process_of(**ready))
        };
        ready.iter().filter(waits).copied().collect()
    }

    fn end_of_all(&self) -> Ended {
        if self.shared.live() == 0 {
            return Ended::Complete;
        }
        Ended::Blocked(self.shared.snapshot().graph)
    }
}
