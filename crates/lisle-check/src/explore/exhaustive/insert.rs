//! Finds the place of a reversal in the tree.
//!
//! A sequence that reverses a race goes down the tree, along the branches whose first step could be
//! the first step of a schedule that begins with the sequence. Where there is no such branch, the
//! rest of the sequence becomes a new branch. At a leaf that has not run, the sequence waits
//! (`postponed`).

use super::super::access::{Label, sleeps_on};
use super::super::races::{Race, steps_to_reverse};
use super::super::sleep::{Sleeper, agree, covers};
use super::super::trace::Choice;
use super::super::tree::{NodeState, Outcome, Planned, Tree};
use super::super::{Access, Process};
use super::{Exhaustive, Reduction};

impl Exhaustive {
    /// Adds the branch that reverses this race, unless its schedules are explored elsewhere.
    pub(super) fn reverse(&mut self, tree: &mut Tree, race: Race) {
        let mut steps = std::mem::take(&mut self.scratch);
        let (process, accesses) = self.any_step(race.second);
        if let Some((depth, certain)) =
            steps_to_reverse(&self.trace, race, process, accesses, !tree.has_choices, &mut steps)
        {
            let depth = depth as usize;
            steps.push(race.second);
            let reversed = Some(Reversed { step: race.second, certain });
            let mut sequence = Sequence { steps, reversed };
            let mut covered = Covered::new();
            if !self.is_asleep(tree, depth, &sequence, &mut covered) {
                let parent = self.node_before(depth);
                // The branches to the left of the race's first step are among the sleepers.
                let own = tree.node(parent).children.iter().position(|&child| child == self.path[depth]);
                self.insert(tree, parent, own.map_or(0, |own| own + 1), &mut sequence, covered);
            }
            steps = sequence.steps;
        }
        self.scratch = steps;
    }

    /// Returns `true` if a sleeper at this depth could be the first step of each schedule that
    /// begins with the sequence, in some order. Adds to `covered` the sleepers that could be the
    /// first step of some of them.
    fn is_asleep(&self, tree: &Tree, depth: usize, sequence: &Sequence, covered: &mut Covered) -> bool {
        self.sleepers.at(depth).iter().any(|sleeper| {
            let Sleeper { process, outcome, label } = sleeper;
            match self.place(tree, *process, outcome, label, sequence) {
                Some(FirstStep { whole: true, .. }) => true,
                Some(FirstStep { whole: false, step: Some(_) }) => {
                    is_covered_with(covered, *process, outcome)
                }
                _ => false,
            }
        })
    }

    /// Adds the branch that begins with the sequence below this node, unless its schedules are
    /// explored elsewhere: follows the branches that such a schedule can begin with, and takes
    /// their steps out of the sequence. The first `skip` branches are known not to be such.
    pub(super) fn insert(
        &self,
        tree: &mut Tree,
        mut node: u32,
        mut skip: usize,
        sequence: &mut Sequence,
        mut covered: Covered,
    ) {
        'descent: loop {
            for index in std::mem::take(&mut skip)..tree.node(node).children.len() {
                let id = tree.node(node).children[index];
                let child = tree.node(id);
                if child.leaf && !child.state.has_run() {
                    self.postpone(tree, id, sequence, covered);
                    return;
                }
                let label = child.label.as_deref().expect("only a leaf that has not run has none");
                let Some(place) = self.place(tree, child.process, &child.outcome, label, sequence) else {
                    continue;
                };
                if place.whole {
                    sequence.remove(place.step);
                    if sequence.steps.is_empty() || child.leaf {
                        return;
                    }
                    node = id;
                    covered.clear();
                    continue 'descent;
                }
                // In this way of the branch's first step, the schedule is one of the branch.
                let (process, outcome) = (child.process, child.outcome.clone());
                let mut rest = sequence.clone();
                rest.remove(place.step);
                if !rest.steps.is_empty() && !child.leaf {
                    self.insert(tree, id, 0, &mut rest, Covered::new());
                }
                if place.step.is_some() && is_covered_with(&mut covered, process, &outcome) {
                    return;
                }
            }
            self.add_chain(tree, node, sequence);
            return;
        }
    }

    /// Adds a chain of pending nodes for these steps.
    fn add_chain(&self, tree: &mut Tree, mut node: u32, sequence: &Sequence) {
        let steps = &sequence.steps;
        let length = if self.reduction == Reduction::Source { 1 } else { steps.len() };
        for (index, &step) in steps[..length].iter().enumerate() {
            let (process, accesses) = self.any_step(step);
            let own = Planned { process, outcome: Outcome::from_slice(sequence.choices(self, step)) };
            let label = Label::from_slice(accesses);
            node = tree.add(node, own, Some(label), NodeState::Pending, index + 1 == length);
        }
    }

    /// Returns the process and the accesses of a step that has run, was left waiting, or has
    /// waited.
    pub(super) fn any_step(&self, step: u32) -> (Process, &[Access]) {
        if let Some(loaded) = self.loaded.step(step) {
            return (loaded.own.process, &loaded.label);
        }
        let step = step as usize;
        match step.checked_sub(self.trace.len()) {
            None => (self.trace.process(step), self.trace.accesses(step)),
            Some(waiting) => (self.waiting[waiting].0, std::slice::from_ref(&self.waiting[waiting].1)),
        }
    }

    pub(super) fn step(&self, step: usize) -> Planned {
        let outcome = Outcome::from_slice(self.trace.choices(step));
        Planned { process: self.trace.process(step), outcome }
    }

    /// Returns the place of this step in the sequence, if a schedule that begins with the sequence
    /// can also begin with this step.
    fn place(
        &self,
        tree: &Tree,
        process: Process,
        outcome: &[Choice],
        label: &[Access],
        sequence: &Sequence,
    ) -> Option<FirstStep> {
        for &step in &sequence.steps {
            let (other, accesses) = self.any_step(step);
            if other == process {
                let choices = sequence.choices(self, step);
                let is_open = sequence.reversed.is_some_and(|reversed| reversed.step == step);
                let same = agree(outcome, choices) && (is_open || outcome.len() == choices.len());
                let whole = outcome.len() <= choices.len();
                return same.then_some(FirstStep { step: Some(step), whole });
            }
            if !sleeps_on(label, accesses) {
                return None;
            }
        }
        // A source set has a step of the sequence itself.
        let may_be = self.reduction == Reduction::Optimal || tree.has_choices;
        may_be.then_some(FirstStep { step: None, whole: !tree.has_choices })
    }
}

/// Steps that are to run after a node, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    /// Their numbers, in the execution or among the postponed steps.
    pub(super) steps: Vec<u32>,
    /// The last step, if it is one that was reversed.
    pub(super) reversed: Option<Reversed>,
}

/// A step that is to run before another one that it has run after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reversed {
    pub(super) step: u32,
    /// The number of its choices that are certain. Later choices are open.
    pub(super) certain: usize,
}

impl Sequence {
    /// Takes this step out of the sequence.
    fn remove(&mut self, step: Option<u32>) {
        self.steps.retain(|&other| Some(other) != step);
        self.reversed = self.reversed.filter(|reversed| Some(reversed.step) != step);
    }

    /// Returns the choices that a step of the sequence certainly makes.
    pub(super) fn choices<'a>(&self, worker: &'a Exhaustive, step: u32) -> &'a [Choice] {
        let choices = match worker.loaded.step(step) {
            Some(loaded) => &loaded.own.outcome[..],
            None if (step as usize) < worker.trace.len() => worker.trace.choices(step as usize),
            None => &[],
        };
        match self.reversed {
            Some(reversed) if reversed.step == step => &choices[..reversed.certain],
            _ => choices,
        }
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

/// That a step can be the first one of a schedule that begins with a sequence.
struct FirstStep {
    /// The step of the sequence that it is, if it is one of them. It commutes with all of them
    /// otherwise.
    step: Option<u32>,
    /// The schedule has this step in this way for certain. Otherwise it may go on in another way
    /// there.
    whole: bool,
}
