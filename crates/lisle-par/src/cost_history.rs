//! The cost history of each thread: what loops and joins have cost. Short ones are not divided.
//!
//! Giving work away costs microseconds. A join or a loop that is shorter is best left undivided,
//! and its length cannot be known beforehand; but the same code mostly takes about as long as it
//! did before. A small table remembers the cost of each piece of code, by the address of a function
//! that was instantiated for it. Of two pieces of code that fall on the same place, the later one
//! wins. The history errs if the same code is given a much larger job. That job begins undivided,
//! until the monitor finds what it has put off, see `join.rs` and `drive.rs`.

use std::cell::Cell;

/// The number of pieces of code that are remembered at a time; a power of two.
const PLACES: usize = 64;
/// The number of times that a remembered cost is used before it is measured again.
const RELIANCE: u32 = 15;

thread_local! {
    static MEMORY: [Place; PLACES] = const { [const { Place::new() }; PLACES] };
}

struct Place {
    code: Cell<usize>,
    /// In ticks: of a whole join, or of 1,024 steps of a loop.
    cost: Cell<u64>,
    /// The number of times that it may still be used.
    left: Cell<u32>,
}

impl Place {
    const fn new() -> Self {
        Place { code: Cell::new(0), cost: Cell::new(0), left: Cell::new(0) }
    }
}

fn with<R>(code: usize, f: impl FnOnce(&Place) -> R) -> R {
    MEMORY.with(|memory| f(&memory[(code >> 4 ^ code >> 10) % PLACES]))
}

/// What is remembered of a piece of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// The remembered cost, in ticks.
    pub(super) cost: u64,
    /// Whether the last measurement was not too long ago; if so, the cost need not be measured
    /// again.
    pub(super) is_fresh: bool,
}

/// Returns what `code` has cost, if that is remembered.
#[inline]
pub(super) fn recall(code: usize) -> Option<Known> {
    with(code, |place| {
        if place.code.get() != code {
            return None;
        }
        let left = place.left.get();
        place.left.set(left.saturating_sub(1));
        Some(Known { cost: place.cost.get(), is_fresh: left > 0 })
    })
}

/// Records that `code` has cost `cost`.
pub(super) fn learn(code: usize, cost: u64) {
    with(code, |place| {
        let known = place.code.replace(code) == code;
        let before = place.cost.get();
        // A higher cost is taken over at once, a lower one gradually.
        place.cost.set(if known && cost < before { before - (before - cost) / 4 } else { cost });
        place.left.set(RELIANCE);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(code: usize) -> Option<u64> {
        recall(code).map(|known| known.cost)
    }

    #[test]
    fn what_is_learnt_is_relied_on_for_a_while() {
        let code = 0x1230;
        assert_eq!(recall(code), None);
        learn(code, 100);
        for _ in 0..RELIANCE {
            assert_eq!(recall(code), Some(Known { cost: 100, is_fresh: true }));
        }
        assert_eq!(recall(code), Some(Known { cost: 100, is_fresh: false }));
    }

    #[test]
    fn it_rises_at_once_and_sinks_slowly() {
        let code = 0x4560;
        learn(code, 100);
        learn(code, 1_000);
        assert_eq!(cost(code), Some(1_000));
        learn(code, 600);
        assert_eq!(cost(code), Some(900));
    }

    #[test]
    fn another_piece_of_code_on_the_same_place_wins() {
        let (one, two) = (0x10, 0x10 + (1 << 20));
        learn(one, 1);
        learn(two, 2);
        assert_eq!(cost(one), None);
        assert_eq!(cost(two), Some(2));
    }
}
