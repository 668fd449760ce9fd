//! The sync record and the steps by which one performer commits with another.
//!
//! The protocol is described in this folder's README. This file holds its states and transitions and
//! nothing of queues, values or waiting.

use super::Context;
use super::standing::Seat;
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
/// and the performer consumes exactly that one wake before it returns. So a task needs neither a
/// reference count nor a flag against stale wakes.
#[derive(Clone, Copy)]
pub struct Task {
    data: *const (),
    wake: unsafe fn(*const ()),
}

impl Task {
    /// A task that is woken by calling `wake(data)`.
    ///
    /// # Safety
    ///
    /// From when the task is handed out by [`Context::task`] until its performer has consumed the
    /// wake, `wake(data)` must be sound to call once, from any thread.
    pub unsafe fn new(data: *const (), wake: unsafe fn(*const ())) -> Self {
        Task { data, wake }
    }

    /// Wakes the performer.
    #[inline]
    pub(crate) fn wake(self) {
        // SAFETY: tasks leave this module only through a commit, which happens once for each record
        // and before the performer goes on; `new`'s caller promised that this call is then sound.
        unsafe { (self.wake)(self.data) }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("data", &self.data).finish_non_exhaustive()
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
    /// Who stands back, of two that want each other at the same time.
    rank: Rank,
    /// Changed only for a seat of a wait set, by who has just committed it.
    task: Cell<Task>,
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
    eprintln!("lisle: an implementation of `Event` breaks its contract: {what}");
    std::process::abort()
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
    pub(crate) fn new(task: Task, single: bool) -> Self {
        Record::make(WAITING, task, single, false)
    }

    /// A record to be the first field of a seat, which is then told where it is.
    pub(super) fn seated(task: Task) -> Self {
        Record::make(SEATED, task, false, true)
    }

    #[inline]
    fn make(state: usize, task: Task, single: bool, seated: bool) -> Self {
        Record {
            state: AtomicUsize::new(state),
            single,
            seated,
            rank: Rank::new(),
            task: Cell::new(task),
            outstanding: Cell::new(0),
            outer: Cell::new(std::ptr::null()),
            began: Cell::new(0),
        }
    }

    #[inline]
    pub(crate) fn task(&self) -> Task {
        self.task.get()
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

    /// Notes, for a record of a seat, how it was committed, and whom to wake. Only its committer may do so, under
    /// the lock of the set.
    pub(super) fn settle(&self, outcome: Option<usize>, task: Task) {
        self.task.set(task);
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

    /// May a partner commit it, or have committed it, so that a wake may come at any time? Only its
    /// performer may ask.
    pub(super) fn is_exposed(&self) -> bool {
        self.outstanding.get() > 0 && self.state.load(Ordering::Relaxed) != BY_SELF
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
        let by = by.map(|by| by.top().record);
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
}

/// Somebody who commits with waiting performers: an attempt, or an outsider who has no record at stake.
pub(crate) trait Committer {
    /// Commits on the spot, without a partner: what is wanted lies there, under a lock that the
    /// caller holds. `false`: a partner has committed this attempt in the meantime.
    fn commit_alone(&self) -> bool;

    /// Commits with the performer of `other`, whose waiter lies at `waiter`. The caller holds the
    /// lock of the queue in which that waiter is linked.
    fn meet(&self, other: &Record, waiter: usize) -> Meeting;
}

/// Somebody who commits others and does not wait.
pub(crate) struct Outsider;

impl Committer for Outsider {
    #[inline(always)]
    fn commit_alone(&self) -> bool {
        true
    }

    #[inline(always)]
    fn meet(&self, other: &Record, waiter: usize) -> Meeting {
        if other.decide(waiter) { Meeting::Committed } else { Meeting::Gone }
    }
}

/// One performer's attempt at one event: its record, and the context it runs in.
///
/// Events receive it in every step and pass it on; only base events look inside. It stays with its performer:
///
/// ```compile_fail,E0277
/// fn may_move<T: Send>() {}
/// may_move::<&lisle::event::Attempt<'static>>();
/// ```
pub struct Attempt<'a> {
    record: &'a Record,
    /// Whether a waiter with this record has been linked anywhere.
    published: Cell<bool>,
    /// Whether the performer wants out, and does not wait for the wake of a commit.
    giving_up: Cell<bool>,
    context: &'a dyn Context,
    /// If the record is that of a seat: the attempt at the wait set, which it commits.
    upper: Option<&'a Attempt<'a>>,
}

impl<'a> Attempt<'a> {
    pub(crate) fn new(record: &'a Record, context: &'a dyn Context) -> Self {
        let published = Cell::new(record.outstanding.get() > 0);
        Attempt { record, published, giving_up: Cell::new(false), context, upper: None }
    }

    /// The attempt at one source of a wait set, `record` being that of its seat, on behalf of an attempt at the set.
    pub(super) fn seated(
        record: &'a Record,
        context: &'a dyn Context,
        upper: Option<&'a Attempt<'a>>,
    ) -> Self {
        let giving_up = Cell::new(upper.is_none_or(Attempt::is_giving_up));
        Attempt { record, published: Cell::new(true), giving_up, context, upper }
    }

    pub(crate) fn record(&self) -> &'a Record {
        self.record
    }

    /// The attempt of the performer itself, if this is one at a source of a wait set.
    fn top(&self) -> &Attempt<'_> {
        self.upper.map_or(self, Attempt::top)
    }

    /// Is it our record, or that of a set that we are performing as a source of, or of a neighbour there?
    pub(crate) fn is_own(&self, other: &Record) -> bool {
        std::ptr::eq(self.record, other)
            || self.upper.is_some_and(|upper| Seat::are_neighbours(self.record, other) || upper.is_own(other))
    }

    /// When the performance began, in nanoseconds of the context's clock, as far as timers are concerned:
    /// when the first of them asked.
    pub(crate) fn began(&self) -> u64 {
        let began = &self.record.began;
        if began.get() == 0 {
            began.set(self.context.now());
        }
        began.get()
    }

    /// When the performance began, if a timer has asked before.
    #[inline]
    pub(crate) fn has_begun(&self) -> Option<u64> {
        Some(self.record.began.get()).filter(|&began| began != 0)
    }

    /// A random number, for fair choices.
    #[inline]
    pub(crate) fn random(&self) -> u64 {
        #[cfg(not(lisle_loom))]
        if let Some(parker) = super::parker::running() {
            return parker.random();
        }
        self.context.random()
    }

    /// The context in which the event is performed. Not for users: an event that parked would consume a
    /// wake which is not its own.
    pub(crate) fn context(&self) -> &'a dyn Context {
        self.context
    }

    /// From now on partners can see the record, through one waiter more.
    #[inline]
    pub(crate) fn published(&self) {
        self.record.link();
        self.published.set(true);
    }

    /// The attempt starts over, with its record reset.
    pub(crate) fn restart(&self) {
        if self.record.outstanding.get() != 0 {
            misuse("its `withdraw` does not take back every branch that its `publish` has published");
        }
        self.record.reset();
        self.published.set(false);
        self.giving_up.set(false);
    }

    /// Called when an event says that it has committed: has it, if partners could see it?
    #[inline]
    pub(crate) fn check_committed(&self) {
        if self.published.get() && self.record.state.load(Ordering::Relaxed) != BY_SELF {
            misuse("it claims a commit that its attempt has not made");
        }
    }

    pub(crate) fn give_up(&self) {
        self.giving_up.set(true);
    }

    /// Is the attempt being withdrawn before the wake that a commit may have sent was consumed? Then a
    /// branch that won may still be in its committer's hands.
    #[inline]
    pub(crate) fn is_giving_up(&self) -> bool {
        self.giving_up.get()
    }

    /// Has a partner committed this attempt already? Then publishing more branches is of no use.
    #[inline]
    pub(crate) fn is_decided(&self) -> bool {
        self.published.get() && self.is_decided_published()
    }

    fn is_decided_published(&self) -> bool {
        match self.upper {
            Some(upper) => upper.is_decided(),
            None => self.record.state.load(Ordering::Relaxed) != WAITING,
        }
    }

    /// Withdraws an attempt whose committer, under the lock that both hold by turns, agrees to forget it.
    pub(crate) fn detach(&self) {
        self.record.detach();
        if let Some(upper) = self.upper {
            upper.detach();
        }
    }

    /// Runs `operation` with this attempt claimed, so that no partner can commit it meanwhile; `Some`
    /// commits, `None` leaves the attempt waiting. `Err`: a partner was faster, nothing was run.
    pub(crate) fn commit_if<R>(&self, operation: impl FnOnce() -> Option<R>) -> Result<Option<R>, ()> {
        if !self.published.get() || self.record.single {
            return Ok(operation());
        }
        if let Some(upper) = self.upper {
            return upper.commit_if(operation);
        }
        let state = &self.record.state;
        if state.compare_exchange(WAITING, CLAIMED, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return Err(());
        }
        /// Restores the record also if the operation panics.
        struct Claim<'a>(&'a AtomicUsize, usize);
        impl Drop for Claim<'_> {
            fn drop(&mut self) {
                self.0.store(self.1, Ordering::Release);
            }
        }
        let mut claim = Claim(state, WAITING);
        let result = operation();
        if result.is_some() {
            claim.1 = BY_SELF;
        }
        Ok(result)
    }

    fn commit_published(&self) -> bool {
        match self.upper {
            Some(upper) => upper.commit_alone(),
            None => {
                let state = &self.record.state;
                state.compare_exchange(WAITING, BY_SELF, Ordering::AcqRel, Ordering::Acquire).is_ok()
            }
        }
    }

    /// Both records can be seen by others: claim ourselves, then commit the other.
    #[cold]
    fn meet_published(&self, other: &Record, waiter: usize) -> Meeting {
        if let Some(upper) = self.upper {
            let neighbour = Seat::are_neighbours(self.record, other);
            return if neighbour { Meeting::Own } else { upper.meet(other, waiter) };
        }
        let own = &self.record.state;
        let mut backoff = Backoff::new();
        loop {
            if own.compare_exchange(WAITING, CLAIMED, Ordering::AcqRel, Ordering::Acquire).is_err() {
                return Meeting::Decided;
            }
            if other.single {
                other.state.store(waiter, Ordering::Release);
                own.store(BY_SELF, Ordering::Release);
                return Meeting::Committed;
            }
            loop {
                match other.try_decide(waiter, Some(self.record)) {
                    Decision::Done => {
                        own.store(BY_SELF, Ordering::Release);
                        return Meeting::Committed;
                    }
                    Decision::Claimed { stay: true } => backoff.wait(),
                    Decision::Claimed { stay: false } => {
                        own.store(WAITING, Ordering::Release);
                        backoff.wait();
                        break;
                    }
                    Decision::Gone => {
                        own.store(WAITING, Ordering::Release);
                        return Meeting::Gone;
                    }
                    Decision::Own => {
                        own.store(WAITING, Ordering::Release);
                        return Meeting::Own;
                    }
                }
            }
        }
    }
}

impl Committer for Attempt<'_> {
    #[inline]
    fn commit_alone(&self) -> bool {
        !self.published.get() || self.record.single || self.commit_published()
    }

    #[inline]
    fn meet(&self, other: &Record, waiter: usize) -> Meeting {
        if std::ptr::eq(self.record, other) {
            return Meeting::Own;
        }
        if !self.published.get() || self.record.single {
            return Outsider.meet(other, waiter);
        }
        self.meet_published(other, waiter)
    }
}

impl fmt::Debug for Attempt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("record", self.record)
            .field("published", &self.published.get())
            .finish_non_exhaustive()
    }
}
