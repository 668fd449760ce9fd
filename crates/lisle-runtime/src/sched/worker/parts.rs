//! Parts of loops in a model: each is run by a fiber of its own, and waited for by its owner.

use super::Worker;
use crate::event::parker;
use crate::jobs::job::Job;
use crate::sched::within;
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use crate::spawned::this_stack::this_stack;
use std::ptr::{NonNull, null};

/// A part that was taken.
struct Part(NonNull<Job>);

// SAFETY: the worker of a model is alone, and the part runs on its thread.
unsafe impl Send for Part {}

impl Part {
    fn run(self) {
        let pending = &this_stack().pending;
        pending.job.set(self.0.as_ptr());
        let within = within::enter(pending);
        // SAFETY: it was taken to be run here, and its owner waits until it is done.
        unsafe { Job::run(self.0) };
        drop(within);
        pending.job.set(null());
    }
}

impl Worker {
    /// Spawns a fiber that runs a part of a loop.
    ///
    /// # Safety
    ///
    /// It has been offered, and only the caller takes it. It stays in place until it is done.
    pub(crate) unsafe fn take_part(&self, part: NonNull<Job>) {
        // SAFETY: in place, by the caller's promise.
        let job = unsafe { part.as_ref() };
        let taken = Part(part);
        let fiber = Fiber::new(move || taken.run(), Traits::default(), job.site);
        self.spawn(fiber, None);
        job.process.set(self.process_of(fiber.cast()));
        // SAFETY: this is the reference of a handle, and there is no handle.
        unsafe { fiber_cell::release(fiber) };
    }

    /// Waits until a part of a loop is done. It borrows from here, so nothing ends the wait.
    pub(crate) fn await_part(&self, part: &Job) {
        if let (Some(parker), Some(explorer)) = (parker::running(), self.explorer()) {
            self.step_of(parker, Some(&|| part.has_ended()));
            if part.has_ended() {
                return explorer.joined(part.process.get());
            }
        }
        // Nothing can go on, or all is unwound.
        let _masked = parker::masked();
        part.wait();
    }

    /// Returns the number of parts that a loop is divided into at most.
    pub(crate) fn most_parts(&self) -> usize {
        self.explorer().map_or(1, |explorer| explorer.most_parts())
    }

    /// Returns where a loop is divided, see [`Explorer::division`](super::modelled::Explorer::division).
    pub(crate) fn division(&self, blocks: usize, parts: usize) -> Option<usize> {
        self.explorer()?.division(blocks, parts)
    }
}
