//! The single source of atomics and of the clock: `std`'s, or loom's where the protocols are
//! explored.

#[cfg(not(lisle_loom))]
pub(crate) mod atomic {
    pub(crate) use std::sync::atomic::*;
}
#[cfg(lisle_loom)]
pub(crate) mod atomic {
    pub(crate) use loom::sync::atomic::*;
}

/// A point in time, in nanoseconds since the first one that was asked for.
///
/// WebAssembly without a host has no clock; there the time stands still.
#[inline]
pub(crate) fn now() -> u64 {
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    {
        0
    }
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    {
        use std::sync::LazyLock;
        use std::time::Instant;
        static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
        u64::try_from(BEGIN.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
