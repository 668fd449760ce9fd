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

impl BlockingRwLock for LisleRwLock {
    fn new() -> Self {
        LisleRwLock::new(0)
    }
    #[inline]
    fn read<R>(&self, f: impl FnOnce(&u64) -> R) -> R {
        f(&self.read())
    }
    #[inline]
    fn write<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        f(&mut self.write())
    }
}

impl BlockingRwLock for StdRwLock {
    fn new() -> Self {
        StdRwLock::new(0)
    }
    #[inline]
    fn read<R>(&self, f: impl FnOnce(&u64) -> R) -> R {
        f(&self.read().expect("no holder panics"))
    }
    #[inline]
    fn write<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        f(&mut self.write().expect("no holder panics"))
    }
}

impl BlockingRwLock for ParkingLotRwLock {
    fn new() -> Self {
        ParkingLotRwLock::new(0)
    }
    #[inline]
    fn read<R>(&self, f: impl FnOnce(&u64) -> R) -> R {
        f(&self.read())
    }
    #[inline]
    fn write<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        f(&mut self.write())
    }
}

impl AsyncRwLock for LisleRwLock {
    fn new() -> Self {
        LisleRwLock::new(0)
    }
    async fn read<R: Send>(&self, f: impl FnOnce(&u64) -> R + Send) -> R {
        f(&*self.read_evt().await)
    }
    async fn write<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> R {
        f(&mut *self.write_evt().await)
    }
}

impl AsyncRwLock for TokioRwLock {
    fn new() -> Self {
        TokioRwLock::new(0)
    }
    async fn read<R: Send>(&self, f: impl FnOnce(&u64) -> R + Send) -> R {
        f(&*self.read().await)
    }
    async fn write<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> R {
        f(&mut *self.write().await)
    }
}

impl AsyncRwLock for AsyncLockRwLock {
    fn new() -> Self {
        AsyncLockRwLock::new(0)
    }
    async fn read<R: Send>(&self, f: impl FnOnce(&u64) -> R + Send) -> R {
        f(&*self.read().await)
    }
    async fn write<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> R {
        f(&mut *self.write().await)
    }
}

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
