//! Tuples of iterators side by side: zips of zips whose nested pairs are made flat.

use super::stages::{OneToOne, Stage, Staged};
use super::zip::Zip;
use crate::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator,
};

/// Makes tuples of `N` elements of nested pairs: of `((a, b), c)` it makes `(a, b, c)`.
#[derive(Debug, Clone)]
pub struct Tupling<const N: usize>;

/// The iterator of a [`Tupling`].
#[derive(Debug)]
pub struct Tupled<I, const N: usize>(I);

/// Nests the types, patterns and expressions of a tuple in pairs.
macro_rules! nested {
    (@item $first:ident $($T:ident)*) => { nested!(@items ($first) $($T)*) };
    (@items ($nested:ty)) => { $nested };
    (@items ($nested:ty) $T:ident $($rest:ident)*) => { nested!(@items (($nested, $T)) $($rest)*) };
    (@pattern $first:ident $($t:ident)*) => { nested!(@patterns ($first) $($t)*) };
    (@patterns ($nested:pat)) => { $nested };
    (@patterns ($nested:pat) $t:ident $($rest:ident)*) => { nested!(@patterns (($nested, $t)) $($rest)*) };
    (@zip $first:ty $(, $T:ty)*) => { nested!(@zips ($first) $(, $T)*) };
    (@zips ($nested:ty)) => { $nested };
    (@zips ($nested:ty), $T:ty $(, $rest:ty)*) => { nested!(@zips (Zip<$nested, $T>) $(, $rest)*) };
}

macro_rules! tuples {
    ($($N:literal: $($T:ident $t:ident)*;)*) => { $(
        impl<$($T: Send),*> Stage<nested!(@item $($T)*)> for Tupling<$N> {
            type Out = ($($T,)*);
            type Items<'a, Items: Iterator<Item = nested!(@item $($T)*)>> = Tupled<Items, $N>;

            const ONE_TO_ONE: bool = true;

            #[inline]
            fn items<Items: Iterator<Item = nested!(@item $($T)*)>>(&self, items: Items) -> Tupled<Items, $N> {
                Tupled(items)
            }
        }

        impl<$($T: Send),*> OneToOne<nested!(@item $($T)*)> for Tupling<$N> {}

        impl<Items: Iterator<Item = nested!(@item $($T)*)>, $($T),*> Iterator for Tupled<Items, $N> {
            type Item = ($($T,)*);

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                self.0.next().map(|nested!(@pattern $($t)*)| ($($t,)*))
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }

            #[inline]
            fn fold<Acc, Op: FnMut(Acc, Self::Item) -> Acc>(self, init: Acc, mut op: Op) -> Acc {
                self.0.fold(init, |acc, nested!(@pattern $($t)*)| op(acc, ($($t,)*)))
            }
        }

        tuples! { @convert $N: [] IntoParallelIterator into_par_iter; $($T $t)* }
        tuples! { @convert $N: [&'a] IntoParallelRefIterator par_iter; $($T $t)* }
        tuples! { @convert $N: [&'a mut] IntoParallelRefMutIterator par_iter_mut; $($T $t)* }
    )* };
    (@convert $N:literal: [] $Into:ident $into:ident; $($T:ident $t:ident)*) => {
        /// The iterators side by side; the shortest one determines the length.
        impl<$($T),*> IntoParallelIterator for ($($T,)*)
        where
            $($T: $Into<Iter: IndexedParallelIterator>,)*
        {
            type Iter = Staged<nested!(@zip $($T::Iter),*), Tupling<$N>>;
            type Item = ($($T::Item,)*);

            fn into_par_iter(self) -> Self::Iter {
                let ($($t,)*) = self;
                Staged::new(tuples!(@zip $($t.$into()),*), Tupling)
            }
        }
    };
    (@convert $N:literal: [$($reference:tt)+] $Into:ident $into:ident; $($T:ident $t:ident)*) => {
        /// The iterators side by side; the shortest one determines the length.
        impl<'a, $($T),*> IntoParallelIterator for $($reference)+ ($($T,)*)
        where
            $($T: $Into<'a, Iter: IndexedParallelIterator>,)*
        {
            type Iter = Staged<nested!(@zip $($T::Iter),*), Tupling<$N>>;
            type Item = ($($T::Item,)*);

            fn into_par_iter(self) -> Self::Iter {
                let ($($t,)*) = self;
                Staged::new(tuples!(@zip $($t.$into()),*), Tupling)
            }
        }
    };
    (@zip $first:expr $(, $t:expr)*) => { $first$(.zip($t))* };
}

tuples! {
    1: A a;
    2: A a B b;
    3: A a B b C c;
    4: A a B b C c D d;
    5: A a B b C c D d E e;
    6: A a B b C c D d E e F f;
    7: A a B b C c D d E e F f G g;
    8: A a B b C c D d E e F f G g H h;
    9: A a B b C c D d E e F f G g H h I i;
    10: A a B b C c D d E e F f G g H h I i J j;
    11: A a B b C c D d E e F f G g H h I i J j K k;
    12: A a B b C c D d E e F f G g H h I i J j K k L l;
}
