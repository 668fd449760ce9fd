//! The one door to atomics, cells, threads, parking, time and randomness.
//!
//! Everything in this crate that two threads can observe goes through here, so that the same protocol
//! code runs on the machine (`std`) and under [loom](https://docs.rs/loom), which explores its
//! interleavings. The switch is `--cfg lisle_loom`. Modules below this one in the layering never name
//! `std::sync::atomic`, `std::thread` or `std::time::Instant` themselves.
//!
//! What is not here: blocking primitives for users. Those are events.

#[cfg(not(lisle_loom))]
mod imp {
    pub mod atomic {
        pub use std::sync::atomic::*;
    }
    pub mod sync {
        pub use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
    }
    pub mod thread {
        pub use std::thread::{Thread, current, park, yield_now};
    }
    pub mod hint {
        pub use std::hint::spin_loop;
    }

    /// An order among values that stay where they are: their addresses'.
    #[derive(Debug)]
    pub struct Rank;

    impl Rank {
        #[inline(always)]
        pub fn new() -> Self {
            Rank
        }

        /// Never true both ways; true one way for two values of one type with a size and a `Rank` in them.
        #[inline]
        pub fn is_before(&self, other: &Rank) -> bool {
            std::ptr::from_ref(self).addr() < std::ptr::from_ref(other).addr()
        }
    }

    pub mod cell {
        /// `std`'s cell behind the closure-shaped interface that loom can track.
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
            /// Hands `f` a pointer for reading.
            #[inline(always)]
            pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
                f(self.0.get())
            }

            /// Hands `f` a pointer for writing.
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
    pub mod sync {
        pub use loom::sync::{Arc, Mutex, MutexGuard};
        /// What it keeps is made without anything that loom could interleave.
        pub use std::sync::OnceLock;
    }
    pub mod thread {
        pub use loom::thread::yield_now;
        use std::sync::Arc;

        loom::thread_local! {
            static TOKEN: Arc<loom::sync::Notify> = Arc::new(loom::sync::Notify::new());
        }

        /// Loom's own `unpark` also wakes a thread that waits for a mutex, and then loses the token.
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

    /// Loom replays schedules, and addresses differ from one replay to the next. What the machine orders
    /// by address, a model orders by age.
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Rank(usize);

    impl Rank {
        #[inline]
        pub fn new() -> Self {
            // Not loom's: taking a rank is no step that another thread sees.
            static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
            Rank(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        }

        #[inline]
        pub fn is_before(&self, other: &Rank) -> bool {
            self < other
        }
    }
}

#[doc(hidden)]
pub use imp::*;

/// Makes a function `const`, but under loom, whose atomics are not made at compile time.
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

#[doc(hidden)]
pub mod asymmetric;

/// Waiting for another thread to take a step that is a few instructions away.
///
/// Spins a little, then yields the processor, then sleeps for short whiles: with more threads than
/// cores the thread waited for may itself be waiting for a core, and under a real-time policy
/// yielding alone would never let it have one.
#[derive(Debug)]
pub struct Backoff(u32);

impl Backoff {
    #[inline]
    pub fn new() -> Self {
        Backoff(0)
    }

    /// Waits one step, each longer than the one before.
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

/// Monotonic nanoseconds since the first call in this process.
#[doc(hidden)]
pub mod clock {
    use std::{
        sync::OnceLock,
        time::{Duration, Instant},
    };

    fn origin() -> Instant {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        *ORIGIN.get_or_init(Instant::now)
    }

    /// Now, in nanoseconds since the origin.
    #[inline]
    pub fn now() -> u64 {
        let origin = origin();
        saturating_nanos(Instant::now().duration_since(origin))
    }

    /// `instant` on the same scale; what lies before the origin is 0.
    #[inline]
    pub fn nanos_of(instant: Instant) -> u64 {
        saturating_nanos(instant.saturating_duration_since(origin()))
    }

    /// The instant at which a wait of `span` ends that begins now. A span which leads beyond what the platform's clock can
    /// name is halved until it does not: that is still some billions of years away, and so never.
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

    /// The reverse, for times that have come.
    #[inline]
    pub fn instant_of(nanos: u64) -> Instant {
        origin() + Duration::from_nanos(nanos)
    }

    /// `duration` in nanoseconds; what does not fit into 584 years is the end of time.
    #[inline]
    pub fn saturating_nanos(duration: Duration) -> u64 {
        u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A small generator for scheduling decisions. Not for secrets.
#[doc(hidden)]
pub mod random {
    use std::cell::Cell;
    use std::hash::{BuildHasher, RandomState};

    /// Marsaglia's xorshift, 64 bits of state, never 0.
    #[derive(Debug)]
    pub struct Random(Cell<u64>);

    impl Random {
        #[inline]
        pub fn seeded(seed: u64) -> Self {
            // One round of splitmix64, so that neighbouring seeds give unrelated sequences.
            let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            Random(Cell::new((z ^ (z >> 31)) | 1))
        }

        /// A generator seeded by the operating system.
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

    /// The next number of the calling thread's generator.
    ///
    /// Under loom always the same one: a model that is replayed has to take the same path again, and those
    /// that want another order of a choice write it so.
    #[cfg(lisle_loom)]
    #[inline]
    pub fn of_thread() -> u64 {
        0
    }

    /// The next number of the calling thread's generator.
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

/// Keeps its contents on cache lines of their own.
///
/// 128 bytes, since current processors fetch lines in pairs.
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

/// A clock for what happens often: cheaper than [`clock`], in units of its own, and only for comparing on one thread.
#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub mod ticks {
    /// About as many as a microsecond has: between a half and two and a half, as processors differ.
    #[cfg(target_arch = "x86_64")]
    pub const A_MICROSECOND: u64 = 2_000;
    #[cfg(not(target_arch = "x86_64"))]
    pub const A_MICROSECOND: u64 = 1_000;

    /// Now.
    #[inline(always)]
    pub fn now() -> u64 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every processor of this architecture has the counter.
        return unsafe { std::arch::x86_64::_rdtsc() };
        #[cfg(not(target_arch = "x86_64"))]
        super::clock::now()
    }
}
