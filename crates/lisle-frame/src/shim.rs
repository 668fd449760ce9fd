//! The atomics, the memory for batches, and the clock: from `std`, or from loom in builds that
//! explore the protocols.

#[cfg(not(lisle_loom))]
pub(crate) mod atomic {
    pub(crate) use std::sync::atomic::*;
}
#[cfg(lisle_loom)]
pub(crate) mod atomic {
    pub(crate) use loom::sync::atomic::*;
}

#[cfg(all(feature = "threads", not(lisle_loom)))]
pub(crate) mod sync {
    pub(crate) use std::sync::Arc;
}
#[cfg(all(feature = "threads", lisle_loom))]
pub(crate) mod sync {
    pub(crate) use loom::sync::Arc;
}

#[cfg(all(feature = "threads", not(lisle_loom)))]
pub(crate) mod thread {
    pub(crate) use std::thread::{Thread, current, park};
}
#[cfg(all(feature = "threads", lisle_loom))]
pub(crate) mod thread {
    pub(crate) use loom::thread::{Thread, current, park};
}

/// Memory whose leaks and double frees loom finds.
#[cfg(not(lisle_loom))]
pub(crate) mod memory {
    pub(crate) use std::alloc::{alloc, dealloc};
}
#[cfg(lisle_loom)]
pub(crate) mod memory {
    pub(crate) use loom::alloc::{alloc, dealloc};
}

/// Returns the time in nanoseconds since the first call.
///
/// WebAssembly without a host has no clock; there the time stands still. It stands still under
/// loom, too, whose runs must be the same each time.
#[inline]
pub(crate) fn now() -> u64 {
    #[cfg(any(lisle_loom, all(target_family = "wasm", target_os = "unknown")))]
    {
        0
    }
    #[cfg(not(any(lisle_loom, all(target_family = "wasm", target_os = "unknown"))))]
    {
        use std::sync::LazyLock;
        use std::time::Instant;
        static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        u64::try_from(BEGIN.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
