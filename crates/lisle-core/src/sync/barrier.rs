//! A barrier whose parties come and go.

use crate::event::lock::Lock;
use crate::event::protocol::queue::{Committed, WaitQueue, Waiter};
use crate::event::protocol::record::{Attempt, Committer, Meeting, Outsider, misuse};
use crate::event::protocol::woken::Woken;
use crate::event::{Description, Event, Label, Step, awaitable, declare_made, single, visible_doing};
use crate::shim::sync::Arc;
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

/// A barrier at which parties wait for each other, round after round.
///
/// Each [`Party`] is enrolled until it is dropped. A round ends when all enrolled parties have
/// arrived. Then all of them continue, and one, the last that came, is told that it is the leader.
/// A party that resigns is not waited for any more, which may end the round. A party that enrols
/// during a round is waited for in that round.
///
/// # Arrivals
///
/// Arriving is an event, and it happens when the round ends, for all parties in the same instant. A
/// party that gives up before that (it loses a choice, is unwound, or its future is dropped) has
/// not arrived, and the others wait for it to come again. A party with several performances at once
/// has arrived if one of them waits; all of them continue. A future that is dropped after the round
/// has ended, but before it was polled again, has arrived.
///
/// A choice becomes one of its alternatives, so a choice that contains two parties of a barrier
/// never ends a round. While others wait, it may keep a core busy with attempts.
///
/// # The function of the round
///
/// A barrier made by [`with`](Barrier::with) has the leader run a function at the end of each
/// round, before any party continues. The function runs under no lock and may block. The round has
/// ended for the other parties, but they wait for the function. If it panics, or its fiber is
/// unwound, the round has not ended: the others continue to wait, and the leader has to come again.
///
/// # Cost
///
/// An arrival costs a short lock. The end of a round costs one step and one wake for each party,
/// and at most one allocation.
///
/// Enrolling is from Concurrent ML's barrier and Java's `Phaser`, the leader from `std`'s barrier.
///
/// ```
/// # use lisle_core as lisle;
/// use lisle::sync::Barrier;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// let barrier = Barrier::new();
/// let count = AtomicU32::new(0);
/// let parties = [0; 3].map(|_| barrier.enrol());
/// std::thread::scope(|scope| {
///     for party in parties {
///         let count = &count;
///         scope.spawn(move || {
///             count.fetch_add(1, Ordering::Relaxed);
///             party.wait();
///             assert_eq!(count.load(Ordering::Relaxed), 3);
///         });
///     }
/// });
/// ```
#[derive(Clone)]
pub struct Barrier {
    shared: Arc<Shared>,
}

struct Shared {
    inner: Lock<Inner>,
    function: Option<Box<dyn Fn(u64) + Send + Sync>>,
    label: Label,
}

struct Inner {
    parties: Parties,
    /// The number of rounds that have ended.
    round: u64,
    /// `true` if a leader is running the function of the round or is about to.
    running: bool,
    /// The performers that continue after the function.
    held: Held,
    queue: WaitQueue<Slot>,
}

/// Performers that have been committed and not yet woken.
struct Held(Vec<Committed<Slot>>);

// SAFETY: the entries belong to the queue and, like its waiters, are accessed under the lock only.
unsafe impl Send for Held {}

#[derive(Debug)]
struct Slot {
    party: usize,
    /// `true` if the waiter counts as an arrival of its party.
    arrived: bool,
    /// The round that has ended, until the performer takes it.
    passed: Option<Round>,
}

/// The end of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    number: u64,
    leader: bool,
}

impl Round {
    /// Returns how many rounds had ended before this one.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns `true` for the one party of the round that is the leader, which is usually the last
    /// that came.
    pub fn is_leader(&self) -> bool {
        self.leader
    }
}

/// The parties that are enrolled, and which of them have arrived.
struct Parties {
    all: Vec<PartyState>,
    free: Vec<usize>,
    enrolled: usize,
    present: usize,
    /// The number of the last gathering.
    gathering: u64,
}

#[derive(Clone, Copy, Default)]
struct PartyState {
    /// The number of the party's performances that wait.
    waiting: usize,
    /// The last gathering in which the party was counted.
    met: u64,
}

impl Parties {
    fn enrol(&mut self) -> usize {
        self.enrolled += 1;
        self.free.pop().unwrap_or_else(|| {
            self.all.push(PartyState::default());
            self.all.len() - 1
        })
    }

    fn resign(&mut self, party: usize) {
        self.enrolled -= 1;
        self.free.push(party);
    }

    fn arrive(&mut self, slot: &mut Slot) {
        slot.arrived = true;
        let waiting = &mut self.all[slot.party].waiting;
        *waiting += 1;
        self.present += usize::from(*waiting == 1);
    }

    fn leave(&mut self, slot: &mut Slot) {
        if std::mem::take(&mut slot.arrived) {
            let waiting = &mut self.all[slot.party].waiting;
            *waiting -= 1;
            self.present -= usize::from(*waiting == 0);
        }
    }

    /// Returns `true` if all parties have arrived, where the party `own` counts as arrived.
    fn are_complete(&self, own: Option<usize>) -> bool {
        let come = own.is_some_and(|own| self.all[own].waiting == 0);
        self.enrolled > 0 && self.present + usize::from(come) == self.enrolled
    }

    /// Counts the party for this gathering. Returns `true` if it had not been counted yet.
    fn meet(&mut self, party: usize) -> bool {
        std::mem::replace(&mut self.all[party].met, self.gathering) != self.gathering
    }
}

/// A party whose performer tries to end the round, and its attempt.
type Own<'a> = Option<(usize, &'a Attempt<'a>)>;

impl Inner {
    /// Ends the round if all parties have arrived. `own` is a party whose performer makes the
    /// attempt and waits in no queue: the leader.
    ///
    /// Performers are committed one after the other, and not yet woken. If one of them has just
    /// been committed elsewhere, the others start over. No performer is claimed meanwhile, so a
    /// performer that has to be waited for waits for no other.
    fn end_round(&mut self, own: Own<'_>, function: bool, woken: &mut Woken) -> Option<Round> {
        if self.running || !self.parties.are_complete(own.map(|(party, _)| party)) {
            return None;
        }
        self.parties.gathering += 1;
        let mut come = 0;
        if let Some((party, _)) = own {
            self.parties.meet(party);
            come += 1;
        }
        let parties = &mut self.parties;
        loop {
            // The performer that gathers does not gather itself. Performers that were committed
            // elsewhere do not count.
            let partner = self.queue.commit_where(|candidate| {
                if own.is_some_and(|(_, attempt)| attempt.is_own(candidate.record())) {
                    return Meeting::Own;
                }
                let meeting = candidate.meet(&Outsider);
                if meeting == Meeting::Gone {
                    candidate.slot(|slot| parties.leave(slot));
                }
                meeting
            });
            let Ok(Some(mut partner)) = partner else { break };
            come += partner.slot(|slot| {
                parties.leave(slot);
                usize::from(parties.meet(slot.party))
            });
            self.held.0.push(partner);
        }
        // The others are committed first: a performer that waits for them must not be claimed, and
        // it need not be claimed if not all of them are there.
        if come < self.parties.enrolled || own.is_some_and(|(_, attempt)| !attempt.commit_alone()) {
            self.revoke(woken);
            return None;
        }
        let round = Round { number: self.round, leader: true };
        if own.is_none() {
            let mut last = self.held.0.pop().expect("the parties that have arrived are held");
            last.slot(|slot| slot.passed = Some(round));
            woken.push(last.finish());
        }
        self.running = true;
        if !function {
            self.release(woken);
        }
        Some(round)
    }

    /// Ends the round and wakes the performers that are held.
    fn release(&mut self, woken: &mut Woken) {
        let round = Round { number: self.round, leader: false };
        for mut partner in self.held.0.drain(..) {
            partner.slot(|slot| slot.passed = Some(round));
            woken.push(partner.finish());
        }
        self.round += 1;
        self.running = false;
    }

    /// Makes the performers that are held start over, since the round has not ended.
    fn revoke(&mut self, woken: &mut Woken) {
        for partner in self.held.0.drain(..) {
            woken.push(partner.revoke());
        }
        self.running = false;
    }
}

impl Shared {
    fn with<R>(&self, change: impl FnOnce(&mut Inner, &mut Woken) -> R) -> R {
        // Declared before the guard, so it is dropped after it: the wakes come when the lock is
        // free.
        let mut woken = Woken::default();
        declare_made(&self.label, self);
        let mut inner = self.inner.lock();
        change(&mut inner, &mut woken)
    }

    fn end_round(&self, inner: &mut Inner, own: Own<'_>, woken: &mut Woken) -> Option<Round> {
        inner.end_round(own, self.function.is_some(), woken)
    }

    /// Runs the function, if there is one, and then lets the others continue. Called by the leader.
    fn lead(&self, round: u64) {
        /// Revokes the round when it is dropped: the function has panicked or was unwound.
        struct Unled<'a>(&'a Shared);
        impl Drop for Unled<'_> {
            fn drop(&mut self) {
                self.0.with(Inner::revoke);
            }
        }
        let Some(function) = &self.function else { return };
        let unled = Unled(self);
        function(round);
        std::mem::forget(unled);
        self.with(|inner, woken| {
            inner.release(woken);
            // Others may have arrived or resigned meanwhile.
            self.end_round(inner, None, woken);
        });
    }
}

impl Barrier {
    /// Creates a barrier without parties.
    #[track_caller]
    pub fn new() -> Self {
        Barrier::make(Label::new("barrier"), None)
    }

    /// Creates a barrier without parties at which the leader runs `function` at the end of each
    /// round, see [above](Barrier#the-function-of-the-round). The argument of `function` is the
    /// number of rounds that had ended before.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Barrier;
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    ///
    /// static ROUNDS: AtomicU64 = AtomicU64::new(0);
    /// let barrier = Barrier::with(|round| assert_eq!(ROUNDS.fetch_add(1, Relaxed), round));
    /// let parties = [0; 3].map(|_| barrier.enrol());
    /// std::thread::scope(|scope| {
    ///     for party in parties {
    ///         scope.spawn(move || {
    ///             party.wait();
    ///             assert_eq!(ROUNDS.load(Relaxed), 1); // one of the three has run the function
    ///         });
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn with(function: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Barrier::make(Label::new("barrier"), Some(Box::new(function)))
    }

    fn make(label: Label, function: Option<Box<dyn Fn(u64) + Send + Sync>>) -> Self {
        let parties = Parties { all: Vec::new(), free: Vec::new(), enrolled: 0, present: 0, gathering: 0 };
        let held = Held(Vec::new());
        let inner = Inner { parties, round: 0, running: false, held, queue: WaitQueue::new() };
        Barrier { shared: Arc::new(Shared { inner: Lock::new(inner), function, label }) }
    }

    /// Enrols a party. The barrier waits for it from now on, until it is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, sync::Barrier};
    ///
    /// let barrier = Barrier::new();
    /// let one = barrier.enrol();
    /// one.wait(); // there is no other party
    /// let other = barrier.enrol();
    /// assert!(one.wait_evt().poll().is_none());
    /// drop(other); // resigns
    /// assert_eq!(one.wait().number(), 1);
    /// ```
    pub fn enrol(&self) -> Party {
        visible_doing("enrol at", &self.shared.label, &*self.shared);
        let index = self.shared.with(|inner, _| inner.parties.enrol());
        Party { shared: self.shared.clone(), index }
    }

    /// Returns how many parties are enrolled.
    pub fn parties(&self) -> usize {
        visible_doing("look at", &self.shared.label, &*self.shared);
        self.shared.with(|inner, _| inner.parties.enrolled)
    }

    /// Returns how many parties have arrived and wait for the others.
    pub fn arrived(&self) -> usize {
        visible_doing("look at", &self.shared.label, &*self.shared);
        self.shared.with(|inner, _| inner.parties.present)
    }
}

impl Default for Barrier {
    #[track_caller]
    fn default() -> Self {
        Barrier::new()
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").field("parties", &self.parties()).field("arrived", &self.arrived()).finish()
    }
}

/// A party that meets others at a [`Barrier`]. Dropping it resigns.
#[must_use = "a party that is dropped has resigned"]
pub struct Party {
    shared: Arc<Shared>,
    index: usize,
}

impl Party {
    /// Arrives, and waits for the others as [`Event::sync`] does.
    ///
    /// # Panics
    ///
    /// Panics if this party is the leader and the function of the round panics.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::sync::Barrier;
    ///
    /// let barrier = Barrier::new();
    /// let (one, other) = (barrier.enrol(), barrier.enrol());
    /// std::thread::scope(|scope| {
    ///     let other = scope.spawn(move || other.wait());
    ///     let (one, other) = (one.wait(), other.join().unwrap());
    ///     assert_eq!((one.number(), other.number()), (0, 0));
    ///     assert_ne!(one.is_leader(), other.is_leader()); // one of them leads
    /// });
    /// ```
    pub fn wait(&self) -> Round {
        self.wait_evt().sync()
    }

    /// Returns the event of the end of the round in which this party has arrived.
    ///
    /// A poll succeeds if all other parties have arrived.
    ///
    /// ```
    /// # use lisle_core as lisle;
    /// use lisle::{Event, choose, sync::Barrier, time::after};
    /// use std::time::Duration;
    ///
    /// let barrier = Barrier::new();
    /// let (one, other) = (barrier.enrol(), barrier.enrol());
    /// let in_time = choose((
    ///     one.wait_evt().wrap(|_| true),
    ///     after(Duration::from_millis(1)).wrap(|()| false),
    /// ));
    /// assert!(!in_time.sync());
    /// assert_eq!(barrier.arrived(), 0); // the party has withdrawn
    /// drop(other); // resigns
    /// assert!(in_time.sync());
    /// ```
    pub fn wait_evt(&self) -> BarrierEvt<'_> {
        BarrierEvt { party: self }
    }
}

impl Drop for Party {
    fn drop(&mut self) {
        visible_doing("resign from", &self.shared.label, &*self.shared);
        self.shared.with(|inner, woken| {
            inner.parties.resign(self.index);
            self.shared.end_round(inner, None, woken);
        });
    }
}

impl fmt::Debug for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Party").field(&self.index).finish()
    }
}

/// The event of a round of a [`Barrier`] ending. See [`Party::wait_evt`].
#[must_use = "events do nothing unless performed"]
#[derive(Debug, Clone, Copy)]
pub struct BarrierEvt<'a> {
    party: &'a Party,
}

/// The branch of a [`BarrierEvt`].
pub struct Arriving<'e> {
    shared: &'e Shared,
    waiter: Waiter<Slot>,
}

impl Arriving<'_> {
    /// Ends the round if all other parties have arrived.
    fn try_commit(&self, inner: &mut Inner, attempt: &Attempt<'_>, woken: &mut Woken) -> Step {
        // SAFETY: this thread holds the lock.
        let party = unsafe { self.waiter.slot_mut(|slot| slot.party) };
        match self.shared.end_round(inner, Some((party, attempt)), woken) {
            Some(round) => {
                // SAFETY: as above.
                unsafe { self.waiter.slot_mut(|slot| slot.passed = Some(round)) };
                Step::Committed
            }
            None => Step::Waiting,
        }
    }

    fn publish(&self, inner: &mut Inner, attempt: &Attempt<'_>, woken: &mut Woken) -> Step {
        if self.try_commit(inner, attempt, woken) == Step::Committed {
            return Step::Committed;
        }
        if !attempt.is_decided() {
            // SAFETY: the waiter is not linked, since it is not published, as the caller has
            // checked. It is pinned, and it is not freed before `withdraw` has unlinked it.
            // `is_single` guarantees that there is only one branch.
            unsafe { inner.queue.push(&self.waiter, attempt) };
            // SAFETY: this thread holds the lock.
            unsafe { self.waiter.slot_mut(|slot| inner.parties.arrive(slot)) };
        }
        Step::Waiting
    }

    fn withdraw(&self, attempt: &Attempt<'_>) -> bool {
        if self.waiter.is_published() {
            self.shared.with(|inner, _| {
                // SAFETY: the waiter is alive and was linked into this queue.
                unsafe { inner.queue.unlink(NonNull::from(&self.waiter)) };
                // SAFETY: this thread holds the lock.
                unsafe { self.waiter.slot_mut(|slot| inner.parties.leave(slot)) };
                if self.waiter.is_held() {
                    self.let_go(inner, attempt);
                }
            });
        }
        self.waiter.taken_back(attempt);
        attempt.record().won_by(self.waiter.id())
    }

    /// Gives up although the round has ended, except for its function.
    fn let_go(&self, inner: &mut Inner, attempt: &Attempt<'_>) {
        if !attempt.is_giving_up() {
            misuse("it withdraws a branch before it is decided");
        }
        // SAFETY: this thread holds the lock.
        let own = unsafe { self.waiter.slot_mut(std::ptr::from_mut) };
        let held = &mut inner.held.0;
        let index = held.iter_mut().position(|partner| partner.slot(|slot| std::ptr::eq(slot, own)));
        let partner = held.swap_remove(index.expect("a held party is in the list"));
        attempt.detach();
        partner.finish(); // the waker is not woken: this performer does not wait for it
    }

    /// Takes the round that has ended, which the performer has not seen yet.
    fn tell(&self) -> Option<Round> {
        self.waiter.must_not_be_published();
        // SAFETY: the waiter is not published, as checked above, so it is free and only the
        // performer accesses its slot.
        unsafe { self.waiter.slot_mut(|slot| slot.passed.take()) }
    }
}

impl Drop for Arriving<'_> {
    fn drop(&mut self) {
        let unled = self.tell().is_some_and(|round| round.leader);
        if unled && self.shared.function.is_some() {
            self.shared.with(Inner::revoke);
        }
    }
}

impl Event for BarrierEvt<'_> {
    type Output = Round;
    single! { |this, branch: Arriving<'e>, attempt|
        branch: {
            let slot = Slot { party: this.party.index, arrived: false, passed: None };
            Arriving { shared: &this.party.shared, waiter: Waiter::new(slot) }
        },
        try_commit: {
            branch.waiter.must_not_be_published();
            branch.shared.with(|inner, woken| branch.try_commit(inner, attempt, woken))
        },
        publish: {
            branch.waiter.must_not_be_published();
            branch.shared.with(|inner, woken| branch.publish(inner, attempt, woken))
        },
        withdraw: branch.withdraw(attempt)
    }

    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Round {
        let round = branch.tell().expect("`complete` on a branch that has not won");
        if round.leader {
            branch.shared.lead(round.number);
        }
        round
    }
    fn describe<'e>(&'e self, _: &Self::Branch<'e>, waits: &mut Description) {
        let shared = &self.party.shared;
        waits.on("wait at", &shared.label, std::ptr::from_ref::<Shared>(shared) as usize);
    }
}

impl fmt::Debug for Arriving<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arriving").field("published", &self.waiter.is_published()).finish_non_exhaustive()
    }
}

awaitable!(['a] BarrierEvt<'a>, single);
