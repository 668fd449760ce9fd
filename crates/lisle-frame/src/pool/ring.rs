//! A queue of batches: one thread pushes, and any thread takes.
//!
//! The world's thread is the only one that pushes. A place is written before the tail passes it
//! (release), and read after the tail was seen (acquire). Takers agree by a compare-and-swap of the
//! head. The head only grows, so a taker notices a place that was reused in between.

use crate::shim::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::ptr::NonNull;

/// Fields that two threads write are aligned to two cache lines, because these are fetched in
/// pairs.
#[repr(align(128))]
#[derive(Debug, Default)]
pub(crate) struct Padded<T>(pub(crate) T);

impl<T> std::ops::Deref for Padded<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// A queue of pointers.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    head: Padded<AtomicUsize>,
    tail: Padded<AtomicUsize>,
    places: Box<[AtomicPtr<T>]>,
}

impl<T> Ring<T> {
    /// Makes a ring with a number of places that is a power of two.
    pub(crate) fn new(places: usize) -> Self {
        assert!(places.is_power_of_two());
        Ring {
            head: Padded(AtomicUsize::new(0)),
            tail: Padded(AtomicUsize::new(0)),
            places: (0..places).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect(),
        }
    }

    /// Puts an item in, or returns `false` if the ring is full.
    ///
    /// # Safety
    ///
    /// No other thread pushes at the same time.
    pub(crate) unsafe fn push(&self, item: NonNull<T>) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        // The takers' reads of a place come before their store to the head, which is acquired here.
        if tail.wrapping_sub(self.head.load(Ordering::Acquire)) == self.places.len() {
            return false;
        }
        self.places[tail & (self.places.len() - 1)].store(item.as_ptr(), Ordering::Relaxed);
        self.tail.store(tail.wrapping_add(1), Ordering::Release);
        true
    }

    /// Takes the oldest item.
    pub(crate) fn take(&self) -> Option<NonNull<T>> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            if head == self.tail.load(Ordering::Acquire) {
                return None;
            }
            let item = self.places[head & (self.places.len() - 1)].load(Ordering::Relaxed);
            let next = head.wrapping_add(1);
            match self.head.compare_exchange_weak(head, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return NonNull::new(item),
                Err(now) => head = now,
            }
        }
    }

    /// Returns `true` if there is nothing to take at the moment.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.load(Ordering::Acquire) == self.tail.load(Ordering::Acquire)
    }
}
