//! Items with an element between each two.
//!
//! A part alone does not know whether there are items before it. Hence these iterators are driven in
//! a way of their own, by a consumer that adds an element between two ranges where they are merged.
//! If such an iterator is only a part of another one, as in a chain, the place of each element is
//! known from the number of items. If the number is not known, the items are collected before.

use super::init::{Clones, Init};
use crate::iter::collect::collect_part;
use crate::iter::exact::exact_part;
use crate::iter::sources::vec::{IntoIter, Moved};
use crate::iter::{
    At, Consumer, ExactPart, IndexedParallelIterator, IntoParallelIterator, ParallelIterator, Part, Plan,
};
use crate::kept::without;
use either::Either::{self, Left, Right};
use std::iter::once_with;

/// See [`intersperse`](ParallelIterator::intersperse).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug, Clone)]
pub struct Intersperse<I, T> {
    base: I,
    element: Clones<T>,
    /// The items, if they had to be collected before.
    collected: IntoIter<T>,
}

impl<I: ParallelIterator<Item = T>, T: Clone + Send> Intersperse<I, T> {
    #[track_caller]
    pub(in crate::iter) fn new(base: I, element: T) -> Self {
        Intersperse { base, element: Clones::new(element), collected: Vec::new().into_par_iter() }
    }
}

/// Returns the number of steps for `items` items.
fn steps(items: usize) -> usize {
    let Some(gaps) = items.checked_sub(1) else { return 0 };
    items.checked_add(gaps).expect(
        "a parallel loop over items with an element between each two has no more than usize::MAX steps: run an outer \
         loop over parts of the items",
    )
}

impl<I: ParallelIterator<Item = T>, T: Clone + Send> ParallelIterator for Intersperse<I, T> {
    type Item = T;
    type Part<'a>
        = Either<Spaced<I::Part<'a>, T>, Spaced<Moved<'a, T>, T>>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        let element = self.element.init();
        if self.base.exact_len().is_some() {
            return Left(Spaced::new(self.base.part(), element));
        }
        let plan = self.base.plan();
        self.collected = collect_part(self.base.part(), plan).into_par_iter();
        Right(Spaced::new(self.collected.part(), element))
    }

    fn plan(&self) -> Plan {
        self.base.plan()
    }

    fn exact_len(&self) -> Option<usize> {
        self.base.exact_len().map(steps)
    }

    #[track_caller]
    fn drive<C: Consumer<Item = T>>(self, consumer: &C, plan: Plan) -> C::Acc {
        let run = self.base.drive(&Between { consumer, element: &self.element }, plan);
        let acc = without(run.acc, run.element);
        without(acc, self.element)
    }
}

impl<I: IndexedParallelIterator<Item = T>, T: Clone + Send> IndexedParallelIterator for Intersperse<I, T> {
    exact_part!(
        Spaced<I::Exact<'a>, T>,
        |this| Spaced::new(this.base.exact(), this.element.init()),
        steps(this.base.len())
    );
}

/// A part each of whose steps is one of another part, or an element in a gap.
#[derive(Debug)]
pub struct Spaced<P, T> {
    base: P,
    element: T,
    /// Whether there is an element before the first step of the other part, and after the last.
    leads: bool,
    trails: bool,
}

impl<P: Part<Item = T>, T: Clone> Spaced<P, T> {
    fn new(base: P, element: T) -> Self {
        steps(base.len());
        Spaced { base, element, leads: false, trails: false }
    }

    fn ends(&self) -> usize {
        usize::from(self.leads) + usize::from(self.trails)
    }
}

impl<P: Part<Item = T>, T: Clone + Send> Part for Spaced<P, T> {
    type Item = T;
    type Items = SpacedItems<P::Items, T>;

    #[inline]
    fn len(&self) -> usize {
        let items = self.base.len();
        items + items.saturating_sub(1) + self.ends()
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let is_whole = at == self.len();
        // The first step of the right part is an element if the number of steps before it says so.
        let is_element = self.leads == at.is_multiple_of(2);
        let items = if self.leads { at / 2 } else { at.div_ceil(2) };
        let (left, right) = self.base.split_at(items);
        let trails = self.trails && !is_whole && !right.is_empty();
        let right =
            Spaced { base: right, element: self.element.clone(), leads: is_element && !is_whole, trails };
        let trails = !left.is_empty() && if is_whole { self.trails } else { !is_element };
        let leads = self.leads && at > 0;
        (Spaced { base: left, element: self.element, leads, trails }, right)
    }

    fn items(self) -> Self::Items {
        let left = self.len();
        SpacedItems { items: self.base.items(), element: self.element, is_gap: self.leads, left }
    }
}

impl<P: ExactPart<Item = T>, T: Clone + Send> ExactPart for Spaced<P, T> {
    type Back = SpacedItems<P::Back, T>;

    fn back(self) -> Self::Back {
        let left = self.len();
        let is_gap = self.trails || self.base.is_empty();
        SpacedItems { items: self.base.back(), element: self.element, is_gap, left }
    }
}

/// The iterator of a [`Spaced`], in either direction.
#[derive(Debug)]
pub struct SpacedItems<I, T> {
    items: I,
    element: T,
    /// Whether the next step is an element.
    is_gap: bool,
    left: usize,
}

impl<I: Iterator<Item = T>, T: Clone> Iterator for SpacedItems<I, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        self.is_gap = !self.is_gap;
        if self.is_gap { self.items.next() } else { Some(self.element.clone()) }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    #[inline]
    fn fold<A, F: FnMut(A, T) -> A>(mut self, init: A, mut op: F) -> A {
        let mut acc = init;
        if self.is_gap && self.left > 0 {
            acc = op(acc, self.element.clone());
            self.left -= 1;
        }
        let (mut left, element) = (self.left, self.element);
        let acc = self.items.fold(acc, |acc, item| {
            let acc = op(acc, item);
            left = left.saturating_sub(1);
            if left == 0 {
                return acc;
            }
            left -= 1;
            op(acc, element.clone())
        });
        without(acc, element)
    }
}

/// A consumer of items that wraps a consumer of items and elements.
struct Between<'c, C, T> {
    consumer: &'c C,
    element: &'c Clones<T>,
}

/// The intermediate result of a range.
struct Run<T, A> {
    acc: A,
    /// The step of the outermost loop at which the first item came, if there was one.
    from: Option<usize>,
    /// The element, once the range has needed it.
    element: Option<T>,
}

impl<T: Clone + Send, C: Consumer<Item = T>> Consumer for Between<'_, C, T> {
    type Item = T;
    type Acc = Run<T, C::Acc>;

    fn begin(&self) -> Self::Acc {
        Run { acc: self.consumer.begin(), from: None, element: None }
    }

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, run: Self::Acc, at: At<'_>, items: I) -> Self::Acc {
        let Run { acc, from, mut element } = run;
        let mut has_items = from.is_some();
        let gaps = Gaps {
            items,
            next: None,
            has_items: &mut has_items,
            element: &mut element,
            clones: self.element,
        };
        let acc = self.consumer.feed(acc, at, gaps);
        Run { acc, from: from.or(has_items.then_some(at.step())), element }
    }

    fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc {
        let Run { mut acc, from, element } = left;
        if let (Some(_), Some(at)) = (from, right.from) {
            let at = At::outermost(at);
            if !self.consumer.is_done(&acc, at) {
                acc = self.consumer.feed(acc, at, once_with(|| self.element.init()));
            }
        }
        let acc = self.consumer.merge(acc, right.acc);
        without(Run { acc, from: from.or(right.from), element }, right.element)
    }

    fn is_done(&self, run: &Self::Acc, at: At<'_>) -> bool {
        self.consumer.is_done(&run.acc, at)
    }

    fn end(&self, run: Self::Acc) -> Self::Acc {
        drop(run.element);
        Run { acc: self.consumer.end(run.acc), from: run.from, element: None }
    }
}

/// The items of a block, and the elements between and before them.
struct Gaps<'r, I: Iterator> {
    items: I,
    /// The item that follows an element that was given.
    next: Option<I::Item>,
    /// Whether there are items before.
    has_items: &'r mut bool,
    element: &'r mut Option<I::Item>,
    clones: &'r Clones<I::Item>,
}

impl<I: Iterator<Item: Clone + Send>> Iterator for Gaps<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        if let Some(item) = self.next.take() {
            return Some(item);
        }
        let item = self.items.next()?;
        if !std::mem::replace(self.has_items, true) {
            return Some(item);
        }
        self.next = Some(item);
        Some(self.element.get_or_insert_with(|| self.clones.init()).clone())
    }

    #[inline]
    fn fold<A, F: FnMut(A, I::Item) -> A>(self, init: A, mut op: F) -> A {
        let Gaps { items, next, has_items, element, clones } = self;
        let acc = next.into_iter().fold(init, &mut op);
        items.fold(acc, |acc, item| {
            let mut acc = acc;
            if std::mem::replace(has_items, true) {
                acc = op(acc, element.get_or_insert_with(|| clones.init()).clone());
            }
            op(acc, item)
        })
    }
}
