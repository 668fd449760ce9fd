//! The cost history of each thread, which remembers what loops have cost. Short loops are not
//! divided.
//!
//! Giving work away costs microseconds. A loop that is shorter is best left undivided. Its length
//! cannot be known beforehand, but the same code mostly takes about as long as it did before. The
//! history errs if the same code is given a much larger job. That job begins undivided, until
//! the monitor finds the part that it has put off, see `drive.rs`. The costs of joins are in
//! `join_history.rs`.

use crate::by_code::{self, SLOTS, Slot, Table};
use crate::shim::ticks;
use std::cell::Cell;

/// A loop that takes at least this time, in ticks, is divided at once, if there is an idle
/// domain.
pub(super) const LONG: u64 = 1_000 * ticks::A_MICROSECOND;

thread_local! {
    /// The cost of 1,024 steps of a loop, or of a node of a graph, in ticks.
    static MEMORY: Table<u64> = const { [const { Cell::new(Slot::empty(0)) }; SLOTS] };
}

/// Returns the cost of `code`, if it is remembered.
#[inline]
pub(super) fn recall(code: usize) -> Option<u64> {
    MEMORY.with(|memory| by_code::get(memory, code))
}

/// Records that `code` has cost `cost`.
pub(super) fn learn(code: usize, cost: u64) {
    // A higher cost is taken over at once, a lower one gradually.
    let take_over =
        |known: &mut u64| *known = if cost < *known { *known - (*known - cost) / 4 } else { cost };
    MEMORY.with(|memory| by_code::with(memory, code, cost, take_over));
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
    fn another_piece_of_code_on_the_same_slot_wins() {
        let (one, two) = (0x10, 0x10 + (1 << 20));
        learn(one, 1);
        learn(two, 2);
        assert_eq!(recall(one), None);
        assert_eq!(recall(two), Some(2));
    }
}
