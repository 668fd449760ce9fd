//! Executors within streams. An executor polls many futures, and must know which of them to poll
//! next. Executors are woken before their stream is polled.

use super::slot::Head;
use super::{Core, VTABLE};
use std::ptr::NonNull;
use std::task::Waker;

impl Core {
    /// Keeps the waker of an executor within the stream that is being polled.
    #[inline(always)]
    pub(crate) fn keep_waker(&self, waker: &Waker) {
        if !std::ptr::eq(waker.vtable(), &VTABLE) {
            self.keep_executors_waker(waker);
        }
    }

    #[cold]
    fn keep_executors_waker(&self, waker: &Waker) {
        if let Some(current) = self.current.get() {
            self.has_wakers.set(true);
            let waker = waker.clone();
            self.wakers.borrow_mut().entry(current).or_default().push(waker);
        }
    }

    /// Returns `true` if there are executors within streams.
    #[inline(always)]
    pub(super) fn has_executors(&self) -> bool {
        self.has_wakers.get()
    }

    /// Wakes the executors within a stream, because the stream is polled next.
    pub(super) fn wake_executors(&self, pointer: NonNull<Head>) {
        let wakers = self.wakers.borrow_mut().remove(&pointer);
        self.wake_each(wakers);
    }

    pub(super) fn wake_all_executors(&self) {
        if self.has_wakers.replace(false) {
            let wakers = self.take_wakers();
            self.wake_each(wakers.into_iter().map(|(_, wakers)| wakers));
        }
    }

    /// Returns the wakers of all streams, in the order of the streams: calling or dropping them
    /// runs code of the user.
    fn take_wakers(&self) -> Vec<(NonNull<Head>, Vec<Waker>)> {
        let mut wakers = self.wakers.take().into_iter().collect::<Vec<_>>();
        wakers.sort_by_cached_key(|(pointer, _)| self.place(*pointer));
        wakers
    }

    /// Drops the wakers of all streams.
    pub(super) fn forget_wakers(&self) {
        let wakers = self.take_wakers();
        self.guarded(|| drop(wakers));
    }

    fn wake_each(&self, wakers: impl IntoIterator<Item = Vec<Waker>>) {
        for waker in wakers.into_iter().flatten() {
            self.guarded(|| waker.wake());
        }
    }
}
