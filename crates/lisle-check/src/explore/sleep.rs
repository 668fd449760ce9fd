//! Sleep sets: the steps that need not run next, since the schedules after them are explored
//! elsewhere.
//!
//! After a state's branch is explored, its first step sleeps in the branches to the right of it. It
//! sleeps until a step runs with which it does not commute: until then it would lead into the
//! explored branch, in another order.
//!
//! A sleeper is a step, not a process: the same step with another choice does not sleep with it.
//!
//! [`Sleepers`] holds the sets along one path, one for each depth, so that going back is
//! truncating.

use super::Process;
use super::access::{Access, Label, sleeps_on};
use super::trace::Choice;
use super::tree::Outcome;

/// A step that sleeps.
#[derive(Clone, Debug)]
pub(crate) struct Sleeper {
    /// The process of the step.
    pub(crate) process: Process,
    /// The choices of the step.
    pub(crate) outcome: Outcome,
    /// The accesses of the step.
    pub(crate) label: Label,
}

/// The sleep sets along a path.
#[derive(Debug, Default)]
pub(crate) struct Sleepers {
    sleepers: Vec<Sleeper>,
    /// Where the set of each depth ends.
    ends: Vec<usize>,
}

impl Sleepers {
    /// Returns the number of depths whose set is known.
    pub(crate) fn depths(&self) -> usize {
        self.ends.len()
    }

    /// Returns the set at this depth.
    pub(crate) fn at(&self, depth: usize) -> &[Sleeper] {
        let start = if depth == 0 { 0 } else { self.ends[depth - 1] };
        &self.sleepers[start..self.ends[depth]]
    }

    /// Forgets all sets but the first `depths` ones.
    pub(crate) fn truncate(&mut self, depths: usize) {
        if depths < self.ends.len() {
            self.ends.truncate(depths);
            self.sleepers.truncate(self.ends.last().copied().unwrap_or(0));
        }
    }

    /// Adds the set of the next depth: the sleepers of the last depth that sleep on after the step
    /// of `process` with these accesses, and the sleepers in `more`.
    pub(crate) fn push(&mut self, process: Process, accesses: &[Access], more: &[Sleeper]) {
        if let Some(depth) = self.ends.len().checked_sub(1) {
            let start = if depth == 0 { 0 } else { self.ends[depth - 1] };
            for index in start..self.ends[depth] {
                let sleeper = &self.sleepers[index];
                if sleeper.process != process && sleeps_on(&sleeper.label, accesses) {
                    let sleeper = sleeper.clone();
                    self.sleepers.push(sleeper);
                }
            }
        }
        self.sleepers.extend_from_slice(more);
        self.ends.push(self.sleepers.len());
    }
}

/// Returns `true` if `outcomes` hold each way in which a step that has chosen `prefix` can go on.
///
/// Each of the outcomes says how many ways there were. An outcome stands for all outcomes that
/// begin with it.
pub(crate) fn covers<'a>(outcomes: impl Iterator<Item = &'a [Choice]> + Clone, prefix: &mut Outcome) -> bool {
    let shortest =
        outcomes.clone().filter(|outcome| agree(outcome, prefix)).min_by_key(|outcome| outcome.len());
    match shortest.map(|outcome| outcome.get(prefix.len())) {
        None => false,
        Some(None) => true,
        Some(Some(&Choice { ways, .. })) => (0..ways).all(|way| {
            prefix.push(Choice { way, ways });
            let covered = covers(outcomes.clone(), prefix);
            prefix.pop();
            covered
        }),
    }
}

/// Returns `true` if one of the two outcomes begins with the other.
pub(crate) fn agree(one: &[Choice], other: &[Choice]) -> bool {
    one.iter().zip(other).all(|(a, b)| a.way == b.way)
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;

    fn outcome(choices: &[(u32, u32)]) -> Outcome {
        choices.iter().map(|&(way, ways)| Choice { way, ways }).collect()
    }

    fn covered(outcomes: &[Outcome], prefix: &[(u32, u32)]) -> bool {
        covers(outcomes.iter().map(|outcome| &outcome[..]), &mut outcome(prefix))
    }

    #[test]
    fn all_ways_of_all_choices_are_needed() {
        let mut some = vec![outcome(&[(0, 2)]), outcome(&[(1, 2), (0, 3)]), outcome(&[(1, 2), (2, 3)])];
        assert!(!covered(&some, &[]));
        assert!(covered(&some, &[(0, 2)]));
        assert!(covered(&some, &[(1, 2), (2, 3)]));
        assert!(!covered(&some, &[(1, 2), (1, 3)]));
        some.push(outcome(&[(1, 2), (1, 3)]));
        assert!(covered(&some, &[]));
    }

    #[test]
    fn a_step_without_choices_is_covered_by_itself_alone() {
        assert!(covered(&[smallvec![]], &[]));
        assert!(!covered(&[], &[]));
    }
}
