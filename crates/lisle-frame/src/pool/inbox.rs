//! The inbox of a thread of a pool, from which it takes its work, and at which it sleeps.
//!
//! A thread that is about to sleep sets a flag, and then looks once more for work. Code that submits work
//! looks at the flag afterwards. Both swap the same flag, so the second of the two sees the earlier steps
//! of the first.

use crate::shim::atomic::{AtomicBool, AtomicPtr, Ordering};
use crate::shim::thread::{self, Thread};
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The data that other threads share with this thread.
pub(crate) struct Inbox<W> {
    /// The work that the thread has not looked at yet, the last first. Any thread pushes. All nodes are
    /// taken at once, so a node cannot leave and come back between a load and a compare-and-swap.
    submitted: AtomicPtr<Node<W>>,
    asleep: AtomicBool,
    thread: OnceLock<Thread>,
    /// The work in the list is sent to the thread that takes it.
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

    /// Makes the calling thread the owner, which takes the work and sleeps here.
    pub(crate) fn is_for_this_thread(&self) {
        let _ = self.thread.set(thread::current());
    }

    /// Gives the thread work, and wakes it.
    pub(crate) fn submit(&self, work: W) {
        let node = Box::into_raw(Box::new(Node { work, before: null_mut() }));
        let mut last = self.submitted.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node is ours until it is in the list.
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

    /// Takes the submitted work, in the order of submission.
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

    /// Drops the submitted work, because the thread ends.
    pub(crate) fn clear(&self) {
        let mut left = Vec::new();
        self.take(&mut left);
    }

    /// Sleeps until work is submitted, or the thread is woken, or `has_to_do` returns `true`.
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
