//! Parts of loops in a model: a fiber of its own runs each part, and the owner waits for it.
//!
//! On fewer domains a part begins when its owner comes back to it. So if the owner waits for
//! something else, and only parts that have not begun can run, the program might wait for ever,
//! since nothing promises that parts run at the same time. A fiber of its own for each part would
//! never show that, so this module keeps the parts that have not begun.

use super::Worker;
use super::modelled::Process;
use super::modelled::few::Few;
use crate::event::awaited::Awaited;
use crate::event::parker;
use crate::jobs::job::Job;
use crate::masked;
use crate::sched::within;
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use crate::spawned::this_stack::this_stack;
use std::cell::Cell;
use std::ptr::{NonNull, null};

/// The parts of an execution.
#[derive(Default)]
pub(super) struct Parts {
    /// The parts that have taken no step.
    unbegun: Few<Process>,
    /// How many processes wait for a part, and might run one instead.
    helping: Cell<usize>,
}

impl Parts {
    /// Forgets all, for the next execution.
    pub(super) fn clear(&self) {
        self.unbegun.clear();
        self.helping.set(0);
    }

    /// Notes that a process takes a step.
    #[inline]
    pub(super) fn begins(&self, process: Process) {
        self.unbegun.retain(|part| *part != process);
    }

    /// Returns `true` if this is a part that has taken no step.
    pub(super) fn has(&self, process: Process) -> bool {
        self.unbegun.read().contains(&process)
    }

    /// Returns `true` if these are parts that have taken no step, and nobody comes back to them.
    #[inline]
    pub(super) fn are_all(&self, ready: &[Process]) -> bool {
        !self.unbegun.is_empty()
            && self.helping.get() == 0
            && !ready.is_empty()
            && ready.iter().all(|ready| self.has(*ready))
    }
}

/// A part that was taken.
struct TakenPart(NonNull<Job>);

// SAFETY: the domain of a model is alone, and the part runs on its thread.
unsafe impl Send for TakenPart {}

impl TakenPart {
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

/// Counts a process that waits for a part, until it is dropped.
struct Helping<'a>(&'a Cell<usize>);

impl<'a> Helping<'a> {
    fn new(helping: &'a Cell<usize>) -> Self {
        helping.update(|helping| helping + 1);
        Helping(helping)
    }
}

impl Drop for Helping<'_> {
    fn drop(&mut self) {
        self.0.update(|helping| helping.saturating_sub(1));
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
        let taken = TakenPart(part);
        let fiber = Fiber::new(move || taken.run(), Traits::default(), job.site);
        self.spawn(fiber, None);
        let process = self.process_of(fiber.cast());
        job.process.set(process);
        self.modelled.parts.unbegun.push(process);
        // SAFETY: this is the reference of a handle, and there is no handle.
        unsafe { fiber_cell::release(fiber) };
    }

    /// Waits until a part of a loop is done. It borrows from here, so nothing ends the wait.
    pub(crate) fn await_part(&self, part: &Job) {
        if let (Some(parker), Some(explorer)) = (parker::running(), self.explorer()) {
            let helping = Helping::new(&self.modelled.parts.helping);
            self.step_of(parker, Some((Awaited::Free, &|| part.has_ended())));
            if part.has_ended() {
                return explorer.joined(part.process.get());
            }
            drop(helping);
        }
        // Nothing can go on, or all is unwound.
        masked!(_masked);
        part.wait();
    }

    /// Returns the number of parts that a loop is divided into at most.
    pub(crate) fn most_parts(&self) -> usize {
        self.explorer().map_or(1, |explorer| explorer.most_parts())
    }

    /// Returns where a loop is divided, see
    /// [`Explorer::division`](super::modelled::Explorer::division).
    pub(crate) fn division(&self, blocks: usize) -> Option<usize> {
        self.explorer()?.division(blocks)
    }
}
