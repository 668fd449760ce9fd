//! What comes before what, in the three forms of the standard library.

use std::cmp::Ordering;

/// An order of elements, which knows the serial sorts that go with it.
///
/// Serial sorts are the standard library's of the same name, so that what it knows of an order (that numbers may be
/// compared without branches, say) is not lost.
pub(super) trait Order<T>: Sync {
    /// Is `a` to come before `b`?
    fn is_less(&self, a: &T, b: &T) -> bool;

    /// Sorts; equal elements stay in their order.
    fn sort(&self, slice: &mut [T]);

    /// Sorts; equal elements come in any order.
    fn sort_unstable(&self, slice: &mut [T]);
}

/// The elements' own.
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

/// What a function says of two elements.
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

/// That of the keys which a function gives.
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
