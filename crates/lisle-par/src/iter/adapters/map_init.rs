//! A map with an additional value, one for each range of neighbouring steps that one domain runs.
//!
//! A part alone does not know which blocks follow each other. Hence these iterators are driven in a
//! way of their own, by a consumer that keeps the value from block to block, as the consumers of
//! folds do. If such an iterator is only a part of another one, as in a chain or a zip, there is
//! one value for each block.

use super::init::{Clones, Init};
use crate::iter::exact::exact_part;
use crate::iter::shown::shown;
use crate::iter::{At, Consumer, ExactPart, IndexedParallelIterator, ParallelIterator, Part, Plan};
use crate::kept::without;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::thread::{self, ThreadId};

/// See [`map_init`](ParallelIterator::map_init).
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Clone)]
pub struct MapInit<I, N, F> {
    base: I,
    mapping: Mapping<N, F>,
}

shown!([I: std::fmt::Debug, N, F] MapInit<I, N, F>, "MapInit", base);

/// See [`map_with`](ParallelIterator::map_with).
pub type MapWith<I, T, F> = MapInit<I, Clones<T>, F>;

#[derive(Clone)]
struct Mapping<N, F> {
    init: N,
    map: F,
}

impl<I, N, F> MapInit<I, N, F> {
    pub(in crate::iter) fn new(base: I, init: N, map: F) -> Self {
        MapInit { base, mapping: Mapping { init, map } }
    }
}

impl<I, R, N, F> ParallelIterator for MapInit<I, N, F>
where
    I: ParallelIterator,
    R: Send,
    N: Init,
    F: Fn(&mut N::Value, I::Item) -> R + Send + Sync,
{
    type Item = R;
    type Part<'a>
        = MapInitPart<'a, I::Part<'a>, N, F>
    where
        Self: 'a;

    fn part(&mut self) -> Self::Part<'_> {
        MapInitPart { base: self.base.part(), mapping: &self.mapping }
    }

    fn plan(&self) -> Plan {
        self.base.plan()
    }

    // `exact_len` is not implemented: writing items in place takes blocks of known lengths, that
    // is, parts.

    #[track_caller]
    fn drive<C: Consumer<Item = R>>(self, consumer: &C, plan: Plan) -> C::Acc {
        let mapped = Mapped { mapping: &self.mapping, consumer, takes: PhantomData };
        let run = self.base.drive(&mapped, plan);
        let acc = without(run.acc, run.value);
        without(acc, self.mapping)
    }
}

impl<I, R, N, F> IndexedParallelIterator for MapInit<I, N, F>
where
    I: IndexedParallelIterator,
    R: Send,
    N: Init,
    F: Fn(&mut N::Value, I::Item) -> R + Send + Sync,
{
    exact_part!(
        MapInitPart<'a, I::Exact<'a>, N, F>,
        |this| MapInitPart { base: this.base.exact(), mapping: &this.mapping },
        this.base.len()
    );
}

/// A part that makes a value each time it is run.
pub struct MapInitPart<'a, P, N, F> {
    base: P,
    mapping: &'a Mapping<N, F>,
}

impl<P: fmt::Debug, N, F> fmt::Debug for MapInitPart<'_, P, N, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapInitPart").field("base", &self.base).finish_non_exhaustive()
    }
}

impl<'a, P, R, N, F> Part for MapInitPart<'a, P, N, F>
where
    P: Part,
    N: Init,
    F: Fn(&mut N::Value, P::Item) -> R + Sync,
{
    type Item = R;
    type Items = MapInitItems<'a, P::Items, N::Value, N, F>;

    fn len(&self) -> usize {
        self.base.len()
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(at);
        (
            MapInitPart { base: left, mapping: self.mapping },
            MapInitPart { base: right, mapping: self.mapping },
        )
    }

    fn items(self) -> Self::Items {
        MapInitItems { items: self.base.items(), value: None, mapping: self.mapping }
    }
}

impl<'a, P, R, N, F> ExactPart for MapInitPart<'a, P, N, F>
where
    P: ExactPart,
    N: Init,
    F: Fn(&mut N::Value, P::Item) -> R + Sync,
{
    type Back = MapInitItems<'a, P::Back, N::Value, N, F>;

    fn back(self) -> Self::Back {
        MapInitItems { items: self.base.back(), value: None, mapping: self.mapping }
    }
}

/// The iterator of a [`MapInitPart`].
pub struct MapInitItems<'a, I, T, N, F> {
    items: I,
    /// Made for the first item, because many blocks have none.
    value: Option<T>,
    mapping: &'a Mapping<N, F>,
}

impl<I: fmt::Debug, T, N, F> fmt::Debug for MapInitItems<'_, I, T, N, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapInitItems").field("items", &self.items).finish_non_exhaustive()
    }
}

impl<I, T, R, N, F> Iterator for MapInitItems<'_, I, T, N, F>
where
    I: Iterator,
    N: Init<Value = T>,
    F: Fn(&mut T, I::Item) -> R,
{
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        let item = self.items.next()?;
        Some((self.mapping.map)(self.value.get_or_insert_with(|| self.mapping.init.init()), item))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }

    #[inline]
    fn fold<A, G: FnMut(A, R) -> A>(mut self, acc: A, op: G) -> A {
        let acc = mapped(self.items, &mut self.value, self.mapping).fold(acc, op);
        without(acc, self.value)
    }
}

/// Returns the results of `mapping` for the items, with `value`, which is made for the first item.
#[inline]
fn mapped<'v, I, T, R, N, F>(
    items: I,
    value: &'v mut Option<T>,
    mapping: &'v Mapping<N, F>,
) -> impl Iterator<Item = R> + use<'v, I, T, R, N, F>
where
    I: Iterator,
    N: Init<Value = T>,
    F: Fn(&mut T, I::Item) -> R,
{
    items.map(|item| (mapping.map)(value.get_or_insert_with(|| mapping.init.init()), item))
}

/// A consumer of items that wraps a consumer of the results.
struct Mapped<'m, In, N, F, C> {
    mapping: &'m Mapping<N, F>,
    consumer: &'m C,
    takes: PhantomData<fn(In)>,
}

/// The intermediate result of a range, and its value.
struct Run<T, A> {
    value: Option<Local<T>>,
    acc: A,
}

impl<In, R, N, F, C> Consumer for Mapped<'_, In, N, F, C>
where
    N: Init,
    F: Fn(&mut N::Value, In) -> R + Sync,
    C: Consumer<Item = R>,
{
    type Item = In;
    type Acc = Run<N::Value, C::Acc>;

    fn begin(&self) -> Self::Acc {
        Run { value: None, acc: self.consumer.begin() }
    }

    #[inline]
    fn feed<I: Iterator<Item = In>>(&self, run: Self::Acc, at: At<'_>, items: I) -> Self::Acc {
        let mut value = run.value.and_then(Local::into_inner);
        let acc = self.consumer.feed(run.acc, at, mapped(items, &mut value, self.mapping));
        Run { value: value.map(Local::new), acc }
    }

    fn merge(&self, left: Self::Acc, right: Self::Acc) -> Self::Acc {
        let acc = self.consumer.merge(left.acc, right.acc);
        without(Run { value: left.value, acc }, right.value)
    }

    fn is_done(&self, run: &Self::Acc, at: At<'_>) -> bool {
        self.consumer.is_done(&run.acc, at)
    }

    #[inline]
    fn needless(&self, at: At<'_>) -> usize {
        self.consumer.needless(at)
    }

    fn end(&self, run: Self::Acc) -> Self::Acc {
        drop(run.value);
        Run { value: None, acc: self.consumer.end(run.acc) }
    }
}

/// A value that only the thread that has made it accesses. If another thread drops it, the value is
/// not dropped, and its memory is leaked.
struct Local<T> {
    value: ManuallyDrop<T>,
    thread: ThreadId,
}

// SAFETY: only the thread that has made this value accesses it.
unsafe impl<T> Send for Local<T> {}

impl<T> Local<T> {
    fn new(value: T) -> Self {
        Local { value: ManuallyDrop::new(value), thread: thread::current().id() }
    }

    fn is_here(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Returns the value if this is its thread.
    fn into_inner(self) -> Option<T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the value is there until it is dropped, and `this` is neither dropped nor used
        // again.
        this.is_here().then(|| unsafe { ManuallyDrop::take(&mut this.value) })
    }
}

impl<T> Drop for Local<T> {
    fn drop(&mut self) {
        if self.is_here() {
            // SAFETY: the value is there, and `self` is not used again.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}
