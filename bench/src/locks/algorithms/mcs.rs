//! MCS: a queue in which each waits at a node of its own (Mellor-Crummey and Scott, "Algorithms for
//! scalable synchronization on shared-memory multiprocessors", 1991).

use super::Lock;
use crate::locks::wait::Wait;
use std::{
    marker::PhantomData,
    ptr,
    sync::atomic::{
        AtomicBool, AtomicPtr,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
};

/// Fair. A node knows the one behind it, and is told by the one before it.
pub(crate) struct Mcs<W> {
    /// The last in the queue, the holder's if nobody waits; null if the lock is free.
    tail: AtomicPtr<Node>,
    wait: PhantomData<fn(W)>,
}

/// On its own cache line, since another thread waits at the next.
#[repr(align(64))]
struct Node {
    /// The node behind, once its thread has stored it.
    next: AtomicPtr<Node>,
    is_mine: AtomicBool,
}

// SAFETY: the thread that finds the tail null holds the lock. Each other thread is told once, by
// the thread before it, after the `f` of that. The nodes form one queue, as each is made the tail
// by an atomic exchange. The exchange acquires what the compare-exchange has released that made the
// tail null; `is_mine` is stored with release and loaded with acquire.
unsafe impl<W: Wait> Lock for Mcs<W> {
    fn new() -> Self {
        Mcs { tail: AtomicPtr::default(), wait: PhantomData }
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        let node = Node { next: AtomicPtr::default(), is_mine: AtomicBool::new(false) };
        let mine = (&raw const node).cast_mut();
        let before = self.tail.swap(mine, AcqRel);
        if !before.is_null() {
            // SAFETY: a node stays until its owner has found that nobody is behind it, by the tail,
            // or has told the next thread. We are behind, and have neither replaced the tail by
            // null nor stored our node before this store.
            unsafe { &(*before).next }.store(mine, Release);
            let mut wait = W::new();
            while !node.is_mine.load(Acquire) {
                wait.again();
            }
        }
        let result = f();
        self.leave(&node);
        result
    }
}

impl<W: Wait> Mcs<W> {
    #[inline]
    fn leave(&self, node: &Node) {
        let mut next = node.next.load(Acquire);
        if next.is_null() {
            let mine = ptr::from_ref(node).cast_mut();
            if self.tail.compare_exchange(mine, ptr::null_mut(), Release, Relaxed).is_ok() {
                return;
            }
            // Somebody has come, and is about to say so.
            let mut wait = W::new();
            while next.is_null() {
                wait.again();
                next = node.next.load(Acquire);
            }
        }
        // SAFETY: the node behind ours waits until it is told, which only we do. It may be gone
        // after that store, and is not touched any more.
        unsafe { &(*next).is_mine }.store(true, Release);
    }
}
