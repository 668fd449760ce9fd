//! Where a thread of a pool gets its work, and where it sleeps.
//!
//! Who is about to sleep says so, and then looks once more whether there is something to do. Who
//! has something for it looks whether it sleeps, after that. Both swap the same flag: the one that
//! comes second has seen what the first did before.

use crate::shim::atomic::{AtomicBool, AtomicPtr, Ordering};
use crate::shim::thread::{self, Thread};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// What others share with one thread.
pub(crate) struct Inbox<W> {
    /// What the thread has not looked at yet, the last first. Anybody pushes; all are taken at once, so no
    /// node that is compared with can have gone and come back.
    submitted: AtomicPtr<Node<W>>,
    asleep: AtomicBool,
    thread: OnceLock<Thread>,
    /// What is in the list is sent to the thread that takes it.
    sends: PhantomData<std::sync::Mutex<W>>,
}

struct Node<W> {
    work: W,
    before: *mut Node<W>,
}

impl<W> Inbox<W> {
    pub(crate) fn new() -> Self {
        Inbox {
            submitted: AtomicPtr::new(null_mut()),
            asleep: AtomicBool::new(false),
            thread: OnceLock::new(),
            sends: PhantomData,
        }
    }

    /// Makes the calling thread the one that takes, and sleeps here.
    pub(crate) fn is_for_this_thread(&self) {
        let _ = self.thread.set(thread::current());
    }

    /// Gives the thread something to do, and wakes it.
    pub(crate) fn submit(&self, work: W) {
        let node = Box::into_raw(Box::new(Node { work, before: null_mut() }));
        let mut last = self.submitted.load(Ordering::Relaxed);
        loop {
            // SAFETY: it is ours until it is in the list.
            unsafe { (*node).before = last };
            match self.submitted.compare_exchange_weak(last, node, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(other) => last = other,
            }
        }
        self.wake();
    }

    /// Wakes the thread if it sleeps.
    pub(crate) fn wake(&self) {
        if self.asleep.swap(false, Ordering::SeqCst)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    fn has_submitted(&self) -> bool {
        !self.submitted.load(Ordering::Relaxed).is_null()
    }

    /// Takes what was submitted, in that order.
    pub(crate) fn take(&self, kept: &mut Vec<W>) {
        if !self.has_submitted() {
            return;
        }
        let begin = kept.len();
        let mut next = self.submitted.swap(null_mut(), Ordering::Acquire);
        while !next.is_null() {
            // SAFETY: it was made by `submit`, and is ours since it is not in the list any more.
            let node = *unsafe { Box::from_raw(next) };
            kept.push(node.work);
            next = node.before;
        }
        kept[begin..].reverse();
    }

    /// Drops what was submitted, since the thread ends.
    pub(crate) fn clear(&self) {
        let mut left = Vec::new();
        self.take(&mut left);
    }

    /// Sleeps until something is submitted, or the thread is woken, or has something to do, which
    /// it says itself.
    pub(crate) fn sleep(&self, has_to_do: impl Fn() -> bool) {
        self.asleep.swap(true, Ordering::SeqCst);
        while self.asleep.load(Ordering::SeqCst) && !self.has_submitted() && !has_to_do() {
            thread::park();
        }
        self.asleep.swap(false, Ordering::SeqCst);
    }
}

impl<W> Drop for Inbox<W> {
    fn drop(&mut self) {
        self.clear();
    }
}
