//! A clock so coarse that to look at it costs a load: the monitors of the runtimes move it on, every 10 ms while
//! any domain works.
//!
//! Whoever finds that it has moved between two looks has spent, most likely, a good part of 10 ms, or has spent less and
//! been unlucky, which happens in proportion to what it has spent. So what is charged to those that it has moved for
//! is charged, on the whole, by the time that they take.

#[cfg(not(lisle_loom))]
use crate::shim::atomic::{AtomicU32, Ordering};

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

/// Moves the clock on.
#[cfg(not(lisle_loom))]
#[inline]
pub fn advance() {
    TICKS.fetch_add(1, Ordering::Relaxed);
}
