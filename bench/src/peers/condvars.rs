//! How each system's condition variable is called, with the system's own mutex of a number.

use super::{AsyncMutex, BlockingMutex, LisleMutex, ParkingLot, StdMutex, TokioMutex};
use std::{future::Future, pin::pin};

/// A condition variable whose users wait in place.
pub(crate) trait BlockingCondvar: Send + Sync + 'static {
    type Mutex: BlockingMutex;

    fn new() -> Self;
    /// Locks the mutex, waits until `is_time`, and calls `f`, still under the mutex.
    fn when<R>(
        &self,
        mutex: &Self::Mutex,
        is_time: impl FnMut(&u64) -> bool,
        f: impl FnOnce(&mut u64) -> R,
    ) -> R;
    fn notify_one(&self);
    fn notify_all(&self);
}

/// A condition variable whose users await it.
pub(crate) trait AsyncCondvar: Send + Sync + 'static {
    type Mutex: AsyncMutex;

    fn new() -> Self;
    /// As [`BlockingCondvar::when`].
    fn when<R: Send>(
        &self,
        mutex: &Self::Mutex,
        is_time: impl FnMut(&u64) -> bool + Send,
        f: impl FnOnce(&mut u64) -> R + Send,
    ) -> impl Future<Output = R> + Send;
    fn notify_one(&self);
    fn notify_all(&self);
}

pub(crate) type LisleCondvar = lisle::sync::Condvar;
pub(crate) type StdCondvar = std::sync::Condvar;
pub(crate) type ParkingLotCondvar = parking_lot::Condvar;
/// tokio has no condition variable. Its documentation makes one of this.
pub(crate) type TokioNotify = tokio::sync::Notify;

impl BlockingCondvar for LisleCondvar {
    type Mutex = LisleMutex;

    fn new() -> Self {
        LisleCondvar::new()
    }
    fn when<R>(
        &self,
        mutex: &LisleMutex,
        mut is_time: impl FnMut(&u64) -> bool,
        f: impl FnOnce(&mut u64) -> R,
    ) -> R {
        f(&mut self.wait_while(mutex.lock(), |value| !is_time(value)))
    }
    fn notify_one(&self) {
        self.notify_one();
    }
    fn notify_all(&self) {
        self.notify_all();
    }
}

impl BlockingCondvar for StdCondvar {
    type Mutex = StdMutex;

    fn new() -> Self {
        StdCondvar::new()
    }
    fn when<R>(
        &self,
        mutex: &StdMutex,
        mut is_time: impl FnMut(&u64) -> bool,
        f: impl FnOnce(&mut u64) -> R,
    ) -> R {
        let guard = mutex.lock().expect("no holder panics");
        f(&mut self.wait_while(guard, |value| !is_time(value)).expect("no holder panics"))
    }
    fn notify_one(&self) {
        self.notify_one();
    }
    fn notify_all(&self) {
        self.notify_all();
    }
}

impl BlockingCondvar for ParkingLotCondvar {
    type Mutex = ParkingLot;

    fn new() -> Self {
        ParkingLotCondvar::new()
    }
    fn when<R>(
        &self,
        mutex: &ParkingLot,
        mut is_time: impl FnMut(&u64) -> bool,
        f: impl FnOnce(&mut u64) -> R,
    ) -> R {
        let mut guard = mutex.lock();
        self.wait_while(&mut guard, |value| !is_time(value));
        f(&mut guard)
    }
    fn notify_one(&self) {
        self.notify_one();
    }
    fn notify_all(&self) {
        self.notify_all();
    }
}

impl AsyncCondvar for LisleCondvar {
    type Mutex = LisleMutex;

    fn new() -> Self {
        LisleCondvar::new()
    }
    async fn when<R: Send>(
        &self,
        mutex: &LisleMutex,
        mut is_time: impl FnMut(&u64) -> bool + Send,
        f: impl FnOnce(&mut u64) -> R + Send,
    ) -> R {
        loop {
            let notified = {
                let mut guard = mutex.lock_evt().await;
                if is_time(&guard) {
                    return f(&mut guard);
                }
                // It counts from here, under the mutex.
                self.notified_evt()
            };
            notified.await;
        }
    }
    fn notify_one(&self) {
        self.notify_one();
    }
    fn notify_all(&self) {
        self.notify_all();
    }
}

impl AsyncCondvar for TokioNotify {
    type Mutex = TokioMutex;

    fn new() -> Self {
        TokioNotify::new()
    }
    async fn when<R: Send>(
        &self,
        mutex: &TokioMutex,
        mut is_time: impl FnMut(&u64) -> bool + Send,
        f: impl FnOnce(&mut u64) -> R + Send,
    ) -> R {
        loop {
            let mut notified = pin!(self.notified());
            {
                let mut guard = mutex.lock().await;
                if is_time(&guard) {
                    return f(&mut guard);
                }
                // It stands in the queue from here, under the mutex.
                notified.as_mut().enable();
            }
            notified.await;
        }
    }
    fn notify_one(&self) {
        self.notify_one();
    }
    fn notify_all(&self) {
        self.notify_waiters();
    }
}
