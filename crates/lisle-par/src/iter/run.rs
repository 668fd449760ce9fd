//! The single place from which loops are run.

use super::{Consumer, ParallelIterator, Part, Plan};
use crate::drive::drive;
use crate::kept::without;

/// Feeds all items of `part` to `consumer`.
#[track_caller]
pub(super) fn run<P: Part, C: Consumer<Item = P::Item>>(part: P, consumer: &C, plan: Plan) -> C::Acc {
    #[cfg(test)]
    if let Some(random) = super::tests::splits::random() {
        return super::tests::splits::drive(part, consumer, &random);
    }
    drive(part, consumer, plan)
}

/// Feeds all items of `iter` to `consumer`. If the destructor of a closure in the consumer panics,
/// the result is dropped.
#[track_caller]
pub(super) fn run_by<I: ParallelIterator, C: Consumer<Item = I::Item>>(iter: I, consumer: C) -> C::Acc {
    let plan = iter.plan();
    let acc = iter.drive(&consumer, plan);
    without(acc, consumer)
}
