//! Steps of several processes that may go on for ever: the checker repeats them to find out.

use super::rounds::AskingState;
use super::{Asking, ENDLESS};
use crate::explore::Process;

/// Steps that are repeated.
#[derive(Debug)]
pub(super) struct Cycle {
    steps: Vec<Process>,
    /// The next one of them.
    at: usize,
    /// How often all of them have been repeated.
    count: u32,
}

impl Asking {
    /// Begins to repeat steps of the execution if they may be a cycle. `offered` has the processes
    /// that can run. If there are none, it has the tired process; then this is taken out. Returns
    /// `true` if nothing else can run.
    pub(in crate::program) fn suspects(&mut self, steps: &[Process], offered: &mut Vec<Process>) -> bool {
        let Some((process, from)) = self.suspected.take() else { return false };
        let cycle = &steps[from..];
        if cycle.iter().all(|process| self.is_idle(*process)) && is_fair(cycle, offered) {
            self.cycle = Some(Cycle { steps: cycle.to_vec(), at: 0, count: 0 });
            self.of(process).state = AskingState::Runs;
            return false;
        }
        let is_last = offered[..] == [process];
        if !is_last {
            offered.retain(|other| *other != process);
        }
        is_last
    }

    /// Returns the process that takes the next step if a cycle is repeated. `offered` has the
    /// processes that can run.
    pub(in crate::program) fn repeats(&mut self, offered: &[Process]) -> Option<Process> {
        let cycle = self.cycle.as_ref()?;
        let next = cycle.steps[cycle.at];
        let goes_on = offered.contains(&next) && is_fair(&cycle.steps, offered);
        if !goes_on {
            self.cycle = None;
        }
        goes_on.then_some(next)
    }

    /// Returns `true` if the next step is one that has been repeated before.
    pub(in crate::program) fn repeats_again(&self) -> bool {
        self.cycle.as_ref().is_some_and(|cycle| cycle.count > 0)
    }

    /// Notes which process takes the next step. Returns `true` if the cycle does not end.
    pub(in crate::program) fn goes_round(&mut self, process: Process) -> bool {
        let Some(cycle) = &mut self.cycle else { return false };
        if cycle.steps[cycle.at] != process {
            self.cycle = None;
            return false;
        }
        cycle.at += 1;
        if cycle.at == cycle.steps.len() {
            (cycle.at, cycle.count) = (0, cycle.count + 1);
        }
        cycle.count >= ENDLESS
    }

    /// Notes that a process does something else than in the round before.
    pub(super) fn deviates(&mut self, process: Process) {
        if self.cycle.as_ref().is_some_and(|cycle| cycle.steps.contains(&process)) {
            self.cycle = None;
        }
    }
}

/// Returns `true` if each process that can run takes one of these steps. A fair schedule repeats no
/// others for ever.
fn is_fair(steps: &[Process], offered: &[Process]) -> bool {
    !steps.is_empty() && offered.iter().all(|process| steps.contains(process))
}
