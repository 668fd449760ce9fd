//! How loops over all cores are divided in a checked program.
//!
//! A loop is divided into parts, and each part is a process of its own: whatever other parts and
//! other fibers do comes before, between or after what a part does. Parts that nobody else can see
//! cost no execution: all their orders are one. Therefore each loop is divided as far as it may be,
//! and no execution is spent on a loop that is divided less: its steps would come one after the
//! other, and so they do in one of the schedules anyway.
//!
//! What a division decides besides is which steps share the state of a part, and in which order
//! values are merged. Where that matters, as for a `reduce` whose operation is not associative,
//! each division has to be tried, and each costs executions of its own.

/// How loops are divided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Division {
    /// A loop has at most so many parts.
    pub(super) parts: usize,
    /// Each way to divide a loop is tried.
    pub(super) is_chosen: bool,
}

impl Division {
    /// Returns how many of the blocks of a loop go to its first part. `choose` chooses one of so
    /// many ways.
    pub(super) fn first_part(self, blocks: usize, choose: impl FnOnce(usize) -> usize) -> Option<usize> {
        if !self.is_chosen {
            return Some(blocks / 2);
        }
        // The first way is to leave it as it is.
        Some(choose(blocks)).filter(|first| *first > 0)
    }
}

impl Default for Division {
    fn default() -> Self {
        Division { parts: 16, is_chosen: false }
    }
}
