//! What partners see of a wait set: a seat for each source, and one lock for all.
//!
//! The branches of a source stay linked in the queues of what they wait for, from one performance of the set
//! to the next, each with the record of its source's *seat*. That record is not committed by itself: whoever
//! meets it commits the record of the performer that waits on the set, if one does, under the set's lock.
//!
//! If none does, the set is *closed*: the partner takes the waiter out of its queue, as it does with one
//! that was committed elsewhere, and puts the seat into the list of those to be looked at again. A
//! performance looks at these first, and opens the set only when the list is empty. Both happen under the
//! set's lock, so a partner either finds the set open and commits, or is found by the next look.
//!
//! The lock is a leaf: nobody waits for anything while holding it. A record that is claimed is waited for
//! after letting go of it, with the ranks of the performers, so the argument against circles of claims in the
//! README holds as it stands.

use super::lock::Lock;
use super::record::{Decision, Record, Waker};
use std::cell::Cell;
use std::marker::PhantomPinned;
use std::ptr::NonNull;

/// The part of a wait set that partners reach, at one address for as long as the set lives.
#[derive(Debug)]
pub(super) struct Standing {
    inner: Lock<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Whether the performer whose record is `current` may be committed.
    open: bool,
    /// The record of the performance that has opened the set last. It is alive while the set is open, and until
    /// a source by which it was committed has been withdrawn; nobody looks at it at other times.
    current: *const Record,
    /// The seat by which it was committed.
    winner: Option<NonNull<Seat>>,
    /// How many seats have been put into the list of those to be looked at.
    notices: usize,
    /// The first and last of the seats to be looked at.
    ready: Option<(NonNull<Seat>, NonNull<Seat>)>,
}

// SAFETY: the pointers are used under the lock, and lead to records and seats whose shared parts are atomic or
// belong to the holder of that lock.
unsafe impl Send for Inner {}

/// One source's place in a wait set.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Seat {
    /// The first field, so that a partner which meets it finds the seat.
    pub(super) record: Record,
    standing: NonNull<Standing>,
    /// The neighbours in the list of seats to be looked at. Under the set's lock, as `queued`.
    next: Cell<Option<NonNull<Seat>>>,
    prev: Cell<Option<NonNull<Seat>>>,
    queued: Cell<bool>,
    _pinned: PhantomPinned,
}

impl Seat {
    /// A seat of the set at `standing`, which outlives it.
    pub(super) fn new(standing: NonNull<Standing>, waker: Waker) -> Self {
        Seat {
            record: Record::seated(waker),
            standing,
            next: Cell::new(None),
            prev: Cell::new(None),
            queued: Cell::new(false),
            _pinned: PhantomPinned,
        }
    }

    fn standing(&self) -> &Standing {
        // SAFETY: by the promise given to `new`.
        unsafe { self.standing.as_ref() }
    }

    /// Tells the seat where it is, once it is there. The pointer is good for all of which the seat is the first
    /// field.
    pub(super) fn sit(&self, here: NonNull<Seat>) {
        self.record.sit(here);
    }

    fn here(&self) -> NonNull<Seat> {
        self.record.seat().expect("told where it is")
    }

    /// Are the two records seated in one set?
    pub(super) fn are_neighbours(one: &Record, other: &Record) -> bool {
        // SAFETY: a seat is there as long as its record is.
        let set = |record: &Record| record.seat().map(|seat| unsafe { seat.as_ref() }.standing);
        set(other).is_some_and(|other| Some(other) == set(one))
    }

    /// For a partner that has met the seat's record: commits the performer of the set through it.
    pub(super) fn try_decide(&self, outcome: usize, by: Option<&Record>) -> Decision {
        let mut inner = self.standing().inner.lock();
        if !inner.open {
            inner.push(self);
            return Decision::Gone;
        }
        // SAFETY: a set is open only while its performer waits for a wake, or is in the middle of a step, and
        // in both cases closes it before the record goes.
        let record = unsafe { &*inner.current };
        if by.is_some_and(|by| std::ptr::eq(by, record)) {
            return Decision::Own;
        }
        let decision = record.try_decide(self.standing().id(), by);
        match decision {
            Decision::Done => {
                inner.open = false;
                inner.winner = Some(self.here());
                self.record.settle(Some(outcome), record.waker());
            }
            // Committed through another alternative of the choice that the set is part of.
            Decision::Gone => inner.push(self),
            Decision::Own | Decision::Claimed { .. } => {}
        }
        decision
    }

    /// Does anybody wait on the set? If not, the seat is looked at next time.
    pub(super) fn is_open(&self) -> bool {
        let mut inner = self.standing().inner.lock();
        // SAFETY: as in `try_decide`.
        let open = inner.open && unsafe { &*inner.current }.may_be_committed();
        if !open {
            inner.push(self);
        }
        open
    }

    /// Is it a poll that waits on the set?
    pub(super) fn is_fleeting(&self) -> bool {
        let inner = self.standing().inner.lock();
        // SAFETY: as in `try_decide`.
        inner.open && unsafe { &*inner.current }.is_fleeting()
    }

    /// The record of the performer that waits on the set, or its own if nobody does.
    pub(super) fn performer(&self) -> *const Record {
        let inner = self.standing().inner.lock();
        // SAFETY: as in `try_decide`.
        if inner.open { unsafe { &*inner.current }.performer() } else { &raw const self.record }
    }

    /// For a partner that wants the seat's record to try again.
    pub(super) fn try_retry(&self, by: Option<&Record>) -> Decision {
        let mut inner = self.standing().inner.lock();
        if !inner.open {
            inner.push(self);
            return Decision::Gone;
        }
        // SAFETY: as in `try_decide`.
        let record = unsafe { &*inner.current };
        if by.is_some_and(|by| std::ptr::eq(by, record)) {
            return Decision::Own;
        }
        let decision = record.try_retry(by);
        if let Decision::Own = decision {
            return decision;
        }
        inner.push(self);
        if let Decision::Done = decision {
            inner.open = false;
            self.record.settle(None, record.waker());
        }
        decision
    }

    /// For a partner that has committed through this seat and cannot keep its promise.
    pub(super) fn revoke(&self) {
        let inner = self.standing().inner.lock();
        // SAFETY: the performer has not been woken, and has not withdrawn the source: then the promise would be
        // gone. Nor can it do so now, since it needs the lock of the source's queue, which the caller holds.
        unsafe { &*inner.current }.revoke();
    }
}

impl Inner {
    fn push(&mut self, seat: &Seat) {
        if seat.queued.replace(true) {
            return;
        }
        self.notices = self.notices.wrapping_add(1);
        let node = seat.here();
        let (first, last) = match self.ready {
            Some((first, last)) => {
                // SAFETY: seats leave the list before they go.
                unsafe { last.as_ref() }.next.set(Some(node));
                (first, Some(last))
            }
            None => (node, None),
        };
        seat.prev.set(last);
        self.ready = Some((first, node));
    }

    /// As [`push`](Inner::push), at the front.
    fn push_front(&mut self, seat: &Seat) {
        if seat.queued.replace(true) {
            return;
        }
        self.notices = self.notices.wrapping_add(1);
        let node = seat.here();
        let last = match self.ready {
            Some((first, last)) => {
                // SAFETY: seats leave the list before they go.
                unsafe { first.as_ref() }.prev.set(Some(node));
                seat.next.set(Some(first));
                last
            }
            None => node,
        };
        self.ready = Some((node, last));
    }

    fn remove(&mut self, seat: &Seat) {
        let (Some((first, last)), true) = (self.ready, seat.queued.replace(false)) else { return };
        let (prev, next) = (seat.prev.take(), seat.next.take());
        if let Some(prev) = prev {
            // SAFETY: neighbours are in the list.
            unsafe { prev.as_ref() }.next.set(next);
        }
        if let Some(next) = next {
            // SAFETY: as above.
            unsafe { next.as_ref() }.prev.set(prev);
        }
        let ends =
            (if prev.is_none() { next } else { Some(first) }, if next.is_none() { prev } else { Some(last) });
        self.ready = ends.0.zip(ends.1);
    }

    fn open(&mut self, record: &Record, published: impl FnOnce()) {
        published();
        self.open = true;
        self.current = record;
    }

    fn next(&mut self, last: Option<&Seat>) -> Option<NonNull<Seat>> {
        if let Some(last) = last {
            self.push(last);
        }
        let (first, _) = self.ready?;
        // SAFETY: seats leave the list before they go.
        self.remove(unsafe { first.as_ref() });
        Some(first)
    }
}

impl Standing {
    pub(super) fn new() -> Self {
        let inner = Inner { open: false, current: std::ptr::null(), winner: None, notices: 0, ready: None };
        Standing { inner: Lock::new(inner) }
    }

    /// The number by which a record names the set as its winner.
    pub(super) fn id(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Has a seat looked at by the next performance.
    pub(super) fn notice(&self, seat: &Seat) {
        self.inner.lock().push(seat);
    }

    /// Has a seat looked at before all others: its turn is not over.
    pub(super) fn notice_first(&self, seat: &Seat) {
        self.inner.lock().push_front(seat);
    }

    /// Takes the next seat to be looked at out of their list, oldest notice first. `last`, if there is one, is
    /// noticed before. If there is none, how many there have been.
    pub(super) fn next(&self, last: Option<&Seat>) -> Result<NonNull<Seat>, usize> {
        let mut inner = self.inner.lock();
        inner.next(last).ok_or(inner.notices)
    }

    /// The same, but if there is none the set is opened for partners to commit `record`.
    pub(super) fn next_or_open(
        &self,
        last: Option<&Seat>,
        record: &Record,
        published: impl FnOnce(),
    ) -> Option<NonNull<Seat>> {
        let mut inner = self.inner.lock();
        let next = inner.next(last);
        if next.is_none() {
            inner.open(record, published);
        }
        next
    }

    /// Opens the set for partners to commit `record`. False, and not done: there is a seat to be looked at.
    pub(super) fn open(&self, record: &Record, published: impl FnOnce()) -> bool {
        let mut inner = self.inner.lock();
        let open = inner.ready.is_none();
        if open {
            inner.open(record, published);
        }
        open
    }

    /// Takes a seat that goes out of the list of those to be looked at.
    pub(super) fn strike(&self, seat: &Seat) {
        self.inner.lock().remove(seat);
    }

    /// Closes the set for partners, and gives the seat by which one has committed.
    pub(super) fn close(&self) -> Option<NonNull<Seat>> {
        let mut inner = self.inner.lock();
        inner.open = false;
        inner.winner.take()
    }
}
