//! What all locks do before they wait.

use crate::event::{installed, performer_id, visible};
use crate::shim::hint;

/// How often a plain thread looks before it waits.
const LOOKS: u32 = 40;

/// Tells a model that a lock is about to be tried, and gives who tries: in a fiber one look at a thread-local, elsewhere
/// two.
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

/// Looks for a while whether a lock can be had. Not in a fiber: who has the lock may be waiting for this very thread.
pub(super) fn look(mut take: impl FnMut() -> bool) -> bool {
    // Loom would have to try each of them.
    let looks = if cfg!(lisle_loom) || installed().is_some() { 0 } else { LOOKS };
    (0..looks).any(|_| {
        hint::spin_loop();
        take()
    })
}
