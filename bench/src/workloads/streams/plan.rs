//! The streams, for all systems, and their expected values.

use super::{SHUFFLED, SIMPLE, TREE, TWO_OTHERS, plain::Plain};
use crate::{
    forms::Numbers,
    frames::Frames,
    job::{Job, Outcome},
};

/// The kind of a stream.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// It takes a step in each frame, from this number.
    Steps(u64),
    /// It reads two that have been made before it.
    Reads(u32, u32),
}

/// All streams, in the order in which they are made.
pub(super) struct Plan {
    pub(super) kinds: Vec<Kind>,
    /// In which order they are removed and made again, if they are.
    pub(super) again: Vec<u32>,
}

impl Plan {
    pub(super) fn new(job: &Job) -> Self {
        let count = u32::try_from(job.param("streams")).expect("streams that can be counted");
        let mut numbers = Numbers::new(1);
        let kind: fn(u32, &mut Numbers) -> Kind = match job.variant.as_str() {
            SIMPLE | SHUFFLED => |_, numbers| steps(numbers),
            TREE => of_tree,
            TWO_OTHERS => of_two_others,
            variant => panic!("no variant `{variant}`"),
        };
        let kinds = (0..count).map(|nth| kind(nth, &mut numbers)).collect();
        let again = if job.variant == SHUFFLED { shuffled(count, &mut numbers) } else { Vec::new() };
        Plan { kinds, again }
    }
}

fn steps(numbers: &mut Numbers) -> Kind {
    Kind::Steps(u64::from(numbers.next()))
}

/// Of each seven, four are leaves, two read two of these each, and the last reads these two.
fn of_tree(nth: u32, numbers: &mut Numbers) -> Kind {
    let first = nth - nth % 7;
    match nth % 7 {
        4 => Kind::Reads(first, first + 1),
        5 => Kind::Reads(first + 2, first + 3),
        6 => Kind::Reads(first + 4, first + 5),
        _ => steps(numbers),
    }
}

fn of_two_others(nth: u32, numbers: &mut Numbers) -> Kind {
    if nth < 2 { steps(numbers) } else { Kind::Reads(numbers.below(nth), numbers.below(nth)) }
}

/// The numbers below `count` in a random order.
fn shuffled(count: u32, numbers: &mut Numbers) -> Vec<u32> {
    let mut all: Vec<u32> = (0..count).collect();
    for nth in (1..count).rev() {
        all.swap(nth as usize, numbers.below(nth + 1) as usize);
    }
    all
}

/// The state of a stream that steps: words of it, the first and the last of which change.
pub(super) fn begun<const WORDS: usize>(first: u64) -> [u64; WORDS] {
    let mut state = [0; WORDS];
    state[0] = first;
    state
}

/// Takes a step, and returns the value.
pub(super) fn step<const WORDS: usize>(state: &mut [u64; WORDS]) -> u64 {
    state[WORDS - 1] += 1;
    state[0] = state[0].wrapping_mul(6_364_136_223_846_793_005).wrapping_add(state[WORDS - 1]);
    state[0] >> 32
}

/// The value of a stream that reads two others.
pub(super) fn combined(a: u64, b: u64) -> u64 {
    a.rotate_left(1) ^ b
}

/// The sum of values, which may be more than 64 bits have.
pub(super) fn sum(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().fold(0, u64::wrapping_add)
}

/// The frames of a sample. After the first the values of all streams are added up, for the other
/// systems to compare; after the last, their sum must be the sum of plain state machines.
pub(super) struct Run<const WORDS: usize> {
    frames: Frames,
    plain: Plain<WORDS>,
    checksum: u64,
}

impl<const WORDS: usize> Run<WORDS> {
    pub(super) fn new(job: &Job, plan: &Plan) -> Self {
        Run { frames: Frames::new(job), plain: Plain::new(plan), checksum: 0 }
    }

    /// Measures frames. `sum` adds up the values of all streams.
    pub(super) fn measure<W>(
        mut self,
        mut world: W,
        mut frame: impl FnMut(&mut W),
        mut sum: impl FnMut(&mut W) -> u64,
    ) -> Outcome {
        while self.frames.goes_on() {
            self.frames.time(|| frame(&mut world));
            if self.frames.count() == 1 {
                self.checksum = sum(&mut world);
            }
        }
        (0..self.frames.count()).for_each(|_| self.plain.frame());
        assert_eq!(sum(&mut world), self.plain.sum(), "the values of all streams");
        Outcome { checksum: Some(self.checksum), ..self.frames.outcome() }
    }
}
