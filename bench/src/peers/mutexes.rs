//! How each system's mutex is called. All of them protect a number.

use std::future::Future;

/// A mutex whose users wait in place.
pub(crate) trait BlockingMutex: Send + Sync + 'static {
    fn new() -> Self;
    fn with<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R;
}

/// A mutex whose users await it.
pub(crate) trait AsyncMutex: Send + Sync + 'static {
    fn new() -> Self;
    fn with<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> impl Future<Output = R> + Send;
}

pub(crate) type LisleMutex = lisle::sync::Mutex<u64>;
pub(crate) type StdMutex = std::sync::Mutex<u64>;
pub(crate) type ParkingLot = parking_lot::Mutex<u64>;
pub(crate) type TokioMutex = tokio::sync::Mutex<u64>;
pub(crate) type Usync = usync::Mutex<u64>;
/// The spin crate's.
pub(crate) type Spin = spin::Mutex<u64>;
/// The async-lock crate's, which is smol's.
pub(crate) type AsyncLock = smol::lock::Mutex<u64>;

impl BlockingMutex for LisleMutex {
    fn new() -> Self {
        LisleMutex::new(0)
    }
    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        f(&mut self.lock())
    }
}

impl BlockingMutex for StdMutex {
    fn new() -> Self {
        StdMutex::new(0)
    }
    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        f(&mut self.lock().expect("no holder panics"))
    }
}

impl BlockingMutex for ParkingLot {
    fn new() -> Self {
        ParkingLot::new(0)
    }
    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        f(&mut self.lock())
    }
}

impl BlockingMutex for Usync {
    fn new() -> Self {
        Usync::new(0)
    }
    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        f(&mut self.lock())
    }
}

impl BlockingMutex for Spin {
    fn new() -> Self {
        Spin::new(0)
    }
    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        f(&mut self.lock())
    }
}

impl AsyncMutex for LisleMutex {
    fn new() -> Self {
        LisleMutex::new(0)
    }
    async fn with<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> R {
        f(&mut *self.lock_evt().await)
    }
}

impl AsyncMutex for TokioMutex {
    fn new() -> Self {
        TokioMutex::new(0)
    }
    async fn with<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> R {
        f(&mut *self.lock().await)
    }
}

impl AsyncMutex for AsyncLock {
    fn new() -> Self {
        AsyncLock::new(0)
    }
    async fn with<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> R {
        f(&mut *self.lock().await)
    }
}
