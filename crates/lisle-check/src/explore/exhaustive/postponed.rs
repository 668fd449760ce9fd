//! Sequences that wait for a leaf to run.
//!
//! The label of the last step of a pending branch is a guess: the step has run only after the step
//! with which it was reversed, or not at all. The real label decides whether a sequence belongs
//! into that branch or to the right of it. So the sequence waits, and is placed when the leaf has
//! run. Nothing to the right of the leaf runs before that.
//!
//! The steps of a waiting sequence are not of the present execution. They have numbers from
//! [`FIRST`] on.

use super::super::access::Label;
use super::super::tree::{Planned, Postponed, Step, Tree};
use super::Exhaustive;
use super::insert::{Covered, Reversed, Sequence};

/// The first number of a step that has waited.
const FIRST: u32 = 1 << 31;

/// The sequences that have waited for the leaf that has now run.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    leaf: u32,
    steps: Vec<Step>,
    sequences: Vec<(Sequence, Covered)>,
}

impl Loaded {
    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.sequences.clear();
    }

    /// Returns the step with this number, if it is one of these.
    pub(super) fn step(&self, number: u32) -> Option<&Step> {
        self.steps.get(number.checked_sub(FIRST)? as usize)
    }

    fn add(&mut self, postponed: Postponed) {
        let first = FIRST + self.steps.len() as u32;
        let steps: Vec<u32> = (first..first + postponed.steps.len() as u32).collect();
        let certain = postponed.steps.last().map_or(0, |step| step.own.outcome.len());
        let reversed = steps.last().filter(|_| postponed.ends_open).map(|&step| Reversed { step, certain });
        self.steps.extend(postponed.steps);
        self.sequences.push((Sequence { steps, reversed }, postponed.covered));
    }
}

impl Exhaustive {
    /// Has a sequence wait until this leaf has run.
    pub(super) fn postpone(&self, tree: &mut Tree, leaf: u32, sequence: &Sequence, covered: Covered) {
        let step = |&step: &u32| {
            let (process, accesses) = self.any_step(step);
            let outcome = sequence.choices(self, step).into();
            Step { own: Planned { process, outcome }, label: Label::from_slice(accesses) }
        };
        let steps = sequence.steps.iter().map(step).collect();
        let ends_open = sequence.reversed.is_some();
        tree.postpone(leaf, Postponed { steps, ends_open, covered });
    }

    /// Takes over the sequences that have waited for this leaf.
    pub(super) fn load_postponed(&mut self, tree: &mut Tree, leaf: u32) {
        self.loaded.leaf = leaf;
        for postponed in tree.take_postponed(leaf) {
            self.loaded.add(postponed);
        }
    }

    /// Places the loaded sequences, from their leaf on.
    pub(super) fn go_on_with_loaded(&self, tree: &mut Tree) {
        if !self.loaded.sequences.is_empty() {
            let leaf = self.loaded.leaf;
            self.insert_loaded(tree, tree.node(leaf).parent, tree.left_of(leaf).len());
        }
    }

    /// Places the loaded sequences below the children of this node, the first `skip` left out.
    pub(super) fn insert_loaded(&self, tree: &mut Tree, parent: u32, skip: usize) {
        for (sequence, covered) in &self.loaded.sequences {
            self.insert(tree, parent, skip, &mut sequence.clone(), covered.clone());
        }
    }
}
