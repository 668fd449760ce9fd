//! The joins within a join, and how deep they are.

use crate::pending::{Inside, Pending};
use crate::{heartbeat, owner};

/// Looks whether another domain wants work, before the first half of a join.
#[inline]
pub(super) fn look(pending: &Pending) {
    let word = heartbeat::here();
    if word.is_wanted() || (!word.is_quiet() && pending.count()) {
        owner::heartbeat(pending);
    }
}

/// Marks the code that runs here as one level further down, of `levels` levels, until this is
/// dropped.
pub(super) struct Level<'a> {
    pending: &'a Pending,
    /// 0 if this is deeper than the first levels, which makes no difference.
    levels: u32,
}

impl<'a> Level<'a> {
    #[inline]
    pub(super) fn enter(pending: &'a Pending, levels: u32) -> Self {
        if levels > 0 {
            pending.inside.set(Inside::One(levels - 1));
            if levels == 1 {
                heartbeat::here().turn_off();
            }
        }
        Level { pending, levels }
    }
}

impl Drop for Level<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.levels == 1 {
            heartbeat::here().note_down();
        }
        if self.levels > 0 {
            self.pending.inside.set(Inside::One(self.levels));
        }
    }
}
