//! The sync record, and the steps by which one performer commits with another.
//!
//! This folder's README describes the protocol. This file holds its states and transitions; it does
//! not know queues, values or waiting.

mod attempt;

pub use attempt::Attempt;
pub(crate) use attempt::{Awaiting, Committer, Outsider};

use super::standing::Seat;
use crate::abort;
use crate::event::waker::PerformerWaker;
use crate::shim::{
    Backoff, Rank,
    atomic::{AtomicUsize, Ordering},
};
use std::cell::Cell;
use std::marker::PhantomPinned;
use std::ptr::NonNull;

/// The record is not committed. Any partner may commit it.
const WAITING: usize = 0;
/// Its own performer is about to commit; all others wait for the result, which is a few
/// instructions away.
const CLAIMED: usize = 1;
/// Committed by its own performer, which knows the branch.
const BY_SELF: usize = 2;
/// Woken without a commit; the performer starts over.
const RETRY: usize = 3;
/// Withdrawn by its own performer.
const CANCELLED: usize = 4;
/// The record of a seat, which is not committed by itself; see `standing.rs`.
const SEATED: usize = 5;
// Every other value means: committed by a partner. The value is the address of the waiter that won.

/// The state of one `sync` that partners can see.
///
/// It is pinned, as its waiters are: partners hold its address, and an exclusive reference to its
/// container must not claim to be the only one.
#[derive(Debug)]
pub(crate) struct Record {
    state: AtomicUsize,
    /// The record is published in at most one queue. Then that queue's lock guards it, and a plain
    /// store commits it.
    single: bool,
    /// The record is the first field of a [`Seat`], which stands for one source of a wait set.
    seated: bool,
    /// The record belongs to a poll, which ends at once. A partner that would keep it waiting must
    /// not commit it.
    fleeting: bool,
    /// Decides which of two performers that want each other at the same time steps back.
    rank: Rank,
    /// Changes only for a seat of a wait set; the performer that has just committed the seat
    /// changes it.
    waker: Cell<PerformerWaker>,
    /// The number of the attempt's waiters that its performer has linked and not yet taken back.
    /// Only the performer uses it.
    outstanding: Cell<u32>,
    /// The record of the attempt in whose step this one is performed; see [`step`](super::step).
    /// For the record of a seat, which is not performed in a step, it is the address of that seat.
    pub(in crate::event) outer: Cell<*const Record>,
    /// The time at which the performance began, if a timer has asked for it, else 0. A retry does
    /// not change it.
    pub(in crate::event) began: Cell<u64>,
    _pinned: PhantomPinned,
}

impl Drop for Record {
    /// A waiter must not outlive the record that it points to. The events of this crate ensure
    /// that. An event written elsewhere may be wrong, and this is the last moment to stop it.
    #[inline]
    fn drop(&mut self) {
        if self.outstanding.get() != 0 {
            misuse("its `withdraw` does not take back every branch that its `publish` has published");
        }
    }
}

/// Ends the process, because an implementation of `Event` has broken the contract on which memory
/// safety rests.
#[cold]
pub(crate) fn misuse(what: &str) -> ! {
    abort::process(format_args!("an implementation of `Event` breaks its contract: {what}"))
}

/// The result of one try to decide a record.
pub(in crate::event) enum Decision {
    /// The record is decided as wanted.
    Done,
    /// The record is decided otherwise, or cannot be had now; its waiter may be unlinked.
    Gone,
    /// The record stands for the record of the caller.
    Own,
    /// Its performer is about to commit. A caller that is claimed as well stays claimed if `stay`,
    /// else it steps back.
    Claimed { stay: bool },
}

/// The result of an attempt to commit with a waiting record.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Meeting {
    /// Both sides are committed.
    Committed,
    /// The other side has been committed elsewhere; its waiter may be unlinked.
    Gone,
    /// The record is our own: a choice does not communicate with itself.
    Own,
    /// A partner has committed us in the meantime.
    Decided,
}

impl Record {
    /// Returns the address that stands for a decision in a model.
    pub(crate) fn state_address(&self) -> usize {
        std::ptr::from_ref(&self.state).addr()
    }

    #[inline]
    pub(crate) fn new(waker: PerformerWaker, single: bool) -> Self {
        Record::make(WAITING, waker, single, false, false)
    }

    /// Creates a record for a poll.
    #[inline]
    pub(in crate::event) fn fleeting(waker: PerformerWaker, single: bool) -> Self {
        Record::make(WAITING, waker, single, false, true)
    }

    /// Creates a record that will be the first field of a seat. `sit` then sets the seat's address.
    pub(in crate::event) fn seated(waker: PerformerWaker) -> Self {
        Record::make(SEATED, waker, false, true, false)
    }

    #[inline]
    fn make(state: usize, waker: PerformerWaker, single: bool, seated: bool, fleeting: bool) -> Self {
        Record {
            state: AtomicUsize::new(state),
            single,
            seated,
            fleeting,
            rank: Rank::new(),
            waker: Cell::new(waker),
            outstanding: Cell::new(0),
            outer: Cell::new(std::ptr::null()),
            began: Cell::new(0),
            _pinned: PhantomPinned,
        }
    }

    #[inline]
    pub(crate) fn waker(&self) -> PerformerWaker {
        self.waker.get()
    }

    /// Sets the waker of a record that is about to be published.
    pub(in crate::event) fn wake_by(&self, waker: PerformerWaker) {
        self.waker.set(waker);
    }

    /// Sets the address of the seat, for a record that is part of one.
    pub(in crate::event) fn sit(&self, seat: NonNull<Seat>) {
        debug_assert!(self.seated);
        self.outer.set(seat.as_ptr().cast());
    }

    /// Returns the seat that the record is part of, if there is one.
    #[inline]
    pub(in crate::event) fn seat(&self) -> Option<NonNull<Seat>> {
        if self.seated { NonNull::new(self.outer.get().cast_mut().cast()) } else { None }
    }

    /// Returns `false` if the record cannot be committed: it stands for a source of a wait set that
    /// is not being performed. The set is then told to look again, and the waiter may be unlinked.
    /// Called under the lock of its queue.
    pub(crate) fn may_be_committed(&self) -> bool {
        // SAFETY: the seat is there as long as its record is.
        self.seat().is_none_or(|seat| unsafe { seat.as_ref() }.is_open())
    }

    /// Returns `true` if the record belongs to a poll, or stands for a source of a wait set that is
    /// being polled. Called under the lock of its queue.
    pub(crate) fn is_fleeting(&self) -> bool {
        // SAFETY: the seat is there as long as its record is.
        self.fleeting || self.seat().is_some_and(|seat| unsafe { seat.as_ref() }.is_fleeting())
    }

    /// Returns `true` if a performer with record `other` might commit this record. Returns `false`
    /// if it is decided, if it stands for a source of a wait set that is not being performed, or if
    /// it belongs to that performer. Called under the lock of a queue in which it is linked.
    pub(crate) fn is_there_for(&self, other: &Record) -> bool {
        let is_open = match self.seat() {
            // SAFETY: the seat is there as long as its record is.
            Some(seat) => unsafe { seat.as_ref() }.is_open(),
            None => self.single || matches!(self.state.load(Ordering::Acquire), WAITING | CLAIMED),
        };
        is_open && !Seat::are_neighbours(self, other) && !std::ptr::eq(self.performer(), other.performer())
    }

    /// Returns the record of the performer that it stands for; for a seat, the record of the
    /// performer that waits on its set. The pointer must not be dereferenced.
    pub(in crate::event) fn performer(&self) -> *const Record {
        match self.seat() {
            // SAFETY: the seat is there as long as its record is.
            Some(seat) => unsafe { seat.as_ref() }.performer(),
            None => self,
        }
    }

    /// Stores, in the record of a seat, how it was committed and the waker of its performer. Only
    /// its committer may call this, under the lock of the set.
    pub(in crate::event) fn settle(&self, outcome: Option<usize>, waker: PerformerWaker) {
        self.waker.set(waker);
        if let Some(outcome) = outcome {
            self.state.store(outcome, Ordering::Release);
        }
    }

    /// Makes a record that was told to retry usable for the next round.
    pub(in crate::event) fn reset(&self) {
        self.state.store(if self.seated { SEATED } else { WAITING }, Ordering::Relaxed);
    }

    /// Returns `true` if no partner has committed it or told it to start over. Then no wake is on
    /// the way.
    pub(crate) fn is_withdrawn(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), WAITING | BY_SELF | CANCELLED)
    }

    /// Returns `true` if a wake may come at any time, because a partner may commit it or has done
    /// so. Only its performer may call this, within a step, and therefore before it has consumed
    /// that wake.
    pub(in crate::event) fn is_exposed(&self) -> bool {
        match self.state.load(Ordering::Relaxed) {
            BY_SELF => false,
            WAITING | CLAIMED | CANCELLED => self.outstanding.get() > 0,
            // Also if no waiter is left: the committer may not have sent the wake yet.
            _ => true,
        }
    }

    pub(crate) fn is_retry(&self) -> bool {
        self.state.load(Ordering::Acquire) == RETRY
    }

    /// Returns `true` if the waiter at `waiter` has won.
    #[inline(always)]
    pub(crate) fn won_by(&self, waiter: usize) -> bool {
        self.state.load(Ordering::Acquire) == waiter
    }

    /// Counts a waiter of this record that has been linked.
    #[inline]
    fn link(&self) {
        let outstanding = self.outstanding.get();
        if self.single && outstanding > 0 {
            misuse("`is_single` is true, but it publishes more than one branch");
        }
        // Its committer has already woken the performer, without checking for a second commit.
        if self.single && self.state.load(Ordering::Relaxed) != WAITING {
            misuse("it publishes a branch when another has won");
        }
        let Some(more) = outstanding.checked_add(1) else {
            misuse("it publishes more branches than can be counted");
        };
        self.outstanding.set(more);
    }

    /// Counts a waiter of this record that its performer has taken back.
    #[inline]
    pub(crate) fn unlink(&self) {
        self.outstanding.set(self.outstanding.get() - 1);
    }

    pub(crate) fn is_single(&self) -> bool {
        self.single
    }

    /// Withdraws a record that may lie in several queues. Returns `false` if a partner was faster;
    /// its wake is on the way.
    pub(crate) fn cancel(&self) -> bool {
        debug_assert!(!self.single, "a single record is withdrawn under its queue's lock");
        self.state.compare_exchange(WAITING, CANCELLED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Withdraws a record whose committer agrees to forget it, under a lock that both sides take.
    fn detach(&self) {
        self.state.store(CANCELLED, Ordering::Release);
    }

    /// Takes back a commit that the partner cannot complete: instead of a win the performer finds
    /// that it has to start over.
    pub(crate) fn revoke(&self) {
        if let Some(seat) = self.seat() {
            // SAFETY: the seat is there as long as its record is.
            unsafe { seat.as_ref() }.revoke();
        }
        self.state.store(RETRY, Ordering::Release);
    }

    /// Moves a waiting record to `outcome`, for a caller without a record at stake. Returns `false`
    /// if it was decided elsewhere. Called under the lock of a queue in which the record is linked.
    #[inline(always)]
    fn decide(&self, outcome: usize) -> bool {
        if self.single {
            // Linked and single: it has not been committed, and cannot be while we hold the lock.
            self.state.store(outcome, Ordering::Release);
            return true;
        }
        self.decide_shared(outcome)
    }

    fn decide_shared(&self, outcome: usize) -> bool {
        let mut backoff = Backoff::new();
        loop {
            match self.try_decide(outcome, None) {
                Decision::Done => return true,
                Decision::Claimed { .. } => backoff.wait(),
                Decision::Gone | Decision::Own => return false,
            }
        }
    }

    /// Tries once to move a waiting record to `outcome`, for a caller whose own record, if there is
    /// one, is claimed. The record is not single, or the caller holds the lock of the one queue or
    /// set in which it is linked.
    #[inline]
    pub(in crate::event) fn try_decide(&self, outcome: usize, by: Option<&Record>) -> Decision {
        if self.single {
            self.state.store(outcome, Ordering::Release);
            return Decision::Done;
        }
        match self.state.compare_exchange(WAITING, outcome, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Decision::Done,
            Err(state) => self.not_waiting(state, outcome, by),
        }
    }

    #[cold]
    fn not_waiting(&self, state: usize, outcome: usize, by: Option<&Record>) -> Decision {
        match (state, self.seat()) {
            // Two claimed performers want each other: the one with the lower rank stays claimed and
            // waits, the other steps back and may be committed.
            (CLAIMED, _) => Decision::Claimed { stay: by.is_some_and(|by| by.rank.is_before(&self.rank)) },
            // SAFETY: the seat is there as long as its record is.
            (SEATED, Some(seat)) if outcome == RETRY => unsafe { seat.as_ref() }.try_retry(by),
            // SAFETY: as above.
            (SEATED, Some(seat)) => unsafe { seat.as_ref() }.try_decide(outcome, by),
            _ => Decision::Gone,
        }
    }

    /// Tries once to tell the performer to start over, like [`Record::try_decide`].
    pub(in crate::event) fn try_retry(&self, by: Option<&Record>) -> Decision {
        self.try_decide(RETRY, by)
    }

    /// Commits the record because its timer has fired. Called under the protection of the wheel
    /// that held the timer. Returns `true` if the caller owes the performer a wake.
    pub(crate) fn decide_timer(&self, timer: usize) -> bool {
        self.decide(timer)
    }

    /// Does the same for an alarm, after which the performer starts over.
    pub(crate) fn decide_alarm(&self) -> bool {
        self.decide(RETRY)
    }
}
