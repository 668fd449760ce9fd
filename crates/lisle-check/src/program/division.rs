//! The division of loops over all cores in a checked program.
//!
//! A loop is divided into parts, and each part is a process of its own: the steps of other parts
//! and fibers come before, between or after the steps of a part. Parts without accesses that others
//! could see cost no execution: all their orders are one. Therefore each loop is divided as far as
//! it may be. No execution is spent on a smaller division: its steps would run in a row, and one of
//! the schedules has this order anyway.
//!
//! A division also decides which steps share the state of a part, and in which order values are
//! merged. Where that matters, as for a `reduce` whose operation is not associative, the checker
//! has to try each division, and each costs executions of its own.

/// The division of loops.
#[derive(Debug, Clone, Copy)]
pub(super) struct Division {
    /// The most parts of a loop.
    pub(super) parts: usize,
    /// Each way to divide a loop is tried.
    pub(super) is_chosen: bool,
}

impl Division {
    /// Returns the number of blocks that go to the first part of a loop. `choose` gets a number of
    /// ways, and chooses one.
    pub(super) fn first_part(self, blocks: usize, choose: impl FnOnce(usize) -> usize) -> Option<usize> {
        if !self.is_chosen {
            return Some(blocks / 2);
        }
        // The first way is not to divide it.
        Some(choose(blocks)).filter(|first| *first > 0)
    }
}

impl Default for Division {
    fn default() -> Self {
        Division { parts: 16, is_chosen: false }
    }
}
