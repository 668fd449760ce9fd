//! A scan as a loop over steps.
//!
//! There are as many steps as chunks. Each step claims the first chunk that has not been claimed,
//! whichever thread makes it. The steps can therefore be divided among the participants in any way
//! and at any time. A part that is given away and taken up late, or never, delays only its own
//! chunks.

use super::chain::{Chain, Form};
use crate::at::At;
use crate::consumer::Consumer;
use crate::drive::drive;
use crate::part::Part;
use crate::plan::Plan;
use std::num::NonZeroUsize;

/// Scans chunks. `carry` is the sum of all elements before, if there are any. Returns the sum of
/// all elements, if the form asks for it.
pub(super) fn scan<S: Form>(
    form: &S,
    pieces: impl Iterator<Item = S::Piece>,
    carry: Option<S::Item>,
    is_fixed: bool,
) -> Option<S::Item> {
    let chain = Chain::new(form, pieces, carry, is_fixed);
    let plan = Plan { grain: Some(NonZeroUsize::MIN), ..Plan::default() };
    drive(Steps::of(&chain), &Nothing, plan);
    chain.total()
}

/// A number of steps.
pub(super) struct Steps<'a, S: Form> {
    chain: &'a Chain<'a, S>,
    count: usize,
}

impl<'a, S: Form> Steps<'a, S> {
    /// Returns all steps of `chain`.
    pub(super) fn of(chain: &'a Chain<'a, S>) -> Self {
        Steps { chain, count: chain.len() }
    }
}

impl<'a, S: Form> Part for Steps<'a, S> {
    type Item = ();
    type Items = Made<'a, S>;

    fn len(&self) -> usize {
        self.count
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        (Steps { count: at, ..self }, Steps { count: self.count - at, ..self })
    }

    fn items(self) -> Made<'a, S> {
        Made(self)
    }
}

/// Steps that are made as they are asked for.
pub(super) struct Made<'a, S: Form>(Steps<'a, S>);

impl<S: Form> Iterator for Made<'_, S> {
    type Item = ();

    fn next(&mut self) -> Option<()> {
        let Steps { chain, count } = &mut self.0;
        *count = count.checked_sub(1)?;
        chain.step().then_some(())
    }
}

/// Consumes steps, which have no results.
struct Nothing;

impl Consumer for Nothing {
    type Item = ();
    type Acc = ();

    fn begin(&self) {}

    fn feed<I: Iterator<Item = ()>>(&self, (): (), _: At<'_>, steps: I) {
        steps.for_each(drop);
    }

    fn merge(&self, (): (), (): ()) {}
}
