//! Models of a scan by several threads: claiming chunks, and handing carries on while chunks are
//! left.

#[path = "chain.rs"]
mod chain;

use super::loom_support::explore;
use crate::shim::sync::Arc;
use chain::{Chain, Form};
use loom::cell::UnsafeCell;
use loom::thread;

/// Strings of digits, in which the order of the additions shows.
struct Digits;

/// A chunk of two digits. Loom reports it if two threads write its outputs at once, or if they are
/// read too early.
struct Piece {
    digits: [u64; 2],
    outputs: Arc<Outputs>,
}

struct Outputs(UnsafeCell<[u64; 2]>);

// SAFETY: loom checks that no thread reads while another one writes.
unsafe impl Sync for Outputs {}
// SAFETY: the outputs are numbers.
unsafe impl Send for Outputs {}

/// Puts `right`, which has `right.1` digits, behind `left`.
fn behind(left: (u64, u32), right: (u64, u32)) -> (u64, u32) {
    (left.0 * 10_u64.pow(right.1) + right.0, left.1 + right.1)
}

impl Form for Digits {
    type Item = (u64, u32);
    type Piece = Piece;
    const TOTAL: bool = true;

    fn sums(&self, left: &(u64, u32), right: &(u64, u32)) -> (u64, u32) {
        behind(*left, *right)
    }

    fn sum(&self, piece: &Piece, is_to_stop: impl Fn() -> bool) -> Option<(u64, u32)> {
        let [one, two] = piece.digits;
        (!is_to_stop()).then_some((one * 10 + two, 2))
    }

    fn scan(&self, piece: Piece, carry: Option<(u64, u32)>, go_on: bool) -> Option<(u64, u32)> {
        let [one, two] = piece.digits.map(|digit| (digit, 1));
        let one = carry.map_or(one, |carry| behind(carry, one));
        let two = behind(one, two);
        // SAFETY: loom checks that no other thread accesses it.
        piece.outputs.0.with_mut(|outputs| unsafe { *outputs = [one.0, two.0] });
        go_on.then_some(two)
    }
}

/// Scans `chunks` chunks with `others` threads besides this one, which makes the steps that are
/// left.
fn scanned(chunks: u64, others: usize, is_fixed: bool) {
    let outputs: Vec<_> = (0..chunks).map(|_| Arc::new(Outputs(UnsafeCell::new([0; 2])))).collect();
    let pieces = outputs.iter().zip(0..).map(|(outputs, number)| Piece {
        digits: [2 * number + 1, 2 * number + 2],
        outputs: outputs.clone(),
    });
    let chain = Arc::new(Chain::new(&Digits, pieces, None, is_fixed));
    let thieves: Vec<_> = (0..others)
        .map(|_| {
            let chain = chain.clone();
            thread::spawn(move || assert!(chain.step()))
        })
        .collect();
    for _ in others..chain.len() {
        assert!(chain.step());
    }
    thieves.into_iter().for_each(|thief| thief.join().unwrap());
    let expected = |digits: u64| (1..=digits).fold(0, |sum, digit| sum * 10 + digit);
    for (number, outputs) in (0..).zip(&outputs) {
        // SAFETY: loom checks that no other thread accesses it.
        let outputs = outputs.0.with(|outputs| unsafe { *outputs });
        assert_eq!(outputs, [expected(2 * number + 1), expected(2 * number + 2)]);
    }
    let Ok(chain) = Arc::try_unwrap(chain) else { panic!("the others have ended") };
    assert_eq!(chain.total(), Some((expected(2 * chunks), 2 * chunks as u32)));
}

#[test]
fn two_scan_three_chunks() {
    explore(3, || scanned(3, 1, false));
}

#[test]
fn two_scan_three_chunks_with_fixed_sums() {
    explore(3, || scanned(3, 1, true));
}

#[test]
fn three_scan_three_chunks() {
    explore(2, || scanned(3, 2, false));
}
