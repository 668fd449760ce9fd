//! The collections that cannot be divided: their elements, or references to them, are put into a
//! vector first.

use crate::iter::{IntoParallelIterator, ParallelDrainFull};
use crate::vec;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList};

macro_rules! by_vectors {
    ($([$($generics:tt)*] $Collection:ty, $Item:ty;)*) => {$(
        impl<$($generics)*> IntoParallelIterator for $Collection {
            type Iter = vec::IntoIter<$Item>;
            type Item = $Item;

            /// Allocates a vector, and fills it one by one.
            fn into_par_iter(self) -> Self::Iter {
                self.into_iter().collect::<Vec<_>>().into_par_iter()
            }
        }
    )*};
}

by_vectors! {
    [K: Send, V: Send, S] HashMap<K, V, S>, (K, V);
    ['data, K: Sync, V: Sync, S] &'data HashMap<K, V, S>, (&'data K, &'data V);
    ['data, K: Sync, V: Send, S] &'data mut HashMap<K, V, S>, (&'data K, &'data mut V);
    [T: Send, S] HashSet<T, S>, T;
    ['data, T: Sync, S] &'data HashSet<T, S>, &'data T;
    [K: Send, V: Send] BTreeMap<K, V>, (K, V);
    ['data, K: Sync, V: Sync] &'data BTreeMap<K, V>, (&'data K, &'data V);
    ['data, K: Sync, V: Send] &'data mut BTreeMap<K, V>, (&'data K, &'data mut V);
    [T: Send] BTreeSet<T>, T;
    ['data, T: Sync] &'data BTreeSet<T>, &'data T;
    [T: Send] LinkedList<T>, T;
    ['data, T: Sync] &'data LinkedList<T>, &'data T;
    ['data, T: Send] &'data mut LinkedList<T>, &'data mut T;
}

macro_rules! drained {
    ($([$($generics:tt)*] $Collection:ty, $Item:ty;)*) => {$(
        impl<$($generics)*> ParallelDrainFull for &mut $Collection {
            type Iter = vec::IntoIter<$Item>;
            type Item = $Item;

            /// Allocates a vector, and fills it one by one.
            fn par_drain(self) -> Self::Iter {
                self.drain().collect::<Vec<_>>().into_par_iter()
            }
        }
    )*};
}

drained! {
    [K: Send, V: Send, S] HashMap<K, V, S>, (K, V);
    [T: Send, S] HashSet<T, S>, T;
}
