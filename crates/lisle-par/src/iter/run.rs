//! The single place from which loops are run.

use super::{Consumer, Part, Plan};
use crate::drive::drive;

/// Feeds all items of `part` to `consumer`.
#[track_caller]
pub(super) fn run<P: Part, C: Consumer<Item = P::Item>>(part: P, consumer: &C, plan: Plan) -> C::Acc {
    #[cfg(test)]
    if let Some(random) = super::tests::splits::random() {
        return super::tests::splits::drive(part, consumer, &random);
    }
    drive(part, consumer, plan)
}
