//! The sync record and the steps by which one performer commits with another.
//!
//! The protocol is described in this folder's README. This file holds its states and transitions and
//! nothing of queues, values or waiting.

mod attempt;

pub use attempt::Attempt;
pub(crate) use attempt::{Committer, Outsider};

use super::standing::Seat;
use crate::abort;
use crate::shim::{
    Backoff, Rank,
    atomic::{AtomicUsize, Ordering},
};
use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;

/// Nobody has committed this record. Any partner that can, may.
const WAITING: usize = 0;
/// Its own performer is about to commit; everybody else waits for the outcome, a few instructions away.
const CLAIMED: usize = 1;
/// Committed by its own performer, who knows which branch.
const BY_SELF: usize = 2;
/// Woken without a commit: the performer starts over.
const RETRY: usize = 3;
/// Withdrawn by its own performer.
const CANCELLED: usize = 4;
/// Not committed by itself: the record of a seat, see `standing.rs`.
const SEATED: usize = 5;
// Every other value: committed by a partner; the address of the waiter that won.

/// How to wake a performer that has parked.
///
/// Whoever moves a record from waiting to committed (or to retry) wakes its performer exactly once,
/// and the performer consumes exactly that one wake before it returns. So a waker needs neither a
/// reference count nor a flag against stale wakes.
#[derive(Clone, Copy)]
pub struct Waker {
    data: *const (),
    wake: unsafe fn(*const ()),
}

impl Waker {
    /// A waker that is woken by calling `wake(data)`.
    ///
    /// # Safety
    ///
    /// From when the waker is handed out by [`Context::waker`](super::Context::waker) until its performer has consumed the
    /// wake, `wake(data)` must be sound to call once, from any thread.
    #[inline]
    pub unsafe fn new(data: *const (), wake: unsafe fn(*const ())) -> Self {
        Waker { data, wake }
    }

    /// Is its data at this address?
    pub(super) fn is_at(self, data: *const ()) -> bool {
        self.data == data
    }

    /// Wakes the performer.
    #[inline]
    #[doc(hidden)]
    pub fn wake(self) {
        // SAFETY: wakers leave this module only through a commit, which happens once for each record
        // and before the performer goes on; `new`'s caller promised that this call is then sound.
        unsafe { (self.wake)(self.data) }
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waker").field("data", &self.data).finish_non_exhaustive()
    }
}

/// All state of one `sync` that partners can see.
#[derive(Debug)]
pub(crate) struct Record {
    state: AtomicUsize,
    /// The record is published in one queue at most. Then that queue's lock guards it, and a plain
    /// store commits it.
    single: bool,
    /// The record is the first field of a [`Seat`], that of one source of a wait set.
    seated: bool,
    /// It belongs to a poll, which is gone again at once: not to be won by who would keep it waiting.
    fleeting: bool,
    /// Who stands back, of two that want each other at the same time.
    rank: Rank,
    /// Changed only for a seat of a wait set, by who has just committed it.
    waker: Cell<Waker>,
    /// How many of the attempt's waiters its performer has linked and not yet taken back. Only the
    /// performer looks at it.
    outstanding: Cell<usize>,
    /// The record of the attempt in whose step this one is performed; see [`step`](super::step). For the record
    /// of a seat, which is performed in nobody's step, that seat.
    pub(super) outer: Cell<*const Record>,
    /// When the performance began, if a timer has asked; retries do not begin it anew. 0: not asked yet.
    pub(super) began: Cell<u64>,
}

impl Drop for Record {
    /// A waiter must not outlive the record it points to. The events of this crate see to it; one
    /// written elsewhere may be wrong, and then this is the last moment to stop.
    #[inline]
    fn drop(&mut self) {
        if self.outstanding.get() != 0 {
            misuse("its `withdraw` does not take back every branch that its `publish` has published");
        }
    }
}

/// Ends the process: an implementation of `Event` has broken the contract on which memory safety rests.
#[cold]
pub(crate) fn misuse(what: &str) -> ! {
    abort::process(format_args!("an implementation of `Event` breaks its contract: {what}"))
}

/// What came of one try to decide a record.
pub(super) enum Decision {
    /// Decided, as wanted.
    Done,
    /// Decided otherwise, or not to be had now; its waiter may be unlinked.
    Gone,
    /// It stands for the record of whoever asks.
    Own,
    /// Its performer is about to commit. Whoever is claimed as well stays so if `stay`, else steps back.
    Claimed { stay: bool },
}

/// What came of an attempt to commit with a waiting record.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Meeting {
    /// Both sides are committed.
    Committed,
    /// The other side had been committed elsewhere; its waiter may be unlinked.
    Gone,
    /// It is our own record: a choice does not talk to itself.
    Own,
    /// A partner has committed us in the meantime.
    Decided,
}

impl Record {
    #[inline]
    pub(crate) fn new(waker: Waker, single: bool) -> Self {
        Record::make(WAITING, waker, single, false, false)
    }

    /// A record of a poll.
    #[inline]
    pub(super) fn fleeting(waker: Waker, single: bool) -> Self {
        Record::make(WAITING, waker, single, false, true)
    }

    /// A record to be the first field of a seat, which is then told where it is.
    pub(super) fn seated(waker: Waker) -> Self {
        Record::make(SEATED, waker, false, true, false)
    }

    #[inline]
    fn make(state: usize, waker: Waker, single: bool, seated: bool, fleeting: bool) -> Self {
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
        }
    }

    #[inline]
    pub(crate) fn waker(&self) -> Waker {
        self.waker.get()
    }

    /// Tells a record for a seat where that is.
    pub(super) fn sit(&self, seat: NonNull<Seat>) {
        debug_assert!(self.seated);
        self.outer.set(seat.as_ptr().cast());
    }

    /// The seat that the record is part of, if it is.
    #[inline]
    pub(super) fn seat(&self) -> Option<NonNull<Seat>> {
        if self.seated { NonNull::new(self.outer.get().cast_mut().cast()) } else { None }
    }

    /// Could anybody commit it? Not if it stands for a source of a wait set that nobody performs; then the set is
    /// told to look again, and its waiter may be unlinked. To be asked under the lock of its queue.
    pub(crate) fn may_be_committed(&self) -> bool {
        // SAFETY: the seat is there as long as its record is.
        self.seat().is_none_or(|seat| unsafe { seat.as_ref() }.is_open())
    }

    /// Does it belong to a poll, or stand for a source of a wait set that is being polled? To be asked under the
    /// lock of its queue.
    pub(crate) fn is_fleeting(&self) -> bool {
        // SAFETY: the seat is there as long as its record is.
        self.fleeting || self.seat().is_some_and(|seat| unsafe { seat.as_ref() }.is_fleeting())
    }

    /// Might a performer with record `other` commit it? Not if it was decided, if nobody performs the wait set that it stands
    /// for a source of, or if it is one of that performer's own. To be asked under the lock of a queue in which it is linked.
    pub(crate) fn is_there_for(&self, other: &Record) -> bool {
        let is_open = match self.seat() {
            // SAFETY: the seat is there as long as its record is.
            Some(seat) => unsafe { seat.as_ref() }.is_open(),
            None => self.single || matches!(self.state.load(Ordering::Acquire), WAITING | CLAIMED),
        };
        is_open && !Seat::are_neighbours(self, other) && !std::ptr::eq(self.performer(), other.performer())
    }

    /// The record of the performer that it stands for, which for a seat is that of who waits on its set. Not to be looked at.
    pub(super) fn performer(&self) -> *const Record {
        match self.seat() {
            // SAFETY: the seat is there as long as its record is.
            Some(seat) => unsafe { seat.as_ref() }.performer(),
            None => self,
        }
    }

    /// Notes, for a record of a seat, how it was committed, and whom to wake. Only its committer may do so, under
    /// the lock of the set.
    pub(super) fn settle(&self, outcome: Option<usize>, waker: Waker) {
        self.waker.set(waker);
        if let Some(outcome) = outcome {
            self.state.store(outcome, Ordering::Release);
        }
    }

    /// Makes a record that was told to retry usable for the next round.
    pub(super) fn reset(&self) {
        self.state.store(if self.seated { SEATED } else { WAITING }, Ordering::Relaxed);
    }

    /// Has no partner committed it, or told it to start over? Then no wake is on the way.
    pub(crate) fn is_withdrawn(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), WAITING | BY_SELF | CANCELLED)
    }

    /// May a partner commit it, or has one done so, so that a wake may come at any time? Only its performer may ask,
    /// in a step, and so before it has consumed that wake.
    pub(super) fn is_exposed(&self) -> bool {
        match self.state.load(Ordering::Relaxed) {
            BY_SELF => false,
            WAITING | CLAIMED | CANCELLED => self.outstanding.get() > 0,
            // Also if no waiter is left: who has committed it may not have come to the wake yet.
            _ => true,
        }
    }

    pub(crate) fn is_retry(&self) -> bool {
        self.state.load(Ordering::Acquire) == RETRY
    }

    /// Did the waiter at `waiter` win?
    #[inline(always)]
    pub(crate) fn won_by(&self, waiter: usize) -> bool {
        self.state.load(Ordering::Acquire) == waiter
    }

    /// A waiter of this record has been linked.
    #[inline]
    fn link(&self) {
        let outstanding = self.outstanding.get();
        if self.single && outstanding > 0 {
            misuse("`is_single` is true, but it publishes more than one branch");
        }
        // Its committer has woken the performer already, and does not ask whether anybody has.
        if self.single && self.state.load(Ordering::Relaxed) != WAITING {
            misuse("it publishes a branch when another has won");
        }
        self.outstanding.set(outstanding + 1);
    }

    /// Its performer has taken back a waiter of this record.
    #[inline]
    pub(crate) fn unlink(&self) {
        self.outstanding.set(self.outstanding.get() - 1);
    }

    pub(crate) fn is_single(&self) -> bool {
        self.single
    }

    /// Withdraws a record that may lie in several queues. `false`: a partner was faster, and its wake
    /// is on the way.
    pub(crate) fn cancel(&self) -> bool {
        debug_assert!(!self.single, "a single record is withdrawn under its queue's lock");
        self.state.compare_exchange(WAITING, CANCELLED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Withdraws a record whose committer, under the lock that both hold by turns, agrees to forget it.
    fn detach(&self) {
        self.state.store(CANCELLED, Ordering::Release);
    }

    /// For a partner that has already committed this record and cannot keep its word: instead of a
    /// win the performer finds that it has to start over.
    pub(crate) fn revoke(&self) {
        if let Some(seat) = self.seat() {
            // SAFETY: the seat is there as long as its record is.
            unsafe { seat.as_ref() }.revoke();
        }
        self.state.store(RETRY, Ordering::Release);
    }

    /// Moves a waiting record to `outcome`, on behalf of somebody who has no record at stake.
    /// Called under the lock of a queue in which the record is linked.
    #[inline(always)]
    fn decide(&self, outcome: usize) -> bool {
        if self.single {
            // Linked and single: nobody has committed it, and nobody else can while we hold the lock.
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

    /// Tries once to move a waiting record to `outcome`, for somebody whose own record, if there is one, is
    /// claimed. The record is not single, or the caller holds the lock of the one queue or set in which it is linked.
    #[inline]
    pub(super) fn try_decide(&self, outcome: usize, by: Option<&Record>) -> Decision {
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
            // Two performers that claim themselves and want each other: the one with the lower rank stays
            // claimed and waits, the other steps back and may be committed.
            (CLAIMED, _) => Decision::Claimed { stay: by.is_some_and(|by| by.rank.is_before(&self.rank)) },
            // SAFETY: the seat is there as long as its record is, also below.
            (SEATED, Some(seat)) if outcome == RETRY => unsafe { seat.as_ref() }.try_retry(by),
            // SAFETY: as above.
            (SEATED, Some(seat)) => unsafe { seat.as_ref() }.try_decide(outcome, by),
            _ => Decision::Gone,
        }
    }

    /// Tries once to tell the performer to start over, as [`Record::try_decide`].
    pub(super) fn try_retry(&self, by: Option<&Record>) -> Decision {
        self.try_decide(RETRY, by)
    }

    /// Tells the performer to start over. Called under the lock of a queue in which the record is
    /// linked; if true, the caller owes the performer a wake. `None`: it stands for `by`, who asks.
    pub(crate) fn decide_retry(&self, by: Option<&Attempt<'_>>) -> Option<bool> {
        if by.is_some_and(|by| by.is_own(self)) {
            return None;
        }
        if self.single {
            return Some(self.decide(RETRY));
        }
        let by = by.map(|by| by.top().record());
        let mut backoff = Backoff::new();
        loop {
            match self.try_retry(by) {
                Decision::Done => return Some(true),
                Decision::Claimed { .. } => backoff.wait(),
                Decision::Gone => return Some(false),
                Decision::Own => return None,
            }
        }
    }

    /// A timer of this record has fired. Called under the protection of the wheel that held the timer;
    /// if true, the caller owes the performer a wake.
    pub(crate) fn decide_timer(&self, timer: usize) -> bool {
        self.decide(timer)
    }

    /// The same for an alarm, after which the performer starts over.
    pub(crate) fn decide_alarm(&self) -> bool {
        self.decide(RETRY)
    }
}
