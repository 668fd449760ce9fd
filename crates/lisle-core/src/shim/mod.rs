//! The single source of atomics, cells, threads, parking, time and randomness.
//!
//! Everything in this crate that two threads can observe goes through here. The same protocol code
//! therefore runs on the machine (`std`) and under [loom](https://docs.rs/loom), which explores its
//! interleavings. The switch is `--cfg lisle_loom`. Modules above this one in the layering never
//! name `std::sync::atomic`, `std::thread` or `std::time::Instant` themselves.
//!
//! Blocking primitives for users are not here: they are events.

#[cfg(not(lisle_loom))]
mod imp {
    #[cfg(not(feature = "model"))]
    pub mod atomic {
        pub use std::sync::atomic::*;
    }
    #[cfg(feature = "model")]
    pub use super::model::atomic;
    /// Atomics of which models are not told.
    pub mod unseen {
        pub use std::sync::atomic::*;
    }
    pub mod sync {
        pub use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
    }
    pub mod thread {
        pub use std::thread::{Thread, current, park, park_timeout, yield_now};
    }
    pub mod hint {
        pub use std::hint::spin_loop;
    }

    /// An order among values that do not move: the order of their addresses.
    #[derive(Debug)]
    pub(crate) struct Rank;

    impl Rank {
        #[inline(always)]
        pub(crate) fn new() -> Self {
            Rank
        }

        /// Returns `true` if `self` comes before `other`. It is never `true` both ways. It is
        /// `true` one way for two values of one sized type that contain a `Rank` each.
        #[inline]
        pub(crate) fn is_before(&self, other: &Rank) -> bool {
            std::ptr::from_ref(self).addr() < std::ptr::from_ref(other).addr()
        }
    }

    pub mod cell {
        /// The cell of `std` behind the closure interface that loom can track.
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

        impl<T> UnsafeCell<T> {
            #[inline(always)]
            pub const fn new(value: T) -> Self {
                UnsafeCell(std::cell::UnsafeCell::new(value))
            }

            #[inline]
            pub fn into_inner(self) -> T {
                self.0.into_inner()
            }
        }

        impl<T: ?Sized> UnsafeCell<T> {
            /// Calls `f` with a pointer for reading.
            #[inline(always)]
            pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
                f(self.0.get())
            }

            /// Calls `f` with a pointer for writing.
            #[inline(always)]
            pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
                f(self.0.get())
            }
        }
    }
}

#[cfg(lisle_loom)]
mod imp {
    pub mod atomic {
        pub use loom::sync::atomic::*;
    }
    pub mod unseen {
        pub use loom::sync::atomic::*;
    }
    pub mod sync {
        pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
        /// The type of `std` suffices: its initializers do nothing that loom could interleave.
        pub use std::sync::OnceLock;
    }
    pub mod thread {
        pub use loom::thread::yield_now;
        use std::sync::Arc;

        loom::thread_local! {
            static TOKEN: Arc<loom::sync::Notify> = Arc::new(loom::sync::Notify::new());
        }

        /// A thread handle with its own token. Loom's own `unpark` also wakes a thread that waits
        /// for a mutex, and then loses the token.
        #[derive(Debug)]
        pub struct Thread(Arc<loom::sync::Notify>);

        impl Clone for Thread {
            fn clone(&self) -> Self {
                Thread(self.0.clone())
            }
        }

        impl Thread {
            #[inline]
            pub fn unpark(&self) {
                self.0.notify();
            }
        }

        #[inline]
        pub fn current() -> Thread {
            Thread(TOKEN.with(Arc::clone))
        }

        #[inline]
        pub fn park() {
            current().0.wait();
        }
    }
    pub mod hint {
        pub use loom::thread::yield_now as spin_loop;
    }
    pub mod cell {
        pub use loom::cell::UnsafeCell;
    }

    /// An order among values by age. Loom replays schedules, and addresses differ from one replay
    /// to the next: so a model orders by age, where the machine orders by address.
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) struct Rank(usize);

    impl Rank {
        #[inline]
        pub(crate) fn new() -> Self {
            // This atomic is not loom's: taking a rank is not a step that another thread observes.
            static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
            Rank(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        }

        #[inline]
        pub(crate) fn is_before(&self, other: &Rank) -> bool {
            self < other
        }
    }
}

pub use imp::*;

/// Makes a function `const`, except under loom, whose atomics cannot be created at compile time.
#[doc(hidden)]
#[macro_export]
macro_rules! const_fn {
    ($(#[$attribute:meta])* $vis:vis fn $($rest:tt)*) => {
        #[cfg(not(lisle_loom))]
        $(#[$attribute])*
        $vis const fn $($rest)*
        #[cfg(lisle_loom)]
        $(#[$attribute])*
        $vis fn $($rest)*
    };
}
pub use const_fn;

pub mod asymmetric;
pub mod model;

/// Calls `f` without reporting its accesses to a model.
#[inline(always)]
pub fn unreported<R>(f: impl FnOnce() -> R) -> R {
    let _unreported = model::Unreported::begin();
    f()
}

/// Counts one down, as a release and an acquire. Returns `true` if none is left.
#[inline]
pub(crate) fn counted_down(count: &unseen::AtomicUsize) -> bool {
    let before = count.fetch_sub(1, unseen::Ordering::AcqRel);
    model::touched(std::ptr::from_ref(count).addr(), model::Touch::of_count(before - 1));
    before == 1
}

/// A wait for another thread to take a step that is a few instructions away.
///
/// It spins a little, then yields the processor, then sleeps for short times. With more threads
/// than cores the other thread may itself be waiting for a core, and under a real-time policy a
/// yield alone would never give it one.
#[derive(Debug)]
pub struct Backoff(u32);

impl Backoff {
    #[inline]
    pub fn new() -> Self {
        Backoff(0)
    }

    /// Waits for one step. Each step waits longer than the one before.
    #[cold]
    pub fn wait(&mut self) {
        self.0 = self.0.saturating_add(1);
        if cfg!(lisle_loom) {
            thread::yield_now();
        } else if self.0 < 7 {
            for _ in 0..1 << self.0 {
                hint::spin_loop();
            }
        } else if self.0 < 200 {
            thread::yield_now();
        } else {
            std::thread::sleep(std::time::Duration::from_micros(50));
        }
    }
}

/// Whether the program has one thread and no clock, as in WebAssembly without a host.
pub(crate) const IS_ALONE: bool = cfg!(all(target_family = "wasm", target_os = "unknown"));

/// Monotonic nanoseconds since the first call in this process. Without a clock the time stands still,
/// and nobody has an `Instant`.
pub mod clock {
    use std::{
        sync::OnceLock,
        time::{Duration, Instant},
    };

    fn origin() -> Instant {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        *ORIGIN.get_or_init(Instant::now)
    }

    /// Returns the current time, in nanoseconds since the origin.
    #[inline]
    pub fn now() -> u64 {
        if super::IS_ALONE {
            return 0;
        }
        let origin = origin();
        saturating_nanos(Instant::now().duration_since(origin))
    }

    /// Returns `instant` on the same scale. Times before the origin become 0.
    #[inline]
    pub fn nanos_of(instant: Instant) -> u64 {
        saturating_nanos(instant.saturating_duration_since(origin()))
    }

    /// Returns the instant at which a wait of `span` that begins now ends. A span that leads beyond
    /// the range of the platform's clock is halved until it does not: that instant is still
    /// billions of years away, which is never.
    #[inline]
    pub fn instant_after(span: Duration) -> Instant {
        let now = Instant::now();
        let mut span = span;
        loop {
            match now.checked_add(span) {
                Some(instant) => return instant,
                None => span /= 2,
            }
        }
    }

    /// Converts nanoseconds since the origin back to an instant, for times that have come.
    #[inline]
    pub fn instant_of(nanos: u64) -> Instant {
        origin() + Duration::from_nanos(nanos)
    }

    /// Returns `duration` in nanoseconds. A duration of more than 584 years becomes `u64::MAX`.
    #[inline]
    pub fn saturating_nanos(duration: Duration) -> u64 {
        u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A small random number generator for scheduling decisions. It is not for secrets.
pub mod random {
    use std::cell::Cell;
    use std::hash::{BuildHasher, RandomState};

    /// Marsaglia's xorshift generator with 64 bits of state, which is never 0.
    #[derive(Debug)]
    pub struct Random(Cell<u64>);

    impl Random {
        #[inline]
        pub fn seeded(seed: u64) -> Self {
            // One round of splitmix64 gives neighbouring seeds unrelated sequences.
            let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            Random(Cell::new((z ^ (z >> 31)) | 1))
        }

        /// Returns a generator seeded by the operating system.
        #[inline]
        pub fn from_entropy() -> Self {
            Random::seeded(RandomState::new().hash_one(0_u8))
        }

        #[inline]
        pub fn next(&self) -> u64 {
            let mut x = self.0.get();
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            self.0.set(x);
            x.wrapping_mul(0x2545_f491_4f6c_dd1d)
        }
    }

    /// Returns the next number of the calling thread's generator.
    ///
    /// Under loom it is always 0: a replayed model must take the same path again. A model that
    /// needs another order of a choice writes the choice in that order.
    #[cfg(lisle_loom)]
    #[inline]
    pub fn of_thread() -> u64 {
        0
    }

    /// Returns the next number of the calling thread's generator.
    #[cfg(not(lisle_loom))]
    pub fn of_thread() -> u64 {
        thread_local! { static STATE: Cell<u64> = const { Cell::new(0) }; }
        STATE
            .try_with(|state| {
                let seed = if state.get() == 0 { RandomState::new().hash_one(1_u8) | 1 } else { state.get() };
                let generator = Random(Cell::new(seed));
                let next = generator.next();
                state.set(generator.0.get());
                next
            })
            .unwrap_or(0)
    }
}

/// A wrapper that keeps its contents on cache lines of their own.
///
/// The alignment is 128 bytes, since current processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CachePadded<T>(pub T);

impl<T> std::ops::Deref for CachePadded<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// A clock for frequent use. It is cheaper than [`clock`], has its own unit, and its readings can
/// be compared only on one thread. Miri does not know the instruction.
#[cfg(not(lisle_loom))]
pub mod ticks {
    /// The approximate number of ticks in a microsecond. The true number is between 0.5 and 2.5
    /// times this, as processors differ.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    pub const A_MICROSECOND: u64 = 2_000;
    #[cfg(not(any(target_arch = "x86_64", miri)))]
    pub const A_MICROSECOND: u64 = 1_000;
    /// Miri takes some thousand times as long for everything.
    #[cfg(miri)]
    pub const A_MICROSECOND: u64 = 1_000_000;

    /// Returns the current reading.
    #[inline(always)]
    pub fn now() -> u64 {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: every processor of this architecture has the counter.
        return unsafe { std::arch::x86_64::_rdtsc() };
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        super::clock::now()
    }
}
