//! The steps that all locks take before they wait.

use crate::event::{Label, installed, performer_id, visible_doing};
use crate::shim::hint;

/// How often a plain thread tries before it waits.
const LOOKS: u32 = 40;

/// Tells a model that this lock is about to be tried, and returns the performer's id. This reads a
/// thread-local once in a fiber and twice elsewhere.
#[inline(always)]
pub(super) fn tell<T: ?Sized>(operation: &'static str, label: &Label, lock: &T) -> usize {
    visible_doing(operation, label, lock);
    performer_id()
}

/// Tries for a while to take a lock. Returns `true` if `take` did. A fiber does not try: the holder
/// of the lock may be waiting for this very thread.
pub(super) fn look(mut take: impl FnMut() -> bool) -> bool {
    // Loom would have to explore each attempt.
    let looks = if cfg!(lisle_loom) || installed().is_some() { 0 } else { LOOKS };
    (0..looks).any(|_| {
        hint::spin_loop();
        take()
    })
}
