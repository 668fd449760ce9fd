//! Every class of equivalent schedules, each run once.
//!
//! This is optimal dynamic partial-order reduction (Abdulla, Aronis, Jonsson and Sagonas, POPL 2014
//! and JACM 2017) with a tree of explored branches to which several workers can add. `README.md`
//! explains the algorithm, and why each class is run exactly once.
//!
//! This module has the state of a worker and the functions that the program calls. `decide` chooses
//! the next step, `learn` adds an execution to the tree, and `insert` finds the place of a reversal
//! in it.

mod decide;
mod insert;
mod learn;
mod postponed;

use std::sync::Arc;

use super::races::Race;
use super::shared::Shared;
use super::sleep::{Sleeper, Sleepers};
use super::trace::Trace;
use super::tree::{NodeState, Outcome, Planned, Tree};
use super::{Access, Counts, Decision, Divergence, Ending, Kind, Mark, Object, Process, Strategy};
use postponed::Loaded;

/// Explores every class of equivalent schedules.
///
/// Two schedules are equivalent if one becomes the other by exchanging neighbouring steps that
/// commute. With accesses that do not depend on values, no execution is redundant.
///
/// Workers made by [`worker`](Exhaustive::worker) share the exploration; each runs on a thread of
/// its own. The counts do not depend on their number.
#[derive(Debug)]
pub struct Exhaustive {
    shared: Arc<Shared>,
    reduction: Reduction,
    /// The execution in progress. Its first `known` steps are from the one before.
    trace: Trace,
    known: usize,
    sleepers: Sleepers,
    /// The nodes of the first steps.
    path: Vec<u32>,
    /// The branch that runs, and its depth. The races above that depth are known.
    taken: Option<u32>,
    branch: usize,
    /// The planned steps from step `known` on.
    plan: Vec<Planned>,
    /// The steps that begin to sleep at the depths from `known` on.
    lefts: Vec<Vec<Sleeper>>,
    /// The ways that the planned steps leave to their siblings to the right, where they may choose.
    rights: Vec<Vec<Outcome>>,
    /// The number of steps that have begun.
    depth: usize,
    in_step: bool,
    /// The numbers of accesses and choices of a known step that have come again.
    seen: (usize, usize),
    /// All ways in which the step in progress can go on sleep.
    doomed: bool,
    /// The depth at which the branch could not be run as it was planned.
    cut: Option<usize>,
    diverged: Option<Divergence>,
    races: Vec<Race>,
    waiting: Vec<(Process, Access)>,
    /// The sequences that have waited for leaves that have run in this execution.
    loaded: Loaded,
    scratch: Vec<u32>,
}

/// The part of a reversal that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Its first step only: source sets. Some executions are begun and found to be redundant.
    Source,
    /// All of it, up to the step that is reversed: no execution is redundant.
    Optimal,
}

impl Exhaustive {
    /// Creates an exploration without any execution.
    pub fn new() -> Self {
        Self::with_reduction(Reduction::Optimal)
    }

    /// Creates an exploration that reduces so.
    pub fn with_reduction(reduction: Reduction) -> Self {
        Self::of(Arc::new(Shared::new(Tree::new(), Counts::default(), true)), reduction)
    }

    /// Creates the first worker of this exploration. As long as there is no other, it goes from
    /// left to right, and the tree holds the least.
    pub fn first_worker(&self) -> Self {
        Self::of(self.shared.clone(), self.reduction)
    }

    /// Creates another worker of this exploration.
    pub fn worker(&self) -> Self {
        self.shared.lock().ordered = false;
        Self::of(self.shared.clone(), self.reduction)
    }

    pub(crate) fn of(shared: Arc<Shared>, reduction: Reduction) -> Self {
        Exhaustive {
            shared,
            reduction,
            trace: Trace::default(),
            known: 0,
            sleepers: Sleepers::default(),
            path: Vec::new(),
            taken: None,
            branch: 0,
            plan: Vec::new(),
            lefts: Vec::new(),
            rights: Vec::new(),
            depth: 0,
            in_step: false,
            seen: (0, 0),
            doomed: false,
            cut: None,
            diverged: None,
            races: Vec::new(),
            waiting: Vec::new(),
            loaded: Loaded::default(),
            scratch: Vec::new(),
        }
    }

    /// Says that steps choose. Otherwise the exploration learns this from the first execution in
    /// which a step chooses. If there were executions before that one, it may miss classes: then
    /// begin anew, and call this.
    pub fn expect_choices(&self) {
        self.shared.lock().tree.has_choices = true;
    }

    /// Returns `true` if a step has chosen, or is expected to.
    pub fn has_choices(&self) -> bool {
        self.shared.lock().tree.has_choices
    }

    /// Sets the number of executions, earlier ones included, after which no worker begins another
    /// one.
    pub fn limit(&self, most: u64) {
        self.shared.lock().most = most;
    }

    /// Stops all workers: from now on, none of them begins an execution.
    pub fn stop(&self) {
        let mut common = self.shared.lock();
        common.stopped = true;
        self.shared.wake(&common);
    }

    /// Returns `true` if nothing remains to be run.
    pub fn is_finished(&self) -> bool {
        self.shared.lock().tree.node(Tree::ROOT).state == NodeState::Done
    }

    /// Returns an estimate of the explored share, from 0 to 1.
    ///
    /// It assumes that all branches of a node are of one size, as Knuth's estimator does
    /// ("Estimating the efficiency of backtrack programs", 1975), and cannot know of branches that
    /// are found later. It takes time in proportion to the tree that is held.
    pub fn explored(&self) -> f64 {
        self.shared.lock().tree.explored()
    }

    /// Returns the step at which the program did something else than before, if there was one.
    pub fn divergence(&self) -> Option<Divergence> {
        self.shared.lock().divergence
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn reduction(&self) -> Reduction {
        self.reduction
    }
}

impl Drop for Exhaustive {
    /// Gives back the branch that this worker has taken, for the others.
    fn drop(&mut self) {
        if let Some(taken) = self.taken {
            let mut common = self.shared.lock();
            common.tree.put_back(taken);
            common.busy -= 1;
            self.shared.wake(&common);
        }
    }
}

impl Strategy for Exhaustive {
    fn begin(&mut self) -> bool {
        if self.taken.is_none() {
            let shared = self.shared.clone();
            let Some((common, taken)) = shared.take() else {
                return false;
            };
            self.adopt(&common.tree, taken);
        }
        self.depth = 0;
        self.doomed = false;
        self.cut = None;
        // The races of the known steps are reversed again, with the later steps of this execution.
        let known = self.known as u32;
        self.races.retain(|race| race.second < known);
        self.waiting.clear();
        self.loaded.clear();
        true
    }

    fn reduces(&self) -> bool {
        true
    }

    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision {
        self.finish_step();
        self.fall_asleep();
        let Some(process) = self.decide(running, runnable) else {
            return Decision::Stop;
        };
        if self.depth >= self.known {
            self.trace.push(process);
        }
        self.depth += 1;
        self.in_step = true;
        self.seen = (0, 0);
        Decision::Run(process)
    }

    fn choose(&mut self, process: Process, ways: u32) -> u32 {
        let step = self.depth - 1;
        if step < self.known {
            let choice = self.trace.choices(step).get(self.seen.1).copied();
            self.seen.1 += 1;
            return match choice {
                Some(choice) if choice.ways == ways => choice.way,
                _ => {
                    self.diverge(step);
                    0
                }
            };
        }
        let made = self.trace.choices(step);
        let planned = self.plan.get(step - self.known).and_then(|planned| planned.outcome.get(made.len()));
        let way = match planned {
            Some(planned) if planned.ways == ways => planned.way,
            // A reversed step may find other ways than it had. If another step does, the plan is
            // wrong.
            Some(_) if step + 1 < self.known + self.plan.len() => {
                self.doomed = true;
                self.cut.get_or_insert(step);
                0
            }
            _ => self.awake_way(step, process, ways),
        };
        self.trace.chose(way, ways);
        way
    }

    fn access(&mut self, object: Object, kind: Kind) {
        let step = self.depth - 1;
        if step >= self.known {
            self.trace.access(object, kind);
            return;
        }
        if self.trace.accesses(step).get(self.seen.0) != Some(&Access { object, kind }) {
            self.diverge(step);
        }
        self.seen.0 += 1;
    }

    fn enables(&mut self, process: Process) {
        if self.depth > self.known {
            self.trace.enables(process);
        }
    }

    fn after(&mut self, process: Process) {
        if self.depth > self.known {
            self.trace.after(process);
        }
    }

    fn mark(&mut self) -> Mark {
        Mark(self.depth as u32 - 1)
    }

    fn follows(&mut self, mark: Mark) {
        if self.depth > self.known {
            self.trace.follows(mark.0);
        }
    }

    fn waits(&mut self, process: Process, object: Object, kind: Kind) {
        self.finish_step();
        let second = (self.trace.len() + self.waiting.len()) as u32;
        let access = Access { object, kind };
        self.trace.races_of_waiting(process, access, second, &mut self.races);
        self.waiting.push((process, access));
    }

    fn happens_after(&mut self, step: Mark, earlier: Mark) -> bool {
        self.finish_step();
        let step = step.0 as usize;
        step >= self.trace.len() || self.trace.happens_after(step, earlier.0 as usize)
    }

    fn end(&mut self, ending: Ending) {
        self.finish_step();
        let Some(taken) = self.taken.take() else {
            return;
        };
        let shared = self.shared.clone();
        let mut common = shared.lock();
        if self.depth < self.branch && self.diverged.is_none() {
            // The program ended before a step that it had run in an earlier execution.
            let process = self.planned().unwrap_or(Process::ROOT);
            self.diverged = Some(Divergence { step: self.depth, process });
        }
        if let Some(divergence) = self.diverged {
            common.divergence.get_or_insert(divergence);
            common.stopped = true;
        } else {
            common.counts.add(if self.doomed { Ending::Stopped } else { ending });
            common.tree.has_choices |= self.trace.has_choices();
            let has_run = self.lay_path(&mut common.tree, taken);
            // Other workers may wait for a branch.
            shared.wake(&common);
            if has_run {
                self.add_branches(&mut common.tree);
            }
            let ordered = common.ordered;
            let from = common.tree.close(self.node_before(self.path.len()), ordered);
            self.known = self.trace.len();
            if common.has_room(common.busy - 1)
                && let Some(next) = common.tree.take_near(from)
            {
                common.busy += 1;
                self.adopt(&common.tree, next);
            }
        }
        common.busy -= 1;
        shared.wake(&common);
    }

    fn counts(&self) -> Counts {
        self.shared.lock().counts
    }
}
