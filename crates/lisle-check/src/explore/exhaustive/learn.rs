//! Adds an execution to the tree: its own steps, the other ways of its choices, and the reversals
//! of its races.

use super::super::Process;
use super::super::access::Label;
use super::super::sleep::covers;
use super::super::trace::Choice;
use super::super::tree::{NodeState, Outcome, Planned, Tree};
use super::Exhaustive;

impl Exhaustive {
    /// Adds the steps of the execution to the tree. Returns `true` if the branch has run at all.
    pub(super) fn lay_path(&mut self, tree: &mut Tree, taken: u32) -> bool {
        if let Some(cut) = self.cut {
            if cut < self.path.len() {
                self.give_up(tree, cut);
                return false;
            }
            self.trace.truncate(cut);
            self.waiting.clear();
            self.races.retain(|race| (race.second as usize) < cut);
        }
        if let Some(&beyond) = self.path.get(self.trace.len()) {
            // The program ended the execution in the middle of the plan: it failed, or hit a bound.
            tree.remove(beyond);
            self.path.truncate(self.trace.len());
        }
        if self.trace.len() <= self.branch && taken != Tree::ROOT {
            return false;
        }
        if taken == Tree::ROOT {
            tree.ran(taken, Outcome::new(), Label::new(), true);
        }
        let planned = self.path.len();
        for step in self.branch..planned.max(self.end_of_needed()) {
            let own = self.step(step);
            let label = Label::from_slice(self.trace.accesses(step));
            let leaf = step + 1 >= planned && self.is_all_awake(step + 1);
            match self.path.get(step) {
                Some(&node) => {
                    tree.ran(node, own.outcome, label, leaf);
                    self.load_postponed(tree, node);
                }
                None => {
                    self.path.push(tree.add(self.node_before(step), own, Some(label), NodeState::Open, leaf))
                }
            }
        }
        true
    }

    /// Takes the planned steps from this depth on out of the tree, and the steps that lead only
    /// there. The rest of the branch runs later.
    fn give_up(&mut self, tree: &mut Tree, mut depth: usize) {
        let first = self.path[depth];
        self.load_postponed(tree, first);
        let place = tree.left_of(first).len();
        tree.remove(first);
        self.insert_loaded(tree, self.node_before(depth), place);
        loop {
            if depth == self.branch {
                break;
            }
            depth -= 1;
            if !tree.node(self.path[depth]).children.is_empty() {
                tree.put_back(self.path[self.branch]);
                break;
            }
            tree.remove(self.path[depth]);
        }
        self.path.truncate(self.branch);
        self.trace.truncate(self.branch);
    }

    /// Returns the number of steps that need nodes: down to the last one at which a branch may be
    /// added, and down to where nothing sleeps any more.
    fn end_of_needed(&self) -> usize {
        let race = self.races.iter().map(|race| race.first as usize + 1).max();
        let choice = self.trace.last_to_choose(self.branch).map(|step| step + 1);
        let steps = self.branch..self.trace.len();
        let asleep = steps.rev().find(|&step| !self.is_all_awake(step)).map(|step| step + 1);
        race.max(choice).max(asleep).unwrap_or(0)
    }

    /// Returns `true` if nothing sleeps at this depth, or the execution ended before it.
    pub(super) fn is_all_awake(&self, depth: usize) -> bool {
        depth >= self.sleepers.depths() || self.sleepers.at(depth).is_empty()
    }

    /// Returns the node whose children run at this depth.
    pub(super) fn node_before(&self, depth: usize) -> u32 {
        depth.checked_sub(1).map_or(Tree::ROOT, |last| self.path[last])
    }

    /// Adds the branches that the execution asks for.
    pub(super) fn add_branches(&mut self, tree: &mut Tree) {
        for step in self.branch..self.trace.len() {
            self.add_other_ways(tree, step);
        }
        self.go_on_with_loaded(tree);
        for index in 0..self.races.len() {
            self.reverse(tree, self.races[index]);
        }
    }

    /// Adds a branch for each other way in which this step could have gone on.
    fn add_other_ways(&self, tree: &mut Tree, step: usize) {
        let choices = self.trace.choices(step);
        let process = self.trace.process(step);
        for (place, &Choice { way: taken, ways }) in choices.iter().enumerate() {
            for way in (0..ways).filter(|&way| way != taken) {
                let mut outcome = Outcome::from_slice(&choices[..place]);
                outcome.push(Choice { way, ways });
                if !self.is_covered(tree, step, process, &mut outcome) {
                    let own = Planned { process, outcome };
                    tree.add(self.node_before(step), own, None, NodeState::Pending, true);
                }
            }
        }
    }

    /// Returns `true` if each way in which the process's step at this depth can go on from
    /// `outcome` sleeps or has a branch.
    fn is_covered(&self, tree: &Tree, depth: usize, process: Process, outcome: &mut Outcome) -> bool {
        let asleep = self.sleepers.at(depth).iter().map(|sleeper| (sleeper.process, &sleeper.outcome[..]));
        let children = tree.node(self.node_before(depth)).children.iter().map(|&child| tree.node(child));
        let branches = children.map(|child| (child.process, &child.outcome[..]));
        covers(asleep.chain(branches).filter(|one| one.0 == process).map(|one| one.1), outcome)
    }
}
