//! CLH: a queue in which each waits at the node of the one before it (Craig, "Building FIFO and
//! priority-queueing spin locks from atomic swap", 1993; Magnusson, Landin and Hagersten, "Queue
//! locks on cache coherent multiprocessors", 1994).
//!
//! A thread that leaves the lock takes the node of the thread before it, since the thread behind
//! may still look at its own node. So nodes wander from thread to thread, and are boxes. Each
//! thread keeps one for its next visit.

use super::Lock;
use crate::locks::wait::Wait;
use std::{
    cell::Cell,
    marker::PhantomData,
    sync::atomic::{
        AtomicBool, AtomicPtr,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
};

/// Fair. To leave takes a store, and nobody has to be known for it.
pub(crate) struct Clh<W> {
    /// The node of the last in the queue; one that is free if the queue is empty. Never null.
    tail: AtomicPtr<Node>,
    wait: PhantomData<fn(W)>,
}

#[repr(align(64))]
struct Node {
    is_taken: AtomicBool,
}

thread_local! {
    /// The node that the last visit has left behind.
    static SPARE: Cell<Option<Box<Node>>> = const { Cell::new(None) };
}

impl Node {
    fn new() -> Box<Self> {
        Box::new(Node { is_taken: AtomicBool::new(false) })
    }
}

// SAFETY: each thread waits until the node before its own is free. That is stored with release
// after the `f` of that node's thread, and loaded with acquire. The nodes form one queue, as each
// is made the tail by an atomic exchange, which also acquires the writes of the thread before to
// its node. The node of `new` is free.
unsafe impl<W: Wait> Lock for Clh<W> {
    fn new() -> Self {
        Clh { tail: AtomicPtr::new(Box::into_raw(Node::new())), wait: PhantomData }
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        let node = SPARE.take().unwrap_or_else(Node::new);
        node.is_taken.store(true, Relaxed);
        let mine = Box::into_raw(node);
        let before = self.tail.swap(mine, AcqRel);
        // SAFETY: `before` came out of a box. Only its owner and we, who have taken it out of the
        // tail, know of it, and the owner does not touch it after making it free. So it stays until
        // we drop it.
        let is_taken = unsafe { &(*before).is_taken };
        let mut wait = W::new();
        while is_taken.load(Acquire) {
            wait.again();
        }
        let result = f();
        // SAFETY: our node stays until the one behind us has seen that it is free; there is none
        // before this store.
        unsafe { &(*mine).is_taken }.store(false, Release);
        // SAFETY: `before` came out of a box and is free, so its owner is done with it; nobody else
        // knows of it.
        SPARE.set(Some(unsafe { Box::from_raw(before) }));
        result
    }
}

impl<W> Drop for Clh<W> {
    fn drop(&mut self) {
        // SAFETY: the tail came out of a box. Nobody uses the lock, so its owner has made it free,
        // and nobody waits at it.
        drop(unsafe { Box::from_raw(*self.tail.get_mut()) });
    }
}
