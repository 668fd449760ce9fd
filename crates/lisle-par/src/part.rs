//! What a loop runs over: items in an order, which can be divided.

/// A part of a loop's work: some steps, in order, each of which gives at most one item, as a rule.
///
/// A loop takes a block of steps off the front, runs it as a plain iterator, and goes on. If another domain wants work,
/// it divides what is left in two and gives the second half away.
pub trait Part: Sized + Send {
    /// What a step gives.
    type Item;
    /// The items one after the other.
    type Items: Iterator<Item = Self::Item>;

    /// How many steps there are. Of items there may be fewer, and more where a step gives several.
    fn len(&self) -> usize;

    /// Are there none?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Divides: the first `at` steps, and the others. `at` is not above [`len`](Part::len).
    fn split_at(self, at: usize) -> (Self, Self);

    /// The items in their order.
    fn items(self) -> Self::Items;
}
