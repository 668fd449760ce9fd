//! Consumers, which take the items of a loop.

use super::at::At;

/// A fold over the items of a loop, block by block, whose intermediate results can be merged.
///
/// One consumer serves all participants of a loop. Each has an accumulator of its own for a range
/// of neighbouring steps.
pub trait Consumer: Sync {
    /// The type of the items.
    type Item;
    /// The accumulator: the intermediate result of a range of steps.
    type Acc: Send;

    /// Returns the accumulator of no steps.
    fn begin(&self) -> Self::Acc;

    /// Adds `items` to `acc`. The items follow directly after the steps of `acc`. `at` is the place
    /// of their block. Consumers of indexed loops may use the number of its [`step`](At::step) as an
    /// index. Other consumers may use only the order of these numbers.
    fn feed<I: Iterator<Item = Self::Item>>(&self, acc: Self::Acc, at: At<'_>, items: I) -> Self::Acc;

    /// Merges the accumulators of two neighbouring ranges, `left` before `right`.
    fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc;

    /// Ends a range, before its accumulator goes to another thread or to the caller of the loop. It
    /// drops values that were kept for further blocks. A consumer that wraps another one passes the
    /// call on.
    fn end(&self, acc: Self::Acc) -> Self::Acc {
        acc
    }

    /// Returns `true` if nothing is left to do from the block at `at` on, in its own loop. It is
    /// called between blocks, and by some consumers within a block.
    fn is_done(&self, acc: &Self::Acc, at: At<'_>) -> bool {
        let _ = (acc, at);
        false
    }

    /// Returns the number of steps from the block at `at` on, in its own loop, that need not be fed
    /// although later steps may have to be. It is called between blocks. A consumer that wraps
    /// another one passes the call on if it does not need these steps itself.
    fn needless(&self, at: At<'_>) -> usize {
        let _ = at;
        0
    }
}
