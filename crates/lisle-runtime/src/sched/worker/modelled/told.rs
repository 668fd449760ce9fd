//! The reports to the explorer about processes: they are there, are woken, and have ended.

use super::{Nature, Process};
use crate::sched::worker::Worker;
use crate::sched::worker::either::{Either, either};
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::runnable::{Kind, Runnable};
use crate::spawned::task_cell::Task;
use std::panic::Location;
use std::ptr::NonNull;

impl Worker {
    /// Notes that the running code has spawned a fiber, or has made a task a thread.
    pub(crate) fn has_spawned(&self, spawned: NonNull<Runnable>, site: &'static Location<'static>) {
        if let Some(explorer) = self.explorer() {
            let process = explorer.spawned(site);
            // SAFETY: an entry that has just been spawned is alive.
            let (size, nature) = match unsafe { either(spawned) } {
                Either::Fiber(fiber) => {
                    // SAFETY: as above.
                    let name = unsafe { fiber.as_ref() }.name();
                    (size_of::<Fiber>(), Nature::Fiber(name))
                }
                Either::Task(_) => (size_of::<Task>(), Nature::Task),
            };
            explorer.introduced(process, nature);
            explorer.owns(process, spawned.addr().get(), size);
            // SAFETY: as above.
            unsafe { spawned.as_ref() }.process.set(process);
            // SAFETY: as above.
            if let Either::Fiber(fiber) = unsafe { either(spawned) } {
                self.modelled.spawned.push(fiber.cast());
            }
        }
    }

    /// Notes that the running code has woken a fiber or a task.
    pub(in crate::sched::worker) fn has_woken(&self, woken: NonNull<Runnable>) {
        if let Some(explorer) = self.explorer()
            && !self.modelled.is_ending.get()
        {
            explorer.woken(self.process_of(woken));
        }
    }

    /// Notes that a fiber or a task has ended.
    pub(crate) fn has_ended(&self, ended: &Runnable) {
        if let Some(explorer) = self.explorer() {
            explorer.ended(ended.process.get());
        }
    }

    /// Notes that a fiber has been given its stack.
    pub(in crate::sched::worker) fn has_stack(&self, fiber: &Fiber, stack: std::ops::Range<usize>) {
        if let Some(explorer) = self.explorer()
            && !fiber.is_runner()
        {
            explorer.owns(self.process_of(NonNull::from(fiber).cast()), stack.start, stack.len());
        }
    }

    #[inline]
    pub(in crate::sched::worker) fn process_of(&self, runnable: NonNull<Runnable>) -> Process {
        // SAFETY: a ready entry is alive.
        let this = unsafe { runnable.as_ref() };
        if this.kind() == Kind::Runner {
            // SAFETY: as above, and a runner is a fiber.
            let runner = unsafe { runnable.cast::<Fiber>().as_ref() };
            let bearer = Task::borne_by(runner).map(|task| NonNull::from(task).cast::<Runnable>());
            // SAFETY: a task that runs on the stack of a fiber is alive.
            return bearer.map_or(this, |bearer| unsafe { bearer.as_ref() }).process.get();
        }
        this.process.get()
    }
}
