//! Collecting items whose number is not known beforehand.

use super::extend_in_place;
use crate::iter::run::{run, run_by};
use crate::iter::{At, Consumer, ParallelIterator, Part, Plan};
use crate::looks;
use std::collections::LinkedList;
use std::marker::PhantomData;

/// Items in order, in one vector for each range that was run.
///
/// They are joined at the end, all at once. If each merge joined them, an item would be moved once
/// for each time that its range was divided.
pub(in crate::iter) struct Runs<T> {
    first: Vec<T>,
    others: Vec<Vec<T>>,
}

impl<T> Runs<T> {
    pub(super) fn new() -> Self {
        Runs { first: Vec::new(), others: Vec::new() }
    }

    /// Returns the vector to which further items are added.
    #[inline]
    pub(super) fn last(&mut self) -> &mut Vec<T> {
        self.others.last_mut().unwrap_or(&mut self.first)
    }

    pub(super) fn and(mut self, mut next: Self) -> Self {
        /// The most items that are moved to the end of another run. A loop of loops makes a run for
        /// each of them, however short.
        const FEW: usize = 32;
        if self.first.is_empty() && self.others.is_empty() {
            return next;
        }
        if next.first.len() <= FEW {
            self.last().append(&mut next.first);
        } else {
            self.others.push(next.first);
        }
        self.others.append(&mut next.others);
        self
    }

    pub(super) fn len(&self) -> usize {
        self.first.len() + self.others.iter().map(Vec::len).sum::<usize>()
    }

    /// Appends the items to `vec`.
    pub(in crate::iter) fn append_to(mut self, vec: &mut Vec<T>) {
        /// The most items that are moved between two looks whether others want a turn or work.
        const PIECE: usize = 1 << 13;
        if vec.capacity() == 0 {
            *vec = std::mem::take(&mut self.first);
        }
        vec.reserve(self.len());
        for run in self.into_vecs() {
            let mut items = run.into_iter();
            while items.len() > 0 {
                vec.extend(items.by_ref().take(PIECE));
                looks::after_a_piece();
            }
        }
    }

    fn into_vecs(self) -> impl Iterator<Item = Vec<T>> {
        std::iter::once(self.first).chain(self.others)
    }

    /// Returns the items, each of which is about to be put into a collection.
    pub(super) fn into_items(self) -> impl Iterator<Item = T> {
        let len = self.len();
        looks::counted(Known { items: self.into_vecs().flatten(), len })
    }
}

/// An iterator that knows its number of items, so that a collection takes the memory for all at
/// once.
struct Known<I> {
    items: I,
    len: usize,
}

impl<I: Iterator> Iterator for Known<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.len = self.len.saturating_sub(1);
        self.items.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }

    fn fold<A, G: FnMut(A, I::Item) -> A>(self, init: A, op: G) -> A {
        self.items.fold(init, op)
    }
}

/// Keeps all items.
pub(in crate::iter) struct Gather<T>(PhantomData<fn(T)>);

impl<T> Gather<T> {
    pub(in crate::iter) fn new() -> Self {
        Gather(PhantomData)
    }
}

impl<T: Send> Consumer for Gather<T> {
    type Item = T;
    type Acc = Runs<T>;

    fn begin(&self) -> Runs<T> {
        Runs::new()
    }

    #[inline]
    fn feed<I: Iterator<Item = T>>(&self, mut runs: Runs<T>, _: At<'_>, items: I) -> Runs<T> {
        let last = runs.last();
        // `extend` would ask for one item after the other; it is faster if a filter passes its
        // items on.
        items.for_each(|item| last.push(item));
        runs
    }

    fn merge(&self, left: Runs<T>, right: Runs<T>) -> Runs<T> {
        left.and(right)
    }
}

/// Returns all items of `iter`.
#[track_caller]
pub(super) fn gather<I: ParallelIterator>(iter: I) -> Runs<I::Item> {
    match iter.exact_len() {
        Some(len) => {
            let mut runs = Runs::new();
            extend_in_place(&mut runs.first, iter, len);
            runs
        }
        None => run_by(iter, Gather::new()),
    }
}

/// Returns the items of a part.
#[track_caller]
pub(in crate::iter) fn collect_part<P: Part<Item: Send>>(part: P, plan: Plan) -> Vec<P::Item> {
    let mut vec = Vec::new();
    run(part, &Gather::new(), plan).append_to(&mut vec);
    vec
}

/// See [`ParallelIterator::collect_vec_list`].
#[track_caller]
pub(in crate::iter) fn vec_list<I: ParallelIterator>(iter: I) -> LinkedList<Vec<I::Item>> {
    gather(iter).into_vecs().filter(|vec| !vec.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::Runs;

    fn run(items: impl IntoIterator<Item = u32>) -> Runs<u32> {
        Runs { first: items.into_iter().collect(), others: Vec::new() }
    }

    /// A loop of loops merges as many runs as it has inner loops.
    #[test]
    fn many_short_runs_become_few() {
        const MANY: u32 = if cfg!(miri) { 100 } else { 10_000 };
        const LONG: u32 = 500;
        const ALL: u32 = 2 * MANY + LONG;
        let runs = (0..MANY).fold(Runs::new(), |runs, n| runs.and(run([n])));
        assert!(runs.others.is_empty());
        // A long run is not moved, and the short ones after it come to its end.
        let runs = runs.and(run(MANY..MANY + LONG));
        let runs = (MANY + LONG..ALL).fold(runs, |runs, n| runs.and(run([n])).and(Runs::new()));
        assert_eq!((runs.others.len(), runs.len()), (1, ALL as usize));
        let mut all = Vec::new();
        run([]).and(runs).and(run([ALL])).append_to(&mut all);
        assert!(all.into_iter().eq(0..=ALL));
    }
}
