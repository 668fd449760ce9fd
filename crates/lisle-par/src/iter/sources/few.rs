//! Iterators over no item, one item, or one item repeated.

use crate::iter::exact::{exact_part, parts_are_exact};
use crate::iter::{ExactPart, IndexedParallelIterator, IntoParallelIterator, ParallelIterator, Part, Zip};
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
pub fn repeat_n<T: Clone + Send>(item: T, count: usize) -> RepeatN<T> {
    RepeatN { item, count }
}

/// Creates an iterator over clones of one item, without an end.
///
/// It is for loops that end early, and for [`zip`](Repeat::zip). To be exact, it has `usize::MAX`
/// items.
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::{iter, prelude::*};
///
/// assert_eq!(iter::repeat(7).find_any(|n| *n == 7), Some(7));
/// ```
pub fn repeat<T: Clone + Send>(item: T) -> Repeat<T> {
    Repeat { item }
}

/// Creates an iterator over `count` clones of one item.
///
/// # Examples
///
/// ```
/// # use lisle_par::facade as lisle;
/// use lisle::par::{iter, prelude::*};
///
/// # #[allow(deprecated)]
/// assert_eq!(iter::repeatn(2, 3).product::<u32>(), 8);
/// ```
#[deprecated(note = "use `repeat_n`, the name that the standard library has given to it")]
pub fn repeatn<T: Clone + Send>(item: T, count: usize) -> RepeatN<T> {
    repeat_n(item, count)
}

/// See [`empty`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Empty<T>(PhantomData<fn() -> T>);

/// One item or none. See [`once`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Once<T> {
    item: Option<T>,
}

/// See [`repeat`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Repeat<T> {
    item: T,
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
pub struct Repeated<T> {
    item: T,
    count: usize,
}

impl<T> Once<T> {
    pub(super) fn of(item: Option<T>) -> Self {
        Once { item }
    }
}

impl<T: Clone + Send> Repeat<T> {
    /// Returns an iterator over the first `count` clones.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::{iter, prelude::*};
    ///
    /// assert_eq!(iter::repeat(2).take(3).sum::<u32>(), 6);
    /// ```
    pub fn take(self, count: usize) -> RepeatN<T> {
        repeat_n(self.item, count)
    }

    /// Returns an iterator over pairs of a clone and an item of `other`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_par::facade as lisle;
    /// use lisle::par::{iter, prelude::*};
    ///
    /// let pairs: Vec<(u8, char)> = iter::repeat(1).zip(['a', 'b']).collect();
    /// assert_eq!(pairs, [(1, 'a'), (1, 'b')]);
    /// ```
    pub fn zip<Z>(self, other: Z) -> Zip<RepeatN<T>, Z::Iter>
    where
        Z: IntoParallelIterator,
        Z::Iter: IndexedParallelIterator,
    {
        let other = other.into_par_iter();
        self.take(other.len()).zip(other)
    }
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

impl<T: Clone + Send> ParallelIterator for Repeat<T> {
    type Item = T;
    type Part<'a>
        = Repeated<T>
    where
        Self: 'a;

    fn part(&mut self) -> Repeated<T> {
        Repeated { item: self.item.clone(), count: usize::MAX }
    }
}

impl<T: Clone + Send> ParallelIterator for RepeatN<T> {
    type Item = T;
    parts_are_exact!();
}

impl<T: Clone + Send> IndexedParallelIterator for RepeatN<T> {
    exact_part!(Repeated<T>, |this| Repeated { item: this.item.clone(), count: this.count }, this.count);
}

impl<T: Clone + Send> Part for Repeated<T> {
    type Item = T;
    type Items = std::iter::RepeatN<T>;

    fn len(&self) -> usize {
        self.count
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let Repeated { item, count } = self;
        (Repeated { item: item.clone(), count: at }, Repeated { item, count: count - at })
    }

    fn items(self) -> Self::Items {
        std::iter::repeat_n(self.item, self.count)
    }
}

impl<T: Clone + Send> ExactPart for Repeated<T> {
    type Back = std::iter::RepeatN<T>;

    fn back(self) -> Self::Back {
        self.items()
    }
}
