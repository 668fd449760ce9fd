//! The forms of a scan: how each adds a chunk up and scans it.

use super::chain::Form;
use crate::kept::without;
use crate::looks::Pieces;
use std::marker::PhantomData;
use std::mem;

/// How elements are added to a sum.
pub(super) trait Add<A, T>: Sync {
    /// Returns the sum of two neighbouring ranges.
    fn sums(&self, left: &T, right: &T) -> T;

    /// Returns the sum of `sum` and the element that follows.
    fn next(&self, sum: &T, element: &A) -> T;

    /// Returns the sum of two elements.
    fn two(&self, left: &A, right: &A) -> T;
}

/// How a sum begins if nothing comes before it.
pub(super) trait Begin<A, T>: Add<A, T> {
    /// Returns the sum of one element.
    fn one(&self, element: &A) -> T;
}

/// Adds up the elements as they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain<F>(pub(super) F);

impl<T, F: Fn(&T, &T) -> T + Sync> Add<T, T> for Plain<F> {
    #[inline(always)]
    fn sums(&self, left: &T, right: &T) -> T {
        (self.0)(left, right)
    }

    #[inline(always)]
    fn next(&self, sum: &T, element: &T) -> T {
        (self.0)(sum, element)
    }

    #[inline(always)]
    fn two(&self, left: &T, right: &T) -> T {
        (self.0)(left, right)
    }
}

impl<T: Clone, F: Fn(&T, &T) -> T + Sync> Begin<T, T> for Plain<F> {
    fn one(&self, element: &T) -> T {
        element.clone()
    }
}

/// Adds up the values that a function returns for the elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mapped<M, F> {
    pub(super) map: M,
    pub(super) op: F,
}

impl<A, T, M, F> Add<A, T> for Mapped<M, F>
where
    M: Fn(&A) -> T + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    #[inline(always)]
    fn sums(&self, left: &T, right: &T) -> T {
        (self.op)(left, right)
    }

    #[inline(always)]
    fn next(&self, sum: &T, element: &A) -> T {
        let element = (self.map)(element);
        without((self.op)(sum, &element), element)
    }

    #[inline(always)]
    fn two(&self, left: &A, right: &A) -> T {
        let (left, right) = ((self.map)(left), (self.map)(right));
        without((self.op)(&left, &right), (left, right))
    }
}

impl<A, T, M, F> Begin<A, T> for Mapped<M, F>
where
    M: Fn(&A) -> T + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    fn one(&self, element: &A) -> T {
        (self.map)(element)
    }
}

/// Returns the sum of at least two elements, from the left, or `None` if `is_to_stop` returned
/// `true`. It is called from time to time, in the first half only.
#[inline(always)]
fn sum<A, T>(elements: &[A], add: &impl Add<A, T>, is_to_stop: impl Fn() -> bool) -> Option<T> {
    let mut sum = add.two(&elements[0], &elements[1]);
    let mut rest = &elements[2..];
    let half = rest.len() / 2;
    for len in Pieces::of(rest.len()) {
        if rest.len() > half && is_to_stop() {
            return None;
        }
        let (piece, later) = rest.split_at(len);
        sum = piece.iter().fold(sum, |sum, element| without(add.next(&sum, element), sum));
        rest = later;
    }
    Some(sum)
}

/// Writes to each place of another slice the sum up to and including the element there.
pub(super) struct Inclusive<'a, A, T, S>(pub(super) S, pub(super) PhantomData<fn(&'a A, &'a mut T)>);

impl<'a, A: Sync, T: Send, S: Begin<A, T>> Form for Inclusive<'a, A, T, S> {
    type Item = T;
    type Piece = (&'a [A], &'a mut [T]);
    const TOTAL: bool = false;

    fn sums(&self, left: &T, right: &T) -> T {
        self.0.sums(left, right)
    }

    fn sum(&self, (input, _): &Self::Piece, is_to_stop: impl Fn() -> bool) -> Option<T> {
        sum(input, &self.0, is_to_stop)
    }

    fn scan(&self, (mut input, mut output): Self::Piece, carry: Option<T>, go_on: bool) -> Option<T> {
        let mut sum = match &carry {
            Some(carry) => carry,
            None => {
                let first = output.split_off_first_mut()?;
                *first = self.0.one(input.split_off_first()?);
                first
            }
        };
        let (last_input, last_output) = (input.split_off_last()?, output.split_off_last_mut()?);
        for len in Pieces::of(input.len()) {
            let (elements, later) = input.split_at(len);
            let (places, later_places) = output.split_at_mut(len);
            (input, output) = (later, later_places);
            for (element, place) in elements.iter().zip(places) {
                *place = self.0.next(sum, element);
                sum = place;
            }
        }
        // Computed twice, because one sum stays here and the other goes on.
        let next = go_on.then(|| self.0.next(sum, last_input));
        *last_output = self.0.next(sum, last_input);
        without(next, carry)
    }
}

/// Writes to each place of another slice the sum of the elements before that place.
pub(super) struct Exclusive<'a, A, T, S>(pub(super) S, pub(super) PhantomData<fn(&'a A, &'a mut T)>);

impl<'a, A: Sync, T: Send, S: Add<A, T>> Form for Exclusive<'a, A, T, S> {
    type Item = T;
    type Piece = (&'a [A], &'a mut [T]);
    const TOTAL: bool = true;

    fn sums(&self, left: &T, right: &T) -> T {
        self.0.sums(left, right)
    }

    fn sum(&self, (input, _): &Self::Piece, is_to_stop: impl Fn() -> bool) -> Option<T> {
        sum(input, &self.0, is_to_stop)
    }

    fn scan(&self, (mut input, output): Self::Piece, carry: Option<T>, go_on: bool) -> Option<T> {
        let Some((first, mut output)) = output.split_first_mut() else { return carry };
        *first = carry?;
        let mut sum = &*first;
        let last = input.split_off_last()?;
        for len in Pieces::of(input.len()) {
            let (elements, later) = input.split_at(len);
            let (places, later_places) = output.split_at_mut(len);
            (input, output) = (later, later_places);
            for (element, place) in elements.iter().zip(places) {
                *place = self.0.next(sum, element);
                sum = place;
            }
        }
        go_on.then(|| self.0.next(sum, last))
    }
}

/// Replaces each element by the sum up to and including it.
pub(super) struct InclusiveInPlace<'a, T, S>(pub(super) S, pub(super) PhantomData<fn(&'a mut T)>);

impl<'a, T: Send, S: Add<T, T>> Form for InclusiveInPlace<'a, T, S> {
    type Item = T;
    type Piece = &'a mut [T];
    const TOTAL: bool = false;

    fn sums(&self, left: &T, right: &T) -> T {
        self.0.sums(left, right)
    }

    fn sum(&self, piece: &Self::Piece, is_to_stop: impl Fn() -> bool) -> Option<T> {
        sum(piece, &self.0, is_to_stop)
    }

    fn scan(&self, mut piece: &'a mut [T], carry: Option<T>, go_on: bool) -> Option<T> {
        let mut sum = match &carry {
            Some(carry) => carry,
            None => piece.split_off_first_mut()?,
        };
        let last = piece.split_off_last_mut()?;
        for len in Pieces::of(piece.len()) {
            let (places, later) = piece.split_at_mut(len);
            piece = later;
            for place in places {
                *place = self.0.next(sum, place);
                sum = place;
            }
        }
        // Computed twice, because one sum stays here and the other goes on.
        let next = go_on.then(|| self.0.next(sum, last));
        *last = self.0.next(sum, last);
        without(next, carry)
    }
}

/// Replaces each element by the sum of the elements before it.
pub(super) struct ExclusiveInPlace<'a, T, S>(pub(super) S, pub(super) PhantomData<fn(&'a mut T)>);

impl<'a, T: Send, S: Add<T, T>> Form for ExclusiveInPlace<'a, T, S> {
    type Item = T;
    type Piece = &'a mut [T];
    const TOTAL: bool = true;

    fn sums(&self, left: &T, right: &T) -> T {
        self.0.sums(left, right)
    }

    fn sum(&self, piece: &Self::Piece, is_to_stop: impl Fn() -> bool) -> Option<T> {
        sum(piece, &self.0, is_to_stop)
    }

    fn scan(&self, mut piece: &'a mut [T], carry: Option<T>, _: bool) -> Option<T> {
        let mut sum = carry?;
        for len in Pieces::of(piece.len()) {
            let (places, later) = piece.split_at_mut(len);
            piece = later;
            for place in places {
                let next = self.0.next(&sum, place);
                *place = mem::replace(&mut sum, next);
            }
        }
        Some(sum)
    }
}
