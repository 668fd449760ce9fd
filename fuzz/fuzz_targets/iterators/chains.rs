//! Sources and adapters, each beside its expected items.

use crate::erased::{Exact, Loose};
use lisle::par::iter::{empty, once, repeat_n};
use lisle::par::prelude::*;
use lisle_fuzz::Draw;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::LazyLock;

type Of<I> = (I, Vec<i64>);

/// The items of slices.
static DATA: LazyLock<Vec<i64>> = LazyLock::new(|| (0..400).map(|n| n * n * 37 % 101 - 50).collect());

/// A source that knows its length.
pub(crate) fn source(draw: &mut Draw<'_>) -> Of<Exact> {
    let len = draw.below(5) * draw.below(20);
    let from = draw.below(100);
    let first = from as i64 - 50;
    let slice: &'static [i64] = &DATA[from..from + len];
    let data = slice.to_vec();
    let size = draw.below(6) + 1;
    let sum = |items: &[i64]| items.iter().sum::<i64>();
    match draw.below(17) {
        0 => (Exact::new((first..first + len as i64).into_par_iter()), (first..first + len as i64).collect()),
        1 => {
            (Exact::new((first..=first + len as i64).into_par_iter()), (first..=first + len as i64).collect())
        }
        2 => {
            let range = i8::MAX - len.min(100) as i8..=i8::MAX;
            (Exact::new(range.clone().into_par_iter().map(i64::from)), range.map(i64::from).collect())
        }
        3 => {
            // All of a type, and nothing of one that is no range.
            let range = if size > 3 { u8::MIN..=u8::MAX } else { 9..=from as u8 % 12 };
            (Exact::new(range.clone().into_par_iter().map(i64::from)), range.map(i64::from).collect())
        }
        4 => {
            let range = u128::MAX - len as u128..u128::MAX;
            let low = |n: u128| n as i64;
            (Exact::new(range.clone().into_par_iter().map(low)), range.map(low).collect())
        }
        5 => (Exact::new(data.clone().into_par_iter()), data),
        6 => (Exact::new(slice.par_iter().copied()), data),
        7 => (Exact::new(slice.par_chunks(size).map(sum)), slice.chunks(size).map(sum).collect()),
        8 => (Exact::new(slice.par_chunks_exact(size).map(sum)), slice.chunks_exact(size).map(sum).collect()),
        9 => (Exact::new(slice.par_windows(size).map(sum)), slice.windows(size).map(sum).collect()),
        10 => (Exact::new(repeat_n(first, len)), vec![first; len]),
        11 => (Exact::new(once(first)), vec![first]),
        12 => (Exact::new(empty::<i64>()), vec![]),
        13 => (Exact::new([first, 7, -1].into_par_iter()), vec![first, 7, -1]),
        14 => {
            let set: BTreeSet<i64> = data.iter().copied().collect();
            (Exact::new(set.clone().into_par_iter()), set.into_iter().collect())
        }
        15 => {
            let map: BTreeMap<i64, i64> = data.iter().map(|n| n / 3).zip(data.iter().copied()).collect();
            let pair = |(key, value): (i64, i64)| key * 100 + value;
            (Exact::new(map.clone().into_par_iter().map(pair)), map.into_iter().map(pair).collect())
        }
        _ => {
            let mut deque = VecDeque::from(data.clone());
            deque.rotate_left(len / 2);
            (Exact::new(deque.clone().into_par_iter()), deque.into())
        }
    }
}

/// An adapter that keeps the length known.
pub(crate) fn exact_adapter(draw: &mut Draw<'_>, iter: Exact, items: Vec<i64>) -> Of<Exact> {
    let n = draw.below(7);
    let len = items.len();
    let small = |x: i64| x % 1_000;
    match draw.below(14) {
        0 => (
            Exact::new(iter.map(move |x| small(x) * 3 + 1)),
            items.into_iter().map(|x| small(x) * 3 + 1).collect(),
        ),
        1 => {
            let number = move |(i, x): (usize, i64)| small(x) + i as i64 * 7;
            (Exact::new(iter.enumerate().map(number)), items.into_iter().enumerate().map(number).collect())
        }
        2 => {
            let (other, others) = source(draw);
            let both = move |(x, y): (i64, i64)| small(x) * 10 + small(y);
            (Exact::new(iter.zip(other).map(both)), items.into_iter().zip(others).map(both).collect())
        }
        3 => {
            let other = repeat_n(n as i64, len);
            (Exact::new(iter.zip_eq(other).map(move |(x, y)| small(x) + y)), add(items, n as i64))
        }
        4 => (Exact::new(iter.rev()), items.into_iter().rev().collect()),
        5 => {
            let count = [n, len / 2, len, usize::MAX][draw.below(4)];
            (Exact::new(iter.take(count)), items.into_iter().take(count).collect())
        }
        6 => {
            let count = [n, len / 2, len, usize::MAX][draw.below(4)];
            (Exact::new(iter.skip(count)), items.into_iter().skip(count).collect())
        }
        7 => {
            // With steps of which the product overflows, the standard library's iterator goes on
            // for years.
            let step = [n + 1, len + 1, 1 << 10][draw.below(3)];
            (Exact::new(iter.step_by(step)), items.into_iter().step_by(step).collect())
        }
        8 => {
            let (other, others) = source(draw);
            let (other, others) = if n == 0 { exact_adapter(draw, other, others) } else { (other, others) };
            (Exact::new(iter.chain(other)), [items, others].concat())
        }
        9 => {
            let size = [n + 1, len + 1, usize::MAX][draw.below(3)];
            let sums = items.chunks(size).map(|chunk| small(chunk.iter().sum())).collect();
            (Exact::new(iter.chunks(size).map(move |chunk| small(chunk.iter().sum()))), sums)
        }
        10 => (Exact::new(iter.map_init(move || n as i64, move |n, x| small(x) + *n)), add(items, n as i64)),
        11 => {
            (Exact::new(iter.update(|x| *x = -*x).inspect(|_| ())), items.into_iter().map(|x| -x).collect())
        }
        12 => (Exact::new(iter.grain(n + 1)), items),
        _ => (Exact::new(iter.deterministic(n + 1)), items),
    }
}

/// An adapter after which the length is not known, or not told.
pub(crate) fn loose_adapter(draw: &mut Draw<'_>, iter: Loose, items: Vec<i64>) -> Of<Loose> {
    let n = draw.below(5) as i64;
    let several = move |x: i64| x..x + x.rem_euclid(n + 1);
    let repeated = move |x: i64| vec![x; x.rem_euclid(3) as usize];
    let items = items.into_iter();
    match draw.below(11) {
        0 => (Loose::new(iter.filter(move |x| x % 5 != n)), items.filter(|x| x % 5 != n).collect()),
        1 => {
            let half = |x: i64| (x % 2 == 0).then_some(x / 2);
            (Loose::new(iter.filter_map(half)), items.filter_map(half).collect())
        }
        2 => (Loose::new(iter.flat_map_iter(several)), items.flat_map(several).collect()),
        3 => (Loose::new(iter.flat_map(several)), items.flat_map(several).collect()),
        4 => (Loose::new(iter.map(repeated).flatten_iter()), items.flat_map(repeated).collect()),
        5 => (Loose::new(iter.map(repeated).flatten()), items.flat_map(repeated).collect()),
        6 => {
            let (other, others) = source(draw);
            let even = |x: &i64| x % 2 == 0;
            (
                Loose::new(iter.chain(other.filter(even))),
                items.chain(others.into_iter().filter(even)).collect(),
            )
        }
        7 => (Loose::new(iter.map(|x| x % 1_000 + 1)), items.map(|x| x % 1_000 + 1).collect()),
        8 => (Loose::new(iter.inspect(|_| ()).update(|x| *x += 1)), items.map(|x| x + 1).collect()),
        9 => (Loose::new(iter.map_init(|| 1, |one, x| x + *one)), items.map(|x| x + 1).collect()),
        _ => {
            // The results of runs that have items are an iterator, too.
            let any = Loose::new(iter.fold(|| 0, |_, _| 1).filter(|any| *any > 0));
            assert_eq!(any.chain([]).count() > 0, items.len() > 0);
            (Loose::new([n].into_par_iter()), vec![n])
        }
    }
}

fn add(items: Vec<i64>, n: i64) -> Vec<i64> {
    items.into_iter().map(|x| x % 1_000 + n).collect()
}
