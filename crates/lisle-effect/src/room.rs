//! The memory of a computation that has ended.

use lisle_runtime::internal::handled::{self, Taken};

/// The stack of a computation that has ended, given back when this is dropped.
pub(crate) struct Room(pub(crate) Option<Taken>);

impl Drop for Room {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(stack) = self.0.take() {
            handled::give(stack);
        }
    }
}
