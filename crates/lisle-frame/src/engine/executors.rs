//! Executors within streams, such as one that polls many futures and wants to know which of them to
//! poll next. They are woken before their stream is polled.

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
            self.wakers.borrow_mut().push((current, waker.clone()));
        }
    }

    /// Wakes the executors within a stream, since it is polled next.
    pub(super) fn wake_executors(&self, pointer: NonNull<Head>) {
        loop {
            let mut wakers = self.wakers.borrow_mut();
            let Some(at) = wakers.iter().position(|(head, _)| *head == pointer) else { return };
            let (_, waker) = wakers.swap_remove(at);
            drop(wakers);
            self.guarded(|| waker.wake());
        }
    }

    pub(super) fn wake_all_executors(&self) {
        if !self.has_wakers.replace(false) {
            return;
        }
        let wakers = std::mem::take(&mut *self.wakers.borrow_mut());
        wakers.into_iter().for_each(|(_, waker)| self.guarded(|| waker.wake()));
    }
}
