//! Ranges that are removed from collections: each element once, wherever the loop ends.

use super::drops::{THINGS, Thing, each_once, is_odd, things, touched};
use super::splits::divided;
use crate::iter::Part;
use crate::prelude::*;
use std::cell::Cell;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::mem;
use std::ops::{Bound, RangeBounds};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// In an interpreter, a division or two show what each of the others would.
const SEEDS: u64 = if cfg!(miri) { 2 } else { 20 };

/// Drains each range in several ways, and compares with the standard `drain`.
fn check_range(len: usize, range: impl RangeBounds<usize> + Clone) {
    let all: Vec<usize> = (0..len).collect();
    let mut rest = all.clone();
    let drained: Vec<usize> = rest.drain(range.clone()).collect();
    for seed in 0..SEEDS {
        divided(seed, || {
            let mut vec = all.clone();
            assert_eq!(vec.par_drain(range.clone()).len(), drained.len());
            let mut vec = all.clone();
            assert_eq!(vec.par_drain(range.clone()).collect::<Vec<_>>(), drained);
            assert_eq!(vec, rest);
            let mut vec = all.clone();
            assert_eq!(vec.par_drain(range.clone()).find_first(|_| true).as_ref(), drained.first());
            assert_eq!(vec, rest);
            // A deque in two pieces.
            let mut deque: VecDeque<usize> = all[len / 2..].iter().copied().collect();
            all[..len / 2].iter().rev().for_each(|&n| deque.push_front(n));
            assert_eq!(deque.par_drain(range.clone()).collect::<Vec<_>>(), drained);
            assert_eq!(deque, rest);
        });
    }
    let mut vec = all.clone();
    drop(vec.par_drain(range.clone()));
    assert_eq!(vec, rest);
    assert!(vec.capacity() >= len);
    let mut deque = VecDeque::from(all);
    drop(deque.par_drain(range));
    assert_eq!(deque, rest);
}

#[test]
fn ranges_are_those_of_std() {
    for len in if cfg!(miri) { 2..4 } else { 0..6 } {
        check_range(len, ..);
        for from in 0..=len {
            check_range(len, from..);
            check_range(len, ..from);
            for to in from..=len {
                check_range(len, from..to);
            }
            for last in from..len {
                check_range(len, from..=last);
                check_range(len, (Bound::Excluded(from), Bound::Included(last)));
            }
        }
    }
}

#[test]
fn each_element_is_dropped_once() {
    each_once(|book| {
        let mut all = things(book);
        all.par_drain(2..9).map(touched).for_each(drop);
        assert!(all.iter().map(|thing| thing.id).eq([0, 1, 9, 10, 11, 12]));
    });
    each_once(|book| {
        let mut all = VecDeque::from(things(book));
        let found = all.par_drain(3..).find_any(is_odd).unwrap();
        assert!(found.id > 2 && all.len() == 3);
    });
    each_once(|book| {
        let mut all: HashMap<usize, Thing> =
            things(book).into_iter().map(|thing| (thing.id, thing)).collect();
        assert_eq!(all.par_drain().map(|(_, thing)| touched(thing)).count(), THINGS);
        assert!(all.is_empty());
    });
    each_once(|book| {
        let mut all = things(book);
        assert_eq!(all.par_drain(1..4).zip(things(book)).filter(|(a, _)| is_odd(a)).count(), 2);
        drop(all.par_drain(..2));
        drop(all);
    });
    each_once(|book| {
        let mut all = things(book);
        let mut drain = all.par_drain(4..6);
        assert_eq!(Part::len(&drain.part()), 2);
        // The items were moved into the part, which is gone.
        assert_eq!((drain.len(), Part::len(&drain.part())), (0, 0));
        drop(drain);
        assert_eq!(all.len(), THINGS - 2);
    });
}

/// What is after the range is kept although a destructor in it panics.
#[test]
fn a_drop_that_panics_loses_nothing_else() {
    struct Bad(usize);

    thread_local! {
        static DROPPED: Cell<usize> = const { Cell::new(0) };
    }

    impl Drop for Bad {
        fn drop(&mut self) {
            DROPPED.set(DROPPED.get() + 1);
            if self.0 == 4 && !std::thread::panicking() {
                std::panic::resume_unwind(Box::new("in a drop"));
            }
        }
    }

    let bad = || (0..9).map(Bad).collect::<Vec<_>>();
    let ids = |all: &mut dyn Iterator<Item = &Bad>| all.map(|bad| bad.0).collect::<Vec<_>>();
    let (mut vec, mut deque) = (bad(), VecDeque::from(bad()));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(vec.par_drain(2..7)))).is_err());
    assert_eq!((ids(&mut vec.iter()), DROPPED.take()), (vec![0, 1, 7, 8], 5));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(deque.par_drain(2..7)))).is_err());
    assert_eq!((ids(&mut deque.iter()), DROPPED.take()), (vec![0, 1, 7, 8], 5));
    for seed in 0..SEEDS {
        let mut vec = bad();
        DROPPED.set(0);
        let end = catch_unwind(AssertUnwindSafe(|| divided(seed, || vec.par_drain(3..6).for_each(drop))));
        assert!(end.is_err());
        assert_eq!((ids(&mut vec.iter()), DROPPED.take()), (vec![0, 1, 2, 6, 7, 8], 3));
    }
}

/// Elements are leaked with a part or a drain, and the collection can still be used.
#[test]
fn what_is_leaked_is_not_used_again() {
    fn part_of<I: IndexedParallelIterator>(mut iter: I) {
        mem::forget(iter.exact());
        assert_eq!((iter.len(), iter.exact().len()), (0, 0));
        assert_eq!(iter.count(), 0);
    }
    let boxes = |len: usize| (0..len).map(Box::new).collect::<Vec<_>>();
    let values = |boxes: &mut dyn Iterator<Item = &Box<usize>>| boxes.map(|n| **n).collect::<Vec<_>>();
    part_of(boxes(5).into_par_iter());
    part_of([1, 2].map(Box::new).into_par_iter());
    let mut vec = boxes(7);
    part_of(vec.par_drain(2..4));
    assert_eq!(values(&mut vec.iter()), [0, 1, 4, 5, 6]);
    mem::forget(vec.par_drain(1..3));
    vec.extend(boxes(3));
    assert_eq!(values(&mut vec.iter()), [0, 0, 1, 2]);
    let mut deque = VecDeque::from(boxes(7));
    part_of(deque.par_drain(2..4));
    assert_eq!(values(&mut deque.iter()), [0, 1, 4, 5, 6]);
    mem::forget(deque.par_drain(1..3));
    deque.extend(boxes(3));
    assert_eq!(values(&mut deque.iter()), [0, 1, 2]);
    let mut heap = BinaryHeap::from(boxes(7));
    part_of(heap.par_drain());
    mem::forget(heap.par_drain());
    heap.extend(boxes(3));
    assert_eq!(heap.into_sorted_vec(), boxes(3));
}

#[test]
fn whole_collections_keep_their_memory() {
    let mut heap: BinaryHeap<u32> = (0..100).collect();
    let capacity = heap.capacity();
    assert_eq!(heap.par_drain().sum::<u32>(), 4_950);
    assert_eq!((heap.len(), heap.capacity()), (0, capacity));
    heap.extend(0..10);
    drop(heap.par_drain());
    assert_eq!((heap.len(), heap.capacity()), (0, capacity));
    let mut set: HashSet<u32> = (0..100).collect();
    assert_eq!(set.par_drain().max(), Some(99));
    assert!(set.is_empty() && set.capacity() >= 100);
    let mut map: HashMap<u32, u32> = (0..100).map(|n| (n, n * n)).collect();
    drop(map.par_drain());
    assert!(map.is_empty() && map.capacity() >= 100);
}

#[test]
fn a_string_loses_its_characters() {
    for seed in 0..SEEDS {
        divided(seed, || {
            let mut text = String::from("für die €-Zone");
            assert_eq!(text.par_drain(4..12).collect::<String>(), " die €");
            assert_eq!(text, "für-Zone");
            drop(text.par_drain(..4));
            assert_eq!(text, "-Zone");
        });
    }
}

#[test]
fn wrong_ranges_are_named() {
    fn message(f: impl FnOnce()) -> String {
        let panic = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
        panic
            .downcast_ref::<String>()
            .cloned()
            .unwrap_or_else(|| panic.downcast_ref::<&str>().unwrap().to_string())
    }
    let mut vec = vec![1, 2, 3];
    assert_eq!(message(|| drop(vec.par_drain(2..5))), "there is no range 2..5 in 3 elements");
    #[expect(clippy::reversed_empty_ranges)]
    let reversed = 2..1;
    assert_eq!(message(|| drop(vec.par_drain(reversed))), "there is no range 2..1 in 3 elements");
    let last = message(|| drop(vec.par_drain(..=usize::MAX)));
    assert_eq!(last, "a range of elements must end below usize::MAX");
    let mut text = String::from("€");
    let within = message(|| drop(text.par_drain(1..)));
    assert_eq!(within, "the range 1..3 of a string must begin and end at a character");
}
