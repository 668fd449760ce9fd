//! Ends of loops, each beside the same end of a standard iterator.

use crate::divided::Divided;
use crate::erased::{Exact, Loose};
use lisle::par::prelude::*;
use lisle_fuzz::Draw;
use std::collections::{BTreeSet, LinkedList};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

/// An item that is counted while it lives.
#[derive(Debug, PartialEq, Eq)]
struct Counted(i64, Box<i64>);

static ALIVE: AtomicIsize = AtomicIsize::new(0);

impl Counted {
    fn new(number: i64) -> Self {
        ALIVE.fetch_add(1, Relaxed);
        Counted(number, Box::new(number))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert_eq!(self.0, *self.1);
        ALIVE.fetch_sub(1, Relaxed);
    }
}

/// That nothing was lost, and nothing dropped twice.
pub(crate) fn none_is_alive() {
    assert_eq!(ALIVE.load(Relaxed), 0);
}

/// One of a few very different ends. Returns whether each item had to be looked at.
pub(crate) fn common_end(
    draw: &mut Draw<'_>,
    iter: impl ParallelIterator<Item = i64>,
    items: Vec<i64>,
) -> bool {
    let n = draw.below(10) as i64;
    let wanted = move |x: &i64| x.rem_euclid(10) == n;
    let checked = move |x: i64| if wanted(&x) { Err(x) } else { Ok(x) };
    let text = |x: i64| format!("{x},");
    let std = items.iter().copied();
    let which = draw.below(8);
    match which {
        0 => {
            let collected: Vec<Counted> = iter.map(Counted::new).collect();
            assert!(collected.iter().map(|item| item.0).eq(std));
        }
        1 => assert_eq!(iter.sum::<i64>(), std.sum()),
        2 => assert_eq!(iter.map(text).reduce_with(|a, b| a + &b), std.map(text).reduce(|a, b| a + &b)),
        3 => {
            let pairs: (Vec<Counted>, LinkedList<i64>) = iter.map(|x| (Counted::new(x), x / 2)).unzip();
            assert!(pairs.0.iter().map(|item| item.0).eq(std.clone()));
            assert!(pairs.1.into_iter().eq(std.map(|x| x / 2)));
        }
        4 => assert_eq!(iter.find_first(wanted), std.clone().find(wanted)),
        5 => assert_eq!(iter.find_last(wanted), items.iter().copied().rfind(wanted)),
        6 => {
            let collected: Result<Vec<Counted>, i64> = iter.map(|x| checked(x).map(Counted::new)).collect();
            let numbers = collected.map(|items| items.iter().map(|item| item.0).collect::<Vec<_>>());
            assert_eq!(numbers, std.map(checked).collect());
        }
        _ => {
            let add = move |sum: i64, x: i64| checked(x).map(|x| sum + x);
            let sum = iter.try_fold(|| 0, add).try_reduce(|| 0, |a, b| Ok(a + b));
            assert_eq!(sum, std.clone().try_fold(0, add));
        }
    }
    which < 4
}

/// Any end that any iterator has.
pub(crate) fn end(draw: &mut Draw<'_>, iter: Divided<Loose>, items: Vec<i64>) {
    let n = draw.below(10) as i64;
    let wanted = move |x: &i64| x.rem_euclid(10) == n;
    let eighths = |a: &i64, b: &i64| (a / 8).cmp(&(b / 8));
    let half = move |x: i64| wanted(&x).then_some(x / 2);
    let text = |x: i64| format!("{x},");
    let std = items.iter().copied();
    match draw.below(23) {
        0 => _ = common_end(draw, iter, items),
        1 => assert_eq!(iter.collect::<Vec<_>>(), items),
        2 => {
            // A run for each part, and these in order.
            let folds = iter.fold(Vec::new, |mut run, x| {
                run.push(Counted::new(x));
                run
            });
            let runs: Vec<Vec<Counted>> = folds.collect();
            assert!(runs.iter().flatten().map(|item| item.0).eq(std));
        }
        3 => assert_eq!(
            iter.map(|x| x % 3 + 3).map(std::num::Wrapping).product::<std::num::Wrapping<i64>>().0,
            { std.fold(1_i64, |product, x| product.wrapping_mul(x % 3 + 3)) }
        ),
        4 => assert_eq!(iter.count(), items.len()),
        5 => assert_eq!(iter.min(), std.min()),
        // Of several that are equal it matters which one it is.
        6 => assert_eq!(iter.min_by(eighths), std.min_by(eighths)),
        7 => assert_eq!(iter.max_by(eighths), std.max_by(eighths)),
        8 => assert_eq!(iter.min_by_key(|x| x / 8), std.min_by_key(|x| x / 8)),
        9 => assert_eq!(iter.max_by_key(|x| x / 8), std.max_by_key(|x| x / 8)),
        10 => {
            assert_eq!(iter.map(text).reduce(String::new, |a, b| a + &b), std.map(text).collect::<String>())
        }
        11 => {
            let (some, others): (Vec<i64>, Vec<i64>) = iter.partition(wanted);
            assert_eq!((some, others), std.partition(wanted));
        }
        12 => {
            let seen = Mutex::new(Vec::new());
            iter.for_each(|x| seen.lock().unwrap().push(x));
            let (mut seen, mut items) = (seen.into_inner().unwrap(), items);
            seen.sort_unstable();
            items.sort_unstable();
            assert_eq!(seen, items);
        }
        13 => assert_eq!(iter.map(text).collect::<String>(), std.map(text).collect::<String>()),
        14 => {
            let mut all = vec![1, 2, 3];
            all.par_extend(iter);
            assert_eq!(all, [vec![1, 2, 3], items].concat());
        }
        15 => assert_eq!(iter.collect::<BTreeSet<_>>(), std.collect()),
        16 => assert_eq!(iter.max(), std.max()),
        17 => {
            let found = iter.find_any(wanted);
            assert_eq!(found.is_some(), items.iter().any(wanted));
            assert!(found.is_none_or(|x| wanted(&x) && items.contains(&x)));
        }
        18 => assert_eq!(iter.any(|x| wanted(&x)), items.iter().any(wanted)),
        19 => assert_eq!(iter.all(|x| !wanted(&x)), !items.iter().any(wanted)),
        20 => {
            let flow = |x: i64| if wanted(&x) { ControlFlow::Break(x) } else { ControlFlow::Continue(()) };
            assert_eq!(iter.try_for_each(flow), std.clone().try_for_each(flow));
        }
        21 => assert_eq!(iter.find_map_first(half), std.clone().find_map(half)),
        _ => assert_eq!(iter.find_map_last(half), std.rev().find_map(half)),
    }
}

/// An end that an iterator has that knows its length.
pub(crate) fn exact_end(draw: &mut Draw<'_>, iter: Exact, items: Vec<i64>) {
    let n = draw.below(10) as i64;
    let wanted = |x: i64| x.rem_euclid(10) == n;
    assert_eq!((iter.len(), iter.is_empty()), (items.len(), items.is_empty()));
    match draw.below(6) {
        0 => assert_eq!(iter.position_first(wanted), items.into_iter().position(wanted)),
        1 => assert_eq!(iter.position_last(wanted), items.iter().rposition(|&x| wanted(x))),
        2 => {
            let at = iter.position_any(wanted);
            assert_eq!(at.is_some(), items.iter().any(|&x| wanted(x)));
            assert!(at.is_none_or(|at| wanted(items[at])));
        }
        3 => {
            let mut all = vec![7; 20];
            iter.collect_into_vec(&mut all);
            assert_eq!(all, items);
        }
        4 => {
            let (mut a, mut b) = (vec![1], Vec::new());
            iter.map(|x| (x / 2, Counted::new(x))).unzip_into_vecs(&mut a, &mut b);
            assert!(a.into_iter().eq(items.iter().map(|x| x / 2)));
            assert!(b.iter().map(|item| item.0).eq(items));
        }
        _ => {
            // Each result is written to its place.
            let mut target = vec![0; items.len()];
            target.par_iter_mut().zip(iter).for_each(|(place, x)| *place = x);
            assert_eq!(target, items);
            let size = n as usize + 1;
            target.par_chunks_mut(size).enumerate().for_each(|(i, chunk)| chunk.fill(i as i64));
            assert!(target.iter().enumerate().all(|(at, x)| *x == (at / size) as i64));
        }
    }
}
