//! A coarse clock whose reading costs one load. The monitors of the runtimes advance it every 10 ms
//! while any domain works.
//!
//! Code for which the clock has advanced between two readings has most likely spent a good part of
//! 10 ms. It may also have spent less, with a probability in proportion to the time it spent.
//! Therefore a charge for each advance of the clock is, on average, a charge by time.

#[cfg(not(lisle_loom))]
use crate::shim::unseen::{AtomicU32, Ordering};

#[cfg(not(lisle_loom))]
static TICKS: AtomicU32 = AtomicU32::new(0);

#[cfg(not(lisle_loom))]
#[inline(always)]
pub fn now() -> u32 {
    TICKS.load(Ordering::Relaxed)
}

/// In a model no turn is long.
#[cfg(lisle_loom)]
#[inline]
pub fn now() -> u32 {
    0
}

/// Advances the clock.
#[cfg(not(lisle_loom))]
#[inline]
pub fn advance() {
    TICKS.fetch_add(1, Ordering::Relaxed);
}
