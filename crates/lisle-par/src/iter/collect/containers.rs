//! The collections of the standard library.

use super::runs::gather;
use super::{FromParallelIterator, ParallelExtend, extend_in_place};
use crate::iter::run::run_by;
use crate::iter::{At, Consumer, IntoParallelIterator, ParallelIterator};
use crate::looks;
use crate::sort::sort_by;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::rc::Rc;
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

impl<T: Send> FromParallelIterator<T> for Vec<T> {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(iter: I) -> Self {
        let mut vec = Vec::new();
        vec.par_extend(iter);
        vec
    }
}

/// Implements slices on the heap, which are made of vectors.
macro_rules! slices {
    ($($Slice:ty;)*) => {$(
        impl<T: Send> FromParallelIterator<T> for $Slice {
            #[track_caller]
            fn from_par_iter<I: IntoParallelIterator<Item = T>>(iter: I) -> Self {
                Vec::from_par_iter(iter).into()
            }
        }
    )*};
}

slices! {
    Box<[T]>;
    Rc<[T]>;
    Arc<[T]>;
}

/// Collects into an owned value.
impl<C: ToOwned<Owned: FromParallelIterator<T>> + ?Sized, T: Send> FromParallelIterator<T> for Cow<'_, C> {
    #[track_caller]
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(iter: I) -> Self {
        Cow::Owned(C::Owned::from_par_iter(iter))
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

        impl<$($generics)*> FromParallelIterator<$Item> for $Collection
        where
            $Collection: FromIterator<$Item>,
        {
            #[track_caller]
            fn from_par_iter<I: IntoParallelIterator<Item = $Item>>(iter: I) -> Self {
                gather(iter.into_par_iter()).into_items().collect()
            }
        }
    )*};
}

one_by_one! {
    [K: Eq + Hash + Send, V: Send, S: BuildHasher + Send] (K, V) => HashMap<K, V, S>;
    [T: Eq + Hash + Send, S: BuildHasher + Send] T => HashSet<T, S>;
    [T: Ord + Send] T => BinaryHeap<T>;
    [T: Send] T => VecDeque<T>;
    [T: Send] T => LinkedList<T>;
    [] OsString => OsString;
    ['t] &'t OsStr => OsString;
    ['t] Cow<'t, OsStr> => OsString;
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

/// Implements collections that are extended by copies of values.
macro_rules! copies {
    ($([$($generics:tt)*] $Item:ty => $Collection:ty, $copy:expr;)*) => {$(
        impl<'t, $($generics)*> ParallelExtend<$Item> for $Collection {
            #[track_caller]
            fn par_extend<I: IntoParallelIterator<Item = $Item>>(&mut self, iter: I) {
                self.par_extend(iter.into_par_iter().map($copy));
            }
        }
    )*};
}

copies! {
    [T: Copy + Send + Sync] &'t T => Vec<T>, |item| *item;
    [T: Copy + Send + Sync] &'t T => VecDeque<T>, |item| *item;
    [T: Copy + Send + Sync] &'t T => LinkedList<T>, |item| *item;
    [T: Copy + Ord + Send + Sync] &'t T => BinaryHeap<T>, |item| *item;
    [T: Copy + Ord + Send + Sync] &'t T => BTreeSet<T>, |item| *item;
    [T: Copy + Eq + Hash + Send + Sync, S: BuildHasher + Send] &'t T => HashSet<T, S>, |item| *item;
    [K: Copy + Ord + Send + Sync, V: Copy + Send + Sync] (&'t K, &'t V) => BTreeMap<K, V>, |(k, v)| (*k, *v);
    [K: Copy + Eq + Hash + Send + Sync, V: Copy + Send + Sync, S: BuildHasher + Send]
        (&'t K, &'t V) => HashMap<K, V, S>, |(k, v)| (*k, *v);
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
                let text = run_by(iter, Write(PhantomData));
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

        impl$(<$lifetime>)? FromParallelIterator<$Piece> for Box<str> {
            #[track_caller]
            fn from_par_iter<I: IntoParallelIterator<Item = $Piece>>(iter: I) -> Self {
                String::from_par_iter(iter).into()
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
