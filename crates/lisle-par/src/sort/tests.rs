//! In tests, quite short slices are divided already, and every phase of a sort is exercised.

use super::measured::Measured;
use super::order::{By, ByKey, Natural, Order};
use super::sizes::Sizes;
use super::{cached, merge, partition, passes, quick, runs};
use crate::shim::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::shim::random::Random;
use std::cell::Cell;
use std::cmp::Ordering;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

const LENGTHS: &[usize] = if cfg!(miri) {
    &[0, 1, 3, 28]
} else {
    &[0, 1, 2, 3, 7, 24, 25, 31, 32, 33, 63, 100, 127, 300, 1_000, 2_500]
};
const DOMAINS: &[usize] = if cfg!(miri) { &[3] } else { &[1, 2, 3, 4, 16] };
const SOME_DOMAINS: &[usize] = if cfg!(miri) { &[2] } else { &[2, 4] };

/// `len`, or what Miri has time for.
const fn at_most(len: usize) -> usize {
    if cfg!(miri) && len > 28 { 28 } else { len }
}

/// Numbers in orders that are common, and in some that are hard for sorts.
fn inputs(len: usize) -> Vec<Vec<u64>> {
    let random = Random::seeded(len as u64 + 1);
    let numbers = || 0..len as u64;
    let mut inputs: Vec<Vec<u64>> = vec![
        numbers().map(|_| random.next()).collect(),
        numbers().map(|_| random.next() % 2).collect(),
        numbers().map(|_| random.next() % 10).collect(),
        numbers().collect(),
        numbers().rev().collect(),
        numbers().map(|_| 7).collect(),
        // Nearly in order, and nearly in reverse order.
        numbers().map(|i| if i == len as u64 / 2 { 0 } else { i }).collect(),
        numbers().rev().map(|i| if i == len as u64 / 2 { 0 } else { i }).collect(),
        // Descending, in runs of equal numbers.
        numbers().rev().map(|i| i / 3).collect(),
        // An organ pipe, a sawtooth, and a reversed sawtooth.
        numbers().map(|i| i.min(len as u64 - i)).collect(),
        numbers().map(|i| i % 37).collect(),
        numbers().map(|i| 37 - i % 37).collect(),
        // Two runs, the second of which goes before the first.
        numbers().map(|i| (i + len as u64 / 3) % len as u64).collect(),
        // One number more often than all others together: the least, or the greatest.
        numbers().map(|_| (random.next() % 100).saturating_sub(70)).collect(),
        numbers().map(|_| (random.next() % 100).min(30)).collect(),
        // The ends differ from the middle.
        numbers().map(|i| random.next() % 1_000 + if i % 1_000 < 500 { 10_000 } else { 0 }).collect(),
    ];
    if cfg!(miri) {
        // By chance, few different ones, and backwards.
        inputs.truncate(5);
        inputs.drain(2..4);
    }
    inputs
}

/// Returns the sizes for so many domains. Comparisons count as slow half of the time, whatever they
/// take.
fn sizes(domains: usize) -> Sizes {
    thread_local!(static SORTS: Cell<u32> = const { Cell::new(0) });
    SORTS.set(SORTS.get() + 1);
    // In no period that a test might have.
    let are_slow = SORTS.get().count_ones().is_multiple_of(2);
    Sizes { are_slow: Some(are_slow), ..Sizes::of_domains(domains) }
}

/// Runs one of the two sorts.
fn sort<T: Send>(stable: bool, slice: &mut [T], order: &impl Order<T>, domains: usize) {
    let sizes = sizes(domains);
    if stable { passes::sort(slice, order, sizes) } else { quick::sort(slice, order, sizes) }
}

fn each_input(check: impl Fn(&[u64], usize)) {
    for &len in LENGTHS {
        for input in inputs(len) {
            for &domains in DOMAINS {
                check(&input, domains);
            }
        }
    }
}

#[test]
fn stable_sorts_are_those_of_std() {
    each_input(|input, domains| {
        let mut ours: Vec<(u64, usize)> = input.iter().map(|n| n / 2).zip(0..).collect();
        let mut theirs = ours.clone();
        theirs.sort_by_key(|pair| pair.0);
        passes::sort(&mut ours, &ByKey(|pair: &(u64, usize)| pair.0), sizes(domains));
        assert_eq!(ours, theirs, "{} elements, {domains} domains", input.len());
    });
}

#[test]
fn unstable_sorts_are_those_of_std() {
    each_input(|input, domains| {
        let (mut ours, mut theirs) = (input.to_vec(), input.to_vec());
        theirs.sort_unstable();
        quick::sort(&mut ours, &Natural, sizes(domains));
        assert_eq!(ours, theirs, "{} elements, {domains} domains", input.len());
    });
}

#[test]
fn cached_keys_are_computed_once_each_and_sort_stably() {
    each_input(|input, domains| {
        let mut ours: Vec<(u64, usize)> = input.iter().map(|n| n / 2).zip(0..).collect();
        let mut theirs = ours.clone();
        theirs.sort_by_key(|pair| pair.0);
        let keys = AtomicUsize::new(0);
        let key = |pair: &(u64, usize)| {
            keys.fetch_add(1, Relaxed);
            pair.0
        };
        cached::sort(&mut ours, &key, sizes(domains));
        assert_eq!(ours, theirs, "{} elements, {domains} domains", input.len());
        assert!(keys.into_inner() <= input.len());
    });
}

#[test]
fn elements_that_own_something_and_elements_without_a_size() {
    each_input(|input, domains| {
        let words: Vec<String> = input.iter().map(u64::to_string).collect();
        let mut theirs = words.clone();
        theirs.sort();
        let mut ours = words.clone();
        passes::sort(&mut ours, &Natural, sizes(domains));
        assert_eq!(ours, theirs);
        let mut ours = words.clone();
        quick::sort(&mut ours, &Natural, sizes(domains));
        assert_eq!(ours, theirs);
        let mut ours = words;
        cached::sort(&mut ours, &String::clone, sizes(domains));
        assert_eq!(ours, theirs);

        let mut nothing = vec![(); input.len()];
        passes::sort(&mut nothing, &Natural, sizes(domains));
        quick::sort(&mut nothing, &Natural, sizes(domains));
        cached::sort(&mut nothing, &|()| 0, sizes(domains));
        assert_eq!(nothing.len(), input.len());
    });
}

#[test]
fn what_is_in_order_or_strictly_backwards_takes_no_more_than_a_look() {
    let len = at_most(2_500) as u64;
    let comparisons = AtomicUsize::new(0);
    let counting = By(|a: &u64, b: &u64| {
        comparisons.fetch_add(1, Relaxed);
        a.cmp(b)
    });
    for &domains in DOMAINS {
        let ascending: Vec<u64> = (0..len).collect();
        let descending: Vec<u64> = (0..len).rev().collect();
        for input in [&ascending, &descending] {
            for stable in [true, false] {
                let mut sorted = input.clone();
                sort(stable, &mut sorted, &counting, domains);
                assert_eq!(sorted, ascending);
                let count = comparisons.swap(0, Relaxed);
                assert!(count < 3 * len as usize, "{count} comparisons");
            }
        }
    }
}

#[test]
fn reversing_is_that_of_std() {
    for len in 0..at_most(200) {
        let mut ours: Vec<usize> = (0..len).collect();
        runs::reverse(&mut ours, sizes(1));
        assert!(ours.iter().copied().eq((0..len).rev()));
    }
}

#[test]
fn merges_take_the_left_one_of_equals() {
    let random = Random::seeded(3);
    let run = |most: u64, side: char| {
        let len = random.next() % most;
        let mut run: Vec<(u64, char)> = (0..len).map(|_| (random.next() % 20, side)).collect();
        run.sort();
        run
    };
    for longest in [1, 2, 10, 100, 400] {
        for _ in 0..if cfg!(miri) { 3 } else { 100 } {
            let (mut left, mut right) = (run(longest, 'l'), run(400 / longest, 'r'));
            let mut expected = [&left[..], &right].concat();
            expected.sort_by_key(|pair| pair.0);
            let mut out = vec![MaybeUninit::uninit(); expected.len()];
            let order = ByKey(|pair: &(u64, char)| pair.0);
            let order = Measured::new(&left, &order, sizes(1));
            merge::merge(&mut left, &mut right, &mut out, &order, sizes(1));
            // SAFETY: a merge fills all of it.
            assert_eq!(unsafe { out.assume_init_ref() }, expected);
        }
    }
}

#[test]
fn partitions_are_partitions() {
    let random = Random::seeded(4);
    for len in (0..at_most(600)).step_by(7).chain([at_most(1_000), at_most(4_000)]) {
        for boundary in [0, 1, 10, 50, 90, 100] {
            let mut numbers: Vec<u64> = (0..len).map(|_| random.next() % 100).collect();
            let mut sorted = numbers.clone();
            let left = partition::partition(&mut numbers, 300, &|n| *n < boundary);
            assert!(numbers[..left].iter().all(|n| *n < boundary));
            assert!(numbers[left..].iter().all(|n| *n >= boundary));
            numbers.sort();
            sorted.sort();
            assert_eq!(numbers, sorted);
        }
    }
}

/// An element that is not `Sync`. It detects when two threads access it at the same time, or when
/// it is copied and then accessed in both places.
struct Fragile {
    number: u64,
    is_looked_at: Cell<bool>,
    looks: Cell<Box<u64>>,
}

impl Fragile {
    fn compare(&self, other: &Fragile) -> Ordering {
        let both = [self, other];
        for element in &both[..if ptr::eq(self, other) { 1 } else { 2 }] {
            assert!(!element.is_looked_at.replace(true), "somebody else looks at it");
            // The box moves: a copy of the element from before would free it once more.
            let looks = element.looks.take();
            element.looks.set(Box::new(*looks + 1));
        }
        self.is_looked_at.set(false);
        other.is_looked_at.set(false);
        self.number.cmp(&other.number)
    }
}

fn fragile(input: &[u64]) -> Vec<Fragile> {
    let element = |&number| Fragile { number, is_looked_at: Cell::new(false), looks: Cell::default() };
    input.iter().map(element).collect()
}

#[test]
fn elements_need_not_be_sync() {
    for input in inputs(at_most(1_000)) {
        for &domains in DOMAINS {
            for stable in [true, false] {
                let mut elements = fragile(&input);
                sort(stable, &mut elements, &By(Fragile::compare), domains);
                assert!(elements.is_sorted_by_key(|element| element.number));
            }
            let mut elements = fragile(&input);
            cached::sort(&mut elements, &|element: &Fragile| Cell::new(element.number), sizes(domains));
            assert!(elements.is_sorted_by_key(|element| element.number));
        }
    }
}

/// An element that owns memory. An element that was lost or duplicated would also be found by tools
/// that watch the memory.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Owned(Box<u64>);

/// Counts down, and panics without a message at zero.
struct Fuse(AtomicUsize);

impl Fuse {
    fn new(length: usize) -> Self {
        Fuse(AtomicUsize::new(length))
    }

    fn burn(&self) {
        if self.0.fetch_sub(1, Relaxed) == 0 {
            resume_unwind(Box::new("the fuse has burnt down"));
        }
    }
}

/// Sorts with fuses of all lengths, up to one that is long enough, and checks that all elements are
/// there.
fn with_fuses(input: &[u64], sort_with: impl Fn(&mut [Owned], &Fuse)) {
    let mut numbers = input.to_vec();
    numbers.sort();
    for length in (0..).step_by(if cfg!(miri) { 397 } else { 1 }) {
        let mut elements: Vec<Owned> = input.iter().map(|&number| Owned(Box::new(number))).collect();
        let done = catch_unwind(AssertUnwindSafe(|| sort_with(&mut elements, &Fuse::new(length)))).is_ok();
        assert!(!done || elements.is_sorted());
        let mut left: Vec<u64> = elements.into_iter().map(|element| *element.0).collect();
        left.sort();
        assert_eq!(left, numbers, "after {length} steps");
        if done {
            break;
        }
    }
}

#[test]
fn a_comparison_that_panics_loses_nothing() {
    for input in inputs(at_most(64)) {
        for &domains in SOME_DOMAINS {
            for stable in [true, false] {
                with_fuses(&input, |elements, fuse| {
                    let compare = |a: &Owned, b: &Owned| {
                        fuse.burn();
                        a.cmp(b)
                    };
                    sort(stable, elements, &By(compare), domains);
                });
            }
        }
    }
}

/// A key that is counted while it lives, and whose comparisons burn a fuse.
struct Key<'a> {
    number: u64,
    fuse: &'a Fuse,
    alive: &'a AtomicUsize,
}

impl<'a> Key<'a> {
    fn new(number: u64, fuse: &'a Fuse, alive: &'a AtomicUsize) -> Self {
        fuse.burn();
        alive.fetch_add(1, Relaxed);
        Key { number, fuse, alive }
    }
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Relaxed);
    }
}

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.fuse.burn();
        self.number.cmp(&other.number)
    }
}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key<'_> {}

#[test]
fn a_key_that_panics_loses_no_element_and_no_key() {
    for input in inputs(at_most(64)) {
        for &domains in SOME_DOMAINS {
            let alive = AtomicUsize::new(0);
            with_fuses(&input, |elements, fuse| {
                cached::sort(elements, &|element: &Owned| Key::new(*element.0, fuse, &alive), sizes(domains));
            });
            assert_eq!(alive.into_inner(), 0);
        }
    }
}

#[test]
fn what_is_no_order_loses_nothing_either() {
    let random = Random::seeded(5);
    for input in inputs(at_most(700)) {
        for &domains in DOMAINS {
            for stable in [true, false] {
                for nonsense in 0..3 {
                    let seed = AtomicUsize::new(random.next() as usize);
                    let compare = |a: &Owned, b: &Owned| match nonsense {
                        0 => Ordering::Less,
                        1 => (*a.0 % 3).cmp(&((*b.0 + 1) % 3)),
                        _ => {
                            let random = Random::seeded(seed.fetch_add(1, Relaxed) as u64);
                            (random.next() % 3).cmp(&1)
                        }
                    };
                    let mut elements: Vec<Owned> =
                        input.iter().map(|&number| Owned(Box::new(number))).collect();
                    // The sorts of the standard library may panic if they detect it.
                    let _ =
                        catch_unwind(AssertUnwindSafe(|| sort(stable, &mut elements, &By(compare), domains)));
                    let mut left: Vec<u64> = elements.into_iter().map(|element| *element.0).collect();
                    let mut numbers = input.clone();
                    left.sort();
                    numbers.sort();
                    assert_eq!(left, numbers);
                }
            }
        }
    }
}

#[test]
fn all_three_orders_are_those_of_std() {
    fn check(order: impl Order<u64>, expected: &[u64], input: &[u64]) {
        for &domains in DOMAINS {
            for stable in [true, false] {
                let mut sorted = input.to_vec();
                sort(stable, &mut sorted, &order, domains);
                assert_eq!(sorted, expected);
            }
        }
    }
    for input in inputs(at_most(1_000)) {
        let mut expected = input.clone();
        expected.sort();
        check(Natural, &expected, &input);
        check(ByKey(|n: &u64| (n / 2, n % 2)), &expected, &input);
        expected.reverse();
        check(By(|a: &u64, b: &u64| b.cmp(a)), &expected, &input);
    }
}
