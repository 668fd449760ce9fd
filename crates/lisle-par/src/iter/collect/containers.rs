//! The collections of the standard library.

use super::runs::gather;
use super::{FromParallelIterator, ParallelExtend, extend_in_place};
use crate::iter::{At, Consumer, IntoParallelIterator, ParallelIterator};
use crate::looks;
use crate::sort::sort_by;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::sync::Arc;

impl<T: Send> ParallelExtend<T> for Vec<T> {
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, iter: I) {
        let iter = iter.into_par_iter();
        match iter.exact_len() {
            Some(len) => extend_in_place(self, iter, len),
            None => gather(iter).append_to(self),
        }
    }

    fn par_extend_vec(&mut self, mut vec: Vec<T>) {
        if self.capacity() == 0 {
            *self = vec;
        } else {
            self.append(&mut vec);
        }
    }
}

impl<'t, T: Copy + Send + Sync + 't> ParallelExtend<&'t T> for Vec<T> {
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = &'t T>>(&mut self, iter: I) {
        self.par_extend(iter.into_par_iter().copied());
    }
}

impl<T: Send> FromParallelIterator<T> for Vec<T> {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(iter: I) -> Self {
        let mut vec = Vec::new();
        vec.par_extend(iter);
        vec
    }
}

impl<T: Send> FromParallelIterator<T> for Box<[T]> {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(iter: I) -> Self {
        Vec::from_par_iter(iter).into_boxed_slice()
    }
}

impl<T: Send> FromParallelIterator<T> for Arc<[T]> {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(iter: I) -> Self {
        Vec::from_par_iter(iter).into()
    }
}

/// For loops that are run for their effects.
impl FromParallelIterator<()> for () {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = ()>>(iter: I) {
        iter.into_par_iter().for_each(|()| ());
    }
}

impl ParallelExtend<()> for () {
    #[track_caller]
    fn par_extend<I: IntoParallelIterator<Item = ()>>(&mut self, iter: I) {
        iter.into_par_iter().for_each(|()| ());
    }
}

/// Implements collections into which only one thread can insert: all participants make the items,
/// and one thread inserts them.
macro_rules! one_by_one {
    ($([$($generics:tt)*] $Item:ty => $Collection:ty;)*) => {$(
        impl<$($generics)*> ParallelExtend<$Item> for $Collection {
            #[track_caller]
            fn par_extend<I: IntoParallelIterator<Item = $Item>>(&mut self, iter: I) {
                self.extend(gather(iter.into_par_iter()).into_items());
            }

            fn par_extend_vec(&mut self, vec: Vec<$Item>) {
                self.extend(looks::counted(vec));
            }
        }

        impl<$($generics)*> FromParallelIterator<$Item> for $Collection {
            #[track_caller]
            fn from_par_iter<I: IntoParallelIterator<Item = $Item>>(iter: I) -> Self {
                gather(iter.into_par_iter()).into_items().collect()
            }
        }
    )*};
}

one_by_one! {
    [K: Eq + Hash + Send, V: Send, S: BuildHasher + Default + Send] (K, V) => HashMap<K, V, S>;
    [T: Eq + Hash + Send, S: BuildHasher + Default + Send] T => HashSet<T, S>;
    [T: Ord + Send] T => BinaryHeap<T>;
    [T: Send] T => VecDeque<T>;
    [T: Send] T => LinkedList<T>;
}

/// Implements trees: items that are in order become a tree in one pass, and all participants put
/// them in order.
macro_rules! trees {
    ($([$($generics:tt)*] $Item:ty => $Tree:ty, $compare:expr;)*) => {$(
        impl<$($generics)*> ParallelExtend<$Item> for $Tree {
            #[track_caller]
            fn par_extend<I: IntoParallelIterator<Item = $Item>>(&mut self, iter: I) {
                self.extend(gather(iter.into_par_iter()).into_items());
            }

            fn par_extend_vec(&mut self, vec: Vec<$Item>) {
                self.extend(looks::counted(vec));
            }
        }

        impl<$($generics)*> FromParallelIterator<$Item> for $Tree {
            #[track_caller]
            fn from_par_iter<I: IntoParallelIterator<Item = $Item>>(iter: I) -> Self {
                let mut items = Vec::from_par_iter(iter);
                sort_by(&mut items, $compare);
                items.into_iter().collect()
            }
        }
    )*};
}

trees! {
    [K: Ord + Send, V: Send] (K, V) => BTreeMap<K, V>, |a, b| a.0.cmp(&b.0);
    [T: Ord + Send] T => BTreeSet<T>, Ord::cmp;
}

/// Appends a text in pieces. Other fibers may have their turn between the pieces.
fn append(mut text: String, mut more: &str) -> String {
    /// The most bytes that are copied between two looks whether others want a turn or work.
    const PIECE: usize = 1 << 17;
    text.reserve(more.len());
    while more.len() > PIECE {
        // A character has at most four bytes.
        let end = (PIECE - 3..=PIECE).rfind(|&at| more.is_char_boundary(at)).expect("a character ends there");
        let (piece, later) = more.split_at(end);
        text.push_str(piece);
        more = later;
        looks::after_a_piece();
    }
    text.push_str(more);
    text
}

/// Concatenates pieces of text.
struct Write<T>(PhantomData<fn(T)>);

impl<T> Consumer for Write<T>
where
    String: Extend<T>,
{
    type Item = T;
    type Acc = String;

    fn begin(&self) -> String {
        String::new()
    }

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, mut text: String, _: At<'_>, items: I) -> String {
        text.extend(items);
        text
    }

    fn merge(&self, left: String, right: String) -> String {
        if left.is_empty() { right } else { append(left, &right) }
    }
}

macro_rules! texts {
    ($([$($lifetime:lifetime)?] $Piece:ty;)*) => {$(
        impl$(<$lifetime>)? ParallelExtend<$Piece> for String {
            #[track_caller]
            fn par_extend<I: IntoParallelIterator<Item = $Piece>>(&mut self, iter: I) {
                let iter = iter.into_par_iter();
                let plan = iter.plan();
                let text = iter.drive(&Write(PhantomData), plan);
                if self.capacity() == 0 {
                    *self = text;
                } else {
                    *self = append(std::mem::take(self), &text);
                }
            }
        }

        impl$(<$lifetime>)? FromParallelIterator<$Piece> for String {
            #[track_caller]
            fn from_par_iter<I: IntoParallelIterator<Item = $Piece>>(iter: I) -> Self {
                let mut text = String::new();
                text.par_extend(iter);
                text
            }
        }
    )*};
}

texts! {
    [] char;
    ['t] &'t char;
    ['t] &'t str;
    [] String;
    [] Box<str>;
    ['t] Cow<'t, str>;
}
