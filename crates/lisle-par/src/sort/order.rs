//! The order of elements, in the three forms of the standard library.

use std::cmp::Ordering;

/// An order of elements, with the serial sorts that go with it.
///
/// The serial sorts are those of the same name in the standard library. What the standard library
/// knows of an order, for example that numbers may be compared without branches, is not lost.
pub(super) trait Order<T>: Sync {
    /// Returns `true` if `a` comes before `b`.
    fn is_less(&self, a: &T, b: &T) -> bool;

    /// Sorts serially; equal elements keep their order.
    fn sort(&self, slice: &mut [T]);

    /// Sorts serially; equal elements come in any order.
    fn sort_unstable(&self, slice: &mut [T]);
}

/// The order of the elements themselves.
pub(super) struct Natural;

impl<T: Ord> Order<T> for Natural {
    #[inline(always)]
    fn is_less(&self, a: &T, b: &T) -> bool {
        a.lt(b)
    }

    fn sort(&self, slice: &mut [T]) {
        slice.sort();
    }

    fn sort_unstable(&self, slice: &mut [T]) {
        slice.sort_unstable();
    }
}

/// The order that a comparison function defines.
pub(super) struct By<F>(pub(super) F);

impl<T, F: Fn(&T, &T) -> Ordering + Sync> Order<T> for By<F> {
    #[inline(always)]
    fn is_less(&self, a: &T, b: &T) -> bool {
        (self.0)(a, b) == Ordering::Less
    }

    fn sort(&self, slice: &mut [T]) {
        slice.sort_by(&self.0);
    }

    fn sort_unstable(&self, slice: &mut [T]) {
        slice.sort_unstable_by(&self.0);
    }
}

/// The order of the keys that a function returns.
pub(super) struct ByKey<F>(pub(super) F);

impl<T, K: Ord, F: Fn(&T) -> K + Sync> Order<T> for ByKey<F> {
    #[inline(always)]
    fn is_less(&self, a: &T, b: &T) -> bool {
        (self.0)(a).lt(&(self.0)(b))
    }

    fn sort(&self, slice: &mut [T]) {
        slice.sort_by_key(&self.0);
    }

    fn sort_unstable(&self, slice: &mut [T]) {
        slice.sort_unstable_by_key(&self.0);
    }
}
