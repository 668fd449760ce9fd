//! A barrier whose parties come and go.

use crate::event::lock::Lock;
use crate::event::queue::{Committed, WaitQueue, Waiter};
use crate::event::record::{Attempt, Committer, Meeting, Outsider, misuse};
use crate::event::woken::Woken;
use crate::event::{Description, Event, Label, Step, awaitable, visible};
use crate::shim::sync::Arc;
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;

/// Where parties wait for each other, round after round.
///
/// Each [`Party`] is enrolled until it is dropped. A round ends when all parties that are enrolled have arrived; then all
/// of them go on, and one, the last that came, is told that it is the leader. A party that resigns is not waited for any
/// more, which may end the round; one that enrols during a round is waited for in that round.
///
/// # What an arrival is
///
/// Arriving is an event, and it happens when the round ends, for all parties in the same instant. A party that gives up
/// before that (it loses a choice, is unwound, its future is dropped) has not arrived, and the others wait for
/// it to come again. A party in several performances at once has arrived if one of them waits; all of them go on.
/// A future that is dropped after the round has ended, before it was polled again, has arrived.
///
/// A choice becomes one of its alternatives, so one that has two parties of a barrier in it never ends a round; with
/// others waiting, it may keep a core busy trying.
///
/// # The function of the round
///
/// A barrier made by [`with`](Barrier::with) has the leader run a function at the end of each round, before anybody goes
/// on. It runs under no lock, and may block; the round has ended for the others, but they wait for it. If it panics, or its
/// fiber is unwound, the round has not ended: the others wait on, and the leader has to come again.
///
/// # Cost
///
/// An arrival costs a short lock, the end of a round one step and one wake a party, and one allocation at most.
///
/// Enrolling is from Concurrent ML's barrier and Java's `Phaser`, the leader from `std`'s.
///
/// ```
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
    /// How many rounds have ended.
    round: u64,
    /// Is a leader running the function of the round, or about to?
    running: bool,
    /// Those that go on when it has.
    held: Held,
    queue: WaitQueue<Slot>,
}

/// Performers that have been committed and not been told.
struct Held(Vec<Committed<Slot>>);

// SAFETY: they are the queue's, and like its waiters they are touched under the lock only.
unsafe impl Send for Held {}

#[derive(Debug)]
struct Slot {
    party: usize,
    /// Does it count as an arrival of its party?
    arrived: bool,
    /// The round has ended, and the performer has not been told.
    passed: Option<Round>,
}

/// The end of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    number: u64,
    leader: bool,
}

impl Round {
    /// How many rounds had ended before.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Is this the one party of the round that leads? The last that came, as a rule.
    pub fn is_leader(&self) -> bool {
        self.leader
    }
}

/// Who is enrolled, and who of them is there.
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
    /// How many of its performances wait.
    waiting: usize,
    /// The last gathering in which it was met.
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

    /// Is everybody there, if `own` is?
    fn are_complete(&self, own: Option<usize>) -> bool {
        let come = own.is_some_and(|own| self.all[own].waiting == 0);
        self.enrolled > 0 && self.present + usize::from(come) == self.enrolled
    }

    /// Has the party not been met in this gathering? From now on it has.
    fn meet(&mut self, party: usize) -> bool {
        std::mem::replace(&mut self.all[party].met, self.gathering) != self.gathering
    }
}

/// A party whose performer asks, and its attempt.
type Own<'a> = Option<(usize, &'a Attempt<'a>)>;

impl Inner {
    /// Ends the round if everybody is there. `own` is a party whose performer asks, and waits in no queue: the leader.
    ///
    /// Performers are committed one after the other, and not told. If one has gone elsewhere just now, the others start
    /// over. Nobody is claimed meanwhile, so whoever has to be waited for waits for nobody.
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
            // Who gathers does not gather itself. Those who have gone elsewhere are not there.
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
        // The others first: whoever waits for them must not be claimed, and is not needed if they are not all there.
        if come < self.parties.enrolled || own.is_some_and(|(_, attempt)| !attempt.commit_alone()) {
            self.revoke(woken);
            return None;
        }
        let round = Round { number: self.round, leader: true };
        if own.is_none() {
            let mut last = self.held.0.pop().expect("those who are there have been gathered");
            last.slot(|slot| slot.passed = Some(round));
            woken.push(last.finish());
        }
        self.running = true;
        if !function {
            self.release(woken);
        }
        Some(round)
    }

    /// Lets those go on who are held: the round has ended.
    fn release(&mut self, woken: &mut Woken) {
        let round = Round { number: self.round, leader: false };
        for mut partner in self.held.0.drain(..) {
            partner.slot(|slot| slot.passed = Some(round));
            woken.push(partner.finish());
        }
        self.round += 1;
        self.running = false;
    }

    /// Has those who are held start over: the round has not ended.
    fn revoke(&mut self, woken: &mut Woken) {
        for partner in self.held.0.drain(..) {
            woken.push(partner.revoke());
        }
        self.running = false;
    }
}

impl Shared {
    fn with<R>(&self, change: impl FnOnce(&mut Inner, &mut Woken) -> R) -> R {
        // Declared before the guard, so that the wakes come when the lock is free.
        let mut woken = Woken::default();
        let mut inner = self.inner.lock();
        change(&mut inner, &mut woken)
    }

    fn end_round(&self, inner: &mut Inner, own: Own<'_>, woken: &mut Woken) -> Option<Round> {
        inner.end_round(own, self.function.is_some(), woken)
    }

    /// The leader runs the function, if there is one, and lets the others go on.
    fn lead(&self, round: u64) {
        /// The leader that has not led: it panics, or was dropped.
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
            // Others may have arrived meanwhile, or resigned.
            self.end_round(inner, None, woken);
        });
    }
}

impl Barrier {
    /// A barrier with nobody enrolled.
    #[track_caller]
    pub fn new() -> Self {
        Barrier::make(Label::new("barrier"), None)
    }

    /// A barrier with nobody enrolled, at which the leader runs `function` at the end of each round, see
    /// [above](Barrier#the-function-of-the-round). It is given the number of rounds that had ended before.
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

    /// Enrols a party, which is waited for from now on, until it is dropped.
    pub fn enrol(&self) -> Party {
        visible();
        let index = self.shared.with(|inner, _| inner.parties.enrol());
        Party { shared: self.shared.clone(), index }
    }

    /// How many parties are enrolled.
    pub fn parties(&self) -> usize {
        self.shared.with(|inner, _| inner.parties.enrolled)
    }

    /// How many parties have arrived and wait for the others.
    pub fn arrived(&self) -> usize {
        self.shared.with(|inner, _| inner.parties.present)
    }
}

impl Default for Barrier {
    fn default() -> Self {
        Barrier::new()
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").field("parties", &self.parties()).field("arrived", &self.arrived()).finish()
    }
}

/// One of those who meet at a [`Barrier`]. Dropping it is resigning.
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
    /// If this is the leader, and the function of the round panics.
    pub fn wait(&self) -> Round {
        self.wait_evt().sync()
    }

    /// The event of the round ending, in which this party has arrived.
    ///
    /// A poll succeeds if all others are there.
    ///
    /// ```
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
    /// assert_eq!(barrier.arrived(), 0); // it has gone again
    /// drop(other); // resigns
    /// assert!(in_time.sync());
    /// ```
    pub fn wait_evt(&self) -> BarrierEvt<'_> {
        BarrierEvt { party: self }
    }
}

impl Drop for Party {
    fn drop(&mut self) {
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

/// The event of a round of a [`Barrier`] ending, see [`Party::wait_evt`].
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
    /// Ends the round, if everybody else is there.
    fn try_commit(&self, inner: &mut Inner, attempt: &Attempt<'_>, woken: &mut Woken) -> Step {
        // SAFETY: the lock is held.
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
            // SAFETY: not linked, since not published, as the caller has seen; pinned; not let go before `withdraw` has
            // unlinked it. `is_single` tells of one branch only.
            unsafe { inner.queue.push(&self.waiter, attempt) };
            // SAFETY: the lock is held.
            unsafe { self.waiter.slot_mut(|slot| inner.parties.arrive(slot)) };
        }
        Step::Waiting
    }

    fn withdraw(&self, attempt: &Attempt<'_>) -> bool {
        if self.waiter.is_published() {
            self.shared.with(|inner, _| {
                // SAFETY: it was linked into this queue, and is alive.
                unsafe { inner.queue.unlink(NonNull::from(&self.waiter)) };
                // SAFETY: the lock is held.
                unsafe { self.waiter.slot_mut(|slot| inner.parties.leave(slot)) };
                if self.waiter.is_held() {
                    self.let_go(inner, attempt);
                }
            });
        }
        self.waiter.taken_back(attempt);
        attempt.record().won_by(self.waiter.id())
    }

    /// Gives up although the round has ended, but for its function.
    fn let_go(&self, inner: &mut Inner, attempt: &Attempt<'_>) {
        if !attempt.is_giving_up() {
            misuse("it withdraws a branch before it is decided");
        }
        // SAFETY: the lock is held.
        let own = unsafe { self.waiter.slot_mut(std::ptr::from_mut) };
        let held = &mut inner.held.0;
        let index = held.iter_mut().position(|partner| partner.slot(|slot| std::ptr::eq(slot, own)));
        let partner = held.swap_remove(index.expect("who is held is in the list"));
        attempt.detach();
        partner.finish(); // its waker is not woken: it does not wait for that
    }

    /// The round that has ended, for a performer that has not been told. From now on it has.
    fn tell(&self) -> Option<Round> {
        self.waiter.must_not_be_published();
        // SAFETY: not published, as just seen, hence free.
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
    type Branch<'e>
        = Arriving<'e>
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        true
    }
    fn branch(&self) -> Self::Branch<'_> {
        let slot = Slot { party: self.party.index, arrived: false, passed: None };
        Arriving { shared: &self.party.shared, waiter: Waiter::new(slot) }
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.waiter.must_not_be_published();
        branch.shared.with(|inner, woken| branch.try_commit(inner, attempt, woken))
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        branch.waiter.must_not_be_published();
        branch.shared.with(|inner, woken| branch.publish(inner, attempt, woken))
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        branch.withdraw(attempt)
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

awaitable!(['a] BarrierEvt<'a>);
