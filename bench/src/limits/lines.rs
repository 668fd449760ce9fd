//! A cache line that goes from core to core, and an atomic operation on one that stays.

use super::cores;
use crate::job::timed;
use std::{
    hint::black_box,
    sync::atomic::{
        AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
    time::Duration,
};

/// The words on which two threads alternate.
#[derive(Clone, Copy)]
pub(crate) enum Words {
    /// Both write to the same.
    One,
    /// Each writes to its own, and reads the other's.
    Two,
}

/// Alone in two lines: processors fetch a line's neighbour with it.
#[repr(align(128))]
#[derive(Default)]
struct Apart(AtomicU64);

impl Apart {
    /// Waits in place, without a hint to the processor: both threads have their cores for
    /// themselves, and a wait that sees the word a little later would be no limit.
    fn wait_for(&self, value: u64) {
        while self.0.load(Acquire) != value {}
    }
}

/// Times `n` round trips of a word between two cores.
pub(crate) fn alternate(n: u64, words: Words) -> Duration {
    let (there, back) = (Apart::default(), Apart::default());
    match words {
        Words::Two => cores::on_two(
            || {
                for i in 1..=n {
                    there.0.store(i, Release);
                    back.wait_for(i);
                }
            },
            || {
                for i in 1..=n {
                    there.wait_for(i);
                    back.0.store(i, Release);
                }
            },
        ),
        Words::One => cores::on_two(
            || {
                for i in 0..n {
                    there.0.store(2 * i + 1, Release);
                    there.wait_for(2 * i + 2);
                }
            },
            || {
                for i in 0..n {
                    there.wait_for(2 * i + 1);
                    there.0.store(2 * i + 2, Release);
                }
            },
        ),
    }
}

/// Times `n` additions to a word that no other core wants.
pub(crate) fn locked_operations(n: u64) -> Duration {
    let word = Apart::default();
    timed(|| {
        for _ in 0..n {
            black_box(&word).0.fetch_add(1, Relaxed);
        }
    })
}
