//! Turns at a mutex, and taking back the turn of a waiter that does not come.
//!
//! A turn is an offer. A waiter that is told to try may find the lock taken; a waiter for which the
//! lock is reserved finds it free, if it comes in time. Neither owns the lock before it has come. A
//! fiber or a task comes once its domain runs it, which other code may delay, and a future once its
//! executor polls it. So a turn that has lasted for [`LATE`] may be *taken back*: by a performer
//! that finds the lock reserved, and, if there are only waiters, by the clock thread (`late.rs`).
//!
//! A waiter that comes too late finds another number in the word, waits again in front of all
//! others, and is given the next turn. After [`MISSED`] turns in vain the lock is *handed* to it,
//! which cannot be taken back: otherwise a fiber that always comes late might never have it.
//!
//! A performer that waits for several things at once cannot be told to start over, since it would
//! lose its places elsewhere. It is committed when the lock is reserved for it, but its committer
//! keeps its waiter, as the committer of a promise does (`event/README.md`). It takes the lock, and
//! its waiter, when it withdraws from the queue. If the turn is taken back before that, so is the
//! commit, and it starts over after all.

#[cfg(not(lisle_loom))]
use super::late;
use super::raw::{HELD, KEPT, NEXT, QUEUED, RESERVED, RawMutex, TOLD, is_given, number};
use crate::event::protocol::queue::{Committed, Decided, WaitQueue};
use crate::event::protocol::record::{Meeting, Outsider};
use crate::event::protocol::woken::Woken;
use crate::event::waiting::turn;
use crate::event::{PerformerContext, installed, is_modelled};
use crate::shim::atomic::Ordering;
#[cfg(not(lisle_loom))]
use crate::shim::clock;
use std::cell::Cell;

/// For how long, in nanoseconds, the lock goes to the first performer that comes although others
/// wait.
const PATIENCE: u64 = 500_000;

/// The same where a waiter has the turn and has not tried yet: it may take as long until the system
/// runs it. With half of this, 16 threads on two cores that do something else as well locked a
/// quarter less often.
pub(super) const TOLD_PATIENCE: u64 = 2 * PATIENCE;

/// After how long, in nanoseconds, a turn may be taken back. Longer than it takes until the system
/// runs a thread that was woken, with a few more threads than cores.
const LATE: u64 = 4_000_000;

/// How many turns a waiter may miss before the lock is handed to it for good.
const MISSED: u8 = if cfg!(lisle_loom) { 1 } else { 8 };

/// The place where a performer runs that can go on only when others there let it: the address of a
/// variable of its domain's thread.
type Home = usize;

/// The home of several, or of one that may keep the thread that others need.
const ANYWHERE: Home = 0;

/// The data under the queue's lock.
pub(crate) struct Queue {
    pub(super) waiters: WaitQueue<TurnMessages>,
    /// The home of all waiters.
    home: Home,
    /// The time at which the lock was last reserved because it was time.
    reserved: u64,
    /// The time at which the last turn was given.
    given: u64,
    /// The home of the waiter that has the turn, or `None` if that one comes by itself: a thread.
    turn_home: Option<Home>,
    /// The waiter that has the turn, if it is committed already.
    kept: Option<Kept>,
    /// The number of waiters in the queue that are [rooted](TurnMessages::rooted).
    rooted: usize,
    /// The clock thread looks at this mutex. Then a rooted waiter is in the queue.
    pub(super) watched: bool,
}

/// A waiter that is committed, until it comes.
struct Kept(Committed<TurnMessages>);

// SAFETY: it is used under the queue's lock only, as the waiters are.
unsafe impl Send for Kept {}

/// The messages between a waiter and the performers that unlock.
#[derive(Default)]
pub(super) struct TurnMessages {
    /// The waiter has waited before.
    pub(super) waited: bool,
    /// The waiter is a plain thread.
    pub(super) is_thread: bool,
    /// The waiter is in the queue, and its performer cannot be forgotten there: the mutex is not moved
    /// or freed before the waiter has left the queue. A future can be forgotten, and its waiter then
    /// stays in the queue of a mutex that is gone.
    pub(super) rooted: bool,
    /// How many turns it has missed.
    pub(super) missed: u8,
    /// The number of the turn that it was told of and has not used yet.
    pub(super) turn: Option<u32>,
}

/// The steps for when the queue's lock is free: wakes, and a word to the clock thread.
#[derive(Default)]
pub(super) struct Later {
    pub(super) woken: Woken,
    /// The clock thread is to look for late turns.
    looks: Cell<bool>,
}

#[cfg(not(lisle_loom))]
impl Drop for Later {
    #[inline]
    fn drop(&mut self) {
        if self.looks.get() {
            late::look_soon();
        }
    }
}

#[cfg(not(lisle_loom))]
pub(super) fn now() -> u64 {
    clock::now()
}

/// Models have no clock.
#[cfg(lisle_loom)]
pub(super) fn now() -> u64 {
    0
}

/// Whether a model says that time has passed.
#[cfg(lisle_loom)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overdue {
    /// It is always time to reserve the lock, or never.
    pub(crate) reserves: bool,
    /// Each turn is late at once, or none is.
    pub(crate) late: bool,
}

#[cfg(lisle_loom)]
std::thread_local! {
    pub(crate) static OVERDUE: Cell<Overdue> = const { Cell::new(Overdue { reserves: false, late: false }) };
}

impl Queue {
    pub(super) const fn new() -> Self {
        Queue {
            waiters: WaitQueue::new(),
            home: ANYWHERE,
            reserved: 0,
            given: 0,
            turn_home: None,
            kept: None,
            rooted: 0,
            watched: false,
        }
    }

    /// Returns the bit that says whether a performer waits.
    fn queued(&self) -> u32 {
        if self.waiters.is_empty() { 0 } else { QUEUED }
    }

    /// Returns `true` if the lock has not been reserved for `patience`, so that it is time. In a
    /// model it never is time: the schedules in which the waiter tries before all others stand for
    /// reserved locks.
    #[cfg(not(lisle_loom))]
    pub(super) fn is_time(&mut self, now: u64, patience: u64) -> bool {
        if is_modelled() {
            return false;
        }
        let is_time = now.saturating_sub(self.reserved) >= patience;
        if is_time {
            self.reserved = now;
        }
        is_time
    }

    #[cfg(lisle_loom)]
    pub(super) fn is_time(&mut self, _: u64, _: u64) -> bool {
        OVERDUE.get().reserves
    }

    /// Returns `true` if the turn has lasted for too long.
    #[cfg(not(lisle_loom))]
    fn is_late(&self) -> bool {
        now().saturating_sub(self.given) >= LATE
    }

    #[cfg(lisle_loom)]
    fn is_late(&self) -> bool {
        OVERDUE.get().late
    }

    /// Takes the first waiter that can be committed out of the queue. A caller that `borrows` the
    /// mutex also takes out the waiters before it that were committed elsewhere. Another caller leaves
    /// these where they are: a performer whose waiter is free leaves without the queue's lock, and the
    /// mutex may go with it.
    fn next(&mut self, borrows: bool) -> Option<Committed<TurnMessages>> {
        let Queue { waiters, rooted, .. } = self;
        let next = waiters.commit_where(|candidate| {
            let meeting = match candidate.meet(&Outsider) {
                Meeting::Gone if !borrows => Meeting::Own,
                meeting => meeting,
            };
            if let Meeting::Committed | Meeting::Gone = meeting {
                candidate.slot(|messages| *rooted -= usize::from(std::mem::take(&mut messages.rooted)));
            }
            meeting
        });
        next.unwrap_or_else(|Decided| unreachable!("an outsider has no record to be decided"))
    }

    /// Notes that a waiter enters the queue.
    pub(super) fn enters(&mut self, messages: &mut TurnMessages, rooted: bool) {
        messages.rooted = rooted;
        self.rooted += usize::from(rooted);
    }

    /// Notes that a waiter has left the queue by itself.
    pub(super) fn has_left(&mut self, messages: &mut TurnMessages) {
        self.rooted -= usize::from(std::mem::take(&mut messages.rooted));
    }

    /// Notes the home of a performer that is about to wait in `context`.
    fn comes_from(&mut self, home: Home) {
        if self.waiters.is_empty() {
            self.home = home;
        } else if self.home != home {
            self.home = ANYWHERE;
        }
    }
}

/// Returns the home of a performer that waits in `context`. A future is at none: its executor may
/// keep its thread meanwhile.
fn home(context: &dyn PerformerContext) -> Home {
    thread_local! {
        static HERE: u8 = const { 0 };
    }
    let is_fiber = installed().is_some_and(|here| std::ptr::addr_eq(here, context) && here.can_wait());
    if is_fiber { HERE.with(|here| std::ptr::from_ref(here).addr()) } else { ANYWHERE }
}

impl RawMutex {
    /// Gives the turn to the first waiter, if there is one, and releases the lock or keeps it for
    /// that one, as the holder. `is_due` says that the lock is to be kept. For `borrows` see
    /// [`Queue::next`].
    pub(super) fn give(&self, queue: &mut Queue, borrows: bool, is_due: bool, now: u64, woken: &Woken) {
        let Some(mut next) = queue.next(borrows) else {
            let queued = queue.queued();
            self.leave_as(|state| state & !(HELD | QUEUED) | queued);
            return;
        };
        let (missed, is_thread) = next.slot(|messages| (messages.missed, messages.is_thread));
        let is_single = next.is_single();
        let reserves = is_due || !is_single || missed > 0 || queue.is_time(now, PATIENCE);
        let queued = queue.queued();
        if reserves && is_modelled() || missed >= MISSED {
            self.holder.store(0, Ordering::Relaxed);
            self.leave_as(|state| state & !QUEUED | queued);
            woken.push(next.finish());
            return;
        }
        queue.given = now;
        queue.turn_home = (!is_thread).then_some(queue.home);
        let kept = if is_single { 0 } else { KEPT };
        let bits = if reserves { HELD | RESERVED | TOLD } else { TOLD } | kept | queued;
        if reserves {
            self.holder.store(0, Ordering::Relaxed);
        }
        // Nobody else gives a turn meanwhile.
        let turn = number(self.state.load(Ordering::Relaxed)).wrapping_add(NEXT);
        if is_single {
            next.slot(|messages| messages.turn = Some(turn));
            self.leave_as(|_| turn | bits);
            woken.push(next.revoke());
        } else {
            self.leave_as(|_| turn | bits);
            woken.push(next.waker());
            debug_assert!(queue.kept.is_none(), "two waiters have the turn");
            queue.kept = Some(Kept(next));
        }
    }

    /// Changes the word as the holder, under the queue's lock. A waiter with the turn may end it
    /// meanwhile. By an exchange and no store: loom would not put a store after the exchanges of
    /// performers that find the lock held.
    fn leave_as(&self, left: impl Fn(u32) -> u32) {
        let before = self.state.fetch_update(Ordering::Release, Ordering::Relaxed, |state| Some(left(state)));
        if cfg!(any(debug_assertions, lisle_loom)) {
            let held = before.is_ok_and(|state| state & (HELD | RESERVED) == HELD);
            assert!(held, "the lock is held by who leaves it");
        }
    }

    /// Takes a turn back that has been given, if it can: the lock is free, or kept for the one that
    /// has the turn. The caller holds the lock then.
    fn take_back(&self, queue: &mut Queue) -> bool {
        let back = |state| match state & (TOLD | RESERVED | HELD) {
            TOLD => Some((state | HELD) & !TOLD),
            bits if bits & (TOLD | RESERVED) == TOLD | RESERVED => Some(state & !(TOLD | RESERVED | KEPT)),
            _ => None,
        };
        let is_back = self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, back).is_ok();
        if is_back && let Some(Kept(mut kept)) = queue.kept.take() {
            kept.slot(|messages| messages.missed += 1);
            // It has been woken when it was committed.
            let _ = kept.revoke();
        }
        is_back
    }

    /// Takes the lock, as the waiter that is committed and for which it is kept.
    pub(super) fn claim(&self, queue: &mut Queue) {
        if let Some(Kept(kept)) = queue.kept.take() {
            self.state.fetch_and(!(TOLD | RESERVED | KEPT), Ordering::Acquire);
            // It has been woken when it was committed.
            let _ = kept.finish();
        }
    }

    /// Takes the lock if it is kept for another than the performer that was given `turn`, and that one
    /// does not come. Called under the queue's lock.
    pub(super) fn take_late(&self, queue: &mut Queue, turn: Option<u32>) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        let takes =
            state & RESERVED != 0 && !is_given(state, turn) && queue.is_late() && self.take_back(queue);
        if takes {
            // The waiter is woken and not in the queue, so unlocking does not see that it waits.
            turn::took_a_turn();
        }
        takes
    }

    /// Takes the lock if it is kept for one that does not come. Returns `false` otherwise.
    #[inline]
    pub(super) fn take_late_turn(&self) -> bool {
        self.state.load(Ordering::Relaxed) & RESERVED != 0 && self.take_if_late()
    }

    #[cold]
    fn take_if_late(&self) -> bool {
        self.queue.try_lock().is_some_and(|mut queue| self.take_late(&mut queue, None))
    }

    /// Gives the turn to the next if the one that has it is late, for the clock thread. Returns
    /// `false` if there is no need to look again.
    ///
    /// A holder of the queue's lock does this work itself, so the clock thread only tries the lock.
    pub(super) fn see_to_late_turn(&self, woken: &Woken) -> bool {
        let Some(mut queue) = self.queue.try_lock() else { return true };
        let is_given = self.state.load(Ordering::Relaxed) & TOLD != 0;
        if is_given && queue.is_late() && self.take_back(&mut queue) {
            self.give(&mut queue, false, false, now(), woken);
        }
        queue.watched = is_given && queue.rooted > 0;
        queue.watched
    }

    /// Lists the mutex for the clock thread if it must be, before a performer waits in `context`.
    /// The queue's lock is held.
    pub(super) fn watch_before_wait(&self, queue: &mut Queue, context: &dyn PerformerContext, later: &Later) {
        queue.comes_from(home(context));
        self.watch_if(queue, later);
    }

    /// Has the clock thread look at this mutex if one waits beside a turn for which it may be late,
    /// and not if no rooted waiter is there. Called under the queue's lock, before that is let go.
    pub(super) fn watch(&self, queue: &mut Queue, later: &Later) {
        if queue.rooted == 0 {
            self.unwatch(queue);
        } else {
            self.watch_if(queue, later);
        }
    }

    /// Lists the mutex for the clock thread if a waiter is on another domain than the waiter with
    /// the turn. A waiter of the same domain would come no sooner.
    fn watch_if(&self, queue: &mut Queue, later: &Later) {
        let is_elsewhere = queue.turn_home.is_some_and(|home| home == ANYWHERE || home != queue.home);
        let is_told = self.state.load(Ordering::Relaxed) & TOLD != 0;
        if is_elsewhere && queue.rooted > 0 && !queue.watched && is_told && !is_modelled() {
            queue.watched = true;
            later.looks.set(true);
            #[cfg(not(lisle_loom))]
            late::list(self);
        }
    }

    /// The last rooted waiter leaves, and the mutex may go with it.
    fn unwatch(&self, queue: &mut Queue) {
        if std::mem::take(&mut queue.watched) {
            #[cfg(not(lisle_loom))]
            late::unlist(self);
        }
    }
}
