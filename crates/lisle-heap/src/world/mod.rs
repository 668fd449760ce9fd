//! Stopping the threads that are inside of a heap. The protocol is in `README.md` beside this file.

#[cfg(all(test, any(lisle_loom, miri)))]
mod loom_stop;

mod quiet;

use lisle_core::internal::abort;
use lisle_core::internal::shim::asymmetric;
use lisle_core::internal::shim::hint::spin_loop;
use lisle_core::internal::shim::sync::{Arc, Condvar, Mutex, MutexGuard};
use lisle_core::internal::shim::unseen::{AtomicBool, AtomicU8, AtomicUsize, Ordering, fence};
use std::cell::UnsafeCell;
use std::time::Duration;

pub(crate) use quiet::Quiet;

/// A stop that takes so long is reported.
const LONG: Duration = Duration::from_secs(1);

/// The number of looks at the other members until the one that stops them sleeps: some 20 µs.
const LOOKS: u32 = if cfg!(any(lisle_loom, miri)) { 0 } else { 500 };

/// The number of looks of a held member before it sleeps: some 100 µs.
const LOOKS_HELD: u32 = if cfg!(any(lisle_loom, miri)) { 0 } else { 3_000 };

/// Whether a member may use the heap.
pub(crate) struct State(AtomicU8);

const OUTSIDE: u8 = 0;
const INSIDE: u8 = 1;
const HELD: u8 = 2;
/// Inside, in a call that forks the process.
const FORKS: u8 = 3;

impl State {
    pub(crate) fn new() -> Self {
        Self(AtomicU8::new(OUTSIDE))
    }

    fn is(&self, state: u8) -> bool {
        self.0.load(Ordering::Acquire) == state
    }

    fn set(&self, state: u8) {
        self.0.store(state, Ordering::Release);
    }
}

/// A thread that may be inside.
pub(crate) trait Member {
    fn state(&self) -> &State;

    /// Makes the member's next safe point look whether a stop has begun.
    fn ask_to_stop(&self);
}

/// The members, and the stop that is going on.
pub(crate) struct World<M> {
    /// Whether a stop is going on, of which the members are told.
    stop: AtomicBool,
    round: Mutex<Round>,
    /// Changed with the lock of the round held, while no stop is going on. Read with the lock held, or by the
    /// member that has stopped the others.
    members: UnsafeCell<Vec<Arc<M>>>,
    /// The member that stops the others waits here.
    arrived: Condvar,
    /// Held members wait here.
    over: Condvar,
    /// The number of calls for help: a held member that does not sleep looks at it.
    calls: AtomicUsize,
    /// Whether the kernel can order the memory accesses of all threads, so that members need no fence.
    asymmetric: bool,
    /// If there are more members, held ones sleep at once.
    processors: usize,
}

// SAFETY: the accesses to the members are ordered, as the field says.
unsafe impl<M: Send + Sync> Send for World<M> {}
// SAFETY: as above.
unsafe impl<M: Send + Sync> Sync for World<M> {}

#[derive(Default)]
struct Round {
    stopping: bool,
    /// What held members are to help with.
    help: Option<Help>,
    /// The number of members that help.
    helpers: usize,
    /// The number of held members that sleep.
    asleep: usize,
    /// The number of threads that wait for the end of a stop to become members, to take one over, or to stop all themselves.
    coming: usize,
    /// Whether the thread that stops the others still waits for one.
    waits: bool,
}

#[derive(Clone, Copy)]
struct Help {
    run: *const (dyn Fn() + Sync),
    /// The number of members that may still begin.
    wanted: usize,
    /// The number of calls for help before this one and with it.
    call: usize,
}

// SAFETY: the function is `Sync`, and its owner waits for all members that have begun to call it.
unsafe impl Send for Help {}

impl<M: Member> World<M> {
    pub(crate) fn new(processors: usize) -> Self {
        Self {
            stop: AtomicBool::new(false),
            round: Mutex::new(Round::default()),
            members: UnsafeCell::new(Vec::new()),
            arrived: Condvar::new(),
            over: Condvar::new(),
            calls: AtomicUsize::new(0),
            asymmetric: asymmetric::prepare(),
            processors,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the lock at a moment when no stop is going on. If it has to wait for that, no stop begins before.
    fn lock_between_stops(&self) -> MutexGuard<'_, Round> {
        let mut round = self.lock();
        if round.stopping {
            round.coming += 1;
            while round.stopping {
                round = self.wait_for_end(round);
            }
            round.coming -= 1;
            self.over.notify_all();
        }
        round
    }

    /// Returns the lock when those that have waited for the end of a stop have come.
    fn lock_after_those_who_come(&self) -> MutexGuard<'_, Round> {
        let mut round = self.lock();
        while !round.stopping && round.coming > 0 {
            round = self.wait_for_end(round);
        }
        round
    }

    fn wait_for_end<'a>(&self, round: MutexGuard<'a, Round>) -> MutexGuard<'a, Round> {
        self.over.wait(round).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Adds a member, which is outside. Calls `prepare` for it at a moment when no stop is going on.
    pub(crate) fn add(&self, member: Arc<M>, prepare: impl FnOnce(&M)) {
        let _round = self.lock_between_stops();
        prepare(&member);
        // SAFETY: the lock is held, and no stop is going on.
        unsafe { (*self.members.get()).push(member) };
    }

    /// Returns the first member for which `choose` returns `true`. No stop goes on meanwhile.
    pub(crate) fn find(&self, choose: impl Fn(&M) -> bool) -> Option<Arc<M>> {
        let _round = self.lock_between_stops();
        // SAFETY: the lock is held.
        unsafe { (*self.members.get()).iter().find(|member| choose(member)).cloned() }
    }

    /// Calls `visit` for each member.
    pub(crate) fn each(&self, mut visit: impl FnMut(&M)) {
        let _round = self.lock();
        // SAFETY: the lock is held.
        unsafe { (*self.members.get()).iter().for_each(|member| visit(member)) };
    }

    /// Orders the store of a member's state before the load of `stop`.
    #[inline(always)]
    fn order(&self) {
        if self.asymmetric { asymmetric::light() } else { fence(Ordering::SeqCst) }
    }

    /// Lets the member in. Waits while a stop is going on.
    #[inline]
    pub(crate) fn enter(&self, member: &M) {
        member.state().0.store(INSIDE, Ordering::Relaxed);
        self.order();
        if self.stop.load(Ordering::Acquire) {
            self.hold(member);
        }
    }

    /// Says that the member has left.
    #[inline]
    pub(crate) fn leave(&self, member: &M) {
        member.state().set(OUTSIDE);
        self.order();
        if self.stop.load(Ordering::Relaxed) {
            self.tell();
        }
    }

    /// Wakes the member that waits for others to stop.
    #[cold]
    fn tell(&self) {
        // The lock is taken so that this does not come between that member's look and its sleep.
        drop(self.lock());
        self.arrived.notify_one();
    }

    /// Returns `true` if a stop was asked for.
    #[inline]
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Orders what a member did before, such as a store that `Member::ask_to_stop` may overwrite, before a look at
    /// `is_stopping`.
    pub(crate) fn order_before_look(&self) {
        self.order();
    }

    /// A safe point: waits while a stop is going on, and helps.
    #[cold]
    pub(crate) fn hold(&self, member: &M) {
        let round = self.lock();
        if round.stopping {
            self.hold_in(round, member);
        }
    }

    /// Waits until the stop is over. Its end lets the member in, before the next stop can begin: a member that
    /// entered in vain would starve.
    fn hold_in<'a>(&'a self, mut round: MutexGuard<'a, Round>, member: &M) {
        member.state().set(HELD);
        self.arrived.notify_one();
        let (mut last_call, mut looks) = (0, 0);
        // SAFETY: the lock is held.
        let may_look = unsafe { &*self.members.get() }.len() <= self.processors;
        while member.state().is(HELD) {
            match &mut round.help {
                Some(help) if help.call > last_call && help.wanted > 0 => {
                    help.wanted -= 1;
                    last_call = help.call;
                    let run = help.run;
                    round.helpers += 1;
                    drop(round);
                    // SAFETY: the member that has called for help waits until no member helps any more.
                    abort::if_it_unwinds("the collector of a heap has failed", || unsafe { (*run)() });
                    round = self.lock();
                    round.helpers -= 1;
                    if round.helpers == 0 {
                        self.arrived.notify_one();
                    }
                }
                _ if may_look && looks < LOOKS_HELD => {
                    let calls = self.calls.load(Ordering::Relaxed);
                    drop(round);
                    while member.state().is(HELD)
                        && self.calls.load(Ordering::Relaxed) == calls
                        && looks < LOOKS_HELD
                    {
                        looks += 1;
                        spin_loop();
                    }
                    round = self.lock();
                }
                _ => {
                    round.asleep += 1;
                    round = self.wait_for_end(round);
                    round.asleep -= 1;
                }
            }
        }
    }

    /// Stops all other members: each is outside, or held, until the result is dropped. If another member has begun
    /// to stop all, waits for its end and returns `None`.
    ///
    /// Calls `late` for a member that is still inside after a second.
    pub(crate) fn stop<'a>(&'a self, me: &'a M, late: impl FnOnce(&M)) -> Option<Stopped<'a, M>> {
        let round = self.lock_after_those_who_come();
        if round.stopping {
            self.hold_in(round, me);
            return None;
        }
        Some(self.begin_stop(round, me, late))
    }

    /// Does the same, but if another member has begun to stop all, waits for its end and then stops all: no other stop begins
    /// before.
    pub(crate) fn stop_in_turn<'a>(&'a self, me: &'a M, late: impl FnOnce(&M)) -> Stopped<'a, M> {
        let mut round = self.lock_after_those_who_come();
        if round.stopping {
            round.coming += 1;
            while round.stopping {
                self.hold_in(round, me);
                round = self.lock();
            }
            round.coming -= 1;
            self.over.notify_all();
        }
        self.begin_stop(round, me, late)
    }

    fn begin_stop<'a>(
        &'a self,
        mut round: MutexGuard<'a, Round>,
        me: &'a M,
        late: impl FnOnce(&M),
    ) -> Stopped<'a, M> {
        round.stopping = true;
        // SAFETY: the lock is held.
        if unsafe { &*self.members.get() }.len() > 1 {
            self.stop_others(round, me, late);
        }
        Stopped { world: self, me }
    }

    fn stop_others(&self, round: MutexGuard<'_, Round>, me: &M, late: impl FnOnce(&M)) {
        let counts = |member: &M| {
            let state = member.state();
            !std::ptr::eq(member, me) && (state.is(INSIDE) || state.is(FORKS))
        };
        drop(self.ask_others(round, counts, late));
    }

    /// Asks all members to stop, and waits until none counts.
    fn ask_others<'a>(
        &'a self,
        mut round: MutexGuard<'a, Round>,
        counts: impl Fn(&M) -> bool,
        late: impl FnOnce(&M),
    ) -> MutexGuard<'a, Round> {
        round.waits = true;
        self.ask_to_stop();
        let mut round = self.wait_for_others(round, counts, late);
        round.waits = false;
        round
    }

    fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        if self.asymmetric {
            if !asymmetric::heavy() {
                abort::process(
                    "the system refuses `membarrier`, which it had allowed before, and without which threads inside of a heap cannot be stopped",
                );
            }
        } else {
            fence(Ordering::SeqCst);
        }
        // SAFETY: this thread stops the members. Its own one's next safe point is not needed.
        unsafe { (*self.members.get()).iter().for_each(|member| member.ask_to_stop()) };
    }

    /// Waits until no member counts.
    fn wait_for_others<'a>(
        &'a self,
        mut round: MutexGuard<'a, Round>,
        counts: impl Fn(&M) -> bool,
        late: impl FnOnce(&M),
    ) -> MutexGuard<'a, Round> {
        // SAFETY: this thread stops the members.
        let members = unsafe { &*self.members.get() };
        let inside = || members.iter().find(|member| counts(member));
        if LOOKS > 0 && inside().is_some() {
            drop(round);
            let mut looks = 0;
            while inside().is_some() && looks < LOOKS {
                looks += 1;
                spin_loop();
            }
            round = self.lock();
        }
        let mut late = Some(late);
        while let Some(other) = inside() {
            let (guard, waited) =
                self.arrived.wait_timeout(round, LONG).unwrap_or_else(|poisoned| poisoned.into_inner());
            round = guard;
            if waited.timed_out()
                && counts(other)
                && let Some(late) = late.take()
            {
                late(other);
            }
        }
        round
    }

    /// Ends a stop.
    fn end(&self, mut round: MutexGuard<'_, Round>) {
        // SAFETY: the lock is held.
        for member in unsafe { &*self.members.get() } {
            if member.state().is(HELD) {
                member.state().set(INSIDE);
            }
        }
        round.stopping = false;
        self.stop.store(false, Ordering::Release);
        drop(round);
        self.over.notify_all();
    }
}

/// The time in which no other member is inside. Ends when it is dropped.
pub(crate) struct Stopped<'a, M: Member> {
    world: &'a World<M>,
    me: &'a M,
}

impl<'a, M: Member> Stopped<'a, M> {
    /// Returns the members.
    pub(crate) fn members(&self) -> impl Iterator<Item = &'a M> + use<'a, M> {
        // SAFETY: no members are added during a stop.
        unsafe { &*self.world.members.get() }.iter().map(|member| &**member)
    }

    /// Returns the number of members that are held, and so can help.
    pub(crate) fn held(&self) -> usize {
        self.members().filter(|member| member.state().is(HELD)).count()
    }

    /// Calls `help` here, and in up to `others` of the members that are held.
    pub(crate) fn with_help(&self, others: usize, help: &(dyn Fn() + Sync)) {
        let world = self.world;
        // SAFETY: only the lifetime changes. Nobody calls the function after this call has returned.
        let run =
            unsafe { std::mem::transmute::<*const (dyn Fn() + Sync + '_), *const (dyn Fn() + Sync)>(help) };
        let mut round = world.lock();
        let call = world.calls.load(Ordering::Relaxed) + 1;
        round.help = Some(Help { run, wanted: others, call });
        world.calls.store(call, Ordering::Relaxed);
        let asleep = round.asleep;
        drop(round);
        if asleep > 0 {
            world.over.notify_all();
        }
        abort::if_it_unwinds("the collector of a heap has failed", help);
        let mut round = world.lock();
        round.help = None;
        while round.helpers > 0 {
            round = world.arrived.wait(round).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}

impl<M: Member> Drop for Stopped<'_, M> {
    fn drop(&mut self) {
        debug_assert!(self.me.state().is(INSIDE));
        self.world.end(self.world.lock());
    }
}
