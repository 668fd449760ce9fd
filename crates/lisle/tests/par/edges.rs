//! The smallest and the largest loops, and impossible ones.

use crate::support::everywhere;
use lisle::Runtime;
use lisle::par::iter::{empty, once, repeat_n};
use lisle::par::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the message of the panic in `f`.
fn message<R>(f: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).err().expect("it panics");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("a text")).to_string(),
    }
}

#[test]
fn pieces_and_steps_of_nothing() {
    let mut data = [1, 2, 3];
    for text in [
        message(|| _ = data.par_chunks(0)),
        message(|| _ = data.par_chunks_exact(0)),
        message(|| _ = data.par_windows(0)),
        message(|| _ = data.clone().par_chunks_mut(0)),
        message(|| _ = data.par_chunks_exact_mut(0)),
    ] {
        assert!(text.contains("pieces of 0 elements"), "{text}");
    }
    assert!(message(|| (0..3).into_par_iter().chunks(0)).contains("`chunks(0)`"));
    assert!(message(|| (0..3).into_par_iter().step_by(0)).contains("`step_by(0)`"));
    assert!(message(|| (0..3).into_par_iter().grain(0)).contains("`grain(0)`"));
    assert!(message(|| (0..3).into_par_iter().deterministic(0)).contains("`deterministic(0)`"));
    assert!(message(|| (0..3).into_par_iter().zip_eq(0..4)).contains("of one length"));
    let scan = message(|| lisle::par::inclusive_scan(&[1, 2, 3], &mut [0; 4], |a, b| a + b));
    assert!(scan.ends_with("3 inputs and 4 outputs"), "{scan}");
}

#[test]
fn more_than_can_be_counted() {
    for text in [
        message(|| (0..=u64::MAX).into_par_iter().len()),
        message(|| (i64::MIN..=i64::MAX).into_par_iter().enumerate().find_any(|_| true)),
        message(|| (0..u128::MAX).into_par_iter().rev().find_any(|_| true)),
        message(|| (0..=u128::from(u64::MAX)).into_par_iter().zip(0..3).count()),
        message(|| (i128::MIN..i128::MAX).into_par_iter().position_any(|_| true)),
    ] {
        assert!(text.contains("more than usize::MAX numbers has no indices"), "{text}");
    }
    // Without indices, there may be more.
    assert_eq!((0..=u64::MAX).into_par_iter().find_first(|n| *n > 10), Some(11));
    // A domain that has been given a part of these ends its block soon.
    for domains in [2, 8] {
        let runtime = Runtime::builder().domains(domains).start().unwrap();
        assert!(runtime.run(|| (0..u128::MAX).into_par_iter().any(|n| n == 50_000)));
        assert!(runtime.run(|| (0..=u128::MAX).into_par_iter().any(|n| n == 50_000)));
    }
    let twice = || (0..usize::MAX).into_par_iter().chain(0..usize::MAX);
    assert!(message(|| twice().len()).contains("run one loop for each"));
    assert!(message(|| twice().count()).contains("run one loop for each"));
    assert!(message(|| twice().filter(|_| true).any(|_| true)).contains("run one loop for each"));
}

#[test]
fn as_many_as_can_be_counted() {
    everywhere(|| {
        assert_eq!((0..u64::MAX).into_par_iter().count(), usize::MAX);
        assert_eq!((1..=u64::MAX).into_par_iter().len(), usize::MAX);
        assert_eq!((i64::MIN..i64::MAX).into_par_iter().count(), usize::MAX);
        assert_eq!(
            (i64::MIN..i64::MAX).into_par_iter().find_first(|n| *n > i64::MIN + 5),
            Some(i64::MIN + 6)
        );
        assert_eq!((u128::MAX - 5..=u128::MAX).into_par_iter().max(), Some(u128::MAX));
        assert_eq!((i128::MIN..i128::MIN + 3).into_par_iter().min(), Some(i128::MIN));
        assert_eq!((0..u64::MAX).into_par_iter().step_by(usize::MAX).collect::<Vec<_>>(), [0]);
        assert_eq!(
            (0..u64::MAX).into_par_iter().step_by(usize::MAX - 1).rev().collect::<Vec<_>>(),
            [u64::MAX - 1, 0]
        );
        assert_eq!(
            (0..u64::MAX).into_par_iter().skip(usize::MAX - 2).collect::<Vec<_>>(),
            [u64::MAX - 2, u64::MAX - 1]
        );
        assert_eq!(
            (0..u64::MAX).into_par_iter().rev().take(2).collect::<Vec<_>>(),
            [u64::MAX - 1, u64::MAX - 2]
        );
        let whole = (0..u64::MAX).into_par_iter().enumerate().rev().take(1).map(|(at, n)| (at, n));
        assert_eq!(whole.collect::<Vec<_>>(), [(usize::MAX - 1, u64::MAX - 1)]);
        assert_eq!(repeat_n(7, usize::MAX).find_any(|n| *n == 7), Some(7));
        let near_end = u64::MAX - 1;
        assert_eq!(
            (near_end..u64::MAX).into_par_iter().chain(0..near_end).position_first(|n| n == 3),
            Some(4)
        );
    });
}

#[test]
fn all_of_a_type() {
    everywhere(|| {
        assert!((0..=u8::MAX).into_par_iter().collect::<Vec<_>>().into_iter().eq(0..=u8::MAX));
        assert!(
            (i8::MIN..=i8::MAX)
                .into_par_iter()
                .rev()
                .collect::<Vec<_>>()
                .into_iter()
                .eq((i8::MIN..=i8::MAX).rev())
        );
        assert!((i8::MIN..i8::MAX).into_par_iter().collect::<Vec<_>>().into_iter().eq(i8::MIN..i8::MAX));
        assert_eq!((i16::MIN..=i16::MAX).into_par_iter().map(i64::from).sum::<i64>(), -32_768);
    });
}

#[test]
#[expect(clippy::reversed_empty_ranges)]
fn nothing_at_all() {
    everywhere(|| {
        let nothing: [u32; 0] = [];
        assert_eq!(nothing.par_iter().count(), 0);
        assert_eq!(
            nothing.par_chunks(3).len() + nothing.par_windows(3).len() + nothing.par_chunks_exact(3).len(),
            0
        );
        assert_eq!(nothing.par_iter().max(), None);
        assert_eq!(nothing.par_iter().map(|n| n + 1).collect::<Vec<_>>(), []);
        assert_eq!(nothing.into_par_iter().filter(|_| true).collect::<Vec<_>>(), []);
        assert_eq!(Vec::<String>::new().into_par_iter().collect::<String>(), "");
        assert_eq!((5..5).into_par_iter().chain(7..3).chain(9..=8).collect::<Vec<i32>>(), []);
        assert_eq!((7..3).into_par_iter().len() + (7..=3).into_par_iter().len(), 0);
        let mut taken = 1..=1;
        taken.next();
        assert_eq!(taken.into_par_iter().count(), 0);
        assert_eq!(empty::<u8>().zip(0..5).chain(once((1, 1)).take(0)).reduce(|| (9, 9), |a, _| a), (9, 9));
        assert_eq!((0..5).into_par_iter().skip(9).step_by(3).rev().chunks(2).enumerate().count(), 0);
        assert_eq!(
            (0..5).into_par_iter().take(0).flat_map_iter(|n| [n, n]).fold_with(0, |a, n| a + n).sum::<i32>(),
            0
        );
        assert!((0..0).into_par_iter().all(|_: i32| false) && !(0..0).into_par_iter().any(|_: i32| true));
        assert_eq!((0..0).into_par_iter().map(Err::<(), i32>).collect::<Result<Vec<_>, _>>(), Ok(vec![]));
        assert_eq!((0..0).into_par_iter().map(|_: i32| ()).try_for_each(Some), Some(()));
        let (a, b): (Vec<i32>, Vec<i32>) = (0..0).into_par_iter().map(|n| (n, n)).unzip();
        assert_eq!((a, b), (vec![], vec![]));
        assert_eq!((0..0).into_par_iter().fold(|| 5, |a, n: i32| a + n).collect::<Vec<_>>(), [5]);
    });
}

/// Values without a size cannot be distinguished by their addresses.
#[test]
fn things_without_a_size() {
    everywhere(|| {
        let mut units = vec![(); 10_000];
        assert_eq!(units.par_iter().count(), 10_000);
        assert_eq!(units.par_iter_mut().enumerate().map(|(at, ())| at).max(), Some(9_999));
        assert_eq!(units.par_chunks(3).map(<[()]>::len).sum::<usize>(), 10_000);
        assert_eq!(units.par_windows(9_999).count(), 2);
        let collected: Vec<()> = units.into_par_iter().map(|()| ()).collect();
        assert_eq!(collected.len(), 10_000);
        let some: Vec<()> = collected.into_par_iter().filter(|()| true).collect();
        assert_eq!(some.len(), 10_000);
        let many = vec![(); usize::MAX];
        assert_eq!(many.par_iter().position_any(|()| true).map(|_| ()), Some(()));
        assert_eq!(many.into_par_iter().skip(usize::MAX - 3).collect::<Vec<_>>().len(), 3);
        let (a, b): (Vec<()>, Vec<u32>) = (0..1_000).into_par_iter().map(|n| ((), n)).unzip();
        assert_eq!((a.len(), b.len()), (1_000, 1_000));
    });
}

#[test]
fn the_shorter_one_counts() {
    everywhere(|| {
        let (short, long) = (vec![1, 2, 3], vec![String::from("a"); 10]);
        assert_eq!(short.par_iter().zip(&long).count(), 3);
        assert_eq!(long.par_iter().zip(&short).count(), 3);
        let zipped: Vec<(i32, String)> = short.into_par_iter().zip(long).collect();
        assert_eq!(zipped, [(1, "a".into()), (2, "a".into()), (3, "a".into())]);
        assert_eq!(
            (0..u64::MAX).into_par_iter().zip(5..8).rev().map(|(a, b)| (a, b)).collect::<Vec<_>>(),
            [(2, 7), (1, 6), (0, 5)]
        );
        // From the end, the longer one is cut first.
        assert_eq!((0..10).into_par_iter().zip(0..3).rev().find_first(|_| true), Some((2, 2)));
    });
}

#[test]
fn more_than_there_is() {
    everywhere(|| {
        let data = [1, 2, 3];
        assert_eq!(data.par_iter().take(9).len(), 3);
        assert_eq!(data.par_iter().skip(9).len(), 0);
        assert_eq!(data.par_chunks(9).map(<[_]>::len).collect::<Vec<_>>(), [3]);
        assert_eq!(data.par_chunks(usize::MAX).map(<[_]>::len).collect::<Vec<_>>(), [3]);
        assert_eq!(data.par_chunks_exact(usize::MAX).len(), 0);
        assert_eq!(data.par_chunks_exact(2).remainder(), [3]);
        assert_eq!(data.par_windows(4).count() + data.par_windows(usize::MAX).count(), 0);
        assert_eq!(data.par_iter().chunks(usize::MAX).map(|chunk| chunk.len()).collect::<Vec<_>>(), [3]);
        assert_eq!(data.par_iter().step_by(usize::MAX).collect::<Vec<_>>(), [&1]);
        assert_eq!(data.par_iter().grain(1 << 40).sum::<i32>(), 6);
        assert_eq!(data.par_iter().deterministic(usize::MAX).sum::<i32>(), 6);
        let mut data = data;
        data.par_chunks_exact_mut(2).into_remainder()[0] = 9;
        assert_eq!(data, [1, 2, 9]);
    });
}

/// A step that leads beyond the end costs nothing, however far beyond.
#[test]
fn huge_steps_are_one_step() {
    everywhere(|| {
        let steps = |step: usize| {
            let all: Vec<u32> = (0..10_u32).into_par_iter().step_by(step).step_by(step).collect();
            let back: Vec<u32> = (0..10_u32).into_par_iter().step_by(step).step_by(step).rev().collect();
            (all, back)
        };
        assert_eq!(steps(usize::MAX), (vec![0], vec![0]));
        assert_eq!(steps(10), (vec![0], vec![0]));
        assert_eq!(steps(3), (vec![0, 9], vec![9, 0]));
        assert_eq!((0..0_u32).into_par_iter().step_by(usize::MAX).count(), 0);
    });
}
