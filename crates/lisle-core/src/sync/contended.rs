//! The steps that all locks take before they wait.

use crate::event::{installed, performer_id, visible};
use crate::shim::hint;

/// How often a plain thread tries before it waits.
const LOOKS: u32 = 40;

/// Tells a model that a lock is about to be tried, and returns the performer's id. This reads a
/// thread-local once in a fiber and twice elsewhere.
#[inline(always)]
pub(super) fn tell() -> usize {
    #[cfg(not(lisle_loom))]
    if let Some(parker) = crate::event::parker::running() {
        return std::ptr::from_ref(parker).addr();
    }
    if installed().is_some() {
        visible();
    }
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
