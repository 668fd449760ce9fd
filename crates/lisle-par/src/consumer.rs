//! What a loop does with its items.

/// What becomes of a loop's items, block by block: a fold whose intermediate results can be merged.
///
/// One consumer serves all who take part in a loop, each with an accumulator of its own for a run of neighbouring steps.
pub trait Consumer: Sync {
    /// What it takes.
    type Item;
    /// What is known of a run of steps that have been done.
    type Acc: Send;

    /// Of no steps.
    fn begin(&self) -> Self::Acc;

    /// After some more: `items` are those of the steps from number `at` of the whole loop on, and follow directly on
    /// what `acc` is about.
    fn feed<I: Iterator<Item = Self::Item>>(&self, acc: Self::Acc, at: usize, items: I) -> Self::Acc;

    /// Of two neighbouring runs, `left` before `right`.
    fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc;

    /// What is known of a run, before it goes to another thread or to whoever has called the loop: what was kept for further
    /// blocks is of no use any more. A consumer around another one passes this on.
    fn end(&self, acc: Self::Acc) -> Self::Acc {
        acc
    }

    /// Is there nothing left to do from step `at` on? Asked between blocks.
    fn is_done(&self, acc: &Self::Acc, at: usize) -> bool {
        let _ = (acc, at);
        false
    }
}
