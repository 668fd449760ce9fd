//! Operations that may fail.
//!
//! Of several failures, the one in the first block is returned, as in a loop that is not parallel:
//! items after a failure are not begun any more, and items before it are still run.

use crate::at::First;
use crate::iter::tries::Try;
use crate::iter::{At, Consumer};
use crate::kept::without;
use std::marker::PhantomData;
use std::ops::ControlFlow;

/// Calls a function until it fails.
pub(in crate::iter) struct TryForEach<T, F> {
    op: F,
    stop: First,
    takes: PhantomData<fn(T)>,
}

impl<T, R, F: Fn(T) -> R + Sync> TryForEach<T, F> {
    pub(in crate::iter) fn new(op: F) -> Self {
        TryForEach { op, stop: First::new(), takes: PhantomData }
    }
}

impl<T, R: Try<Output = ()> + Send, F: Fn(T) -> R + Sync> Consumer for TryForEach<T, F> {
    type Item = T;
    type Acc = R;

    fn begin(&self) -> R {
        R::from_output(())
    }

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, acc: R, at: At<'_>, mut items: I) -> R {
        if self.is_done(&acc, at) {
            return without(acc, items);
        }
        let outcome = items.try_for_each(|item| (self.op)(item).branch());
        let outcome = without(outcome, items);
        match outcome {
            ControlFlow::Continue(()) => acc,
            ControlFlow::Break(residual) => {
                self.stop.found_at(at);
                without(R::from_residual(residual), acc)
            }
        }
    }

    fn merge(&self, left: R, right: R) -> R {
        if left.is_over() { without(left, right) } else { without(right, left) }
    }

    fn is_done(&self, acc: &R, at: At<'_>) -> bool {
        acc.is_over() || self.stop.is_before(at)
    }
}

/// Returns the items reduced to one value with `acc`, until `op` fails or an item is a failure.
#[inline]
fn reduced<R, I, F>(acc: R, mut items: I, op: F) -> R
where
    R: Try,
    I: Iterator<Item = R>,
    F: Fn(R::Output, R::Output) -> R,
{
    let reduced = match acc.branch() {
        ControlFlow::Continue(acc) => items.try_fold(acc, |acc, item| match item.branch() {
            ControlFlow::Continue(item) => op(acc, item).branch(),
            over => without(over, acc),
        }),
        over => over,
    };
    R::from_branch(without(reduced, items))
}

/// Reduces two values to one, unless one of them is a failure.
fn joined<R: Try>(left: R, right: R, op: impl Fn(R::Output, R::Output) -> R) -> R {
    match left.branch() {
        ControlFlow::Continue(left) => match right.branch() {
            ControlFlow::Continue(right) => op(left, right),
            over => without(R::from_branch(over), left),
        },
        over => without(R::from_branch(over), right),
    }
}

/// Reduces two values to one, until the operation fails or one of the two is a failure. Begins each
/// range with a value of its own.
pub(in crate::iter) struct TryReduce<R, N, F> {
    identity: N,
    op: F,
    stop: First,
    takes: PhantomData<fn(R)>,
}

impl<R, N, F> TryReduce<R, N, F> {
    pub(in crate::iter) fn new(identity: N, op: F) -> Self {
        TryReduce { identity, op, stop: First::new(), takes: PhantomData }
    }
}

impl<R, N, F> Consumer for TryReduce<R, N, F>
where
    R: Try + Send,
    N: Fn() -> R::Output + Sync,
    F: Fn(R::Output, R::Output) -> R + Sync,
{
    type Item = R;
    type Acc = R;

    fn begin(&self) -> R {
        R::from_output((self.identity)())
    }

    #[inline]
    fn feed<I: Iterator<Item = R>>(&self, acc: R, at: At<'_>, items: I) -> R {
        if self.is_done(&acc, at) {
            return without(acc, items);
        }
        let reduced = reduced(acc, items, &self.op);
        if reduced.is_over() {
            self.stop.found_at(at);
        }
        reduced
    }

    fn merge(&self, left: R, right: R) -> R {
        joined(left, right, &self.op)
    }

    fn is_done(&self, acc: &R, at: At<'_>) -> bool {
        acc.is_over() || self.stop.is_before(at)
    }
}

/// Does the same, and begins each range with its first item.
pub(in crate::iter) struct TryReduceWith<R, F> {
    op: F,
    stop: First,
    takes: PhantomData<fn(R)>,
}

impl<R, F> TryReduceWith<R, F> {
    pub(in crate::iter) fn new(op: F) -> Self {
        TryReduceWith { op, stop: First::new(), takes: PhantomData }
    }
}

impl<R, F> Consumer for TryReduceWith<R, F>
where
    R: Try + Send,
    F: Fn(R::Output, R::Output) -> R + Sync,
{
    type Item = R;
    type Acc = Option<R>;

    fn begin(&self) -> Option<R> {
        None
    }

    #[inline]
    fn feed<I: Iterator<Item = R>>(&self, acc: Option<R>, at: At<'_>, mut items: I) -> Option<R> {
        if self.is_done(&acc, at) {
            return without(acc, items);
        }
        let Some(first) = acc.or_else(|| items.next()) else { return without(None, items) };
        let reduced = reduced(first, items, &self.op);
        if reduced.is_over() {
            self.stop.found_at(at);
        }
        Some(reduced)
    }

    fn merge(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        match (left, right) {
            (Some(left), Some(right)) => Some(joined(left, right, &self.op)),
            (left, right) => left.or(right),
        }
    }

    fn is_done(&self, acc: &Option<R>, at: At<'_>) -> bool {
        acc.as_ref().is_some_and(Try::is_over) || self.stop.is_before(at)
    }
}
