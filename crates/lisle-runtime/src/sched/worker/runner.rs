//! The *runner*: the fiber on whose stack a domain runs tasks, and parts of loops.
//!
//! A task that is ready has no stack, and needs one while it is polled. The domain's stack would
//! do, but a task that blocks in place (it locks a mutex, joins a fiber, calls a function that
//! receives) would then stop its whole domain, and the awaited fiber may be on that domain. So
//! tasks run in a fiber. The runner rests between tasks and is resumed with the next one, which
//! costs a switch of stacks. If a task blocks, the runner is parked like any fiber, and the next
//! task gets a new runner. When two runners rest, one ends.
//!
//! A runner does not count as live; its tasks do.

use super::held::resting::Load;
use super::{Worker, with_current};
use crate::event::parker::{self, Suspend};
use crate::sched::tasks::life;
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use crate::spawned::runnable::Kind;
use std::panic::Location;
use std::ptr::NonNull;

impl Worker {
    /// Runs a task until it waits or ends, or a part of a loop until it ends.
    pub(super) fn run_on_runner(&self, load: Load, turn: u32) {
        let runner = match self.resting.runner.take() {
            Some(resting) => {
                self.resting.load.set(Some(load));
                resting
            }
            None => new_runner(load),
        };
        self.run(runner, turn);
    }

    /// Takes the next task for a running runner, if no fiber is to run next and nothing else is
    /// due.
    fn follow(&self) -> Option<Load> {
        #[cfg(feature = "model")]
        if self.explorer().is_some() {
            return None;
        }
        if self.is_to_visit(self.turn.get().wrapping_add(1)) || self.begun.is_interrupting() {
            return None;
        }
        let following = self.queues.pick_task()?;
        self.begin_turn();
        Some(Load::Task(following))
    }

    /// Ends the runner that rests, if there is one.
    pub(super) fn retire_runner(&self) {
        if let Some(resting) = self.resting.runner.take() {
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
        let worker = worker.expect("a runner runs on a domain, and stays there");
        let mut next = Some(first);
        while let Some(load) = next {
            match load {
                // SAFETY: it was taken out of its queue to be run here.
                Load::Task(task) => unsafe { life::run(task, worker) },
                // SAFETY: it was taken to be run here.
                Load::Job(taken) => unsafe { worker.run_job(taken) },
            }
            // When the runtime is wound up, a runner that never got a stack is run on the domain's
            // stack.
            let Some(runner) = parker::running() else { return };
            next = worker.follow();
            if next.is_none() && worker.resting.runner.get().is_none() {
                // SAFETY: this runner runs this code.
                unsafe { runner.suspend(Suspend::Resting) };
                // A runner that is resumed without a load ends.
                next = worker.resting.load.take();
            }
        }
    });
}
