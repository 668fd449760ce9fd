//! Parts: items in an order, which a loop runs over and divides.

/// A part of the work of a loop: some steps, in order. A step usually gives at most one item.
///
/// A loop takes a block of steps off the front, runs it as a plain iterator, and goes on. If
/// another domain wants work, the loop divides the rest in two and gives the second half away.
pub trait Part: Sized + Send {
    /// The type of the items.
    type Item;
    /// The plain iterator over the items.
    type Items: Iterator<Item = Self::Item>;

    /// Returns the number of steps. There may be fewer items, or more if a step gives several.
    fn len(&self) -> usize;

    /// Returns `true` if there are no steps.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Divides the part into the first `at` steps and the others. `at` is at most
    /// [`len`](Part::len). If nothing can come of the steps any more, because a source that all
    /// parts share has ended, the two parts may have no steps.
    fn split_at(self, at: usize) -> (Self, Self);

    /// Returns an iterator over the items in their order.
    fn items(self) -> Self::Items;
}
