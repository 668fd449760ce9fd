//! Sums and products.

use crate::iter::{At, Consumer};
use std::iter;
use std::marker::PhantomData;

macro_rules! totals {
    ($(#[$doc:meta])* $Total:ident, $total:ident) => {
        $(#[$doc])*
        ///
        /// A range without a block has no value, not even a neutral one. For inexact numbers,
        /// combining a neutral value with others would be an operation that an undivided loop does
        /// not have.
        pub(in crate::iter) struct $Total<T, S>(PhantomData<fn(T) -> S>);

        impl<T, S: iter::$Total<T>> $Total<T, S> {
            pub(in crate::iter) fn new() -> Self {
                $Total(PhantomData)
            }

            pub(in crate::iter) fn of(total: Option<S>) -> S {
                total.unwrap_or_else(|| iter::empty::<T>().$total())
            }
        }

        impl<T, S: Send + iter::$Total<T> + iter::$Total<S>> Consumer for $Total<T, S> {
            type Item = T;
            type Acc = Option<S>;

            fn begin(&self) -> Option<S> {
                None
            }

            #[inline]
            fn feed<I: Iterator<Item = T>>(&self, acc: Option<S>, _: At<'_>, items: I) -> Option<S> {
                self.merge(acc, Some(items.$total()))
            }

            #[inline]
            fn merge(&self, left: Option<S>, right: Option<S>) -> Option<S> {
                match (left, right) {
                    (Some(left), Some(right)) => Some([left, right].into_iter().$total()),
                    (left, right) => left.or(right),
                }
            }
        }
    };
}

totals! {
    /// Adds the items.
    Sum, sum
}
totals! {
    /// Multiplies the items.
    Product, product
}
