//! The order of elements, in the three forms of the standard library.

use crate::looks;
use std::cmp::Ordering;

/// An order of elements, with the serial sorts that go with it.
///
/// The serial sorts are the functions of the same name in the standard library. Knowledge of the
/// standard library about an order, for example that numbers may be compared without branches, is
/// not lost.
pub(super) trait Order<T>: Sync {
    /// Returns `true` if `a` comes before `b`.
    fn is_less(&self, a: &T, b: &T) -> bool;

    /// Compares two elements.
    fn compare(&self, a: &T, b: &T) -> Ordering;

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

    #[inline(always)]
    fn compare(&self, a: &T, b: &T) -> Ordering {
        a.cmp(b)
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

    #[inline(always)]
    fn compare(&self, a: &T, b: &T) -> Ordering {
        (self.0)(a, b)
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

    #[inline(always)]
    fn compare(&self, a: &T, b: &T) -> Ordering {
        (self.0)(a).cmp(&(self.0)(b))
    }

    fn sort(&self, slice: &mut [T]) {
        slice.sort_by_key(&self.0);
    }

    fn sort_unstable(&self, slice: &mut [T]) {
        slice.sort_unstable_by_key(&self.0);
    }
}

/// An order that counts each of its comparisons, and looks when it is time whether others want a
/// turn or work.
///
/// To the sorts of the standard library a comparison is an ordinary call: only the sort has the
/// slice while the comparison lets other fibers have their turn.
pub(super) struct Counted<'a, O>(pub(super) &'a O);

impl<T, O: Order<T>> Order<T> for Counted<'_, O> {
    #[inline(always)]
    fn is_less(&self, a: &T, b: &T) -> bool {
        looks::count();
        self.0.is_less(a, b)
    }

    #[inline(always)]
    fn compare(&self, a: &T, b: &T) -> Ordering {
        looks::count();
        self.0.compare(a, b)
    }

    fn sort(&self, slice: &mut [T]) {
        slice.sort_by(|a, b| self.compare(a, b));
    }

    fn sort_unstable(&self, slice: &mut [T]) {
        slice.sort_unstable_by(|a, b| self.compare(a, b));
    }
}
