//! Sources of which there is not much to divide.

use super::slices::divides_anywhere;
use super::splits::divided;
use crate::iter::{Part, empty, once, repeat, repeat_n, split};
use crate::prelude::*;
use std::collections::{BinaryHeap, VecDeque};

#[test]
fn ranges_of_characters_leave_the_surrogates_out() {
    for (first, last) in [('a', 'e'), ('\u{d7fd}', '\u{e002}'), ('\u{10fffd}', char::MAX), ('\0', '\u{2}')] {
        divides_anywhere(|| first..last, first..last);
        divides_anywhere(|| first..=last, first..=last);
        divides_anywhere(|| last..first, last..first);
        divides_anywhere(|| last..=first, last..=first);
    }
    assert_eq!(('\0'..=char::MAX).into_par_iter().count(), ('\0'..=char::MAX).count());
}

#[test]
fn ranges_of_all_integers_divide_anywhere() {
    divides_anywhere(|| 250_u8..=255, 250..=255);
    divides_anywhere(|| -3_i8..4, -3..4);
    divides_anywhere(|| i128::MAX - 3..=i128::MAX, i128::MAX - 3..=i128::MAX);
    divides_anywhere(|| u64::MAX - 4..u64::MAX, u64::MAX - 4..u64::MAX);
    let (first, last) = (5_isize, 4);
    divides_anywhere(|| first..=last, std::iter::empty());
}

/// The steps of a block have one number each, and those that are given away have several.
#[test]
fn ranges_may_be_longer_than_a_loop_can_count() {
    let most = u128::from(u64::MAX);
    let long = |len: u128| (7..7 + len).into_par_iter();
    for len in [most, most + 1, 2 * most - 1, 2 * most, 2 * most + 1, 5 * most + 3, u128::MAX - 7] {
        for at in [0, 1, 2, usize::MAX / 2, usize::MAX / 3] {
            let (mut range, mut inclusive) = (long(len), (7..=6 + len).into_par_iter());
            let (part, inclusive_part) = (range.part(), inclusive.part());
            let steps = part.len();
            assert_eq!(inclusive_part.len(), steps);
            assert_eq!(steps as u128, len.min(most));
            let ((left, right), (first, last)) = (part.split_at(at), inclusive_part.split_at(at));
            let ends = |items: &mut dyn DoubleEndedIterator<Item = u128>| (items.next(), items.next_back());
            assert_eq!(ends(&mut left.clone().items()), ends(&mut first.items()));
            assert_eq!(ends(&mut right.clone().items()), ends(&mut last.items()));
            let next = left.items().next_back().map_or(7, |last| last + 1);
            assert_eq!((right.clone().items().next(), right.len()), (Some(next), steps - at));
            assert!(at > 2 || next == 7 + at as u128, "a block of {at} steps ends at {next}");
        }
        for is_first in [false, true] {
            let (mut part, mut inclusive) = (long(len).part(), (7..=6 + len).into_par_iter().part());
            while part.len() > 1 {
                let middle = part.len() / 2;
                let (half, other_half) = (part.split_at(middle), inclusive.split_at(middle));
                part = if is_first { half.0 } else { half.1 };
                inclusive = if is_first { other_half.0 } else { other_half.1 };
                let (first, last) =
                    (part.clone().items().next().unwrap(), part.clone().items().next_back().unwrap());
                assert!(last - first >= part.len() as u128 - 1);
                let mut items = inclusive.clone().items();
                assert_eq!((items.next(), items.next_back().unwrap_or(first)), (Some(first), last));
            }
        }
        assert_eq!(long(len).find_first(|n| *n > 9), Some(10));
        assert_eq!(long(len).exact_len(), usize::try_from(len).ok());
    }
    // All steps together could have more numbers than there are.
    let (all, none) = (0..=u128::MAX).into_par_iter().part().split_at(usize::MAX);
    assert_eq!((all.items().next_back(), none.items().next()), (Some(u128::MAX), None));
    let full = (i64::MIN..=i64::MAX).into_par_iter();
    assert_eq!((full.exact_len(), full.clone().find_first(|_| true)), (None, Some(i64::MIN)));
    let refused = std::panic::catch_unwind(|| full.len()).unwrap_err();
    assert!(
        refused
            .downcast::<&str>()
            .unwrap()
            .starts_with("a range of more than usize::MAX numbers has no indices")
    );
}

#[test]
fn options_and_results_have_an_item_or_none() {
    divides_anywhere(|| Some(3), [3].into_iter());
    divides_anywhere(|| None::<u8>, [].into_iter());
    divides_anywhere(|| Ok::<_, String>(3), [3].into_iter());
    divides_anywhere(|| Err::<u8, _>("no"), [].into_iter());
    let (mut some, mut fine) = (Some(1), Ok::<_, ()>(2));
    some.par_iter_mut().chain(fine.par_iter_mut()).for_each(|n| *n *= 10);
    assert_eq!((some.par_iter().chain(&fine).sum::<u32>(), some, fine), (30, Some(10), Ok(20)));
    let few = [Some(1), None, Some(3)];
    assert_eq!(few.par_iter().flatten().copied().collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn deques_and_heaps_are_slices() {
    let mut deque: VecDeque<u32> = (3..6).collect();
    (0..3).rev().for_each(|n| deque.push_front(n));
    assert!(!deque.as_slices().1.is_empty());
    divides_anywhere(|| &deque, deque.iter());
    divides_anywhere(|| deque.clone(), deque.iter().copied());
    deque.par_iter_mut().enumerate().for_each(|(at, n)| *n += at as u32);
    assert!(deque.iter().copied().eq((0..12).step_by(2)));
    let heap = BinaryHeap::from([3, 1, 2]);
    divides_anywhere(|| &heap, heap.iter());
    divides_anywhere(|| heap.clone(), heap.iter().copied());
}

#[test]
fn one_item_may_be_repeated() {
    divides_anywhere(|| repeat_n('x', 5), std::iter::repeat_n('x', 5));
    divides_anywhere(|| repeat('x').take(5), std::iter::repeat_n('x', 5));
    divides_anywhere(|| repeat(1).zip(0..4), (0..4).map(|n| (1, n)));
    divides_anywhere(empty::<u8>, std::iter::empty());
    divides_anywhere(|| once(7), std::iter::once(7));
    for seed in 0..if cfg!(miri) { 2 } else { 50 } {
        divided(seed, || assert!(repeat(3).any(|n| n == 3)));
    }
}

#[test]
fn pieces_are_what_the_function_makes_of_the_data() {
    let halves = |range: std::ops::Range<u32>| match range.len() {
        0..7 => (range, None),
        len => {
            let middle = range.start + len as u32 / 3;
            (range.start..middle, Some(middle..range.end))
        }
    };
    for seed in 0..if cfg!(miri) { 2 } else { 50 } {
        let len = seed as u32 * 13;
        divided(seed, || {
            let pieces: Vec<_> = split(0..len, halves).collect();
            assert!(pieces.len() < 16 || pieces.iter().all(|piece| piece.len() > 1));
            assert!(pieces.into_iter().flatten().eq(0..len));
            assert_eq!(
                split(0..len, halves).chain(split(5..9, |all| (all, None))).flatten().count(),
                len as usize + 4
            );
        });
    }
    // There are enough pieces, and not more than needed.
    let count = split(0..u32::MAX, |range| {
        let middle = range.start + (range.end - range.start) / 2;
        (range.start..middle, Some(middle..range.end))
    })
    .count();
    assert!((16..64 * crate::current_num_threads()).contains(&count), "{count}");
    let whole = split("whole", |data| (data, None));
    assert_eq!(format!("{whole:?}"), r#"Split { data: Some("whole"), .. }"#);
    assert_eq!(whole.clone().chain(whole).collect::<Vec<_>>(), ["whole", "whole"]);
}
