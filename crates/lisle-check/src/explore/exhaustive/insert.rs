//! Where in the tree a reversal belongs.
//!
//! A sequence that reverses a race is followed down the tree, along the branches whose first step could be
//! the first step of a schedule that begins with the sequence. What is left of it where no branch is such
//! becomes a new branch.

use super::super::access::{Label, sleeps_on};
use super::super::races::{Race, steps_to_reverse};
use super::super::sleep::{Sleeper, agree, covers};
use super::super::trace::Choice;
use super::super::tree::{Node, Outcome, Planned, State, Tree};
use super::super::{Access, Process};
use super::{Exhaustive, Reduction};

impl Exhaustive {
    /// Adds the branch that reverses this race, unless what it leads to is explored elsewhere. Returns
    /// `false` if that cannot be said before another worker's execution is over.
    pub(super) fn reverse(&mut self, tree: &mut Tree, race: Race) -> bool {
        let mut done = true;
        let mut steps = std::mem::take(&mut self.scratch);
        let (process, accesses) = self.any_step(race.second);
        let depth = steps_to_reverse(&self.trace, race, process, accesses, &mut steps);
        steps.push(race.second);
        let Some(depth) = depth.map(|depth| depth as usize) else {
            self.scratch = steps;
            return true;
        };
        let mut covered = Covered::new();
        if !self.is_asleep(depth, &steps, &mut covered) {
            let parent = self.node_before(depth);
            // What is left of the first step of the race is among the sleepers.
            let own = tree.node(parent).children.iter().position(|&child| child == self.path[depth]);
            done = self.insert(tree, parent, own.map_or(0, |own| own + 1), &mut steps, covered);
        }
        self.scratch = steps;
        done
    }

    /// Returns `true` if what sleeps at this depth could be the first step of each schedule that begins
    /// with `steps`, in some order. Adds to `covered` what could be the first step of some of them.
    pub(super) fn is_asleep(&self, depth: usize, steps: &[u32], covered: &mut Covered) -> bool {
        self.sleepers.at(depth).iter().any(|sleeper| {
            let Sleeper { process, outcome, label } = sleeper;
            match self.place(*process, outcome, Some(label), steps) {
                Some(Place { whole: true, .. }) => true,
                Some(Place { whole: false, .. }) => is_covered_with(covered, *process, outcome),
                None => false,
            }
        })
    }

    /// Adds the branch that begins with `steps` below this node, unless what it leads to is explored
    /// elsewhere: follows the branches that such a schedule can begin with, and takes their steps out of
    /// `steps`. The first `skip` branches are known not to be such.
    ///
    /// Returns `false` if it comes to a leaf that a worker runs. What that wakes will be known later.
    pub(super) fn insert(
        &self,
        tree: &mut Tree,
        mut node: u32,
        mut skip: usize,
        steps: &mut Vec<u32>,
        mut covered: Covered,
    ) -> bool {
        'descent: loop {
            for index in std::mem::take(&mut skip)..tree.node(node).children.len() {
                let id = tree.node(node).children[index];
                let child = tree.node(id);
                if child.label.is_none() && !self.try_unknown(tree, id, steps) {
                    return false;
                }
                let child = tree.node(id);
                let Some(place) = self.place(child.process, &child.outcome, child.label.as_deref(), steps)
                else {
                    continue;
                };
                if place.whole {
                    steps.extract_if(.., |step| Some(*step) == place.step).for_each(drop);
                    match self.arrive(tree, id, steps) {
                        Arrival::Explored => return true,
                        Arrival::Running => return false,
                        Arrival::Inside => {}
                    }
                    node = id;
                    covered.clear();
                    continue 'descent;
                }
                // In this way of the branch's first step, the schedule is one of the branch.
                let outcome = child.outcome.clone();
                let process = child.process;
                let mut rest: Vec<u32> =
                    steps.iter().copied().filter(|&step| Some(step) != place.step).collect();
                let done = match self.arrive(tree, id, &rest) {
                    Arrival::Explored => true,
                    Arrival::Running => false,
                    Arrival::Inside => self.insert(tree, id, 0, &mut rest, Covered::new()),
                };
                if !done || is_covered_with(&mut covered, process, &outcome) {
                    return done;
                }
            }
            self.add_chain(tree, node, steps);
            return true;
        }
    }

    /// Adds `steps` below a node of which nobody knows yet whether it commutes with them. It may be in
    /// vain, and it is no reason not to run them elsewhere.
    fn try_unknown(&self, tree: &mut Tree, id: u32, steps: &[u32]) -> bool {
        let child = tree.node(id);
        let own = steps.iter().copied().find(|&step| self.any_step(step).0 == child.process);
        if own.is_some_and(|own| !agree(&child.outcome, self.choices_of(own))) {
            return true;
        }
        let mut rest: Vec<u32> = steps.iter().copied().filter(|&step| Some(step) != own).collect();
        match self.arrive(tree, id, &rest) {
            Arrival::Explored => true,
            Arrival::Running => false,
            Arrival::Inside => self.insert(tree, id, 0, &mut rest, Covered::new()),
        }
    }

    /// Returns what a sequence of which `steps` are left comes to at this node.
    fn arrive(&self, tree: &Tree, id: u32, steps: &[u32]) -> Arrival {
        let &Node { leaf, state, .. } = tree.node(id);
        match state {
            _ if steps.is_empty() => Arrival::Explored,
            State::Taken if leaf => Arrival::Running,
            State::Open | State::Done if leaf => Arrival::Explored,
            // A pending leaf may wake less than it promises: it is made longer.
            _ => Arrival::Inside,
        }
    }

    /// Adds a chain of pending nodes for these steps.
    fn add_chain(&self, tree: &mut Tree, mut node: u32, steps: &[u32]) {
        if node != Tree::ROOT && tree.node(node).state == State::Pending {
            tree.lengthen(node);
        }
        let length = if self.reduction == Reduction::Source { 1 } else { steps.len() };
        for (index, &step) in steps[..length].iter().enumerate() {
            let (process, accesses) = self.any_step(step);
            let own = Planned { process, outcome: Outcome::from_slice(self.choices_of(step)) };
            let label = Label::from_slice(accesses);
            node = tree.add(node, own, Some(label), State::Pending, index + 1 == length);
        }
    }

    /// Returns the process and the accesses of a step that has run, was left waiting, or is handed over.
    fn any_step(&self, step: u32) -> (Process, &[Access]) {
        if let Some(handed) = self.handed.step(step) {
            return (handed.own.process, &handed.label);
        }
        let step = step as usize;
        match step.checked_sub(self.trace.len()) {
            None => (self.trace.process(step), self.trace.accesses(step)),
            Some(waiting) => (self.waiting[waiting].0, std::slice::from_ref(&self.waiting[waiting].1)),
        }
    }

    /// Returns the choices of a step that has run or is handed over, or none for one that was left waiting.
    fn choices_of(&self, step: u32) -> &[Choice] {
        if let Some(handed) = self.handed.step(step) {
            return &handed.own.outcome;
        }
        if (step as usize) < self.trace.len() { self.trace.choices(step as usize) } else { &[] }
    }

    pub(super) fn step(&self, step: usize) -> Planned {
        let outcome = Outcome::from_slice(self.trace.choices(step));
        Planned { process: self.trace.process(step), outcome }
    }

    /// Returns where this step stands among `steps`, if a schedule that begins with them can also begin
    /// with this one.
    fn place(
        &self,
        process: Process,
        outcome: &[Choice],
        label: Option<&[Access]>,
        steps: &[u32],
    ) -> Option<Place> {
        for &step in steps {
            let (other, accesses) = self.any_step(step);
            if other == process {
                let choices = self.choices_of(step);
                let same = outcome.len() == choices.len() && agree(outcome, choices);
                return same.then_some(Place { step: Some(step), whole: true });
            }
            if !label.is_some_and(|label| sleeps_on(label, accesses)) {
                return None;
            }
        }
        // A source set has a step of the sequence itself.
        (self.reduction == Reduction::Optimal).then_some(Place { step: None, whole: outcome.is_empty() })
    }
}

/// Outcomes of steps that are explored already.
pub(super) type Covered = Vec<(Process, Outcome)>;

/// Adds this outcome, and returns `true` if the outcomes of the process's step are now complete.
fn is_covered_with(covered: &mut Covered, process: Process, outcome: &[Choice]) -> bool {
    covered.push((process, Outcome::from_slice(outcome)));
    let own = covered.iter().filter(|one| one.0 == process).map(|one| &one.1[..]);
    covers(own, &mut Outcome::new())
}

/// What a sequence comes to at a node.
enum Arrival {
    /// All that begins with it is explored, or will be.
    Explored,
    /// A leaf that a worker runs.
    Running,
    /// A node below which the sequence goes on.
    Inside,
}

/// That a step can be the first one of a schedule that begins with a sequence.
struct Place {
    /// The step of the sequence that it is, if it is one of them. It commutes with all of them otherwise.
    step: Option<u32>,
    /// The schedule has this step in this way for certain. Otherwise it may go on in another way there.
    whole: bool,
}
