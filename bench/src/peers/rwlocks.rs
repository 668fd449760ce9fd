//! How each system's readers-writer lock is called. All of them protect a number.

use super::{AsyncMutex, BlockingMutex};
use std::future::Future;

/// A lock whose users wait in place.
pub(crate) trait BlockingRwLock: Send + Sync + 'static {
    fn new() -> Self;
    fn read<R>(&self, f: impl FnOnce(&u64) -> R) -> R;
    fn write<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R;
}

/// A lock whose users await it.
pub(crate) trait AsyncRwLock: Send + Sync + 'static {
    fn new() -> Self;
    fn read<R: Send>(&self, f: impl FnOnce(&u64) -> R + Send) -> impl Future<Output = R> + Send;
    fn write<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> impl Future<Output = R> + Send;
}

pub(crate) type LisleRwLock = lisle::sync::RwLock<u64>;
pub(crate) type StdRwLock = std::sync::RwLock<u64>;
pub(crate) type ParkingLotRwLock = parking_lot::RwLock<u64>;
pub(crate) type TokioRwLock = tokio::sync::RwLock<u64>;
/// The async-lock crate's, which is smol's.
pub(crate) type AsyncLockRwLock = smol::lock::RwLock<u64>;

/// Implements a trait of locks by the two ways of locking, whose guards are used in place.
macro_rules! blocking {
    ($lock:ident, |$this:ident| $read:expr, $write:expr) => {
        impl BlockingRwLock for $lock {
            fn new() -> Self {
                $lock::new(0)
            }
            #[inline]
            fn read<R>(&self, f: impl FnOnce(&u64) -> R) -> R {
                let $this = self;
                f(&$read)
            }
            #[inline]
            fn write<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
                let $this = self;
                f(&mut $write)
            }
        }
    };
}

blocking!(LisleRwLock, |lock| lock.read(), lock.write());
blocking!(ParkingLotRwLock, |lock| lock.read(), lock.write());
blocking!(StdRwLock, |lock| lock.read().expect("no holder panics"), lock.write().expect("no holder panics"));

/// The same for locks whose guards are awaited.
macro_rules! awaited {
    ($lock:ident, $read:ident, $write:ident) => {
        impl AsyncRwLock for $lock {
            fn new() -> Self {
                $lock::new(0)
            }
            async fn read<R: Send>(&self, f: impl FnOnce(&u64) -> R + Send) -> R {
                f(&*self.$read().await)
            }
            async fn write<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> R {
                f(&mut *self.$write().await)
            }
        }
    };
}

awaited!(LisleRwLock, read_evt, write_evt);
awaited!(TokioRwLock, read, write);
awaited!(AsyncLockRwLock, read, write);

/// A readers-writer lock that nobody reads, as a mutex.
pub(crate) struct Writing<L>(L);

impl<L: BlockingRwLock> BlockingMutex for Writing<L> {
    fn new() -> Self {
        Writing(L::new())
    }
    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        self.0.write(f)
    }
}

impl<L: AsyncRwLock> AsyncMutex for Writing<L> {
    fn new() -> Self {
        Writing(L::new())
    }
    async fn with<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> R {
        self.0.write(f).await
    }
}

/// A mutex where a readers-writer lock could be: its readers keep each other out.
pub(crate) struct Exclusive<M>(M);

impl<M: BlockingMutex> BlockingRwLock for Exclusive<M> {
    fn new() -> Self {
        Exclusive(M::new())
    }
    #[inline]
    fn read<R>(&self, f: impl FnOnce(&u64) -> R) -> R {
        self.0.with(|value| f(value))
    }
    #[inline]
    fn write<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        self.0.with(f)
    }
}
