//! The *runner*: the fiber on whose stack a worker runs tasks, and parts of loops.
//!
//! A task that is ready has no stack, and needs one while it is polled. The worker's stack would
//! do, but a task that blocks in place (it locks a mutex, joins a fiber, calls a function that
//! receives) would then stop its whole domain, and what it waits for may be on that domain. So
//! tasks run in a fiber. The runner rests between tasks and is resumed with the next one, which
//! costs a switch of stacks. If a task blocks, the runner is parked like any fiber, and the next
//! task gets a new runner. When two runners rest, one ends.
//!
//! A runner does not count as live; its tasks do.

use super::queues::STREAK;
use super::worker::{VISIT, Worker, with_current};
use crate::event::parker::{self, Suspend};
use crate::sched::either::{Either, either};
use crate::sched::joining::Load;
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use crate::spawned::runnable::Kind;
use crate::task;
use std::panic::Location;
use std::ptr::NonNull;

impl Worker {
    /// Runs a task until it waits or ends, or a part of a loop until it ends.
    pub(crate) fn run_on_runner(&self, load: Load, turn: u32) {
        let runner = match self.runner.take() {
            Some(resting) => {
                self.borne.set(Some(load));
                resting
            }
            None => new_runner(load),
        };
        self.run(runner, turn);
    }

    /// Takes the next task for a running runner, if no fiber is to run next and nothing else is
    /// due.
    fn follow(&self) -> Option<Load> {
        let turn = self.turn.get().wrapping_add(1);
        if turn.is_multiple_of(VISIT) || self.streak.get() >= STREAK || !self.interrupting.get().is_null() {
            return None;
        }
        let following = match self.next.get() {
            Some(_) if self.due() => self.take_woken()?.cast(),
            Some(next) => {
                // SAFETY: what is queued is alive, and the worker that takes it runs it.
                let Either::Task(task) = (unsafe { either(next) }) else { return None };
                self.next.set(None);
                self.streak.set(self.streak.get() + 1);
                task
            }
            // There may be many: code that goes on may unblock one after the other. They must not
            // pile up.
            None => self.take_woken()?.cast(),
        };
        self.turn.set(turn);
        self.domain.counts.begin_turn(turn, self.others_are_ready());
        Some(Load::Task(following))
    }

    /// Ends the runner that rests, if there is one.
    pub(super) fn retire_runner(&self) {
        if let Some(resting) = self.runner.take() {
            self.run(resting, self.turn.get());
        }
    }
}

#[cold]
fn new_runner(first: Load) -> NonNull<Fiber> {
    let traits = Traits { kind: Some(Kind::Runner), ..Traits::default() };
    let runner = Fiber::new(move || bear(first), traits, Location::caller());
    // SAFETY: this is the reference of a handle, and there is no handle.
    unsafe { fiber_cell::release(runner) };
    runner
}

/// Runs loads for as long as the runner lives.
fn bear(first: Load) {
    with_current(|worker| {
        let worker = worker.expect("a runner runs in a worker, and stays there");
        let mut next = Some(first);
        while let Some(load) = next {
            match load {
                // SAFETY: it was taken out of its queue to be run here.
                Load::Task(task) => unsafe { task::run(task, worker) },
                // SAFETY: it was taken to be run here.
                Load::Job(taken) => unsafe { worker.run_job(taken) },
            }
            // When the runtime is wound up, a runner that never got a stack is run on the worker's
            // stack.
            let Some(runner) = parker::running() else { return };
            next = worker.follow();
            if next.is_none() && worker.runner.get().is_none() {
                runner.suspend(Suspend::Resting);
                // A runner that is resumed without a load ends.
                next = worker.borne.take();
            }
        }
    });
}
