//! Iterators over no item, one item, or one item repeated.

use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, ParallelIterator, Part};
use std::marker::PhantomData;

/// Creates an iterator over no items.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::{iter, prelude::*};
///
/// assert_eq!(iter::empty::<u8>().count(), 0);
/// ```
pub fn empty<T: Send>() -> Empty<T> {
    Empty(PhantomData)
}

/// Creates an iterator over one item.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::{iter, prelude::*};
///
/// let all: Vec<u8> = iter::once(1).chain(2..=3).collect();
/// assert_eq!(all, [1, 2, 3]);
/// ```
pub fn once<T: Send>(item: T) -> Once<T> {
    Once { item: Some(item) }
}

/// Creates an iterator over `count` clones of one item.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::{iter, prelude::*};
///
/// let line: String = iter::repeat_n("ab", 3).collect();
/// assert_eq!(line, "ababab");
/// ```
pub fn repeat_n<T: Clone + Send + Sync>(item: T, count: usize) -> RepeatN<T> {
    RepeatN { item, count }
}

/// See [`empty`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Empty<T>(PhantomData<fn() -> T>);

/// See [`once`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Once<T> {
    item: Option<T>,
}

/// See [`repeat_n`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct RepeatN<T> {
    item: T,
    count: usize,
}

/// No item or one.
#[derive(Debug)]
pub struct AtMostOne<T>(Option<T>);

/// The same item, `count` times.
#[derive(Debug)]
pub struct Repeated<'a, T> {
    item: &'a T,
    count: usize,
}

impl<T: Send> ParallelIterator for Empty<T> {
    type Item = T;
    parts_are_exact!();
}

impl<T: Send> IndexedParallelIterator for Empty<T> {
    type Exact<'a>
        = AtMostOne<T>
    where
        Self: 'a;

    fn exact(&mut self) -> AtMostOne<T> {
        AtMostOne(None)
    }

    fn len(&self) -> usize {
        0
    }
}

impl<T: Send> ParallelIterator for Once<T> {
    type Item = T;
    parts_are_exact!();
}

impl<T: Send> IndexedParallelIterator for Once<T> {
    exact_part!(AtMostOne<T>, |this| AtMostOne(this.item.take()), usize::from(this.item.is_some()));
}

impl<T: Send> Part for AtMostOne<T> {
    type Item = T;
    type Items = std::option::IntoIter<T>;

    fn len(&self) -> usize {
        usize::from(self.0.is_some())
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        if at == 0 { (AtMostOne(None), self) } else { (self, AtMostOne(None)) }
    }

    fn items(self) -> Self::Items {
        self.0.into_iter()
    }
}

impl<T: Send> ExactPart for AtMostOne<T> {
    type Back = std::option::IntoIter<T>;

    fn back(self) -> Self::Back {
        self.items()
    }
}

impl<T: Clone + Send + Sync> ParallelIterator for RepeatN<T> {
    type Item = T;
    parts_are_exact!();
}

impl<T: Clone + Send + Sync> IndexedParallelIterator for RepeatN<T> {
    exact_part!(Repeated<'a, T>, |this| Repeated { item: &this.item, count: this.count }, this.count);
}

impl<'a, T: Clone + Send + Sync> Part for Repeated<'a, T> {
    type Item = T;
    type Items = std::iter::Cloned<std::iter::RepeatN<&'a T>>;

    fn len(&self) -> usize {
        self.count
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let item = self.item;
        (Repeated { item, count: at }, Repeated { item, count: self.count - at })
    }

    fn items(self) -> Self::Items {
        std::iter::repeat_n(self.item, self.count).cloned()
    }
}

impl<'a, T: Clone + Send + Sync> ExactPart for Repeated<'a, T> {
    type Back = std::iter::Cloned<std::iter::RepeatN<&'a T>>;

    fn back(self) -> Self::Back {
        self.items()
    }
}
