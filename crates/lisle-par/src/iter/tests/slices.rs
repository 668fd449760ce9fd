//! Pieces of slices, wherever their loops are divided.

use super::splits::divided;
use crate::iter::{ExactPart, Part};
use crate::prelude::*;
use crate::shim::random::Random;
use std::fmt::Debug;

const SEEDS: u64 = if cfg!(miri) { 5 } else { 2_000 };

type Parts<'i, I> = [<I as IndexedParallelIterator>::Exact<'i>; 3];

/// Divides an iterator at any two places, and runs the three parts in both directions.
pub(super) fn divides_anywhere<I>(iter: impl Fn() -> I, serial: impl Iterator<Item = I::Item>)
where
    I: IntoParallelIterator<Iter: IndexedParallelIterator, Item: PartialEq + Debug>,
{
    let iter = || iter().into_par_iter();
    let serial: Vec<_> = serial.collect();
    assert_eq!(iter().len(), serial.len());
    for to in 0..=serial.len() {
        for from in 0..=to {
            let parts = |check: &mut dyn FnMut(Parts<'_, I::Iter>)| {
                let mut iter = iter();
                let (rest, last) = iter.exact().split_at(to);
                let (first, middle) = rest.split_at(from);
                assert_eq!([first.len(), middle.len(), last.len()], [from, to - from, serial.len() - to]);
                check([first, middle, last]);
            };
            parts(&mut |parts| {
                assert!(parts.into_iter().flat_map(Part::items).eq_by_ref(&serial));
            });
            parts(&mut |parts| {
                let back = parts.into_iter().rev().flat_map(ExactPart::back);
                assert!(back.collect::<Vec<_>>().iter().rev().eq(&serial));
            });
        }
    }
}

trait EqByRef: Iterator<Item: PartialEq> + Sized {
    fn eq_by_ref(self, other: &[Self::Item]) -> bool {
        self.collect::<Vec<_>>() == other
    }
}

impl<I: Iterator<Item: PartialEq>> EqByRef for I {}

#[test]
fn pieces_of_one_size_divide_anywhere() {
    for len in if cfg!(miri) { 3..5 } else { 0..9 } {
        let data: Vec<usize> = (0..len).collect();
        for size in 1..=len + 1 {
            divides_anywhere(|| data.par_chunks(size), data.chunks(size));
            divides_anywhere(|| data.par_chunks_exact(size), data.chunks_exact(size));
            divides_anywhere(|| data.par_rchunks(size), data.rchunks(size));
            divides_anywhere(|| data.par_rchunks_exact(size), data.rchunks_exact(size));
            divides_anywhere(|| data.par_windows(size), data.windows(size));
            let rest = data.par_chunks_exact(size).remainder();
            assert_eq!(rest, data.chunks_exact(size).remainder());
            let rest = data.par_rchunks_exact(size).remainder();
            assert_eq!(rest, data.rchunks_exact(size).remainder());
        }
        let pairs = data.windows(2).map(|pair| <&[usize; 2]>::try_from(pair).unwrap());
        divides_anywhere(|| data.par_array_windows(), pairs);
        divides_anywhere(|| data.par_array_windows::<20>(), [].into_iter());
    }
}

/// Gives each piece a number, in both ways.
macro_rules! numbered {
    ($seed:expr, $len:expr, |$data:ident| $parallel:expr, $serial:expr) => {{
        let mut $data: Vec<usize> = (0..$len).collect();
        divided($seed, || $parallel.enumerate().for_each(|(at, piece)| piece.fill(at)));
        let numbered = $data;
        let mut $data: Vec<usize> = (0..$len).collect();
        $serial.enumerate().for_each(|(at, piece)| piece.fill(at));
        assert_eq!(numbered, $data);
    }};
}

#[test]
fn pieces_of_one_size_can_be_changed() {
    for seed in 0..SEEDS {
        let random = Random::seeded(seed);
        let len = random.next() as usize % 40;
        let size = 1 + random.next() as usize % 10;
        numbered!(seed, len, |data| data.par_chunks_mut(size), data.chunks_mut(size));
        numbered!(seed, len, |data| data.par_chunks_exact_mut(size), data.chunks_exact_mut(size));
        numbered!(seed, len, |data| data.par_rchunks_mut(size), data.rchunks_mut(size));
        numbered!(seed, len, |data| data.par_rchunks_exact_mut(size), data.rchunks_exact_mut(size));
        numbered!(seed, len, |data| data.par_rchunks_mut(size).rev(), data.rchunks_mut(size).rev());
    }
}

fn check<I>(seed: u64, iter: impl Fn() -> I, serial: impl Iterator<Item = I::Item>)
where
    I: ParallelIterator<Item: PartialEq + Debug>,
{
    let serial: Vec<_> = serial.collect();
    divided(seed, || {
        assert_eq!(iter().collect::<Vec<_>>(), serial);
        assert_eq!(iter().find_first(|_| true).as_ref(), serial.first());
        assert_eq!(iter().find_last(|_| true).as_ref(), serial.last());
        assert_eq!(iter().chain(iter()).count(), 2 * serial.len());
    });
}

#[test]
fn pieces_between_separators_are_those_of_std() {
    for seed in 0..SEEDS {
        let random = Random::seeded(seed);
        let limit = 1 + random.next() % 6;
        let data: Vec<u64> = (0..random.next() % 40).map(|_| random.next() % limit).collect();
        let is_separator = |n: &u64| *n == 0;
        let together = |a: &u64, b: &u64| a <= b;
        check(seed, || data.par_split(is_separator), data.split(is_separator));
        check(seed, || data.par_split_inclusive(is_separator), data.split_inclusive(is_separator));
        check(seed, || data.par_chunk_by(together), data.chunk_by(together));

        // Each piece is changed, and an element that is in two would be seen.
        let mut changed = data.clone();
        let change = |piece: &mut [u64]| {
            piece.iter_mut().for_each(|n| *n += 10);
            piece.reverse();
        };
        divided(seed, || changed.par_split_mut(is_separator).for_each(change));
        let mut expected = data.clone();
        expected.split_mut(is_separator).for_each(change);
        assert_eq!(changed, expected);
        let (mut changed, mut expected) = (data.clone(), data.clone());
        divided(seed, || changed.par_split_inclusive_mut(is_separator).for_each(change));
        expected.split_inclusive_mut(is_separator).for_each(change);
        assert_eq!(changed, expected);
        let (mut changed, mut expected) = (data.clone(), data);
        divided(seed, || changed.par_chunk_by_mut(together).for_each(change));
        expected.chunk_by_mut(together).for_each(change);
        assert_eq!(changed, expected);
    }
}

#[test]
fn no_piece_has_no_elements() {
    let says = "a slice cannot be divided into pieces of 0 elements";
    let sizes: [fn(&mut [u8]); 5] = [
        |data| drop(data.par_chunks(0)),
        |data| drop(data.par_rchunks_exact(0)),
        |data| drop(data.par_rchunks_mut(0)),
        |data| drop(data.par_windows(0)),
        |data| drop(data.par_array_windows::<0>()),
    ];
    for make in sizes {
        let panic = std::panic::catch_unwind(|| make(&mut [1, 2])).unwrap_err();
        assert_eq!(*panic.downcast::<&str>().unwrap(), says);
    }
}
