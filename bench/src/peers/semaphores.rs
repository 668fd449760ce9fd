//! A semaphore of one permit as a mutex: the holder of the permit has the number.

use super::{AsyncMutex, BlockingMutex};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number for the holder of the only permit of a semaphore.
///
/// The number is an atomic one, which is read and written by plain instructions, so it needs no
/// unsafe code. Two that had the permit at once would lose one of their additions.
pub(crate) struct OnePermit<S> {
    semaphore: S,
    value: AtomicU64,
}

pub(crate) type LisleSemaphore = OnePermit<lisle::sync::Semaphore>;
pub(crate) type TokioSemaphore = OnePermit<tokio::sync::Semaphore>;
/// The async-lock crate's, which is smol's.
pub(crate) type AsyncLockSemaphore = OnePermit<smol::lock::Semaphore>;

impl<S> OnePermit<S> {
    fn of(semaphore: S) -> Self {
        OnePermit { semaphore, value: AtomicU64::new(0) }
    }

    /// Called with the permit only.
    #[inline]
    fn change<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        let mut value = self.value.load(Relaxed);
        let result = f(&mut value);
        self.value.store(value, Relaxed);
        result
    }
}

impl BlockingMutex for LisleSemaphore {
    fn new() -> Self {
        OnePermit::of(lisle::sync::Semaphore::new(1))
    }
    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut u64) -> R) -> R {
        let _permit = self.semaphore.acquire();
        self.change(f)
    }
}

impl AsyncMutex for LisleSemaphore {
    fn new() -> Self {
        OnePermit::of(lisle::sync::Semaphore::new(1))
    }
    async fn with<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> R {
        let _permit = self.semaphore.acquire_evt().await;
        self.change(f)
    }
}

impl AsyncMutex for TokioSemaphore {
    fn new() -> Self {
        OnePermit::of(tokio::sync::Semaphore::new(1))
    }
    async fn with<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> R {
        let _permit = self.semaphore.acquire().await.expect("nobody closes it");
        self.change(f)
    }
}

impl AsyncMutex for AsyncLockSemaphore {
    fn new() -> Self {
        OnePermit::of(smol::lock::Semaphore::new(1))
    }
    async fn with<R: Send>(&self, f: impl FnOnce(&mut u64) -> R + Send) -> R {
        let _permit = self.semaphore.acquire().await;
        self.change(f)
    }
}
