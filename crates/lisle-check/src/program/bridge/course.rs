//! How an execution has gone so far: its steps, and what must have come before what.
//!
//! Both change with each step, and are kept together, so that a step looks for them once.

use crate::explore::Process;
use crate::program::causes::{Causes, Moment};

/// How the execution has gone so far.
#[derive(Default)]
pub(super) struct Course {
    /// The process of each step.
    pub(super) steps: Vec<Process>,
    pub(super) causes: Causes,
    /// What the next step is chosen from; kept for its memory.
    pub(super) offered: Vec<Process>,
}

impl Course {
    /// Forgets all, for the next execution.
    pub(super) fn begin(&mut self) {
        self.steps.clear();
        self.causes.clear();
    }

    /// Returns the present moment. What a step spawns begins in it.
    pub(super) fn now(&self) -> Moment {
        Moment { process: self.steps.last().copied().unwrap_or(Process::ROOT), step: self.steps.len() }
    }
}
