//! Chooses the next step.
//!
//! First come the known steps, then the steps that the branch plans, then processes that are awake.
//! A plan that cannot be run is given up.

use super::super::sleep::{Sleeper, covers};
use super::super::trace::Choice;
use super::super::tree::{Outcome, Planned, Tree};
use super::super::{Divergence, Process};
use super::Exhaustive;

impl Exhaustive {
    /// Ends the step in progress.
    pub(super) fn finish_step(&mut self) {
        if !std::mem::take(&mut self.in_step) {
            return;
        }
        let step = self.depth - 1;
        if step >= self.known {
            self.trace.finish(&mut self.races);
        } else if self.seen != (self.trace.accesses(step).len(), self.trace.choices(step).len()) {
            self.diverge(step);
        }
    }

    /// Notes that a step did something else than before.
    pub(super) fn diverge(&mut self, step: usize) {
        let process = self.trace.process(step);
        self.diverged.get_or_insert(Divergence { step, process });
    }

    /// Makes the sleep set of the present depth known.
    pub(super) fn fall_asleep(&mut self) {
        if self.sleepers.depths() > self.depth {
            return;
        }
        let begin = self.lefts.get(self.depth - self.known).map_or(&[][..], |lefts| lefts);
        match self.depth.checked_sub(1) {
            Some(last) => self.sleepers.push(self.trace.process(last), self.trace.accesses(last), begin),
            None => self.sleepers.push(Process::ROOT, &[], begin),
        }
    }

    /// Returns `true` if each way of this process's next step sleeps.
    fn sleeps(&self, process: Process) -> bool {
        let sleepers = self.sleepers.at(self.depth);
        let own = sleepers.iter().filter(|sleeper| sleeper.process == process);
        !sleepers.is_empty() && covers(own.map(|sleeper| &sleeper.outcome[..]), &mut Outcome::new())
    }

    /// Returns the first way that neither sleeps nor is left to another branch.
    pub(super) fn awake_way(&mut self, step: usize, process: Process, ways: u32) -> u32 {
        let own = self.sleepers.at(step).iter().filter(|sleeper| sleeper.process == process);
        let asleep = own.map(|sleeper| &sleeper.outcome[..]);
        let place = step - self.known;
        let left_to_others = self.rights.get(place).map_or(&[][..], |rights| rights);
        let taken = asleep.chain(left_to_others.iter().map(|outcome| &outcome[..]));
        let mut outcome = Outcome::from_slice(self.trace.choices(step));
        let awake = (0..ways).find(|&way| {
            outcome.push(Choice { way, ways });
            let covered = covers(taken.clone(), &mut outcome);
            outcome.pop();
            !covered
        });
        if awake.is_none() {
            self.doomed = true;
            self.cut.get_or_insert(step);
        }
        awake.unwrap_or(0)
    }

    /// Returns the process that the branch plans for the present depth.
    pub(super) fn planned(&self) -> Option<Process> {
        if self.depth < self.known {
            return Some(self.trace.process(self.depth));
        }
        self.plan.get(self.depth - self.known).map(|planned| planned.process)
    }

    /// Returns `true` if the planned step sleeps, in the way in which it is planned.
    fn is_planned_asleep(&self) -> bool {
        if self.depth < self.branch {
            return false;
        }
        let Planned { process, outcome } = &self.plan[self.depth - self.known];
        let sleepers = self.sleepers.at(self.depth).iter().filter(|sleeper| sleeper.process == *process);
        covers(sleepers.map(|sleeper| &sleeper.outcome[..]), &mut outcome.clone())
    }

    /// Returns the process that runs, or `None` if the execution is to be given up.
    pub(super) fn decide(&mut self, running: Option<Process>, runnable: &[Process]) -> Option<Process> {
        if self.doomed || self.diverged.is_some() {
            return None;
        }
        if let Some(process) = self.planned() {
            let can_run = runnable.contains(&process);
            if can_run && !self.is_planned_asleep() {
                return Some(process);
            }
            if self.depth < self.branch {
                self.diverged = Some(Divergence { step: self.depth, process });
                return None;
            }
            self.cut = Some(self.depth);
            return None;
        }
        let running = running.filter(|process| runnable.contains(process));
        let mut candidates = running.into_iter().chain(runnable.iter().copied());
        if self.is_all_awake(self.depth) {
            return candidates.next();
        }
        let sleepers = self.sleepers.at(self.depth);
        let has_sleeper = |process| sleepers.iter().any(|sleeper| sleeper.process == process);
        let awake = candidates.clone().find(|&process| !has_sleeper(process));
        awake.or_else(|| candidates.find(|&process| !self.sleeps(process)))
    }

    /// Makes the path to this branch the next execution.
    pub(super) fn adopt(&mut self, tree: &Tree, taken: u32) {
        self.taken = Some(taken);
        self.plan.clear();
        self.lefts.clear();
        self.rights.clear();
        if taken == Tree::ROOT {
            self.branch = 0;
            return;
        }
        self.branch = tree.node(taken).depth as usize;
        let mut way = std::mem::take(&mut self.scratch);
        way.clear();
        way.resize(self.branch + 1, taken);
        for depth in (0..self.branch).rev() {
            way[depth] = tree.node(way[depth + 1]).parent;
        }
        // From the root on: the number of a node is given again only after its parent is done.
        self.known = self.path.iter().zip(&way[..self.branch]).take_while(|(a, b)| a == b).count();
        self.path.truncate(self.known);
        self.trace.truncate(self.known);
        self.sleepers.truncate(self.known);
        for &id in &way[self.known..] {
            self.path.push(id);
            self.plan.push(step_of(tree, id));
            let lefts = tree.left_of(id).iter().map(|&left| {
                let Planned { process, outcome } = step_of(tree, left);
                let label = tree.node(left).label.clone().expect("branches on the left have run");
                Sleeper { process, outcome, label }
            });
            self.lefts.push(lefts.collect());
        }
        self.rights.resize(self.plan.len() - 1, Vec::new());
        self.rights.push(others_of_process(tree, taken));
        let mut last = taken;
        while let Some(&next) = tree.node(last).children.first() {
            self.path.push(next);
            self.plan.push(step_of(tree, next));
            self.rights.push(others_of_process(tree, next));
            last = next;
        }
        self.scratch = way;
    }
}

/// Returns the step of this node.
fn step_of(tree: &Tree, id: u32) -> Planned {
    let node = tree.node(id);
    Planned { process: node.process, outcome: node.outcome.clone() }
}

/// Returns the outcomes of the siblings that are steps of the same process.
fn others_of_process(tree: &Tree, id: u32) -> Vec<Outcome> {
    let node = tree.node(id);
    let siblings = tree.node(node.parent).children.iter().filter(|&&sibling| sibling != id);
    let same = siblings.map(|&sibling| tree.node(sibling)).filter(|sibling| sibling.process == node.process);
    same.map(|sibling| sibling.outcome.clone()).collect()
}
