//! Finds two schedules that differ in one reversal and in the result, between two schedules that
//! differ in much.
//!
//! The search turns the first schedule into the second one, place by place. At each place it takes
//! the second schedule's step, which the first one has later, and moves it there, before the steps
//! of others in between. After the move both begin with the same steps, one more than before. So at
//! the end both are the same, and somewhere on the way the result has changed. In that move, the
//! search moves the step place by place.
//!
//! A step can be moved to a place if its process can run there. At places in between it may be
//! unable to run, since another process holds the lock that it takes. The step moves over these
//! places at once: the reversal of two acquires is the reversal of the critical sections.
//!
//! Invariant: after n rounds both begin with at least n equal steps. Each round needs one
//! execution, and so does each place of the last move.

use super::bridge::Bridge;
use super::difference::Reversal;
use super::executing::Running;
use super::failure::{Failure, What};
use crate::explore::{Follow, Planned, Planning, Process, Replay, Schedule, Strategy};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// The most executions of a search.
const EXECUTIONS: usize = 5_000;

/// The result of a search between two schedules.
pub(super) enum Between {
    /// The execution with the other result, a schedule with the first result, and their difference.
    Reversal(Box<Failure>, Schedule, Reversal),
    /// An execution that goes wrong in another way.
    Failure(Box<Failure>),
}

/// An execution with the first result.
struct Same {
    steps: Vec<Planned>,
    schedule: Schedule,
}

/// The outcome of an execution: the first result, or something else.
type Came = Result<Same, Box<Failure>>;

struct Search<'a> {
    running: &'a Running<'a>,
    bridge: Rc<Bridge>,
    left: usize,
}

/// Searches between a schedule with the first result and one with another.
pub(super) fn search(running: &Running<'_>, first: &Schedule, other: &Schedule) -> Option<Between> {
    let bridge = running.bridge(Box::new(Replay::new(first.clone())));
    let _installed = bridge.install();
    let mut search = Search { running, bridge, left: EXECUTIONS };
    let Ok(mut same) = search.run(Replay::new(first.clone()))?.1 else { return None };
    let (target, _) = search.run(Replay::new(other.clone()))?;
    for place in 0..target.len() {
        let wanted = &target[place];
        let mut found = None;
        if same.steps.get(place)?.process != wanted.process {
            found = search.moved(&mut same, place, wanted.process)?;
        }
        if found.is_none() && same.steps.get(place)?.ways != wanted.ways {
            let mut plan = same.steps.clone();
            plan[place].ways.clone_from(&wanted.ways);
            match search.run(Follow::new(plan))?.1 {
                Err(other) => found = Some((other, Reversal::Chosen(place + 1))),
                Ok(chosen) => same = chosen,
            }
        }
        if let Some((failure, reversal)) = found {
            return Some(match failure.what {
                What::Differs(_) => Between::Reversal(failure, same.schedule, reversal),
                _ => Between::Failure(failure),
            });
        }
    }
    None
}

impl Search<'_> {
    /// Moves the next step of a process in `same` to an earlier place. Returns the first execution
    /// with another result, if there is one, and its difference from `same`.
    fn moved(
        &mut self,
        same: &mut Same,
        to: usize,
        process: Process,
    ) -> Option<Option<(Box<Failure>, Reversal)>> {
        let from = to + same.steps[to..].iter().position(|step| step.process == process)?;
        let moved = |from: usize, to: usize, steps: &[Planned]| {
            let mut plan = steps.to_vec();
            let step = plan.remove(from);
            plan.insert(to, step);
            Follow::new(plan)
        };
        if let Ok(moved) = self.run(moved(from, to, &same.steps))?.1 {
            *same = moved;
            return Some(None);
        }
        let mut last = from;
        for between in (to..from).rev() {
            let (steps, came) = self.run(moved(last, between, &same.steps))?;
            match came {
                Err(other) => {
                    return Some(Some((other, Reversal::Moved { from: last + 1, to: between + 1 })));
                }
                // It could not run there, and was taken later.
                Ok(_) if steps[between].process != process => {}
                Ok(moved) => {
                    *same = moved;
                    last = between;
                }
            }
        }
        Some(None)
    }

    /// Runs an execution. Returns its steps and its outcome, unless there were too many executions.
    fn run(&mut self, strategy: impl Strategy + 'static) -> Option<(Vec<Planned>, Came)> {
        if self.running.is_stuck() {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        let noted = Arc::<Mutex<Vec<Planned>>>::default();
        self.bridge.begin_anew(Box::new(Planning::new(strategy, noted.clone())));
        self.bridge.begin();
        let failure = self.running.execute(&self.bridge);
        let steps = std::mem::take(&mut *noted.lock().unwrap_or_else(PoisonError::into_inner));
        let schedule = self.bridge.schedule();
        let came = match failure {
            Some(failure) => Err(Box::new(failure)),
            None => Ok(Same { steps: steps.clone(), schedule }),
        };
        Some((steps, came))
    }
}
