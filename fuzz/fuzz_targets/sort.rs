//! Sorts beside the standard library's, and scans beside a plain loop. The orders and operations
//! may panic, or be no orders.
//!
//! Elements own memory, and are counted while they live: one that is lost, or there twice, is found
//! in any case.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lisle::par::Scan;
use lisle::par::prelude::*;
use lisle_fuzz::{Draw, allowing_panics};
use std::cell::Cell;
use std::cmp::Ordering;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};

lisle_fuzz::with_fibers!();

fuzz_target!(|data: &[u8]| {
    let mut draw = Draw::new(data, 96);
    match draw.below(4) {
        0 => sort_plainly(&mut draw),
        1 => sort_owned(&mut draw),
        2 => scan(&mut draw),
        _ => scan_with_a_fuse(&mut draw),
    }
    assert_eq!(ALIVE.load(Relaxed), 0, "an element was lost, or is there twice");
});

static ALIVE: AtomicIsize = AtomicIsize::new(0);

/// An element.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owned {
    key: Box<u64>,
    /// Where it was before.
    place: usize,
    /// So that it is not `Sync`: nobody else may look at it meanwhile.
    is_looked_at: Cell<bool>,
}

impl Owned {
    fn new(key: u64, place: usize) -> Self {
        ALIVE.fetch_add(1, Relaxed);
        Owned { key: Box::new(key), place, is_looked_at: Cell::new(false) }
    }

    fn look(&self) -> u64 {
        assert!(!self.is_looked_at.replace(true), "somebody else looks at it");
        let key = *self.key;
        self.is_looked_at.set(false);
        key
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Relaxed);
    }
}

/// Runs of the shapes that sorts look for, one after the other.
fn keys(draw: &mut Draw<'_>) -> Vec<u64> {
    let mut keys = Vec::new();
    let mut random = 1 + draw.below(256) as u64;
    for _ in 0..1 + draw.below(5) {
        let len =
            [draw.below(40), draw.below(600), draw.below(3_000), draw.below(12_000)][draw.below(4)] as u64;
        let base = draw.below(4) as u64 * 1_000;
        let of = 1 + draw.below(64) as u64;
        let shape = draw.below(7);
        keys.extend((0..len).map(|i| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            match shape {
                0 => base + i,
                1 => base + len - i,
                2 => base + (len - i) / of,
                3 => base + i % of,
                4 => base + i.min(len - i),
                5 => base + random % of,
                _ => random,
            }
        }));
    }
    keys
}

/// Of elements that can be copied, and for which there may be other ways.
fn sort_plainly(draw: &mut Draw<'_>) {
    let keys = keys(draw);
    let mut sorted = keys.clone();
    sorted.sort();
    let mut ours = keys.clone();
    match draw.below(8) {
        0 => ours.par_sort(),
        1 => ours.par_sort_unstable(),
        2 => ours.par_sort_by_key(|key| (*key / 7, *key)),
        3 => ours.par_sort_unstable_by_key(|key| (*key / 7, *key)),
        4 => {
            ours.par_sort_by_cached_key(u64::to_string);
            sorted.sort_by_cached_key(u64::to_string);
        }
        5 => {
            let mut blocks: Vec<[u64; 9]> = keys.iter().map(|key| [*key; 9]).collect();
            blocks.par_sort();
            ours = blocks.iter().map(|block| block[8]).collect();
        }
        6 => {
            let mut bytes: Vec<u8> = keys.iter().map(|key| *key as u8).collect();
            let mut theirs = bytes.clone();
            theirs.sort();
            bytes.par_sort_unstable();
            assert!(bytes == theirs);
            return;
        }
        _ => {
            let mut nothing = vec![(); keys.len()];
            nothing.par_sort();
            nothing.par_sort_unstable();
            return;
        }
    }
    assert!(ours == sorted);
}

/// How elements are compared.
#[derive(Debug, Clone, Copy)]
enum Order {
    Natural,
    Backwards,
    /// Many are equal.
    Coarse(u64),
    /// It panics at this comparison.
    Fuse(usize),
    /// Each is below the next, and the last below the first.
    Circular,
    /// All are below all.
    Less,
    /// Another one each time.
    Random(u64),
}

impl Order {
    fn drawn(draw: &mut Draw<'_>) -> Self {
        match draw.below(10) {
            0 => Order::Natural,
            1 => Order::Backwards,
            2 | 3 => Order::Coarse(1 + draw.below(300) as u64),
            4..=6 => {
                Order::Fuse([draw.below(100), draw.below(10_000), 10 * draw.below(60_000)][draw.below(3)])
            }
            7 => Order::Circular,
            8 => Order::Less,
            _ => Order::Random(draw.below(256) as u64),
        }
    }

    fn is_total(self) -> bool {
        matches!(self, Order::Natural | Order::Backwards | Order::Coarse(_) | Order::Fuse(_))
    }

    /// The comparison with the number `count`.
    fn compare(self, a: u64, b: u64, count: usize) -> Ordering {
        match self {
            Order::Natural => a.cmp(&b),
            Order::Backwards => b.cmp(&a),
            Order::Coarse(of) => (a / of).cmp(&(b / of)),
            Order::Fuse(length) => {
                if count == length {
                    resume_unwind(Box::new(Burnt));
                }
                a.cmp(&b)
            }
            Order::Circular => (a % 3).cmp(&((b + 1) % 3)),
            Order::Less => Ordering::Less,
            Order::Random(seed) => {
                let number = (a ^ b.rotate_left(32) ^ seed).wrapping_add(count as u64);
                (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62).cmp(&1)
            }
        }
    }
}

struct Burnt;

/// Of elements that own something, by any order.
fn sort_owned(draw: &mut Draw<'_>) {
    let keys = keys(draw);
    let order = Order::drawn(draw);
    let how = draw.below(4);
    let owned =
        || -> Vec<Owned> { keys.iter().zip(0..).map(|(key, place)| Owned::new(*key, place)).collect() };
    let mut ours = owned();
    let count = AtomicUsize::new(0);
    let compare = |a: &Owned, b: &Owned| {
        let (a, b) = (a.look(), if std::ptr::eq(a, b) { *b.key } else { b.look() });
        order.compare(a, b, count.fetch_add(1, Relaxed))
    };
    /// A key that is compared in the same way.
    struct Key<'c, C: Fn(u64, u64) -> Ordering>(u64, &'c C);
    impl<C: Fn(u64, u64) -> Ordering> Ord for Key<'_, C> {
        fn cmp(&self, other: &Self) -> Ordering {
            (self.1)(self.0, other.0)
        }
    }
    impl<C: Fn(u64, u64) -> Ordering> PartialOrd for Key<'_, C> {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }
    impl<C: Fn(u64, u64) -> Ordering> PartialEq for Key<'_, C> {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other).is_eq()
        }
    }
    impl<C: Fn(u64, u64) -> Ordering> Eq for Key<'_, C> {}
    let by_key = |a: u64, b: u64| order.compare(a, b, count.fetch_add(1, Relaxed));

    let mut sort = || match how {
        0 => ours.par_sort_by(compare),
        1 => ours.par_sort_unstable_by(compare),
        2 => ours.par_sort_by_cached_key(|element| Key(element.look(), &by_key)),
        _ => ours.par_sort_unstable_by_key(|element| Key(*element.key, &by_key)),
    };
    let is_done = if matches!(order, Order::Natural | Order::Backwards | Order::Coarse(_)) {
        sort();
        true
    } else {
        // The standard library's sorts, which sort the parts, may panic if they find out that it is
        // no order.
        allowing_panics(sort).is_some()
    };
    if let Order::Fuse(length) = order {
        assert_eq!(is_done, count.load(Relaxed) <= length, "the panic was lost");
    }
    if is_done && order.is_total() {
        let is_stable = how == 0 || how == 2;
        let mut theirs = owned();
        let compare = |a: &Owned, b: &Owned| order.compare(*a.key, *b.key, usize::MAX);
        theirs.sort_by(compare);
        let same = |(a, b): (&Owned, &Owned)| compare(a, b).is_eq() && (!is_stable || a.place == b.place);
        assert!(ours.iter().zip(&theirs).all(same), "not sorted as the standard library does");
    }
    // Each is there once, as it was.
    ours.sort_by_key(|element| element.place);
    let is_whole = |(place, element): (usize, &Owned)| element.place == place && *element.key == keys[place];
    assert!(ours.len() == keys.len() && ours.iter().enumerate().all(is_whole));
}

/// A function *x* ↦ *ax* + *b*. One after the other is again one; which is the first, matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line(u64, u64);

impl Line {
    fn then(&self, next: &Line) -> Line {
        Line(self.0.wrapping_mul(next.0), self.1.wrapping_mul(next.0).wrapping_add(next.1))
    }
}

fn lines(draw: &mut Draw<'_>) -> Vec<Line> {
    keys(draw).iter().map(|key| Line(*key | 1, key.rotate_left(20))).collect()
}

fn grain(draw: &mut Draw<'_>) -> Option<NonZeroUsize> {
    NonZeroUsize::new([0, 1, 2 + draw.below(50), 100 + draw.below(2_000)][draw.below(4)])
}

fn scan(draw: &mut Draw<'_>) {
    let input = lines(draw);
    let init = Line(draw.below(256) as u64 | 1, 3);
    let mut scan = Scan::new(Line::then);
    if let Some(grain) = grain(draw) {
        scan = scan.grain(grain);
    }
    if draw.below(3) == 0 {
        scan = scan.fixed();
    }
    let is_exclusive = draw.below(2) == 0;
    // The result of a plain loop.
    let (mut sum, mut sums) = if is_exclusive { (Some(init), vec![init]) } else { (None, vec![]) };
    for line in &input {
        sum = Some(sum.map_or(*line, |sum| sum.then(line)));
        sums.extend(sum);
    }

    let mut output = vec![Line(0, 0); input.len()];
    let total = match (is_exclusive, draw.below(3)) {
        (true, 0) => scan.exclusive(&input, &mut output, init),
        (true, 1) => scan.exclusive_map(&input, &mut output, init, |line| *line),
        (true, _) => {
            output.copy_from_slice(&input);
            scan.exclusive_in_place(&mut output, init)
        }
        (false, how) => {
            match how {
                0 => scan.inclusive(&input, &mut output),
                1 => scan.inclusive_map(&input, &mut output, |line| *line),
                _ => {
                    output.copy_from_slice(&input);
                    scan.inclusive_in_place(&mut output);
                }
            }
            assert!(output == sums);
            return;
        }
    };
    assert_eq!(Some(total), sums.pop());
    assert!(output == sums);
}

/// Elements that own something, and an operation that panics at some time.
fn scan_with_a_fuse(draw: &mut Draw<'_>) {
    let mut elements: Vec<Owned> =
        keys(draw).iter().zip(0..).map(|(key, place)| Owned::new(*key, place)).collect();
    let sums: Vec<u64> = elements
        .iter()
        .scan(0_u64, |sum, element| {
            *sum = sum.wrapping_add(*element.key);
            Some(*sum)
        })
        .collect();
    let length = [draw.below(50), draw.below(3_000), 10 * draw.below(6_000)][draw.below(3)];
    let count = AtomicUsize::new(0);
    let add = |a: &Owned, b: &Owned| {
        if count.fetch_add(1, Relaxed) == length {
            resume_unwind(Box::new(Burnt));
        }
        Owned::new(a.key.wrapping_add(*b.key), 0)
    };
    let mut scan = Scan::new(add);
    if let Some(grain) = grain(draw) {
        scan = scan.grain(grain);
    }
    let is_exclusive = draw.below(2) == 0;
    let done = allowing_panics(|| {
        if is_exclusive {
            let total = scan.exclusive_in_place(&mut elements, Owned::new(0, 0));
            assert_eq!(*total.key, sums.last().copied().unwrap_or(0));
        } else {
            scan.inclusive_in_place(&mut elements);
        }
    });
    assert_eq!(done.is_some(), count.load(Relaxed) <= length, "the panic was lost");
    if done.is_some() {
        let sums = if is_exclusive { [&[0], &sums[..sums.len().saturating_sub(1)]].concat() } else { sums };
        assert!(elements.iter().zip(&sums).all(|(element, sum)| *element.key == *sum));
    }
}
