//! Parallel iterators over the collections of the standard library.
//!
//! A deque and a heap are slices inside. The elements of other collections, or references to them,
//! are put into a vector first.

pub mod binary_heap;
mod by_vectors;
pub mod vec_deque;

/// Names the iterators over a collection whose elements are put into a vector.
macro_rules! named {
    ($($(#[$doc:meta])* $module:ident { $($(#[$doc_of_type:meta])* $Iter:ident<$($param:tt),*> = $Item:ty;)* })*) => {$(
        $(#[$doc])*
        pub mod $module {
            use crate::vec;

            $(
                $(#[$doc_of_type])*
                pub type $Iter<$($param),*> = vec::IntoIter<$Item>;
            )*
        }
    )*};
}

named! {
    /// Parallel iterators over hash maps.
    hash_map {
        /// The parallel iterator over the keys and values of a hash map.
        IntoIter<K, V> = (K, V);
        /// The parallel iterator over references to the keys and values of a hash map.
        Iter<'data, K, V> = (&'data K, &'data V);
        /// The parallel iterator over references to the keys, and unique ones to the values, of a hash map.
        IterMut<'data, K, V> = (&'data K, &'data mut V);
    }
    /// Parallel iterators over hash sets.
    hash_set {
        /// The parallel iterator over the elements of a hash set.
        IntoIter<T> = T;
        /// The parallel iterator over shared references to the elements of a hash set.
        Iter<'data, T> = &'data T;
    }
    /// Parallel iterators over maps in order.
    btree_map {
        /// The parallel iterator over the keys and values of a map in order.
        IntoIter<K, V> = (K, V);
        /// The parallel iterator over references to the keys and values of a map in order.
        Iter<'data, K, V> = (&'data K, &'data V);
        /// The parallel iterator over references to the keys, and unique ones to the values, of a map in order.
        IterMut<'data, K, V> = (&'data K, &'data mut V);
    }
    /// Parallel iterators over sets in order.
    btree_set {
        /// The parallel iterator over the elements of a set in order.
        IntoIter<T> = T;
        /// The parallel iterator over shared references to the elements of a set in order.
        Iter<'data, T> = &'data T;
    }
    /// Parallel iterators over linked lists.
    linked_list {
        /// The parallel iterator over the elements of a linked list.
        IntoIter<T> = T;
        /// The parallel iterator over shared references to the elements of a linked list.
        Iter<'data, T> = &'data T;
        /// The parallel iterator over unique references to the elements of a linked list.
        IterMut<'data, T> = &'data mut T;
    }
}
