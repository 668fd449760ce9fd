//! The course of an execution so far: its steps, and the certain order between them.
//!
//! Both change with each step, and are kept together, so that a step looks for them once.

use crate::explore::Process;
use crate::program::causes::{Causes, Moment};

/// The course of the execution so far.
#[derive(Default)]
pub(super) struct Course {
    /// The process of each step.
    pub(super) steps: Vec<Process>,
    /// The processes that have taken steps.
    pub(super) processes: Vec<Process>,
    pub(super) causes: Causes,
    /// The processes among which the next step is chosen; kept for its memory.
    pub(super) offered: Vec<Process>,
}

impl Course {
    /// Forgets all, for the next execution.
    pub(super) fn begin(&mut self) {
        self.steps.clear();
        self.processes.clear();
        self.causes.clear();
    }

    /// Adds a step of a process.
    #[inline]
    pub(super) fn goes_on(&mut self, process: Process) {
        if self.steps.last() != Some(&process) && !self.processes.contains(&process) {
            self.processes.push(process);
        }
        self.steps.push(process);
        self.causes.goes_on(Moment { process, step: self.steps.len() });
    }

    /// Returns the present moment, in which the processes begin that the step spawns.
    pub(super) fn now(&self) -> Moment {
        Moment { process: self.steps.last().copied().unwrap_or(Process::ROOT), step: self.steps.len() }
    }
}
