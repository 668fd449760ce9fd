//! Queues of waiting branches: intrusive, doubly linked, first come first served.
//!
//! A waiter lives inside the pinned branch of a sync, the queue inside the locked part of the object
//! waited for. Linking and unlinking touch neighbours only, so leaving a queue of a million is as
//! cheap as leaving one of two, and nothing is left behind for anybody to sweep.
//!
//! Who may touch what:
//! - `next`, `prev`: holders of the queue's lock.
//! - `place`: written under the lock; read by the performer without it, as a hint that becomes
//!   certain once it is `FREE` (nobody links a waiter but its own performer).
//! - `slot`: holders of the lock, until `place` is `FREE`; then the performer.
//!
//! A committer keeps the waiter `HELD` until it is done with it, and `FREE` is its last touch. So a
//! performer may free a waiter that is `FREE`, even before the wake; one that is not, it takes back under
//! the lock.

use super::record::{Attempt, Committer, Meeting, Outsider, Record, Waker, misuse};
use super::woken::Woken;
use crate::drops::Careful;
use crate::shim::{
    atomic::{AtomicU8, Ordering},
    cell::UnsafeCell,
};
use std::cell::Cell;
use std::marker::PhantomPinned;
use std::ptr::NonNull;

/// In no queue, and nobody but its performer looks at it.
const FREE: u8 = 0;
/// In a queue.
const LINKED: u8 = 1;
/// Committed, and its committer is not done with it.
const HELD: u8 = 2;

/// A branch's place in a queue, with a slot through which a value passes.
///
/// The slot is the last field, as it is empty at first: a waiter is written as a row of zeros, and moved into its branch in
/// the same steps. With a gap in between, each piece to be read would have been written by two, and the processor
/// would wait for both.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Waiter<M> {
    links: UnsafeCell<Links<M>>,
    /// The record this waiter counts for, until its performer takes it back. Only the performer looks.
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

    /// Is nobody else concerned with the waiter? `true` is certain, and then everything that others did
    /// to the waiter has happened before this call.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        self.place.load(Ordering::Acquire) == FREE
    }

    /// Has the waiter been committed by somebody who is not done with it? To be asked under the queue's
    /// lock: then it is a partner that keeps what it has won beyond that lock.
    pub(crate) fn is_held(&self) -> bool {
        self.place.load(Ordering::Relaxed) == HELD
    }

    /// Has the waiter been published, and not taken back? Only its performer may ask.
    #[inline]
    pub(crate) fn is_published(&self) -> bool {
        !self.counted.get().is_null()
    }

    /// A branch is tried and published only while it is not published already.
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

    /// The number by which a record names the waiter that won.
    #[inline]
    pub(crate) fn id(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// The slot.
    ///
    /// # Safety
    ///
    /// The caller is the performer and the waiter is free, or the caller holds the queue's lock.
    #[inline]
    pub(crate) unsafe fn slot_mut<R>(&self, f: impl FnOnce(&mut M) -> R) -> R {
        // SAFETY: by the caller's promise nobody else has access, see the module's table.
        self.slot.with_mut(|slot| f(unsafe { &mut *slot }.get_mut()))
    }

    fn links<R>(&self, f: impl FnOnce(&mut Links<M>) -> R) -> R {
        // SAFETY: called by the queue's methods only, which need `&mut` of the queue, that is, its lock.
        self.links.with_mut(|links| f(unsafe { &mut *links }))
    }
}

impl<M> Drop for Waiter<M> {
    /// As for the record: the last moment to stop, before a queue or a committer is left with a pointer to
    /// nothing.
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

    /// Its slot.
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

/// A queue of waiters. It lies under a [`Lock`](super::lock::Lock), whose guard its methods' `&mut
/// self` stands for.
#[derive(Debug)]
pub(crate) struct WaitQueue<M> {
    head: Option<NonNull<Waiter<M>>>,
    tail: Option<NonNull<Waiter<M>>>,
}

// SAFETY: the queue is the list of pointers; what is reached through them (slots holding `M`) goes
// from thread to thread under the lock, which asks for `M: Send`. Records are made of atomics and
// of wakers that may be woken from any thread.
unsafe impl<M: Send> Send for WaitQueue<M> {}

/// A partner that has been committed. Its performer waits for [`Committed::finish`]. All of it is used
/// under the lock of the queue it comes from.
#[derive(Debug)]
#[must_use = "the partner must be woken"]
pub(crate) struct Committed<M> {
    waiter: NonNull<Waiter<M>>,
    record: NonNull<Record>,
}

impl<M> Committed<M> {
    /// The partner's slot.
    #[inline]
    pub(crate) fn slot<R>(&mut self, f: impl FnOnce(&mut M) -> R) -> R {
        // SAFETY: the waiter is held by us, so its performer does not let it go.
        let waiter = unsafe { self.waiter.as_ref() };
        // SAFETY: the lock is held.
        unsafe { waiter.slot_mut(f) }
    }

    /// Does the partner wait for this alone?
    pub(crate) fn is_single(&self) -> bool {
        // SAFETY: a record outlives its waiters that have not been taken back.
        unsafe { self.record.as_ref() }.is_single()
    }

    /// Ends the commit. The caller wakes the waker once it has let go of its locks.
    #[inline]
    pub(crate) fn finish(self) -> Waker {
        // SAFETY: a record outlives its waiters that have not been taken back.
        let waker = unsafe { self.record.as_ref() }.waker();
        // SAFETY: as in `slot`. The last touch of waiter and record.
        unsafe { self.waiter.as_ref() }.place.store(FREE, Ordering::Release);
        waker
    }

    /// Takes the commit back: the performer will start over. The caller wakes the waker.
    pub(crate) fn revoke(self) -> Waker {
        // SAFETY: as in `finish`.
        unsafe { self.record.as_ref() }.revoke();
        self.finish()
    }
}

/// Our own attempt was committed by a partner while we looked for one.
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
    /// The waiter is pinned and not linked. It stays in place, and the attempt's record alive, until the waiter is
    /// unlinked under this queue's lock (by [`WaitQueue::unlink`] or by a commit). A single record
    /// is linked in no other queue.
    #[inline]
    pub(crate) unsafe fn push(&mut self, waiter: &Waiter<M>, attempt: &Attempt<'_>) {
        let node = NonNull::from(waiter);
        let prev = self.tail.replace(node);
        waiter.links(|links| *links = Links { next: None, prev, record: attempt.record() });
        match prev {
            // SAFETY: what is linked is alive (by `push`'s contract).
            Some(prev) => unsafe { prev.as_ref() }.links(|links| links.next = Some(node)),
            None => self.head = Some(node),
        }
        waiter.place.store(LINKED, Ordering::Relaxed);
        waiter.counted.set(attempt.record());
        attempt.published();
    }

    /// As [`WaitQueue::push`], at the front: for whoever had its turn and could not use it.
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
            // SAFETY: what is linked is alive (by `push`'s contract).
            Some(next) => unsafe { next.as_ref() }.links(|links| links.prev = Some(node)),
            None => self.tail = Some(node),
        }
        waiter.place.store(LINKED, Ordering::Relaxed);
        waiter.counted.set(attempt.record());
        attempt.published();
    }

    /// Unlinks `waiter` if it is linked: was it? Constant time.
    ///
    /// # Safety
    ///
    /// If the waiter is linked, then in this queue, and it is alive.
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
        // SAFETY: what is linked is alive.
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
        // If that is `FREE`, it is the last touch: a performer that reads it may free the waiter at once.
        this.place.store(place, Ordering::Release);
    }

    /// Commits the first waiter that can be with `by`, passing over its own and sweeping those
    /// that were committed elsewhere.
    #[inline(always)]
    pub(crate) fn commit(&mut self, by: &impl Committer) -> Result<Option<Committed<M>>, Decided> {
        self.commit_where(|candidate| candidate.meet(by))
    }

    /// The same, for who looks at the waiters before it meets them: `meet` says what comes of each.
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

    /// Commits the first waiter that can be, for somebody who has no record at stake.
    #[inline]
    pub(crate) fn commit_outside(&mut self) -> Option<Committed<M>> {
        match self.commit(&Outsider) {
            Ok(partner) => partner,
            Err(Decided) => unreachable!("an outsider has no record to be decided"),
        }
    }

    /// Is anybody here of whom `is_wanted` says so?
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

    /// Commits all waiters of whom `is_wanted` says so and that nobody has committed, for somebody who has no record at stake.
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

    /// Unlinks all waiters but those that stand for `by` and tells the ones that nobody has committed to start over.
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
