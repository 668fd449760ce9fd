//! Random programs of a source, some adapters, and a method that runs the loop. The result of each
//! is compared with that of the standard iterators.

use super::erased::{Exact, Loose};
use super::splits::divided;
use crate::iter::{self, Either, Part};
use crate::prelude::*;
use crate::shim::random::Random;
use std::cell::Cell;
use std::collections::LinkedList;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::AtomicPtr;

/// The number of programs that a test runs; each divides its loops in another way.
const PROGRAMS: u64 = if cfg!(miri) { 10 } else { 6_000 };

fn below(random: &Random, limit: usize) -> usize {
    (random.next() % limit as u64) as usize
}

/// Returns data that lives as long as any program.
fn leaked(data: Vec<i64>) -> &'static mut [i64] {
    /// Keeps the data reachable for leak checkers.
    static KEPT: Mutex<Vec<AtomicPtr<i64>>> = Mutex::new(Vec::new());
    let data = data.leak();
    KEPT.lock().unwrap().push(AtomicPtr::new(data.as_mut_ptr()));
    data
}

/// Returns a source and the items that it should give.
fn source(random: &Random) -> (Exact, Vec<i64>) {
    let len = below(random, 4) * below(random, 20);
    let first = below(random, 100) as i64 - 50;
    let data: Vec<i64> = (0..len).map(|_| below(random, 100) as i64 - 50).collect();
    let leaked = || leaked(data.clone());
    let size = below(random, 5) + 1;
    match below(random, 16) {
        0 => (Exact::new((first..first + len as i64).into_par_iter()), (first..first + len as i64).collect()),
        1 => {
            (Exact::new((first..=first + len as i64).into_par_iter()), (first..=first + len as i64).collect())
        }
        2 => {
            let (a, b) = (first as i8, (first + len as i64) as i8);
            (Exact::new((a..b).into_par_iter().map(i64::from)), (a..b).map(i64::from).collect())
        }
        3 => {
            let last = u8::MAX;
            let first = last - len as u8;
            (
                Exact::new((first..=last).into_par_iter().map(i64::from)),
                (first..=last).map(i64::from).collect(),
            )
        }
        4 => {
            let first = i128::from(first) << 70;
            let range = first..first + len as i128;
            let expected = range.clone().map(|n| n as i64).collect();
            (Exact::new(range.into_par_iter().map(|n| n as i64)), expected)
        }
        5 => (Exact::new(data.clone().into_par_iter()), data),
        6 => (Exact::new((*leaked()).par_iter().copied()), data),
        7 => (Exact::new(leaked().par_iter_mut().map(|n| *n)), data),
        8 => {
            let expected = data.chunks(size).map(|chunk| chunk.iter().sum()).collect();
            (Exact::new((*leaked()).par_chunks(size).map(|chunk| chunk.iter().sum())), expected)
        }
        9 => {
            let expected = data.chunks_exact(size).map(|chunk| chunk.iter().sum()).collect();
            (Exact::new((*leaked()).par_chunks_exact(size).map(|chunk| chunk.iter().sum())), expected)
        }
        10 => {
            let expected = data.windows(size).map(|window| window[0] - window[size - 1]).collect();
            (
                Exact::new((*leaked()).par_windows(size).map(move |window| window[0] - window[size - 1])),
                expected,
            )
        }
        11 => {
            let expected = data.chunks(size).map(|chunk| chunk.iter().sum()).collect();
            (Exact::new(leaked().par_chunks_mut(size).map(|chunk| chunk.iter().sum())), expected)
        }
        12 => {
            let expected = data.chunks_exact(size).map(|chunk| chunk.iter().sum()).collect();
            (Exact::new(leaked().par_chunks_exact_mut(size).map(|chunk| chunk.iter().sum())), expected)
        }
        13 => (Exact::new(iter::repeat_n(first, len)), vec![first; len]),
        14 => (Exact::new(iter::once(first)), vec![first]),
        _ => (Exact::new([first, 1, 2].into_par_iter()), vec![first, 1, 2]),
    }
}

/// Returns the items of two in turn.
fn interleaved(a: Vec<i64>, b: Vec<i64>, is_short: bool) -> Vec<i64> {
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let mut all = Vec::new();
    loop {
        let before = all.len();
        for turn in [&mut a, &mut b] {
            match turn.next() {
                Some(item) => all.push(item),
                None if is_short => return all,
                None => {}
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

/// Returns the items with an element between each two.
fn interspersed(items: &[i64], element: i64) -> Vec<i64> {
    let spaced = items.iter().flat_map(|&item| [element, item]);
    spaced.skip(1).collect()
}

/// Applies an adapter after which the length is still known.
fn exact_adapter(random: &Random, iter: Exact, items: Vec<i64>) -> (Exact, Vec<i64>) {
    let n = below(random, 6);
    let len = items.len();
    match below(random, 24) {
        0 => (
            Exact::new(iter.map(|x| x % 1_000 * 3 + 1)),
            items.into_iter().map(|x| x % 1_000 * 3 + 1).collect(),
        ),
        1 => {
            let iter = iter.enumerate().map(|(i, x)| x % 1_000 + i as i64 * 7);
            (Exact::new(iter), items.into_iter().enumerate().map(|(i, x)| x % 1_000 + i as i64 * 7).collect())
        }
        2 => {
            let (other, others) = source(random);
            let zipped = items.into_iter().zip(others).map(|(x, y)| x % 1_000 * 10 + y % 1_000).collect();
            (Exact::new(iter.zip(other).map(|(x, y)| x % 1_000 * 10 + y % 1_000)), zipped)
        }
        3 => (Exact::new(iter.rev()), items.into_iter().rev().collect()),
        4 => {
            let n = if n == 0 { len / 2 } else { n };
            (Exact::new(iter.take(n)), items.into_iter().take(n).collect())
        }
        5 => (Exact::new(iter.skip(n)), items.into_iter().skip(n).collect()),
        6 => (Exact::new(iter.step_by(n + 1)), items.into_iter().step_by(n + 1).collect()),
        7 => {
            let (other, others) = source(random);
            (Exact::new(iter.chain(other)), items.into_iter().chain(others).collect())
        }
        8 => {
            let sums = items.chunks(n + 1).map(|chunk| chunk.iter().sum::<i64>() % 1_000).collect();
            (Exact::new(iter.chunks(n + 1).map(|chunk| chunk.iter().sum::<i64>() % 1_000)), sums)
        }
        9 => (
            Exact::new(iter.map_init(
                || 0,
                |count, x| {
                    *count += 1;
                    assert!(*count > 0);
                    x
                },
            )),
            items,
        ),
        10 => (Exact::new(iter.update(|x| *x = -*x)), items.into_iter().map(|x| -x).collect()),
        11 => (Exact::new(iter.inspect(|_| ())), items),
        12 => (Exact::new(iter.grain(n + 1)), items),
        13 => (Exact::new(iter.with_min_len(n)), items),
        15 => {
            let sums = items.chunks(n + 1).map(|chunk| chunk.iter().fold(7, |a, x| a * 3 + x % 100) % 1_000);
            let chunks = iter.fold_chunks(n + 1, || 7, |a, x| a * 3 + x % 100);
            (Exact::new(chunks.map(|sum| sum % 1_000)), sums.collect())
        }
        16 => {
            let sums = items.chunks(n + 1).map(|chunk| chunk.iter().fold(7, |a, x| a * 3 + x % 100) % 1_000);
            let chunks = iter.fold_chunks_with(n + 1, Cell::new(7), |a, x| Cell::new(a.get() * 3 + x % 100));
            (Exact::new(chunks.map(|sum| sum.get() % 1_000)), sums.collect())
        }
        18 => {
            let (other, others) = source(random);
            (Exact::new(iter.interleave(other)), interleaved(items, others, false))
        }
        19 => {
            let (other, others) = source(random);
            (Exact::new(iter.interleave_shortest(other)), interleaved(items, others, true))
        }
        20 => (Exact::new(iter.intersperse(n as i64)), interspersed(&items, n as i64)),
        21 => {
            let either = if n < 3 { Either::Left(iter) } else { Either::Right(iter.rev()) };
            let items = if n < 3 { items } else { items.into_iter().rev().collect() };
            (Exact::new(either), items)
        }
        22 => (Exact::new(iter.panic_fuse()), items),
        17 => (
            Exact::new(iter.map_with(Cell::new(1), |one, x| x + one.get())),
            items.into_iter().map(|x| x + 1).collect(),
        ),
        14 => (Exact::new(iter.with_max_len(n)), items),
        _ => (Exact::new(iter.deterministic(n + 1)), items),
    }
}

/// Applies an adapter after which the length is not known, or not used.
fn loose_adapter(random: &Random, iter: Loose, items: Vec<i64>) -> (Loose, Vec<i64>) {
    let n = below(random, 5) as i64;
    match below(random, 14) {
        0 => {
            (Loose::new(iter.filter(move |x| x % 5 != n)), items.into_iter().filter(|x| x % 5 != n).collect())
        }
        1 => {
            let half = |x: i64| (x % 2 == 0).then_some(x / 2);
            (Loose::new(iter.filter_map(half)), items.into_iter().filter_map(half).collect())
        }
        2 => {
            let several = move |x: i64| x..x + x.rem_euclid(n + 1);
            (Loose::new(iter.flat_map_iter(several)), items.into_iter().flat_map(several).collect())
        }
        3 => {
            let (other, others) = source(random);
            (
                Loose::new(iter.chain(other.filter(|x| x % 2 == 0))),
                items.into_iter().chain(others.into_iter().filter(|x| x % 2 == 0)).collect(),
            )
        }
        4 => {
            let several = |x: i64| vec![x; x.rem_euclid(3) as usize];
            (Loose::new(iter.map(several).flatten_iter()), items.into_iter().flat_map(several).collect())
        }
        5 => (Loose::new(iter.map(|x| x % 1_000 + 1)), items.into_iter().map(|x| x % 1_000 + 1).collect()),
        6 => {
            (Loose::new(iter.inspect(|_| ()).update(|x| *x += 1)), items.into_iter().map(|x| x + 1).collect())
        }
        7 => {
            let several = move |x: i64| x..x + x.rem_euclid(n + 1);
            (Loose::new(iter.flat_map(several)), items.into_iter().flat_map(several).collect())
        }
        8 => {
            let several = |x: i64| vec![x; x.rem_euclid(3) as usize];
            (Loose::new(iter.map(several).flatten()), items.into_iter().flat_map(several).collect())
        }
        10 => (Loose::new(iter.intersperse(n)), interspersed(&items, n)),
        11 => {
            let (other, others) = source(random);
            let iter = iter.intersperse(n).chain(other.take(2));
            (
                Loose::new(iter),
                interspersed(&items, n).into_iter().chain(others.into_iter().take(2)).collect(),
            )
        }
        12 => (Loose::new(iter.panic_fuse()), items),
        // As a part of something that another iterator divides.
        9 => {
            let several = move |x: i64| x..x + x.rem_euclid(n + 1);
            let (other, others) = source(random);
            let chained = iter.flat_map(several).chain(other.fold(|| 0, |a, _| a).filter(|x| *x > 0));
            drop(others);
            (Loose::new(chained), items.into_iter().flat_map(several).collect())
        }
        _ => (Loose::new(iter.map_init(|| 1, |one, x| x + *one)), items.into_iter().map(|x| x + 1).collect()),
    }
}

/// Runs a method that any iterator has.
fn end(random: &Random, iter: Loose, items: Vec<i64>) {
    let n = below(random, 20) as i64 - 10;
    let wanted = |x: &i64| *x % 10 == n % 10;
    match below(random, 46) {
        0 => assert_eq!(iter.collect::<Vec<_>>(), items),
        1 => assert_eq!(iter.sum::<i64>(), items.iter().sum()),
        2 => assert_eq!(
            iter.map(|x| x | 1).fold(|| 1_i64, |a, x| a.wrapping_mul(x)).reduce(|| 1, i64::wrapping_mul),
            items.iter().fold(1_i64, |a, x| a.wrapping_mul(x | 1))
        ),
        3 => assert_eq!(iter.count(), items.len()),
        4 => assert_eq!(iter.min(), items.iter().copied().min()),
        5 => assert_eq!(iter.max(), items.iter().copied().max()),
        // Of several equal items it matters which one is returned.
        6 => assert_eq!(
            iter.min_by(|a, b| (a / 8).cmp(&(b / 8))),
            items.into_iter().min_by(|a, b| (a / 8).cmp(&(b / 8)))
        ),
        7 => assert_eq!(
            iter.max_by(|a, b| (a / 8).cmp(&(b / 8))),
            items.into_iter().max_by(|a, b| (a / 8).cmp(&(b / 8)))
        ),
        8 => assert_eq!(iter.min_by_key(|x| x / 8), items.into_iter().min_by_key(|x| x / 8)),
        9 => assert_eq!(iter.max_by_key(|x| x / 8), items.into_iter().max_by_key(|x| x / 8)),
        10 => assert_eq!(iter.find_first(wanted), items.into_iter().find(wanted)),
        11 => assert_eq!(iter.find_last(wanted), items.into_iter().rfind(wanted)),
        12 => {
            let found = iter.find_any(wanted);
            assert_eq!(found.is_some(), items.iter().any(wanted));
            assert!(found.is_none_or(|x| wanted(&x) && items.contains(&x)));
        }
        13 => assert_eq!(iter.any(|x| wanted(&x)), items.iter().any(wanted)),
        14 => assert_eq!(iter.all(|x| !wanted(&x)), !items.iter().any(wanted)),
        15 => {
            // The operation is associative, but not commutative.
            let text = iter.map(|x| format!("{x},")).reduce(String::new, |a, b| a + &b);
            assert_eq!(text, items.iter().map(|x| format!("{x},")).collect::<String>());
        }
        16 => {
            let text = iter.map(|x| format!("{x},")).reduce_with(|a, b| a + &b);
            assert_eq!(text, items.iter().map(|x| format!("{x},")).reduce(|a, b| a + &b));
        }
        17 => {
            let runs = iter.fold(Vec::new, |mut run, x| {
                run.push(x);
                run
            });
            let runs: Vec<Vec<i64>> = runs.collect();
            assert!(!runs.is_empty());
            assert_eq!(runs.concat(), items);
        }
        18 => assert_eq!(
            iter.fold_with(Cell::new(0), |a, x| Cell::new(a.get() + x)).map(Cell::into_inner).sum::<i64>(),
            items.iter().sum()
        ),
        19 => {
            let (some, others): (Vec<i64>, Vec<i64>) = iter.partition(wanted);
            assert_eq!((some, others), items.into_iter().partition(wanted));
        }
        20 => {
            let halves: (Vec<i64>, Vec<i64>) = iter.map(|x| (x / 2, x % 2)).unzip();
            assert_eq!(halves, items.into_iter().map(|x| (x / 2, x % 2)).unzip());
        }
        21 => {
            let numbered =
                |x: i64| if wanted(&x) { ControlFlow::Break(x) } else { ControlFlow::Continue(()) };
            assert_eq!(iter.try_for_each(numbered), items.into_iter().try_for_each(numbered));
        }
        22 => {
            let checked = |x: i64| if wanted(&x) { Err(x) } else { Ok(x) };
            let sum = items.into_iter().map(checked).try_fold(0, |a, x| x.map(|x| a + x));
            assert_eq!(iter.map(checked).try_reduce(|| 0, |a, b| Ok(a + b)), sum);
        }
        23 => {
            let checked = |x: i64| if wanted(&x) { Err(x) } else { Ok(x) };
            assert_eq!(
                iter.map(checked).collect::<Result<Vec<_>, _>>(),
                items.into_iter().map(checked).collect()
            );
        }
        24 => {
            let add = |a: i64, x: i64| if wanted(&x) { None } else { Some(a + x) };
            let sum = iter.try_fold(|| 0, add).try_reduce(|| 0, |a, b| Some(a + b));
            assert_eq!(sum, items.into_iter().try_fold(0, add));
        }
        25 => {
            let seen = Mutex::new(Vec::new());
            iter.for_each(|x| seen.lock().unwrap().push(x));
            let (mut seen, mut items) = (seen.into_inner().unwrap(), items);
            seen.sort_unstable();
            items.sort_unstable();
            assert_eq!(seen, items);
        }
        26 => {
            let text: String = iter.map(|x| x.to_string()).collect();
            assert_eq!(text, items.iter().map(|x| x.to_string()).collect::<String>());
        }
        27 => {
            let mut all = vec![1, 2, 3];
            all.par_extend(iter);
            assert_eq!(all, [vec![1, 2, 3], items].concat());
        }
        28 => {
            let checked = |x: i64| if wanted(&x) { Err(x) } else { Ok(x) };
            let largest = |a: i64, b: i64| if a.max(b) == 49 { Err(49) } else { Ok(a.max(b)) };
            let mut checked_items = items.into_iter().map(checked);
            let expected = checked_items.next().map(|first| {
                first.and_then(|first| checked_items.try_fold(first, |a, x| x.and_then(|x| largest(a, x))))
            });
            let reduced = iter.map(checked).try_reduce_with(largest);
            // Whether the two before a 49 meet first depends on the division.
            assert!(reduced == expected || matches!((reduced, expected), (Some(Err(_)), Some(Err(_)))));
        }
        29 => {
            let seen = Mutex::new(Vec::new());
            iter.for_each_with(Cell::new(&seen), |seen, x| seen.get().lock().unwrap().push(x));
            let (mut seen, mut items) = (seen.into_inner().unwrap(), items);
            seen.sort_unstable();
            items.sort_unstable();
            assert_eq!(seen, items);
        }
        30 => {
            let checked = |x: i64| if wanted(&x) { Err(x) } else { Ok(()) };
            let first = items.into_iter().try_for_each(checked);
            if n % 2 == 0 {
                assert_eq!(iter.try_for_each_with(Cell::new(0), |_, x| checked(x)), first);
            } else {
                assert_eq!(iter.try_for_each_init(|| Cell::new(0), |_, x| checked(x)), first);
            }
        }
        31 => {
            let add = |a: Cell<i64>, x: i64| if wanted(&x) { None } else { Some(Cell::new(a.get() + x)) };
            let sum = iter.try_fold_with(Cell::new(0), add).map(|sum| sum.map(Cell::into_inner));
            let sum = sum.try_reduce(|| 0, |a, b| Some(a + b));
            assert_eq!(sum, items.into_iter().try_fold(Cell::new(0), add).map(Cell::into_inner));
        }
        32 => {
            let sides = |x: i64| if wanted(&x) { Either::Left(x / 2) } else { Either::Right(x) };
            let (left, right): (Vec<i64>, LinkedList<i64>) = iter.partition_map(sides);
            let (some, others): (Vec<i64>, Vec<i64>) = items.into_iter().partition(wanted);
            assert!(left.into_iter().eq(some.iter().map(|x| x / 2)) && right.into_iter().eq(others));
        }
        33 => {
            let lists = iter.collect_vec_list();
            assert!(lists.iter().all(|vec| !vec.is_empty()));
            assert!(lists.into_iter().flatten().eq(items));
        }
        34 => {
            let nested = iter.map(|x| ((x / 2, x % 2), (x, x)));
            type Nested = ((Vec<i64>, Vec<i64>), (Vec<i64>, LinkedList<i64>));
            let ((a, b), (c, d)): Nested = nested.unzip();
            assert!(a.into_iter().eq(items.iter().map(|x| x / 2)));
            assert!(b.into_iter().eq(items.iter().map(|x| x % 2)));
            assert!(c == items && d.into_iter().eq(items));
        }
        35 => {
            let both: (Vec<i64>, Vec<i64>) = iter.map(|x| (x / 2, x % 2)).collect();
            assert_eq!(both, items.into_iter().map(|x| (x / 2, x % 2)).unzip());
        }
        36 => {
            let sides = |x: i64| if wanted(&x) { Either::Left(x) } else { Either::Right(x) };
            let both: (Vec<i64>, Vec<i64>) = iter.map(sides).collect();
            assert_eq!(both, items.into_iter().partition(wanted));
        }
        37 => {
            let taken: Vec<i64> = iter.take_any(7).collect();
            assert_eq!(taken.len(), items.len().min(7));
            assert!(is_within(&taken, &items));
        }
        38 => {
            let rest: Vec<i64> = iter.skip_any(7).collect();
            assert_eq!(rest.len(), items.len().saturating_sub(7));
            assert!(is_within(&rest, &items));
        }
        39 => {
            let taken: Vec<i64> = iter.take_any_while(|x| !wanted(x)).collect();
            assert!(is_within(&taken, &items) && !taken.iter().any(wanted));
            assert!(taken.len() == items.len() || items.iter().any(wanted));
        }
        40 => {
            let late: Vec<i64> = iter.skip_any_while(|x| !wanted(x)).collect();
            assert!(is_within(&late, &items));
            assert_eq!(late.is_empty(), !items.iter().any(wanted));
        }
        41 => {
            let some: Vec<i64> = iter.map(|x| (!wanted(&x)).then_some(x)).while_some().collect();
            assert!(is_within(&some, &items) && !some.iter().any(wanted));
            assert!(some.len() == items.len() || items.iter().any(wanted));
        }
        // As parts of something that another iterator divides.
        42 => {
            let taken: Vec<i64> = iter.take_any(7).chain(iter::once(5)).collect();
            assert_eq!((taken.len(), taken.last()), (items.len().min(7) + 1, Some(&5)));
            assert!(is_within(&taken[..taken.len() - 1], &items));
        }
        43 => {
            let halves = iter.map(|x| if wanted(&x) { None } else { Some(x) }).while_some();
            let sum = halves.filter(|x| x % 2 == 0).chain([0]).count();
            assert!(sum <= items.len() + 1);
        }
        44 => {
            let half = |x: i64| wanted(&x).then_some(x / 2);
            assert_eq!(iter.find_map_first(half), items.into_iter().find_map(half));
        }
        _ => {
            let half = |x: i64| wanted(&x).then_some(x / 2);
            assert_eq!(iter.find_map_last(half), items.into_iter().rev().find_map(half));
        }
    }
}

/// Returns `true` if all of `some` are among `all`, in the same order.
fn is_within(some: &[i64], all: &[i64]) -> bool {
    let mut all = all.iter();
    some.iter().all(|x| all.any(|y| x == y))
}

/// Runs a method that only iterators with a known length have.
fn exact_end(random: &Random, iter: Exact, items: Vec<i64>) {
    let n = below(random, 20) as i64 - 10;
    let wanted = |x: i64| x % 10 == n % 10;
    assert_eq!(iter.len(), items.len());
    match below(random, 13) {
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
            let halves: (Vec<i64>, LinkedList<i64>) = iter.map(|x| (x / 2, x % 2)).unzip();
            assert_eq!(halves, items.into_iter().map(|x| (x / 2, x % 2)).unzip());
        }
        5 => assert_eq!(iter.collect::<Vec<_>>(), items),
        10 => {
            // Mostly of the same items, or nearly so.
            let mut others = items.clone();
            match below(random, 4) {
                0 => drop(others.pop()),
                1 => others.push(n),
                2 => others.last_mut().into_iter().for_each(|x| *x += n),
                _ => {}
            }
            let other = others.clone().into_par_iter();
            match below(random, 8) {
                0 => assert_eq!(iter.cmp(other), items.cmp(&others)),
                1 => assert_eq!(iter.partial_cmp(other), items.partial_cmp(&others)),
                2 => assert_eq!(iter.eq(other), items == others),
                3 => assert_eq!(iter.ne(other), items != others),
                4 => assert_eq!(iter.lt(other), items < others),
                5 => assert_eq!(iter.le(other), items <= others),
                6 => assert_eq!(iter.gt(other), items > others),
                _ => assert_eq!(iter.ge(other), items >= others),
            }
        }
        11 => {
            let numbers = items.iter().map(|x| x % 7 + 1).collect::<Vec<_>>();
            let zipped = (iter, &numbers, 3..3 + 2 * items.len()).into_par_iter().rev();
            let all: Vec<(i64, usize)> = zipped.map(|(x, y, z)| (x % 100 * y, z)).collect();
            let expected = items.iter().zip(&numbers).zip(3..).map(|((x, y), z)| (x % 100 * y, z));
            assert!(all.into_iter().rev().eq(expected));
        }
        9 => {
            let positions = items.iter().enumerate().filter(|(_, x)| wanted(**x)).map(|(at, _)| at);
            assert!(iter.positions(wanted).collect::<Vec<_>>().into_iter().eq(positions));
        }
        6 => assert_eq!(iter.by_uniform_blocks(n.unsigned_abs() as usize + 1).collect::<Vec<_>>(), items),
        7 => {
            let found = iter.by_exponential_blocks().find_first(|x| wanted(*x));
            assert_eq!(found, items.into_iter().find(|x| wanted(*x)));
        }
        8 => {
            let found = iter.by_uniform_blocks(3).filter(|x| x % 2 == 0).find_last(|x| wanted(*x));
            assert_eq!(found, items.into_iter().rfind(|x| x % 2 == 0 && wanted(*x)));
        }
        _ => {
            let mut all = vec![7];
            all.par_extend(iter);
            assert_eq!(all[1..], items);
        }
    }
}

#[test]
fn programs_of_exact_adapters() {
    for seed in 0..PROGRAMS {
        let random = Random::seeded(seed);
        let (mut iter, mut items) = source(&random);
        for _ in 0..below(&random, 6) {
            (iter, items) = exact_adapter(&random, iter, items);
        }
        divided(seed, || exact_end(&random, iter, items));
    }
}

#[test]
fn programs_of_any_adapters() {
    for seed in 0..PROGRAMS {
        let random = Random::seeded(seed ^ 0xabcd);
        let (mut iter, mut items) = source(&random);
        for _ in 0..below(&random, 3) {
            (iter, items) = exact_adapter(&random, iter, items);
        }
        let mut iter = Loose::new(iter);
        for _ in 0..below(&random, 4) {
            (iter, items) = loose_adapter(&random, iter, items);
        }
        divided(seed, || end(&random, iter, items));
    }
}

/// Tests adapters that are driven in a way of their own, directly before the method that runs the
/// loop.
#[test]
fn programs_that_are_driven_otherwise() {
    for seed in 0..PROGRAMS {
        let random = Random::seeded(seed ^ 0x1234);
        let (iter, items) = source(&random);
        let n = below(&random, 4) as i64;
        let limit = below(&random, 60) as i64;
        let inner = move |x: i64| x..x + x.rem_euclid(n + 1);
        let serial = || items.iter().copied().flat_map(inner);
        let failing = move |x: i64| if x % 60 < limit { Ok(x) } else { Err(x) };
        divided(seed, || {
            let iter = iter.grain(1).flat_map(inner).map(|x| x + 1).map(|x| x - 1);
            match below(&random, 17) {
                // The paths of items that are passed on, and not asked for.
                9 => {
                    let all: Vec<i64> = iter.intersperse(7).map(|x| x * 2).collect();
                    let serial: Vec<i64> = serial().collect();
                    assert!(all.into_iter().eq(interspersed(&serial, 7).into_iter().map(|x| x * 2)));
                }
                10 => {
                    let all: Vec<i64> = items.clone().into_par_iter().intersperse(7).map(|x| x * 2).collect();
                    assert!(all.into_iter().eq(interspersed(&items, 7).into_iter().map(|x| x * 2)));
                }
                11 => {
                    let found = iter.intersperse(limit).find_first(|x| *x == limit);
                    assert_eq!(found.is_some(), serial().count() > 1 || serial().any(|x| x == limit));
                }
                12 => {
                    let taken: Vec<i64> = iter.take_any(5).map(|x| x * 2).collect();
                    assert_eq!(taken.len(), serial().count().min(5));
                }
                13 => assert_eq!(iter.skip_any(5).map(|x| x * 2).count(), serial().count().saturating_sub(5)),
                14 => {
                    let some = iter.map(|x| failing(x).ok()).while_some().fold(|| 0, |count, _| count + 1);
                    assert!(some.sum::<usize>() <= serial().filter(|x| failing(*x).is_ok()).count());
                }
                15 => {
                    let all: Vec<i64> = iter.panic_fuse().fold(|| 0, |sum, x| sum + x).collect();
                    assert_eq!(all.into_iter().sum::<i64>(), serial().sum());
                }
                0 => assert_eq!(iter.collect::<Vec<_>>(), serial().collect::<Vec<_>>()),
                1 => assert_eq!(
                    iter.map(failing).collect::<Result<Vec<_>, _>>(),
                    serial().map(failing).collect::<Result<Vec<_>, _>>()
                ),
                2 => assert_eq!(iter.find_first(|x| *x > limit), serial().find(|x| *x > limit)),
                3 => assert_eq!(iter.find_last(|x| *x > limit), serial().rfind(|x| *x > limit)),
                4 => assert_eq!(
                    iter.try_for_each(|x| failing(x).map(drop)),
                    serial().try_for_each(|x| failing(x).map(drop))
                ),
                5 => assert_eq!(iter.max_by_key(|x| x / 8), serial().max_by_key(|x| x / 8)),
                6 => {
                    let text = iter
                        .fold(String::new, |text, x| format!("{text}{x},"))
                        .reduce(String::new, |a, b| a + &b);
                    assert_eq!(text, serial().map(|x| format!("{x},")).collect::<String>());
                }
                7 => {
                    let folds = iter.try_fold(|| 0, |a, x| failing(x).map(|x| a + x));
                    let sums: Result<Vec<i64>, i64> = folds.collect();
                    assert_eq!(
                        sums.map(|sums| sums.iter().sum()),
                        serial().try_fold(0, |a, x| failing(x).map(|x| a + x))
                    );
                }
                8 => {
                    let count = iter
                        .fold(|| 0, |count, _| count + 1)
                        .map(|count| count * 2)
                        .filter(|count| *count > 0);
                    assert_eq!(count.sum::<usize>(), serial().count() * 2);
                }
                _ => {
                    let all = iter
                        .map(failing)
                        .chain([Ok(7)])
                        .map(|x| x.map(Some))
                        .collect::<Result<Option<Vec<_>>, _>>();
                    assert_eq!(all, serial().map(failing).chain([Ok(7)]).map(|x| x.map(Some)).collect());
                }
            }
        });
    }
}

/// Runs each part of each program in both directions, divided everywhere.
#[test]
fn parts_divide_at_any_place() {
    use crate::iter::ExactPart;

    for seed in 0..PROGRAMS / 10 {
        let program = || {
            let random = Random::seeded(seed);
            let (mut iter, mut items) = source(&random);
            for _ in 0..below(&random, 4) {
                (iter, items) = exact_adapter(&random, iter, items);
            }
            (iter, items)
        };
        let (_, items) = program();
        for at in 0..=items.len() {
            let mut iter = program().0;
            let (left, right) = iter.exact().split_at(at);
            assert_eq!((left.len(), right.len()), (at, items.len() - at));
            assert_eq!(left.items().chain(right.items()).collect::<Vec<_>>(), items);
            let mut iter = program().0;
            let (left, right) = iter.exact().split_at(at);
            assert!(right.back().chain(left.back()).eq(items.iter().rev().copied()));
        }
    }
}
