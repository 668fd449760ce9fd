//! The committers: an attempt, which acts for a performer, and an outsider.

use super::super::context::PerformerContext;
use super::super::evidence::Evidence;
use super::super::standing::Seat;
use super::super::step::Step;
use super::super::timer::Timer;
use super::{BY_SELF, CLAIMED, Decision, Meeting, RETRY, Record, WAITING, misuse};
use crate::event::telling::awaited::Awaited;
use crate::shim::{
    Backoff,
    atomic::{AtomicUsize, Ordering},
    model::{Touch, is_running, touched},
};
use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;

/// A party that commits with waiting performers: an attempt, or an outsider, which has no record at
/// stake.
pub(crate) trait Committer {
    /// Commits on the spot, without a partner: the wanted value is available, under a lock that the
    /// caller holds. Returns `false` if a partner has committed this attempt in the meantime.
    fn commit_alone(&self) -> bool;

    /// Commits with the performer of `other`, whose waiter lies at `waiter`. The caller holds the
    /// lock of the queue in which that waiter is linked.
    fn meet(&self, other: &Record, waiter: usize) -> Meeting;
}

/// A committer that does not wait itself.
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

/// An outsider that is a future. It is a type of its own so that the code compiled for [`Outsider`]
/// has no second caller, and is inlined where fibers receive: one more caller cost them 4 to 11 %.
pub(crate) struct Awaiting;

impl Committer for Awaiting {
    #[inline(always)]
    fn commit_alone(&self) -> bool {
        Outsider.commit_alone()
    }

    #[inline(always)]
    fn meet(&self, other: &Record, waiter: usize) -> Meeting {
        Outsider.meet(other, waiter)
    }
}

/// One performer's attempt at one event: its record, and the context it runs in.
///
/// Events receive it in every step and pass it on; only base events use its content. It stays with
/// its performer:
///
/// ```compile_fail,E0277
/// # use lisle_core as lisle;
/// fn may_move<T: Send>() {}
/// may_move::<&lisle::event::Attempt<'static>>();
/// ```
pub struct Attempt<'a> {
    record: &'a Record,
    /// Whether a waiter with this record has been linked in any queue.
    published: Cell<bool>,
    /// Whether the performer gives up and does not wait for the wake of a commit.
    giving_up: Cell<bool>,
    /// Whether the performance is in its step `publish`. In other steps it is not prepared for
    /// partners.
    publishing: Cell<bool>,
    context: &'a dyn PerformerContext,
    /// If the record belongs to a seat: the attempt at the wait set, which this attempt commits.
    upper: Option<&'a Attempt<'a>>,
    /// The evidence of a look at the branches.
    evidence: Evidence,
    /// The thing for which a model has let the performer wait, before it tried.
    awaited: Cell<Option<Awaited>>,
}

impl<'a> Attempt<'a> {
    pub(crate) fn new(record: &'a Record, context: &'a dyn PerformerContext) -> Self {
        let published = Cell::new(record.outstanding.get() > 0);
        let (giving_up, publishing, evidence) = (Cell::new(false), Cell::new(false), Evidence::new());
        Attempt {
            record,
            published,
            giving_up,
            publishing,
            context,
            upper: None,
            evidence,
            awaited: Cell::new(None),
        }
    }

    /// Creates the attempt at one source of a wait set, on behalf of an attempt at the set.
    /// `record` belongs to the source's seat.
    pub(in crate::event) fn seated(
        record: &'a Record,
        context: &'a dyn PerformerContext,
        upper: Option<&'a Attempt<'a>>,
    ) -> Self {
        let (giving_up, publishing) = (Cell::new(upper.is_none_or(Attempt::is_giving_up)), Cell::new(false));
        let (published, evidence) = (Cell::new(true), Evidence::new());
        Attempt {
            record,
            published,
            giving_up,
            publishing,
            context,
            upper,
            evidence,
            awaited: Cell::new(None),
        }
    }

    /// Notes the thing for which a model has let the performer wait.
    pub(crate) fn awaits(&self, awaited: Option<Awaited>) {
        self.awaited.set(awaited);
    }

    /// Returns the thing for which a model has let the performer wait.
    pub(crate) fn awaited(&self) -> Option<Awaited> {
        self.awaited.get()
    }

    /// Sets whether waiters may be linked for this attempt from now on.
    #[inline(always)]
    pub(crate) fn may_publish(&self, may: bool) {
        self.publishing.set(may);
    }

    pub(crate) fn record(&self) -> &'a Record {
        self.record
    }

    /// Returns the attempt of the performer itself, if this is one at a source of a wait set.
    pub(super) fn top(&self) -> &Attempt<'_> {
        self.upper.map_or(self, Attempt::top)
    }

    /// Returns `true` if it is our record, the record of a set of which we are a source, or the
    /// record of another source of that set.
    pub(crate) fn is_own(&self, other: &Record) -> bool {
        std::ptr::eq(self.record, other)
            || self.upper.is_some_and(|upper| Seat::are_neighbours(self.record, other) || upper.is_own(other))
    }

    /// Returns the evidence of a look at the branches.
    #[inline(always)]
    #[doc(hidden)]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Returns `true` if it is the attempt of a poll.
    pub(crate) fn is_fleeting(&self) -> bool {
        self.top().record.fleeting
    }

    /// Returns `true` if the attempt might commit with this record, which is linked in a queue
    /// whose lock the caller holds. Returns `false` for its own record.
    pub(crate) fn may_meet(&self, other: &Record) -> bool {
        !self.is_own(other) && other.is_there_for(self.top().record())
    }

    /// Returns the time at which the performance began, in nanoseconds of the context's clock. For
    /// timers that is the time at which the first of them asked.
    pub(crate) fn began(&self) -> u64 {
        let began = &self.record.began;
        if began.get() == 0 {
            began.set(self.context.now_to_arm());
        }
        began.get()
    }

    /// Returns the time at which the performance began, if a timer has asked before.
    #[inline]
    pub(crate) fn has_begun(&self) -> Option<u64> {
        Some(self.record.began.get()).filter(|&began| began != 0)
    }

    /// Returns a random number, for fair choices.
    #[inline]
    pub(crate) fn random(&self) -> u64 {
        #[cfg(not(lisle_loom))]
        if let Some(parker) = crate::event::performer::parker::running() {
            return parker.random();
        }
        self.context.random()
    }

    /// Returns a random order of this many alternatives, or an order that a model has chosen.
    #[inline]
    pub(crate) fn order(&self, count: usize) -> usize {
        // An order begins with the number above its lowest 20 bits, and goes on in steps of one if
        // these are zero.
        if count > 1
            && let Some(first) = crate::event::in_model().and_then(|context| context.way(count))
        {
            return first << 20;
        }
        self.random() as usize
    }

    /// Returns the context in which the event is performed. It is not for users: an event that
    /// parked would consume a wake that is not its own.
    pub(crate) fn context(&self) -> &'a dyn PerformerContext {
        self.context
    }

    /// Returns `true` if the performer cannot be forgotten: whatever safe code does, the attempt is
    /// withdrawn before the memory that the event borrows is moved or freed. A source of a wait set
    /// can be forgotten.
    pub(crate) fn is_rooted(&self) -> bool {
        self.upper.is_none() && self.context.is_rooted()
    }

    /// Notes that partners can see the record through one more waiter from now on.
    #[inline]
    pub(crate) fn published(&self) {
        if !self.publishing.get() {
            misuse("it publishes a branch in another step than `publish`");
        }
        self.record.link();
        self.published.set(true);
    }

    /// Publishes the attempt with `timer`, which `arm` arms. If there is no thread to fire it, `arm`
    /// panics, and nothing is published.
    pub(crate) fn publish_timer(&self, timer: &Timer, arm: impl FnOnce(NonNull<Timer>)) {
        struct Undo<'a, 'b>(&'a Attempt<'b>, &'a Timer);
        impl Drop for Undo<'_, '_> {
            fn drop(&mut self) {
                // It has not been armed.
                self.0.take_back_timer(self.1, || ());
            }
        }
        timer.record.set(self.record());
        self.published();
        let undo = Undo(self, timer);
        arm(NonNull::from(timer));
        std::mem::forget(undo);
    }

    /// Takes back `timer`, if it has been published, by calling `disarm`.
    pub(crate) fn take_back_timer(&self, timer: &Timer, disarm: impl FnOnce()) {
        let record = timer.record.get();
        if record.is_null() {
            return;
        }
        if !std::ptr::eq(record, self.record()) {
            misuse("it withdraws a timer in another performance than it has published it in");
        }
        // A performer that gives up a single event withdraws it, and no more. That came before the
        // timer's step.
        if is_running() && self.record().is_single() && self.record().is_withdrawn() {
            let state = self.record().state_address();
            touched(state, Touch::Write);
        }
        disarm();
        timer.record.set(std::ptr::null());
        self.record().unlink();
    }

    /// Resets the record; the attempt starts over.
    pub(crate) fn restart(&self) {
        if self.record.outstanding.get() != 0 {
            misuse("its `withdraw` does not take back every branch that its `publish` has published");
        }
        self.record.reset();
        self.evidence.forget();
        self.published.set(false);
        self.giving_up.set(false);
        if is_running() {
            self.awaits(None);
        }
    }

    /// Called when an event says that it has committed. Ends the process if partners could see the
    /// attempt and it has not committed.
    #[inline]
    pub(crate) fn check_committed(&self) {
        if self.published.get() && self.record.state.load(Ordering::Relaxed) != BY_SELF {
            misuse("it claims a commit that its attempt has not made");
        }
    }

    pub(crate) fn give_up(&self) {
        self.giving_up.set(true);
    }

    /// Returns `true` if the attempt is being withdrawn before the wake that a commit may have sent
    /// was consumed. Then the committer may still be using a branch that has won.
    #[inline]
    pub(crate) fn is_giving_up(&self) -> bool {
        self.giving_up.get()
    }

    /// Returns `true` if a partner has already committed this attempt. Then it is useless to
    /// publish more branches.
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

    /// Withdraws an attempt whose committer agrees to forget it, under a lock that both sides take.
    pub(crate) fn detach(&self) {
        self.record.detach();
        if let Some(upper) = self.upper {
            upper.detach();
        }
    }

    /// Runs `operation` with this attempt claimed; no partner can commit it meanwhile. If
    /// `operation` returns `Some`, the attempt is committed; `None` leaves it waiting. Returns
    /// `Err` if a partner was faster; then `operation` did not run.
    #[doc(hidden)]
    pub fn commit_if<R>(&self, operation: impl FnOnce() -> Option<R>) -> Result<Option<R>, ()> {
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
        /// Restores the record, also if the operation panics.
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

    /// Returns the step of an unpublished event that is ready and stays ready. It comes after the
    /// events that were not ready a moment ago, unless it is certain that they still are not.
    pub(crate) fn at_last(&self) -> Step {
        if self.evidence.is_to_come_last() { Step::Waiting } else { self.at_once() }
    }

    /// Returns the step of an event that is ready in any case.
    #[doc(hidden)]
    #[inline]
    pub fn at_once(&self) -> Step {
        if self.commit_alone() { Step::Committed } else { Step::Waiting }
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

    /// Commits with `other` when both records can be seen by others: claims our own first, then
    /// commits the other.
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

impl Record {
    /// Tells the performer to start over. Called under the lock of a queue in which the record is
    /// linked. Returns `Some(true)` if the caller owes the performer a wake, `Some(false)` if the
    /// record was decided elsewhere, and `None` if it stands for `by`, the caller.
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
