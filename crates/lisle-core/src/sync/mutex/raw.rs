//! The lock of a mutex, without the value that it protects: it decides which performer may have it
//! next.
//!
//! One word says whether the lock is held, whether a performer waits, and whether a waiter has been
//! told to try again. Locking sets a bit, and unlocking takes it away, with one locked instruction
//! each, whatever the other bits are.
//!
//! Who has unlocked and finds that a performer waits, and that none has been told, takes the lock
//! once more for a moment, unless another has taken it meanwhile: then that one has the same to do.
//! It does one of two things. Usually it *tells* the first waiter to try again and releases the
//! lock. Any running performer may take the lock meanwhile, so it does not stay idle for as long as
//! a wake takes. One waiter at a time is told (`TOLD`), and until it has tried, no other is. It
//! tries for a while, as it has done before it waited (`contended.rs`). If it finds the lock taken
//! it waits again, in front of the others. If no hand-over has happened for [`PATIENCE`], the lock
//! is instead *handed* to the first waiter: it stays locked, and the waiter's performer is
//! committed. The lock is always handed to a performer that waits for other things too, since that
//! performer would lose its places there if it were told. With more threads than cores it may take
//! milliseconds until one that was told has a core; so if others wait beside it, one of them is
//! handed the lock after [`TOLD_PATIENCE`].
//!
//! The time is the mutex's and not the waiter's. With more threads than cores all waiters have
//! waited for long. If each of them were handed the lock, every unlocking would switch to another
//! thread: with 8 threads on two busy cores that left a fourth of the throughput.
//!
//! A fiber that locks again and again, and never waits, keeps a fiber of its domain that was told
//! from trying. So unlocking while others wait is counted, and after some 128 times the fiber gives
//! way when it locks next, and so does a task (`event/turn.rs`).
//!
//! If nobody locks meanwhile, nobody unlocks either, and the others would wait beside a free lock
//! for one that was told and does not come: a fiber of a domain that is busy for long, or a future
//! that is not polled. So a plain thread that sleeps for the lock alone looks now and then whether
//! it is free, and takes it (`take_for`).
//!
//! If a performer leaves after it was told or handed the lock, dropping its branch passes this on.
//!
//! The states:
//!
//! | `HELD` | `QUEUED` | `TOLD` | |
//! |---|---|---|---|
//! | | | | free |
//! | x | | | held; unlocking is one instruction |
//! | x | x | | held; unlocking then tells or hands over |
//! | ? | ? | x | a waiter is about to try; unlocking only unlocks, or hands over |
//! | | x | | only while one that has unlocked, or was told, sees to the next |
//!
//! `QUEUED` and `TOLD` are set under the queue's lock, and the holder alone takes `QUEUED` away. A
//! holder that finds `QUEUED` without `TOLD`, and has the queue's lock, is the only one that
//! changes the word then: others set bits that are set.
//!
//! Barging with a timed hand-off is from Filip Pizlo's `WTF::Lock` (*Locking in WebKit*, 2016) and
//! Amanieu d'Antras's parking_lot, the waiter that is told from Mike Burrows's nsync (its
//! "designated waker"), and waiting again in front from Go's `sync.Mutex`.

#[cfg(feature = "model")]
use crate::event::Doing;
#[cfg(feature = "model")]
use crate::event::awaited::Awaited;
use crate::event::lock::Lock;
use crate::event::queue::{Committed, WaitQueue, Waiter};
use crate::event::record::Outsider;
use crate::event::turn;
use crate::event::woken::Woken;
use crate::event::{Attempt, Label, is_modelled, performer_id, visible_doing};
#[cfg(feature = "model")]
use crate::shim::model::{Touch, touched};
use crate::shim::{
    atomic::Ordering,
    clock, const_fn,
    unseen::{AtomicU32, AtomicUsize},
};
use crate::sync::contended::{Looker, look_in, look_shortly_on_thread};
use std::cell::Cell;
use std::ptr::NonNull;

/// The lock is held.
const HELD: u32 = 1;
/// A waiter may be in the queue.
const QUEUED: u32 = 2;
/// A waiter was told to try again and has not tried yet.
const TOLD: u32 = 4;

/// For how long, in nanoseconds, the lock goes to the first performer that comes although others
/// wait.
const PATIENCE: u64 = 500_000;

/// The same where a waiter was told and has not tried yet: it may take as long until the system
/// runs it. With half of this, 16 threads on two cores that do something else as well locked a
/// quarter less often.
const TOLD_PATIENCE: u64 = 2 * PATIENCE;

/// The number of times that a thread releases locks while others wait and one has been told, before
/// it looks at the time. A prime: a thread that takes turns with several locks is to look at each.
/// Models look each time.
const LOOKED_AT: u32 = if cfg!(lisle_loom) { 1 } else { 61 };

thread_local! {
    /// How often this thread has released locks so.
    static BEFORE_OTHERS: Cell<u32> = const { Cell::new(0) };
}

impl Queue {
    /// Returns the bit that says whether a performer waits.
    fn queued(&self) -> u32 {
        if self.waiters.is_empty() { 0 } else { QUEUED }
    }

    /// Returns `true` if no hand-over has happened for `patience`, so that it is time for one.
    /// Where a model runs it, it never is: the schedules in which the waiter tries before all
    /// others are those in which it was handed over.
    #[cfg(not(lisle_loom))]
    fn is_time(&mut self, patience: u64) -> bool {
        if is_modelled() {
            return false;
        }
        let now = clock::now();
        let is_time = now.saturating_sub(self.handed) >= patience;
        if is_time {
            self.handed = now;
        }
        is_time
    }

    /// Returns whether the model says that it is time: models have no clock.
    #[cfg(lisle_loom)]
    fn is_time(&mut self, _: u64) -> bool {
        OVERDUE.get()
    }
}

#[cfg(lisle_loom)]
std::thread_local! {
    /// `true` if it is always time to hand over, `false` if it never is.
    pub(crate) static OVERDUE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

pub(crate) struct RawMutex {
    /// As wide as a word, though three bits are used: x86 sets and tests a bit of a word in one
    /// instruction.
    state: AtomicU32,
    looker: Looker,
    pub(super) queue: Lock<Queue>,
    /// The performer that took the lock last, or 0 while the lock is being handed over. No decision
    /// depends on it.
    holder: AtomicUsize,
    pub(super) label: Label,
}

pub(super) struct Queue {
    pub(super) waiters: WaitQueue<Place>,
    /// The time at which the lock was last handed over because it was time.
    handed: u64,
}

/// What a waiter and the performers that unlock tell each other.
#[derive(Default)]
pub(super) struct Place {
    /// The waiter has waited before.
    pub(super) waited: bool,
    /// The waiter was told to try again, and accounts for `TOLD`.
    pub(super) told: bool,
}

impl RawMutex {
    const_fn! {
        pub(super) fn new(label: Label) -> Self {
            RawMutex {
                state: AtomicU32::new(0),
                looker: Looker::new(),
                queue: Lock::new(Queue { waiters: WaitQueue::new(), handed: 0 }),
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

    /// Takes the lock if it is free, without a note of who has it: that is also for those that only
    /// see to the next.
    #[inline(always)]
    fn take(&self) -> bool {
        self.state.fetch_or(HELD, Ordering::Acquire) & HELD == 0
    }

    /// Tries for a while to take the lock, for the performer `me`. Returns `true` if it did.
    pub(super) fn look(&self, me: usize) -> bool {
        let is_queue = || self.state.load(Ordering::Relaxed) & QUEUED != 0;
        self.looker.look(me, is_queue, || self.try_lock())
    }

    /// Takes the lock if it is free. Returns `false` otherwise.
    pub(super) fn try_lock(&self) -> bool {
        let taken = self.take_if_free();
        // Not `Acquire`, which is for those that wait until the lock is free: this one could have
        // come while it was not.
        #[cfg(feature = "model")]
        self.touched(if taken { Touch::Write } else { Touch::Read });
        taken
    }

    fn take_if_free(&self) -> bool {
        self.take_and_reset(0)
    }

    /// Takes the lock if it is free, and resets other bits with it.
    fn take_and_reset(&self, bits: u32) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        while state & HELD == 0 {
            let taken = (state | HELD) & !bits;
            match self.state.compare_exchange_weak(state, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    self.note_holder();
                    return true;
                }
                Err(now) => state = now,
            }
        }
        false
    }

    /// Tells a model how the lock has been touched. What the state is made of says less.
    #[cfg(feature = "model")]
    pub(super) fn touched(&self, touch: Touch) {
        touched(std::ptr::from_ref(self).addr(), touch);
    }

    /// Waits until the lock is free, and takes it, if a model runs this code. Returns `false` if
    /// none does, or if it cannot become free.
    #[cfg(feature = "model")]
    pub(super) fn lock_in_model(&self) -> bool {
        let Some(context) = crate::event::installed() else { return false };
        let address = std::ptr::from_ref(self).addr();
        context.about_to(Doing::One("lock", &self.label, address));
        context.about_to_touch(address, size_of::<Self>(), self.label.made());
        context.wait_until(Awaited::Free, &|| self.state.load(Ordering::Relaxed) & HELD == 0);
        let taken = self.take_if_free();
        self.touched(if taken { Touch::Acquire } else { Touch::Read });
        taken
    }

    /// Takes the lock if it is free, or else sets `QUEUED` and returns `false`. Called under the
    /// queue's lock. `told` says whether the caller was told to try.
    pub(super) fn lock_or_queue(&self, told: bool) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let free = state & HELD == 0;
            let tried = if told { state & !TOLD } else { state };
            let next = tried | if free { HELD } else { QUEUED };
            match self.state.compare_exchange_weak(state, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    #[cfg(feature = "model")]
                    self.touched(Touch::Write);
                    return free;
                }
                Err(now) => state = now,
            }
        }
    }

    /// Tries to take the lock, as the waiter that was told. Until it gives up, nobody else is told.
    pub(super) fn try_told(&self, attempt: &Attempt<'_>, is_thread: bool) -> bool {
        let take = || self.take_and_reset(TOLD);
        let taken = take()
            || match is_thread {
                true => look_shortly_on_thread(take),
                false => attempt.record().is_single() && look_in(attempt.context(), take),
            };
        #[cfg(feature = "model")]
        if taken {
            self.touched(Touch::Write);
        }
        taken
    }

    /// Releases the lock.
    #[inline(always)]
    pub(super) fn unlock(&self) {
        visible_doing("unlock", &self.label, self);
        #[cfg(feature = "model")]
        self.touched(Touch::Release);
        let before = self.state.fetch_sub(HELD, Ordering::Release);
        if before != HELD {
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

    /// Sees to it that a waiter is told or handed the lock, if one waits and none has been told. If
    /// another performer has taken the lock, that one will do so when it releases it.
    fn tell_next(&self) {
        while self.state.load(Ordering::Relaxed) & (HELD | QUEUED | TOLD) == QUEUED && self.take() {
            if self.unlock_to_next() {
                return;
            }
        }
    }

    /// Hands the lock to the first waiter if it is time, although another has been told. With more
    /// threads than cores it may take long until that one runs, and it keeps its turn.
    fn look_at_the_time(&self) {
        if is_modelled() {
            return; // It never is.
        }
        // Not every time, for that takes longer than to lock; and counted on the thread, for who
        // comes next has the lock's memory by now.
        let count = BEFORE_OTHERS.with(|count| {
            count.set(count.get().wrapping_add(1));
            count.get()
        });
        if count.is_multiple_of(LOOKED_AT) && self.take() && !self.unlock_to_next() {
            // The one that was told may have left meanwhile, and counted on the holder.
            self.tell_next();
        }
    }

    /// Releases the lock: hands it to the first waiter if it is time, and else tells that one to
    /// try, if none has been told. Returns `false` if it did neither and a waiter may be there.
    fn unlock_to_next(&self) -> bool {
        // Dropped after the guard, so the wake comes when the queue's lock is free.
        let woken = Woken::default();
        let mut queue = self.queue.lock();
        // A waiter is told under this lock only.
        let has_told = self.state.load(Ordering::Relaxed) & TOLD != 0;
        if has_told && !queue.is_time(TOLD_PATIENCE) {
            self.state.fetch_sub(HELD, Ordering::Release);
            return false;
        }
        // `commit_outside` skips waiters that were committed elsewhere.
        let Some(mut next) = queue.waiters.commit_outside() else {
            self.leave_as(0);
            return true;
        };
        if has_told || !next.is_single() || queue.is_time(PATIENCE) {
            self.hand_to(next, &queue, &woken);
        } else {
            next.slot(|place| place.told = true);
            self.leave_as(TOLD | queue.queued());
            woken.push(next.revoke());
        }
        true
    }

    /// Hands the lock, which the caller holds, to a waiter that has been taken out of the queue.
    fn hand_to(&self, waiter: Committed<Place>, queue: &Queue, woken: &Woken) {
        self.holder.store(0, Ordering::Relaxed);
        self.leave_as(HELD | queue.queued());
        woken.push(waiter.finish());
    }

    /// Gives the lock to `waiter` if it is free and the waiter is in the queue, at whatever place.
    pub(super) fn take_for(&self, waiter: &Waiter<Place>) {
        // Half of the models show that nobody is forgotten without this.
        #[cfg(lisle_loom)]
        if !OVERDUE.get() {
            return;
        }
        if self.state.load(Ordering::Relaxed) & HELD != 0 || !self.take() {
            return;
        }
        let woken = Woken::default();
        let mut queue = self.queue.lock();
        // SAFETY: the waiter is alive, and linked into this queue or into none.
        if let Some(waiter) = unsafe { queue.waiters.commit_linked(NonNull::from(waiter), &Outsider) } {
            return self.hand_to(waiter, &queue, &woken);
        }
        drop(queue);
        // It was told meanwhile, or does not wait.
        self.state.fetch_sub(HELD, Ordering::Release);
        self.tell_next();
    }

    /// Writes `HELD` and `QUEUED`, and sets `TOLD` if it is to be set, as the holder, which has the
    /// queue's lock too. The one that was told may take `TOLD` away meanwhile. By an exchange and
    /// no store: loom would not put a store after the exchanges of those that find the lock held
    /// and leave it so.
    fn leave_as(&self, bits: u32) {
        let left = |state| Some(state & TOLD | bits);
        let before = self.state.fetch_update(Ordering::Release, Ordering::Relaxed, left);
        if cfg!(any(debug_assertions, lisle_loom)) {
            assert!(before.is_ok_and(|state| state & HELD != 0), "the lock is held by who leaves it");
        }
    }

    /// Passes on a turn that the waiter that was told does not use: tells the next waiter, unless
    /// the holder of the lock will do so.
    #[cold]
    pub(super) fn pass_on(&self) {
        self.state.fetch_and(!TOLD, Ordering::Relaxed);
        self.tell_next();
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
