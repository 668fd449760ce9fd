//! The cost history of each thread, which remembers what loops have cost. Short loops are not
//! divided.
//!
//! Giving work away costs microseconds. A loop that is shorter is best left undivided. Its length
//! cannot be known beforehand, but the same code mostly takes about as long as it did before. A
//! small table remembers the cost of each piece of code, by the address of a function that was
//! instantiated for it. Of two pieces of code that fall on the same place, the later one wins.
//! The history errs if the same code is given a much larger job. That job begins undivided, until
//! the monitor finds the part that it has put off, see `drive.rs`. The costs of joins are in
//! `join_history.rs`.

use crate::by_code::{PLACES, place_of};
use crate::shim::ticks;
use std::cell::Cell;

/// A loop that takes at least this time, in ticks, is divided at once, if there is an idle
/// domain.
pub(super) const LONG: u64 = 1_000 * ticks::A_MICROSECOND;

thread_local! {
    static MEMORY: [Place; PLACES] = const { [const { Place::new() }; PLACES] };
}

struct Place {
    code: Cell<usize>,
    /// The cost of 1,024 steps of a loop, or of a node of a graph, in ticks.
    cost: Cell<u64>,
}

impl Place {
    const fn new() -> Self {
        Place { code: Cell::new(0), cost: Cell::new(0) }
    }
}

/// Returns the cost of `code`, if it is remembered.
#[inline]
pub(super) fn recall(code: usize) -> Option<u64> {
    MEMORY.with(|memory| {
        let place = &memory[place_of(code)];
        (place.code.get() == code).then(|| place.cost.get())
    })
}

/// Records that `code` has cost `cost`.
pub(super) fn learn(code: usize, cost: u64) {
    MEMORY.with(|memory| {
        let place = &memory[place_of(code)];
        let known = place.code.replace(code) == code;
        let before = place.cost.get();
        // A higher cost is taken over at once, a lower one gradually.
        place.cost.set(if known && cost < before { before - (before - cost) / 4 } else { cost });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_at_once_and_sinks_slowly() {
        let code = 0x4560;
        assert_eq!(recall(code), None);
        learn(code, 100);
        learn(code, 1_000);
        assert_eq!(recall(code), Some(1_000));
        learn(code, 600);
        assert_eq!(recall(code), Some(900));
    }

    #[test]
    fn another_piece_of_code_on_the_same_place_wins() {
        let (one, two) = (0x10, 0x10 + (1 << 20));
        learn(one, 1);
        learn(two, 2);
        assert_eq!(recall(one), None);
        assert_eq!(recall(two), Some(2));
    }
}
