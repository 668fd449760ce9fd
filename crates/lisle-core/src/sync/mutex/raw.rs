//! The lock of a mutex, without the value that it protects: it decides which performer may have it
//! next.
//!
//! One word says whether the lock is held, whether a performer waits, and whether a waiter has been
//! told to try again. Locking sets a bit, and unlocking takes it away, with one locked instruction
//! each, whatever the other bits are.
//!
//! Suppose that an unlocking thread finds that a performer waits, and that no waiter has the turn.
//! It takes the lock once more for a moment, unless another thread has taken it meanwhile: then
//! that thread has the same to do. It gives the *turn* to the first waiter (`turns.rs`). Usually it
//! *tells* the waiter to try, and releases the lock. Any running performer may take the lock
//! meanwhile, so the lock is not idle for as long as a wake takes. One waiter at a time has the
//! turn (`TOLD`), and until it has tried, no other is told. It tries for a while, as it did before
//! it waited (`contended.rs`). If it finds the lock taken it waits again, in front of the others.
//! If the lock has not been kept for a waiter for [`PATIENCE`], it is *reserved* for the first one:
//! no other performer may take it, unless the waiter with the turn does not come. The lock is
//! always reserved for a performer that also waits for other things, since it would lose its places
//! there if it were told. With more threads than cores a told waiter may need milliseconds to get a
//! core; so if others wait beside it, the lock is reserved for one of them after [`TOLD_PATIENCE`].
//!
//! The time is the mutex's and not the waiter's. With more threads than cores all waiters have
//! waited for long. If the lock were kept for each of them, every unlocking would switch to another
//! thread: with 8 threads on two busy cores that left a fourth of the throughput.
//!
//! A fiber that locks again and again, and never waits, keeps a fiber of its domain that was told
//! from trying. So unlocking while others wait is counted, and after some 128 times the fiber gives
//! way when it locks next, and so does a task (`event/waiting/turn.rs`).
//!
//! If a performer leaves while it has the turn, dropping its branch passes this on.
//!
//! The states:
//!
//! | `HELD` | `QUEUED` | `TOLD` | `RESERVED` | |
//! |---|---|---|---|---|
//! | | | | | free |
//! | x | | | | held; unlocking is one instruction |
//! | x | x | | | held; unlocking then gives the turn |
//! | ? | ? | x | | a waiter is about to try; unlocking only unlocks, or gives the turn to the next |
//! | x | ? | x | x | nobody holds it; it is kept for the waiter that has the turn |
//! | | x | | | only while one that has unlocked, or had the turn, sees to the next |
//!
//! The bits above these number the turns. A waiter with the turn compares the number with its own,
//! and so learns without the queue's lock whether another waiter has the turn by now.
//!
//! `QUEUED` is set, and a turn given and taken back, under the queue's lock; the holder alone takes
//! `QUEUED` away. A holder that finds `QUEUED` without `TOLD`, and has the queue's lock, is the only
//! one that changes the word then: others set bits that are set.
//!
//! Barging with a timed hand-off is from Filip Pizlo's `WTF::Lock` (*Locking in WebKit*, 2016) and
//! Amanieu d'Antras's parking_lot, the waiter that is told from Mike Burrows's nsync (its
//! "designated waker"), and waiting again in front from Go's `sync.Mutex`.

use super::turns::{Later, Queue, TOLD_PATIENCE, now};
use crate::event::lock::Lock;
use crate::event::telling::awaited::Awaited;
use crate::event::waiting::turn;
use crate::event::{Attempt, Label, is_modelled, performer_id};
use crate::event::{Doing, PerformerContext, visible_doing};
use crate::shim::model::{Touch, is_running, touched};
use crate::shim::{
    atomic::Ordering,
    const_fn,
    unseen::{AtomicU32, AtomicUsize},
};
use crate::sync::contended::{Looker, look_in, look_shortly_on_thread};
use std::cell::Cell;

/// The lock is held.
pub(super) const HELD: u32 = 1;
/// A waiter may be in the queue.
pub(super) const QUEUED: u32 = 2;
/// A waiter has the turn: it was told to try and has not tried yet.
pub(super) const TOLD: u32 = 4;
/// The lock is kept for the waiter that has the turn.
pub(super) const RESERVED: u32 = 8;
/// The waiter that has the turn is committed. It takes the lock with the queue's lock only, and no
/// number is compared: one that comes very late may know the same number, when they have all been used.
pub(super) const KEPT: u32 = 16;
/// The step of the turn's number, which the upper bits hold.
pub(super) const NEXT: u32 = 32;

/// The number of times that a thread releases locks while others wait and one has been told, before
/// it looks at the time. A prime: a thread that takes turns with several locks is to look at each.
/// Models look each time.
const LOOKED_AT: u32 = if cfg!(lisle_loom) { 1 } else { 61 };

thread_local! {
    /// How often this thread has released locks so.
    static BEFORE_OTHERS: Cell<u32> = const { Cell::new(0) };
}

/// Returns `true` if `turn` is the turn that is given now, to a waiter that was told of it.
pub(super) fn is_given(state: u32, turn: Option<u32>) -> bool {
    state & (TOLD | KEPT) == TOLD && turn == Some(number(state))
}

/// Returns the number of the last turn.
pub(super) fn number(state: u32) -> u32 {
    state & !(NEXT - 1)
}

/// Returns the state in which a performer has taken the lock that was given `turn`, or `None` if it
/// may not take it.
fn taken(state: u32, turn: Option<u32>) -> Option<u32> {
    match (is_given(state, turn), state & (HELD | RESERVED)) {
        (true, 0) => Some((state | HELD) & !TOLD),
        (true, bits) if bits & RESERVED != 0 => Some(state & !(TOLD | RESERVED)),
        (false, 0) => Some(state | HELD),
        _ => None,
    }
}

pub(crate) struct RawMutex {
    /// As wide as a word, though three bits are used: x86 sets and tests a bit of a word in one
    /// instruction.
    pub(super) state: AtomicU32,
    looker: Looker,
    pub(super) queue: Lock<Queue>,
    /// The performer that took the lock last, or 0 while the lock is kept for a waiter. No decision
    /// depends on it.
    pub(super) holder: AtomicUsize,
    pub(super) label: Label,
}

impl RawMutex {
    const_fn! {
        pub(super) fn new(label: Label) -> Self {
            RawMutex {
                state: AtomicU32::new(0),
                looker: Looker::new(),
                queue: Lock::new(Queue::new()),
                holder: AtomicUsize::new(0),
                label,
            }
        }
    }

    /// Takes the lock if it is free, whether or not others wait. Returns `false` otherwise.
    #[inline(always)]
    pub(super) fn try_lock_fast(&self, me: usize) -> bool {
        let free = self.take();
        if free {
            self.holder.store(me, Ordering::Relaxed);
        }
        free
    }

    /// Takes the lock if it is free, without a note of its holder: also for code that only gives
    /// the turn to the next waiter.
    #[inline(always)]
    pub(super) fn take(&self) -> bool {
        self.state.fetch_or(HELD, Ordering::Acquire) & HELD == 0
    }

    /// Tries for a while to take the lock, for the performer `me`. Returns `true` if it did.
    pub(super) fn look(&self, me: usize) -> bool {
        let is_queue = || self.state.load(Ordering::Relaxed) & QUEUED != 0;
        self.looker.look(me, is_queue, || self.try_lock())
    }

    /// Takes the lock if it is free, or kept for one that does not come. Returns `false` otherwise.
    pub(super) fn try_lock(&self) -> bool {
        let taken = self.take_in_turn(None) || self.take_late_turn();
        if taken {
            self.note_holder();
        }
        // Not `Acquire`, which is for performers that wait until the lock is free: this one could
        // have come while it was not.
        self.touched(if taken { Touch::Write } else { Touch::Read });
        taken
    }

    /// Takes the lock if it is free, or kept for the performer that was given `turn`, and ends that
    /// turn.
    pub(super) fn take_in_turn(&self, turn: Option<u32>) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        while let Some(taken) = taken(state, turn) {
            match self.state.compare_exchange_weak(state, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
    }

    /// Tells a model the kind of access to the lock. The accesses to its atomics say less.
    pub(super) fn touched(&self, touch: Touch) {
        touched(std::ptr::from_ref(self).addr(), touch);
    }

    /// Waits until the lock is free, and takes it, if a model runs this code. Returns `false` if
    /// none does, or if it cannot become free.
    #[inline(always)]
    pub(super) fn lock_in_model(&self) -> bool {
        crate::event::in_model().is_some_and(|context| self.lock_when_free(context))
    }

    #[cold]
    fn lock_when_free(&self, context: &dyn PerformerContext) -> bool {
        let address = std::ptr::from_ref(self).addr();
        context.about_to(Doing::One("lock", &self.label, address));
        context.about_to_touch(address, size_of::<Self>(), self.label.made());
        context.wait_until(Awaited::Free, &|| self.state.load(Ordering::Relaxed) & HELD == 0);
        let taken = self.take_in_turn(None);
        if taken {
            self.note_holder();
        }
        self.touched(if taken { Touch::Acquire } else { Touch::Read });
        taken
    }

    /// Does the same, or else sets `QUEUED` and returns `false`. Called under the queue's lock.
    pub(super) fn lock_or_queue(&self, turn: Option<u32>) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let taken = taken(state, turn);
            let tried = if is_given(state, turn) { state & !TOLD } else { state };
            let next = taken.unwrap_or(tried | QUEUED);
            match self.state.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    self.touched(Touch::Write);
                    return taken.is_some();
                }
                Err(now) => state = now,
            }
        }
    }

    /// Tries to take the lock, as the waiter that was given `turn`. Until it gives up, nobody else is
    /// told, unless the turn is taken back.
    pub(super) fn try_turn(&self, turn: u32, attempt: &Attempt<'_>, is_thread: bool) -> bool {
        let take = || self.take_in_turn(Some(turn));
        let taken = take()
            || match is_thread {
                true => look_shortly_on_thread(take),
                false => attempt.record().is_single() && look_in(attempt.context(), take),
            };
        if taken {
            self.touched(Touch::Write);
        }
        taken
    }

    /// Releases the lock.
    #[inline(always)]
    pub(super) fn unlock(&self) {
        if is_running() {
            visible_doing("unlock", &self.label, self);
            self.touched(Touch::Release);
        }
        let before = self.state.fetch_sub(HELD, Ordering::Release);
        if before & (QUEUED | TOLD) != 0 {
            self.unlocked_before_others(before);
        }
    }

    /// Called after the lock was released in a state in which others wait for it.
    #[cold]
    fn unlocked_before_others(&self, before: u32) {
        match before & (QUEUED | TOLD) {
            QUEUED => self.tell_next(),
            TOLD => {}
            _ => self.look_at_the_time(),
        }
        turn::went_first();
    }

    /// Sees to it that a waiter has the turn, if one waits and none has it. If another performer has
    /// taken the lock, that one will do so when it releases it.
    pub(super) fn tell_next(&self) {
        while self.state.load(Ordering::Relaxed) & (HELD | QUEUED | TOLD) == QUEUED && self.take() {
            if self.unlock_to_next() {
                return;
            }
        }
    }

    /// Reserves the lock for the first waiter if it is time, although another has the turn. With more
    /// threads than cores it may take long until that one runs, and it keeps its turn.
    fn look_at_the_time(&self) {
        if is_modelled() {
            return; // It never is.
        }
        // Not every time, since that takes longer than to lock; and counted on the thread, since
        // the next performer has the lock's memory by now.
        let count = BEFORE_OTHERS.with(|count| {
            count.set(count.get().wrapping_add(1));
            count.get()
        });
        if count.is_multiple_of(LOOKED_AT) && self.take() && !self.unlock_to_next() {
            // The one that was told may have left meanwhile, and counted on the holder.
            self.tell_next();
        }
    }

    /// Releases the lock: gives the turn to the first waiter, if none has it or that one is late.
    /// Returns `false` if it did not and a waiter may be there.
    fn unlock_to_next(&self) -> bool {
        // Dropped after the guard, so the wake comes when the queue's lock is free.
        let later = Later::default();
        let mut queue = self.queue.lock();
        // A turn is given under this lock only.
        let has_told = self.state.load(Ordering::Relaxed) & TOLD != 0;
        let now = now();
        if has_told && !queue.is_time(now, TOLD_PATIENCE) {
            self.state.fetch_sub(HELD, Ordering::Release);
            return false;
        }
        self.give(&mut queue, true, has_told, now, &later.woken);
        self.watch(&mut queue, &later);
        true
    }

    /// Passes on a turn that the waiter that has it does not use: gives it to the next waiter, unless
    /// the holder of the lock will do so.
    #[cold]
    pub(super) fn pass_on(&self, turn: u32) {
        let given = |state| is_given(state, Some(turn)).then_some(state & !(TOLD | RESERVED));
        let Ok(before) = self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, given) else { return };
        if before & RESERVED != 0 {
            // It was kept for this waiter, which holds it now.
            self.unlock();
        } else {
            self.tell_next();
        }
    }

    #[inline(always)]
    pub(super) fn note_holder(&self) {
        self.holder.store(performer_id(), Ordering::Relaxed);
    }

    /// Returns the id of the lock's holder, as far as is known.
    pub(super) fn holder(&self) -> Option<usize> {
        let held = self.state.load(Ordering::Relaxed) & HELD != 0;
        Some(self.holder.load(Ordering::Relaxed)).filter(|&holder| held && holder != 0)
    }
}
