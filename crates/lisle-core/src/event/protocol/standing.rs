//! The part of a wait set that partners see: a seat for each source, and one lock for all.
//!
//! The branches of a source stay linked in the queues of the objects that they wait for, from one
//! performance of the set to the next, each with the record of its source's *seat*. That record is
//! not committed by itself: a partner that meets it commits the record of the performer that waits
//! on the set, if there is one, under the set's lock.
//!
//! If there is none, the set is *closed*: the partner takes the waiter out of its queue, like a
//! waiter that was committed elsewhere, and puts the seat on the list of noticed seats. A
//! performance first looks at noticed seats, and opens the set only when the list is empty. Both
//! happen under the set's lock, so a partner either finds the set open and commits, or its mark is
//! found by the next look.
//!
//! The lock is a leaf: no thread waits while holding it. A thread waits for a claimed record only
//! after releasing the lock, and by the ranks of the performers. Therefore the README's argument
//! against circles of claims holds unchanged.

use super::record::{Decision, Record};
use crate::event::lock::Lock;
use crate::event::waker::PerformerWaker;
use std::cell::Cell;
use std::marker::PhantomPinned;
use std::ptr::NonNull;

/// The part of a wait set that partners reach, at one address for as long as the set lives.
#[derive(Debug)]
pub(in crate::event) struct Standing {
    inner: Lock<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Whether the performer whose record is `current` may be committed.
    open: bool,
    /// The record of the performance that has opened the set last. It is alive while the set is
    /// open, and until a source by which it was committed has been withdrawn; it is not used at
    /// other times.
    current: *const Record,
    /// The seat by which it was committed.
    winner: Option<NonNull<Seat>>,
    /// The number of times that a seat has been put on the list of noticed seats.
    notices: usize,
    /// The first and last of the seats to be looked at.
    ready: Option<(NonNull<Seat>, NonNull<Seat>)>,
}

// SAFETY: the pointers are used under the lock, and lead to records and seats whose shared parts
// are atomic or belong to the holder of that lock.
unsafe impl Send for Inner {}

/// One source's place in a wait set.
#[derive(Debug)]
#[repr(C)]
pub(in crate::event) struct Seat {
    /// The first field; a partner that meets the record then finds the seat.
    pub(in crate::event) record: Record,
    standing: NonNull<Standing>,
    /// The neighbours in the list of seats to be looked at. Guarded by the set's lock, like
    /// `queued`.
    next: Cell<Option<NonNull<Seat>>>,
    prev: Cell<Option<NonNull<Seat>>>,
    queued: Cell<bool>,
    _pinned: PhantomPinned,
}

impl Seat {
    /// Creates a seat of the set at `standing`, which must outlive it.
    pub(in crate::event) fn new(standing: NonNull<Standing>, waker: PerformerWaker) -> Self {
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
        // SAFETY: the caller of `new` promised that the set outlives the seat.
        let standing = unsafe { self.standing.as_ref() };
        crate::event::declare(standing);
        standing
    }

    /// Sets the address of the seat, once it is in place. The pointer is valid for the whole object
    /// whose first field the seat is.
    pub(in crate::event) fn sit(&self, here: NonNull<Seat>) {
        self.record.sit(here);
    }

    fn here(&self) -> NonNull<Seat> {
        self.record.seat().expect("told where it is")
    }

    /// Returns `true` if the two records are seated in one set.
    pub(in crate::event) fn are_neighbours(one: &Record, other: &Record) -> bool {
        // SAFETY: a seat is there as long as its record is.
        let set = |record: &Record| record.seat().map(|seat| unsafe { seat.as_ref() }.standing);
        set(other).is_some_and(|other| Some(other) == set(one))
    }

    /// Commits the performer of the set through this seat, for a partner that has met the seat's
    /// record.
    pub(in crate::event) fn try_decide(&self, outcome: usize, by: Option<&Record>) -> Decision {
        let mut inner = self.standing().inner.lock();
        if !inner.open {
            inner.push(self);
            return Decision::Gone;
        }
        // SAFETY: a set is open only while its performer waits for a wake or is in the middle of a
        // step, and in both cases the performer closes it before the record is dropped.
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

    /// Returns `true` if a performer waits on the set. If `false`, the seat is looked at next time.
    pub(in crate::event) fn is_open(&self) -> bool {
        let mut inner = self.standing().inner.lock();
        // SAFETY: as in `try_decide`.
        let open = inner.open && unsafe { &*inner.current }.may_be_committed();
        if !open {
            inner.push(self);
        }
        open
    }

    /// Returns `true` if a poll waits on the set.
    pub(in crate::event) fn is_fleeting(&self) -> bool {
        let inner = self.standing().inner.lock();
        // SAFETY: as in `try_decide`.
        inner.open && unsafe { &*inner.current }.is_fleeting()
    }

    /// Returns the record of the performer that waits on the set, or the seat's own if there is
    /// none.
    pub(in crate::event) fn performer(&self) -> *const Record {
        let inner = self.standing().inner.lock();
        // SAFETY: as in `try_decide`.
        if inner.open { unsafe { &*inner.current }.performer() } else { &raw const self.record }
    }

    /// Tells the performer of the set to start over, for a partner that wants the seat's record to.
    pub(in crate::event) fn try_retry(&self, by: Option<&Record>) -> Decision {
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

    /// Takes back a commit, for a partner that has committed through this seat and cannot keep its
    /// promise.
    pub(in crate::event) fn revoke(&self) {
        let inner = self.standing().inner.lock();
        // SAFETY: the performer has not been woken, and has not withdrawn the source: then the
        // promise would be gone. It cannot do so now either, since it needs the lock of the
        // source's queue, which the caller holds.
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
                // SAFETY: seats leave the list before they are dropped.
                unsafe { last.as_ref() }.next.set(Some(node));
                (first, Some(last))
            }
            None => (node, None),
        };
        seat.prev.set(last);
        self.ready = Some((first, node));
    }

    /// Does the same as [`push`](Inner::push), at the front.
    fn push_front(&mut self, seat: &Seat) {
        if seat.queued.replace(true) {
            return;
        }
        self.notices = self.notices.wrapping_add(1);
        let node = seat.here();
        let last = match self.ready {
            Some((first, last)) => {
                // SAFETY: seats leave the list before they are dropped.
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
        // SAFETY: seats leave the list before they are dropped.
        self.remove(unsafe { first.as_ref() });
        Some(first)
    }
}

impl Standing {
    pub(in crate::event) fn new() -> Self {
        let inner = Inner { open: false, current: std::ptr::null(), winner: None, notices: 0, ready: None };
        Standing { inner: Lock::new(inner) }
    }

    /// Returns the number by which a record names the set as its winner.
    pub(in crate::event) fn id(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Puts a seat on the list of noticed seats, at which the next performance looks.
    pub(in crate::event) fn notice(&self, seat: &Seat) {
        self.inner.lock().push(seat);
    }

    /// Puts a seat before all others on that list: its turn is not over.
    pub(in crate::event) fn notice_first(&self, seat: &Seat) {
        self.inner.lock().push_front(seat);
    }

    /// Takes the next seat off the list of noticed seats, oldest notice first. `last`, if given, is
    /// put on the list before. If the list is empty, returns the number of notices so far.
    pub(in crate::event) fn next(&self, last: Option<&Seat>) -> Result<NonNull<Seat>, usize> {
        let mut inner = self.inner.lock();
        inner.next(last).ok_or(inner.notices)
    }

    /// Does the same, except that if the list is empty the set is opened for partners to commit
    /// `record`.
    pub(in crate::event) fn next_or_open(
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

    /// Opens the set for partners to commit `record`. Returns `false`, without opening it, if there
    /// is a seat to be looked at.
    pub(in crate::event) fn open(&self, record: &Record, published: impl FnOnce()) -> bool {
        let mut inner = self.inner.lock();
        let open = inner.ready.is_none();
        if open {
            inner.open(record, published);
        }
        open
    }

    /// Takes a seat that is about to be dropped off the list of noticed seats.
    pub(in crate::event) fn strike(&self, seat: &Seat) {
        self.inner.lock().remove(seat);
    }

    /// Closes the set for partners, and returns the seat by which one has committed.
    pub(in crate::event) fn close(&self) -> Option<NonNull<Seat>> {
        let mut inner = self.inner.lock();
        inner.open = false;
        inner.winner.take()
    }
}
