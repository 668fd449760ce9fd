//! Running the steps of another execution in a different order.
//!
//! A schedule gives each decision as a number among the processes that can run. After two steps are
//! exchanged, other processes can run, and the same numbers mean other processes. A *plan* names
//! the process of each step. So the steps after the exchanged ones remain the same, as far as they
//! can.

use super::{Counts, Decision, Ending, Mark, Process, Strategy};
use crate::forward_reports;
use std::sync::{Arc, Mutex, PoisonError};

/// A step of an execution: its process, and its choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The process that takes the step.
    pub process: Process,
    /// The choices of the step.
    pub ways: Vec<u32>,
}

/// Takes the steps of a plan in their order, once.
///
/// A step whose process cannot run is taken later: each time the first step of the plan runs that
/// can. After the end of the plan the default runs: the process that ran last, or the first one.
#[derive(Debug)]
pub struct Follow {
    plan: Vec<Planned>,
    ways: Vec<u32>,
    begun: bool,
    steps: u32,
    counts: Counts,
}

impl Follow {
    /// Creates a strategy that follows this plan.
    pub fn new(mut plan: Vec<Planned>) -> Self {
        plan.reverse();
        Follow { plan, ways: Vec::new(), begun: false, steps: 0, counts: Counts::default() }
    }
}

impl Strategy for Follow {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true)
    }

    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision {
        self.steps += 1;
        let next = self.plan.iter().rposition(|planned| runnable.contains(&planned.process));
        let planned = next.map(|next| self.plan.remove(next));
        let process = match &planned {
            Some(planned) => planned.process,
            None => running.filter(|running| runnable.contains(running)).unwrap_or(runnable[0]),
        };
        self.ways = planned.map(|planned| planned.ways).unwrap_or_default();
        self.ways.reverse();
        Decision::Run(process)
    }

    fn choose(&mut self, _: Process, ways: u32) -> u32 {
        self.ways.pop().filter(|way| *way < ways).unwrap_or(0)
    }

    fn mark(&mut self) -> Mark {
        Mark(self.steps - 1)
    }

    fn end(&mut self, ending: Ending) {
        self.counts.add(ending);
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

/// Notes the steps of an execution, as the plan of another one.
#[derive(Debug)]
pub struct Planning<S> {
    strategy: S,
    steps: Arc<Mutex<Vec<Planned>>>,
}

impl<S: Strategy> Planning<S> {
    /// Creates a strategy that decides as this one, and notes its steps in `steps`.
    pub fn new(strategy: S, steps: Arc<Mutex<Vec<Planned>>>) -> Self {
        Planning { strategy, steps }
    }

    fn note(&self, note: impl FnOnce(&mut Vec<Planned>)) {
        note(&mut self.steps.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl<S: Strategy> Strategy for Planning<S> {
    fn begin(&mut self) -> bool {
        let more = self.strategy.begin();
        if more {
            self.note(Vec::clear);
        }
        more
    }

    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision {
        let decision = self.strategy.next(running, runnable);
        if let Decision::Run(process) = decision {
            self.note(|steps| steps.push(Planned { process, ways: Vec::new() }));
        }
        decision
    }

    fn choose(&mut self, process: Process, ways: u32) -> u32 {
        let way = self.strategy.choose(process, ways);
        self.note(|steps| steps.last_mut().into_iter().for_each(|step| step.ways.push(way)));
        way
    }

    fn end(&mut self, ending: Ending) {
        self.strategy.end(ending);
    }

    forward_reports!(self => self.strategy);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(plan: &[(u32, &[u32])], mut runnable: impl FnMut(usize) -> Vec<u32>) -> Vec<u32> {
        let plan =
            plan.iter().map(|(process, ways)| Planned { process: Process(*process), ways: ways.to_vec() });
        let steps = Arc::default();
        let mut follow = Planning::new(Follow::new(plan.collect()), Arc::clone(&steps));
        assert!(follow.begin());
        let mut running = None;
        for step in 0.. {
            let can: Vec<_> = runnable(step).into_iter().map(Process).collect();
            if can.is_empty() {
                break;
            }
            let Decision::Run(process) = follow.next(running, &can) else { unreachable!() };
            follow.choose(process, 3);
            running = Some(process);
        }
        follow.end(Ending::Complete);
        assert!(!follow.begin());
        let noted = steps.lock().unwrap();
        noted.iter().map(|step| step.process.0 * 10 + step.ways[0]).collect()
    }

    #[test]
    fn a_plan_is_followed_in_its_order() {
        let steps = run(&[(2, &[1]), (1, &[2]), (2, &[])], |step| if step < 3 { vec![1, 2] } else { vec![] });
        assert_eq!(steps, [21, 12, 20]);
    }

    #[test]
    fn what_cannot_run_runs_later_and_the_default_runs_after_the_plan() {
        let can = [vec![1], vec![1, 2], vec![1, 2], vec![1, 2], vec![1]];
        let steps = run(&[(2, &[1]), (1, &[2])], |step| can.get(step).cloned().unwrap_or_default());
        assert_eq!(steps, [12, 21, 20, 20, 10]);
    }
}
