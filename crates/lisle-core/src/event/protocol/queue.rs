//! Queues of waiting branches: intrusive, doubly linked, first in, first out.
//!
//! A waiter lives inside the pinned branch of a sync, and the queue inside the locked part of the
//! object waited for. Linking and unlinking touch only the neighbours. Therefore leaving a queue of
//! a million is as cheap as leaving a queue of two, and no stale entries are left for a later
//! sweep.
//!
//! Access rules:
//! - `next`, `prev`: holders of the queue's lock.
//! - `place`: written under the lock. The performer reads it without the lock, as a hint that
//!   becomes certain once it is `FREE` (only its own performer links a waiter).
//! - `slot`: holders of the lock until `place` is `FREE`; then the performer.
//!
//! A committer keeps the waiter `HELD` until it is done with it; storing `FREE` is its last touch.
//! Therefore a performer may free a waiter that is `FREE`, even before the wake. It takes back any
//! other waiter under the lock.

use super::record::{Attempt, Committer, Meeting, Outsider, Record, misuse};
use super::woken::Woken;
use crate::drops::Careful;
use crate::event::waker::PerformerWaker;
use crate::shim::{
    cell::UnsafeCell,
    unseen::{AtomicU8, Ordering},
};
use std::cell::Cell;
use std::marker::PhantomPinned;
use std::ptr::NonNull;

/// In no queue; only its performer uses it.
const FREE: u8 = 0;
/// In a queue.
const LINKED: u8 = 1;
/// Committed, and its committer is not yet done with it.
const HELD: u8 = 2;

/// A branch's place in a queue, with a slot through which a value passes.
///
/// The slot is the last field, because it is empty at first: the compiler writes a waiter as a row
/// of zeros and moves it into its branch in pieces of the same size. With a gap in between, each
/// piece that is read would have been written by two stores, and the processor would wait for both.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Waiter<M> {
    links: UnsafeCell<Links<M>>,
    /// The record that counts this waiter, until its performer takes the waiter back. Only the
    /// performer uses it.
    counted: Cell<*const Record>,
    place: AtomicU8,
    slot: UnsafeCell<Careful<M>>,
    _pinned: PhantomPinned,
}

// SAFETY: a waiter is its slot and pointers whose targets are only touched under the queue's lock.
unsafe impl<M: Send> Send for Waiter<M> {}

#[derive(Debug)]
struct Links<M> {
    next: Option<NonNull<Waiter<M>>>,
    prev: Option<NonNull<Waiter<M>>>,
    record: *const Record,
}

impl<M> Waiter<M> {
    #[inline(always)]
    pub(crate) fn new(slot: M) -> Self {
        Waiter {
            links: UnsafeCell::new(Links { next: None, prev: None, record: std::ptr::null() }),
            place: AtomicU8::new(FREE),
            slot: UnsafeCell::new(Careful::new(slot)),
            counted: Cell::new(std::ptr::null()),
            _pinned: PhantomPinned,
        }
    }

    /// Returns `true` if only the performer is still concerned with the waiter. `true` is certain,
    /// and then everything that others did to the waiter has happened before this call.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        self.place.load(Ordering::Acquire) == FREE
    }

    /// Returns `true` if the waiter has been committed by a partner that is not done with it.
    /// Called under the queue's lock; then it is a partner that keeps the waiter beyond its own
    /// hold of that lock.
    pub(crate) fn is_held(&self) -> bool {
        self.place.load(Ordering::Relaxed) == HELD
    }

    /// Returns `true` if the waiter has been published and not taken back. Only its performer may
    /// call this.
    #[inline]
    pub(crate) fn is_published(&self) -> bool {
        !self.counted.get().is_null()
    }

    /// Ends the process if the branch is published. A branch may be tried and published only while
    /// it is not published already.
    #[inline]
    pub(crate) fn must_not_be_published(&self) {
        if self.is_published() {
            misuse("it tries or publishes a branch again that it has not withdrawn");
        }
    }

    /// Notes that the performer has taken back this waiter, which is free.
    #[inline]
    pub(crate) fn taken_back(&self, attempt: &Attempt<'_>) {
        let record = self.counted.replace(std::ptr::null());
        if !record.is_null() {
            if !std::ptr::eq(record, attempt.record()) {
                misuse("it withdraws a branch in another performance than it has published it in");
            }
            attempt.record().unlink();
        }
    }

    /// Returns the number by which a record names the waiter that has won.
    #[inline]
    pub(crate) fn id(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Calls `f` with the slot.
    ///
    /// # Safety
    ///
    /// The caller is the performer and the waiter is free, or the caller holds the queue's lock.
    #[inline]
    pub(crate) unsafe fn slot_mut<R>(&self, f: impl FnOnce(&mut M) -> R) -> R {
        // SAFETY: by the caller's promise there is no other access, see the access rules of the
        // module.
        self.slot.with_mut(|slot| f(unsafe { &mut *slot }.get_mut()))
    }

    fn links<R>(&self, f: impl FnOnce(&mut Links<M>) -> R) -> R {
        // SAFETY: only the queue's methods call this, and they need `&mut` of the queue, which
        // means its lock.
        self.links.with_mut(|links| f(unsafe { &mut *links }))
    }
}

impl<M> Drop for Waiter<M> {
    /// As for the record, this is the last moment to stop, before a queue or a committer is left
    /// with a dangling pointer.
    #[inline]
    fn drop(&mut self) {
        if self.is_published() {
            misuse("it drops a branch that it has published and not withdrawn");
        }
    }
}

/// A linked waiter that may be committed, as long as the lock of its queue is held.
pub(crate) struct Candidate<'a, M> {
    waiter: &'a Waiter<M>,
    record: &'a Record,
}

impl<M> Candidate<'_, M> {
    pub(crate) fn record(&self) -> &Record {
        self.record
    }

    /// Calls `f` with its slot.
    pub(crate) fn slot<R>(&self, f: impl FnOnce(&mut M) -> R) -> R {
        // SAFETY: the lock is held.
        unsafe { self.waiter.slot_mut(f) }
    }

    /// Commits it with `by`.
    #[inline(always)]
    pub(crate) fn meet(&self, by: &impl Committer) -> Meeting {
        by.meet(self.record, self.waiter.id())
    }
}

/// A queue of waiters. It lies under a [`Lock`](crate::event::lock::Lock); the `&mut self` of its methods
/// stands for the guard.
#[derive(Debug)]
pub(crate) struct WaitQueue<M> {
    head: Option<NonNull<Waiter<M>>>,
    tail: Option<NonNull<Waiter<M>>>,
}

// SAFETY: the queue is a list of pointers. The slots behind them, which hold `M`, go from thread to
// thread under the lock, which requires `M: Send`. Records consist of atomics and of wakers that
// may be woken from any thread.
unsafe impl<M: Send> Send for WaitQueue<M> {}

/// A partner that has been committed. Its performer waits for [`Committed::finish`]. All methods
/// are used under the lock of the queue that the partner comes from.
#[derive(Debug)]
#[must_use = "the partner must be woken"]
pub(crate) struct Committed<M> {
    waiter: NonNull<Waiter<M>>,
    record: NonNull<Record>,
}

impl<M> Committed<M> {
    /// Calls `f` with the partner's slot.
    #[inline]
    pub(crate) fn slot<R>(&mut self, f: impl FnOnce(&mut M) -> R) -> R {
        // SAFETY: we hold the waiter, so its performer does not free it.
        let waiter = unsafe { self.waiter.as_ref() };
        // SAFETY: the lock is held.
        unsafe { waiter.slot_mut(f) }
    }

    /// Returns `true` if the partner waits for this queue alone.
    pub(crate) fn is_single(&self) -> bool {
        // SAFETY: a record outlives its waiters that have not been taken back.
        unsafe { self.record.as_ref() }.is_single()
    }

    /// Ends the commit. The caller calls `wake` on the returned waker once it has released its
    /// locks.
    #[inline]
    pub(crate) fn finish(self) -> PerformerWaker {
        // SAFETY: a record outlives its waiters that have not been taken back.
        let waker = unsafe { self.record.as_ref() }.waker();
        // SAFETY: as in `slot`. This is the last touch of waiter and record.
        unsafe { self.waiter.as_ref() }.place.store(FREE, Ordering::Release);
        waker
    }

    /// Returns the waker, for a committer that has the performer come and keeps the waiter. It wakes
    /// once, before or after it ends the commit.
    pub(crate) fn waker(&self) -> PerformerWaker {
        // SAFETY: as in `finish`.
        unsafe { self.record.as_ref() }.waker()
    }

    /// Takes the commit back; the performer will start over. The caller calls `wake` on the
    /// returned waker.
    pub(crate) fn revoke(self) -> PerformerWaker {
        // SAFETY: as in `finish`.
        unsafe { self.record.as_ref() }.revoke();
        self.finish()
    }
}

/// An error: a partner has committed our own attempt while we looked for a partner.
#[derive(Debug)]
pub(crate) struct Decided;

impl<M> WaitQueue<M> {
    pub(crate) const fn new() -> Self {
        WaitQueue { head: None, tail: None }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Links `waiter` at the end and publishes `attempt` with it.
    ///
    /// # Safety
    ///
    /// The waiter is pinned and not linked. The waiter stays in place, and the attempt's record
    /// alive, until the waiter is unlinked under this queue's lock (by [`WaitQueue::unlink`] or by
    /// a commit). A single record is linked in no other queue.
    #[inline]
    pub(crate) unsafe fn push(&mut self, waiter: &Waiter<M>, attempt: &Attempt<'_>) {
        let node = NonNull::from(waiter);
        let prev = self.tail.replace(node);
        waiter.links(|links| *links = Links { next: None, prev, record: attempt.record() });
        match prev {
            // SAFETY: a linked waiter is alive (by the contract of `push`).
            Some(prev) => unsafe { prev.as_ref() }.links(|links| links.next = Some(node)),
            None => self.head = Some(node),
        }
        waiter.place.store(LINKED, Ordering::Relaxed);
        waiter.counted.set(attempt.record());
        attempt.published();
    }

    /// Links `waiter` like [`WaitQueue::push`], but at the front, for a performer that had its turn
    /// and could not use it.
    ///
    /// # Safety
    ///
    /// As for [`WaitQueue::push`].
    #[inline]
    pub(crate) unsafe fn push_front(&mut self, waiter: &Waiter<M>, attempt: &Attempt<'_>) {
        let node = NonNull::from(waiter);
        let next = self.head.replace(node);
        waiter.links(|links| *links = Links { next, prev: None, record: attempt.record() });
        match next {
            // SAFETY: a linked waiter is alive (by the contract of `push`).
            Some(next) => unsafe { next.as_ref() }.links(|links| links.prev = Some(node)),
            None => self.tail = Some(node),
        }
        waiter.place.store(LINKED, Ordering::Relaxed);
        waiter.counted.set(attempt.record());
        attempt.published();
    }

    /// Unlinks `waiter` if it is linked. Returns `true` if it was. Takes constant time.
    ///
    /// # Safety
    ///
    /// If the waiter is linked, it is linked in this queue and alive.
    #[inline]
    pub(crate) unsafe fn unlink(&mut self, waiter: NonNull<Waiter<M>>) -> bool {
        // SAFETY: alive by the caller's promise.
        let is_linked = unsafe { waiter.as_ref() }.place.load(Ordering::Relaxed) == LINKED;
        if is_linked {
            // SAFETY: linked here, and alive.
            unsafe { self.remove(waiter, FREE) };
        }
        is_linked
    }

    /// Takes `waiter` out of the list and leaves it in `place`.
    ///
    /// # Safety
    ///
    /// The waiter is linked in this queue.
    #[inline]
    unsafe fn remove(&mut self, waiter: NonNull<Waiter<M>>, place: u8) {
        // SAFETY: a linked waiter is alive.
        let this = unsafe { waiter.as_ref() };
        let (next, prev) = this.links(|links| (links.next.take(), links.prev.take()));
        match prev {
            // SAFETY: neighbours are linked, hence alive.
            Some(prev) => unsafe { prev.as_ref() }.links(|links| links.next = next),
            None => self.head = next,
        }
        match next {
            // SAFETY: as above.
            Some(next) => unsafe { next.as_ref() }.links(|links| links.prev = prev),
            None => self.tail = prev,
        }
        // If `place` is `FREE`, this is the last touch: a performer that reads it may free the
        // waiter at once.
        this.place.store(place, Ordering::Release);
    }

    /// Commits the first waiter that can be committed with `by`. Passes over waiters of `by` itself
    /// and unlinks waiters that were committed elsewhere.
    #[inline(always)]
    pub(crate) fn commit(&mut self, by: &impl Committer) -> Result<Option<Committed<M>>, Decided> {
        self.commit_where(|candidate| candidate.meet(by))
    }

    /// Does the same for callers that inspect the waiters before they commit with them: `meet`
    /// returns the result for each.
    #[inline(always)]
    pub(crate) fn commit_where(
        &mut self,
        mut meet: impl FnMut(&Candidate<'_, M>) -> Meeting,
    ) -> Result<Option<Committed<M>>, Decided> {
        let mut cursor = self.head;
        while let Some(waiter) = cursor {
            // SAFETY: linked waiters and their records are alive while we hold the lock.
            let linked = unsafe { waiter.as_ref() };
            let (next, record) = linked.links(|links| (links.next, links.record));
            // SAFETY: as above.
            let record = unsafe { &*record };
            match meet(&Candidate { waiter: linked, record }) {
                Meeting::Committed => {
                    // SAFETY: it is linked here.
                    unsafe { self.remove(waiter, HELD) };
                    return Ok(Some(Committed { waiter, record: NonNull::from(record) }));
                }
                // SAFETY: it is linked here.
                Meeting::Gone => unsafe { self.remove(waiter, FREE) },
                Meeting::Own => {}
                Meeting::Decided => return Err(Decided),
            }
            cursor = next;
        }
        Ok(None)
    }

    /// Commits the first waiter that can be committed, for a caller without a record at stake.
    #[inline]
    pub(crate) fn commit_outside(&mut self) -> Option<Committed<M>> {
        match self.commit(&Outsider) {
            Ok(partner) => partner,
            Err(Decided) => unreachable!("an outsider has no record to be decided"),
        }
    }

    /// Returns `true` if the queue holds a waiter whose record `is_wanted` accepts.
    pub(crate) fn has(&self, is_wanted: impl Fn(&Record) -> bool) -> bool {
        let mut cursor = self.head;
        while let Some(waiter) = cursor {
            // SAFETY: linked waiters and their records are alive while we hold the lock.
            let (next, record) = unsafe { waiter.as_ref() }.links(|links| (links.next, links.record));
            // SAFETY: as above.
            if is_wanted(unsafe { &*record }) {
                return true;
            }
            cursor = next;
        }
        false
    }

    /// Commits all waiters that `is_wanted` accepts and that are not committed yet, for a caller
    /// without a record at stake.
    pub(crate) fn commit_all(&mut self, is_wanted: impl Fn(&Record) -> bool, woken: &Woken) {
        let mut cursor = self.head;
        while let Some(waiter) = cursor {
            // SAFETY: linked waiters and their records are alive while we hold the lock.
            let linked = unsafe { waiter.as_ref() };
            let (next, record) = linked.links(|links| (links.next, links.record));
            cursor = next;
            // SAFETY: as above.
            let record = unsafe { &*record };
            if !is_wanted(record) {
                continue;
            }
            if Outsider.meet(record, linked.id()) == Meeting::Committed {
                // The record outlives its decision until its performer has been woken.
                woken.push(record.waker());
            }
            // SAFETY: it is linked here.
            unsafe { self.remove(waiter, FREE) };
        }
    }

    /// Unlinks all waiters except the waiters of `by`, and tells the uncommitted ones to start
    /// over.
    pub(crate) fn retry_all(&mut self, by: Option<&Attempt<'_>>, woken: &Woken) {
        let mut cursor = self.head;
        while let Some(waiter) = cursor {
            // SAFETY: linked waiters and their records are alive while we hold the lock.
            let (next, record) = unsafe { waiter.as_ref() }.links(|links| (links.next, links.record));
            cursor = next;
            // SAFETY: as above.
            let record = unsafe { &*record };
            match record.decide_retry(by) {
                None => continue,
                // The record outlives its decision until its performer has been woken.
                Some(true) => woken.push(record.waker()),
                Some(false) => {}
            }
            // SAFETY: it is linked here.
            unsafe { self.remove(waiter, FREE) };
        }
    }
}
