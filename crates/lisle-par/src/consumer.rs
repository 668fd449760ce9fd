//! Consumers, which take the items of a loop.

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

    /// Adds `items` to `acc`. The items follow directly after the steps of `acc`. `at` is the
    /// number of the step of the outermost loop at which their block begins. A step that is itself
    /// a loop is fed in several blocks with the same `at`, also on several threads. Consumers of
    /// indexed loops may use `at` as an index. Other consumers may use only its order.
    fn feed<I: Iterator<Item = Self::Item>>(&self, acc: Self::Acc, at: usize, items: I) -> Self::Acc;

    /// Merges the accumulators of two neighbouring ranges, `left` before `right`.
    fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc;

    /// Ends a range, before its accumulator goes to another thread or to the caller of the loop. It
    /// drops values that were kept for further blocks. A consumer that wraps another one passes the
    /// call on.
    fn end(&self, acc: Self::Acc) -> Self::Acc {
        acc
    }

    /// Returns `true` if nothing is left to do from step `at` on. It is called between blocks, and
    /// by some consumers within a block.
    fn is_done(&self, acc: &Self::Acc, at: usize) -> bool {
        let _ = (acc, at);
        false
    }
}
