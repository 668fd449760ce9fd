//! What belongs to a branch that has done something else than was thought.
//!
//! The last step of a reversal is thought to do what it did after the step that it is reversed with. It
//! may do something else: an exchange that succeeded there fails here, and now commutes with reads.
//! Sequences that came while it was pending were not put into its branch but to the right of it, for it did
//! not seem to commute with them. There they will be found asleep. So when it has run, they are put into
//! its branch as well.
//!
//! All branches to the right are pending then, and each way down is a sequence that was put there.

use super::super::access::{Label, sleeps_on};
use super::super::tree::{Planned, Tree};
use super::insert::Covered;
use super::{Exhaustive, Reduction};

/// The numbers of steps from here on are those of what is handed over.
const FIRST: u32 = 1 << 31;

/// A step that another execution has run.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) own: Planned,
    pub(super) label: Label,
}

/// Sequences that belong to branches that have run.
#[derive(Debug, Default)]
pub(super) struct HandedOver {
    steps: Vec<Step>,
    /// Each sequence, and the number of steps before it.
    sequences: Vec<(usize, Vec<u32>)>,
}

impl HandedOver {
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.sequences.clear();
    }

    /// Returns the number of sequences.
    pub(super) fn len(&self) -> usize {
        self.sequences.len()
    }

    /// Returns the step with this number, if it is one of these.
    pub(super) fn step(&self, number: u32) -> Option<&Step> {
        self.steps.get(number.checked_sub(FIRST)? as usize)
    }
}

impl Exhaustive {
    /// Takes over the sequences to the right of this node, whose step has just run at this depth, that could
    /// begin with its step.
    pub(super) fn take_over(&mut self, tree: &Tree, node: u32, depth: usize) {
        let mut way = Vec::new();
        for &right in tree.right_of(node) {
            self.take_over_below(tree, right, node, depth, &mut way);
        }
    }

    fn take_over_below(&mut self, tree: &Tree, id: u32, node: u32, depth: usize, way: &mut Vec<u32>) {
        way.push(id);
        let children = &tree.node(id).children;
        if children.is_empty() {
            self.take_over_sequence(tree, way, node, depth);
        }
        for &child in children {
            self.take_over_below(tree, child, node, depth, way);
        }
        way.pop();
    }

    fn take_over_sequence(&mut self, tree: &Tree, way: &[u32], node: u32, depth: usize) {
        let first = tree.node(node);
        let label = first.label.as_deref().expect("it has run");
        let mut rest = Vec::new();
        let mut is_found = false;
        for &id in way {
            let step = tree.node(id);
            // Of a way that has not run nothing is known. Whoever comes to it is put into both.
            let Some(of_step) = &step.label else { return };
            if step.process == first.process && !is_found {
                is_found = true; // with the same before it, it does the same
                continue;
            }
            if !is_found && !sleeps_on(label, of_step) {
                return;
            }
            let own = Planned { process: step.process, outcome: step.outcome.clone() };
            self.handed.steps.push(Step { own, label: of_step.clone() });
            rest.push(FIRST + self.handed.steps.len() as u32 - 1);
        }
        // A source set has a step of the sequence itself.
        if !rest.is_empty() && (is_found || self.reduction == Reduction::Optimal) {
            self.handed.sequences.push((depth + 1, rest));
        }
    }

    /// Puts a sequence into the branch that it belongs to. Returns `false` if that cannot be said before
    /// another worker's execution is over.
    pub(super) fn hand_over(&mut self, tree: &mut Tree, index: usize) -> bool {
        let (depth, mut steps) = self.handed.sequences[index].clone();
        let mut covered = Covered::new();
        // Where the execution ended there, nobody sleeps.
        if depth < self.sleepers.depths() && self.is_asleep(depth, &steps, &mut covered) {
            return true;
        }
        self.insert(tree, self.node_before(depth), 0, &mut steps, covered)
    }
}
