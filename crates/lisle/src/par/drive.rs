//! Runs a loop.

use super::consumer::Consumer;
use super::part::Part;
use super::plan::Plan;

/// Feeds all items of `part` to `consumer`.
pub(crate) fn drive<P: Part, C: Consumer<Item = P::Item>>(part: P, consumer: &C, plan: Plan) -> C::Acc {
    let _ = plan;
    consumer.feed(consumer.begin(), 0, part.items())
}
