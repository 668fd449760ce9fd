//! The part of a domain that only its thread sees: the thread's loop, and the context that its fibers run in.
//!
//! A turn runs one fiber until it parks, yields or ends. Between turns the domain takes the next
//! fiber from its run-next slot; from the youngest fiber that has not begun (a streak limits how
//! often these two go first); or, in alternation, from its ready queue and the other fibers that
//! have not begun. Every `VISIT` turns, after a long turn, and when it has nothing to run, it also
//! visits its inbox, timers and sockets.
//!
//! `held/` has its state, part by part; the other files have its steps.
//!
//! - `queues.rs` and `thief.rs`: the choice of the next fiber or task, and the moves between
//!   domains.
//! - `life.rs`, `starving.rs`, `begun.rs` and `hooked.rs`: a fiber begins, waits for a stack, or
//!   ends, by itself or with the runtime; and the hooks around its turns.
//! - `runner.rs`, `jobs.rs` and `helping.rs`: a stack for tasks and for parts of loops, the parts
//!   that are given away and taken, and the helpers that run while a fiber waits for one.
//! - `idle.rs`, `way.rs` and `answering.rs`: looking around and sleeping, giving way, and answers
//!   to snapshots.

mod answering;
mod begun;
mod either;
mod held;
mod helping;
mod hooked;
mod idle;
mod jobs;
mod life;
#[cfg(feature = "model")]
pub(crate) mod modelled;
#[cfg(feature = "model")]
mod parts;
mod queues;
mod runner;
mod starving;
mod surplus;
mod thief;
pub mod way;

use super::Domain;
use super::forked;
use super::kernel;
use super::reactor::{self, Driver};
use super::shared::Shared;
use crate::abort;
#[cfg(feature = "model")]
use crate::event::awaited::Awaited;
use crate::event::parker::{self, ParkState, Suspend};
use crate::event::turn::Ways;
use crate::event::{
    Ends, Interrupted, PerformerContext, PerformerWaker, Timer, Unparked, install, tally, tick,
};
use crate::jobs::heartbeat;
use crate::masked;
use crate::own_threads;
use crate::report;
use crate::shim::{atomic::Ordering, random::Random, sync::Arc};
use crate::spawned::fiber_cell::Fiber;
use crate::spawned::hooks::{HookList, Moment};
use crate::spawned::this_stack::this_stack;
use crate::stack::{StackPool, overflow::AltStack};
use crate::time::shared_wheel::SharedWheel;
use either::{Either, either};
use held::begun::Begun;
use held::jobs::Jobs;
use held::joining::AllJoining;
use held::notes::{Answered, Idle, InVain};
use held::queues::{Queues, VISIT};
use held::resting::{Load, Resting};
use held::starving::Starving;
use held::stealing::Stealing;
use held::timers::Timers;
use lisle_core::internal::exceptions::OfThread;
#[cfg(feature = "model")]
use modelled::Time;
use std::cell::{Cell, RefCell};
use std::mem::offset_of;
use std::panic::resume_unwind;
use std::ptr::NonNull;

thread_local! {
    static WORKER: Cell<*const Worker> = const { Cell::new(std::ptr::null()) };
}

/// Calls `f` with the `Worker` of this thread, or with `None` if this thread runs no domain.
#[inline(always)]
pub fn with_current<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
    // SAFETY: `Worker::enter` keeps the `Worker` in place for as long as its address is here.
    f(unsafe { WORKER.with(Cell::get).as_ref() })
}

/// The functions of domains for a current fiber that may be suspended.
static WAYS: Ways = Ways {
    asked_often: || with_current(|worker| worker.into_iter().for_each(Worker::asked_in_vain)),
    took_a_turn: || with_current(|worker| worker.into_iter().for_each(|worker| _ = worker.give_way())),
    is_due: || with_current(|worker| worker.into_iter().for_each(Worker::overstays)),
};

/// The part of a domain that only its thread sees; other threads see its `Domain`. The parts of its state
/// are in `held/`. Its steps are methods, in files by their subjects.
pub struct Worker {
    shared: Arc<Shared>,
    domain: Arc<Domain>,
    driver: RefCell<Driver>,
    stacks: RefCell<StackPool>,
    random: Random,
    /// The hooks to call when a fiber is resumed and when it is suspended.
    hooks: HookList,
    /// The words of the C++ runtime for this thread, if there is one.
    exceptions: Option<OfThread>,
    /// The counts of this thread before it ran the domain.
    tally_before: (u64, u64),
    /// The fiber that runs now; null between turns.
    current: Cell<*mut Fiber>,
    /// The fiber whose hooks run; null if none do.
    hooked: Cell<*mut Fiber>,
    turn: Cell<u32>,
    /// The tick (see `tick.rs`) of the last visit to everything outside of the domain's queues.
    visited: Cell<u32>,
    queues: Queues,
    begun: Begun,
    starving: Starving,
    timers: Timers,
    resting: Resting,
    jobs: Jobs,
    joining: AllJoining,
    in_vain: InVain,
    idle: Idle,
    stealing: Stealing,
    answered: Answered,
    #[cfg(feature = "model")]
    modelled: modelled::Modelled,
}

impl Worker {
    pub(crate) fn new(shared: Arc<Shared>, index: usize, driver: Driver) -> Self {
        Worker {
            domain: shared.domains[index].clone(),
            driver: RefCell::new(driver),
            stacks: RefCell::new(StackPool::new(shared.stack_size)),
            random: Random::from_entropy(),
            hooks: shared.hooks.clone(),
            exceptions: OfThread::here(),
            tally_before: tally::read(),
            current: Cell::new(std::ptr::null_mut()),
            hooked: Cell::new(std::ptr::null_mut()),
            turn: Cell::new(0),
            visited: Cell::new(tick::now()),
            queues: Queues::default(),
            begun: Begun::new(),
            starving: Starving::default(),
            timers: Timers::new(),
            resting: Resting::default(),
            jobs: Jobs::default(),
            joining: AllJoining::new(),
            in_vain: InVain::default(),
            idle: Idle::default(),
            stealing: Stealing::default(),
            answered: Answered::default(),
            #[cfg(feature = "model")]
            modelled: modelled::Modelled::default(),
            shared,
        }
    }

    /// Lets this thread run the domain while `f` runs.
    pub(crate) fn enter<R>(self, f: impl FnOnce(&Worker) -> R) -> R {
        struct Leave<'a>(&'a Worker);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                WORKER.with(|worker| worker.set(std::ptr::null()));
                reactor::set_current(None);
                // SAFETY: this removes the address and puts nothing in its place.
                unsafe { heartbeat::set_here(None) };
                self.0.take_spare_back();
                // If there is no thread for them, they wait for one when the wheel is given back.
                let _ = self.0.domain.tasks_timers.close();
                self.0.domain.mark.leave();
                self.0.domain.thread.store(0, Ordering::Relaxed);
            }
        }
        // Leaked here: fibers that outlive a failed shutdown may still refer to it.
        let worker: &'static Worker = Box::leak(Box::new(self));
        forked::watch();
        let _alternative = AltStack::ensure();
        let _enlisted = own_threads::enlist(own_threads::Owner::Runtime(worker.shared.number));
        let result = {
            // Code between fibers is no part of a computation in which the domain was started.
            let _hidden = this_stack().state().handled.hidden();
            // Nor do the deadlines of the call end its waits.
            masked!(_masked);
            let _through = report::through(worker.shared.handler.clone());
            let _leave = Leave(worker);
            // SAFETY: `_leave` leaves it.
            unsafe { worker.domain.mark.settle(&WAYS) };
            WORKER.with(|current| current.set(worker));
            worker.domain.thread.store(kernel::current_thread(), Ordering::Relaxed);
            reactor::set_current(Some(worker.domain.reactor.clone()));
            // SAFETY: the `Worker` keeps its `Domain` alive, and takes this back when it leaves.
            unsafe { heartbeat::set_here(Some(NonNull::from(&*worker.domain.heartbeat))) };
            // SAFETY: dropped at the end of this block, on this thread.
            let _installed = unsafe { install(worker) };
            f(worker)
        };
        if worker.begun.is_empty() {
            // SAFETY: leaked above. No fiber refers to it, and nothing else keeps a `Worker`'s
            // address.
            drop(unsafe { Box::from_raw(std::ptr::from_ref(worker).cast_mut()) });
        }
        result
    }

    #[inline]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    #[inline]
    pub(crate) fn domain(&self) -> &Domain {
        &self.domain
    }

    pub(crate) fn current_fiber(&self) -> Option<NonNull<Fiber>> {
        NonNull::new(self.current.get())
    }

    /// Runs fibers until `done` returns `true`. Calls `done` now and then, and whenever there is
    /// nothing to run.
    pub(crate) fn work(&self, done: &dyn Fn() -> bool) {
        // A domain that stopped here would leave its fibers waiting for ever.
        let why = "a panic has reached a domain's loop, which its fibers cannot survive";
        // Compiled twice: a runtime without hooks does not pay for checking whether it has any.
        abort::if_it_unwinds(why, || {
            if self.is_hooked() { self.work_on::<true>(done) } else { self.work_on::<false>(done) }
        });
    }

    fn work_on<const HOOKED: bool>(&self, done: &dyn Fn() -> bool) {
        loop {
            let turn = self.next_turn();
            if self.is_to_visit(turn) {
                self.visit();
                if done() {
                    return;
                }
            }
            match self.pick() {
                // SAFETY: a queued entry is alive, and the domain that takes it runs it.
                Some(picked) => match unsafe { either(picked) } {
                    Either::Fiber(fiber) => {
                        let backlog = self.queues.backlog();
                        self.run_hooked::<HOOKED>(fiber, turn);
                        self.queues.look_at_backlog(backlog);
                    }
                    Either::Task(task) => self.run_on_runner(Load::Task(task), turn),
                },
                None if done() => return,
                None => self.idle(),
            }
        }
    }

    /// Returns `true` if a visit comes before this turn. One long turn counts as many short ones.
    #[inline]
    fn is_to_visit(&self, turn: u32) -> bool {
        turn.is_multiple_of(VISIT) || tick::now() != self.visited.get()
    }

    /// Publishes this thread's own counts.
    pub(crate) fn tell_tally(&self) {
        self.domain.counts.tally.tell(self.tally_before);
    }

    #[inline]
    fn next_turn(&self) -> u32 {
        self.turn.set(self.turn.get().wrapping_add(1));
        self.turn.get()
    }

    /// Begins a turn within the turn of a fiber.
    #[inline]
    fn begin_turn(&self) {
        self.domain.counts.begin_turn(self.next_turn(), self.queues.others_are_ready());
    }

    /// Runs `fiber` until it parks, yields or ends.
    fn run(&self, fiber: NonNull<Fiber>, turn: u32) {
        if self.is_hooked() {
            self.run_hooked::<true>(fiber, turn);
        } else {
            self.run_hooked::<false>(fiber, turn);
        }
    }

    /// Does the same as [`run`](Worker::run), where it is known at compile time whether anything is
    /// to be done around turns.
    #[cfg_attr(not(feature = "model"), inline)]
    #[cfg_attr(feature = "model", inline(always))]
    fn run_hooked<const HOOKED: bool>(&self, fiber: NonNull<Fiber>, turn: u32) {
        // SAFETY: a queued fiber is alive.
        let this = unsafe { fiber.as_ref() };
        if this.parker.state.get() == ParkState::New && !self.begin(fiber) {
            return;
        }
        this.parker.state.set(ParkState::Running);
        self.current.set(fiber.as_ptr());
        self.domain.running(turn, this, self.queues.others_are_ready());
        // A fiber that waits now may have turned it off, and that need not be right for this one.
        self.domain.heartbeat.turn_on();
        if HOOKED {
            self.before_turn(this);
        }
        // SAFETY: this is a field of a live fiber.
        let parker = unsafe { &raw const (*fiber.as_ptr()).parker };
        // SAFETY: the fiber is resumed next.
        unsafe { parker::set_running(parker) };
        #[cfg(feature = "model")]
        let reported = self.report();
        // SAFETY: only the domain's own thread touches the segment.
        let segment = unsafe { &mut *this.segment.get() };
        let segment = segment.as_mut().expect("a fiber that has begun has a stack");
        // SAFETY: it has not ended, since the fiber was queued, and does not run.
        let request = unsafe { segment.resume() };
        // SAFETY: no fiber runs.
        unsafe { parker::set_running(std::ptr::null()) };
        let suspend = match request {
            Some(request) => Suspend::of(request),
            None => return self.end(fiber),
        };
        #[cfg(feature = "model")]
        drop(reported);
        if HOOKED {
            self.after_turn(this, Moment::Waits);
        }
        self.current.set(std::ptr::null_mut());
        match suspend {
            Suspend::Parked => {}
            Suspend::Stubborn => self.begun.one_is_stubborn(),
            Suspend::Resting => {
                this.parker.state.set(ParkState::Resting);
                self.resting.keep(fiber);
            }
            Suspend::Yielded => {
                this.parker.state.set(ParkState::Queued);
                // SAFETY: it was running, so it is in no list, and stays until it runs.
                unsafe { self.queues.push(fiber.cast()) };
            }
        }
    }
}

// SAFETY: `park` suspends the fiber. The fiber is resumed by `wake`, or by an interrupt (and then
// says so), or does not suspend at all if a wake came first. Timers are kept in the domain's own
// wheel, on this thread.
unsafe impl PerformerContext for Worker {
    fn waker(&self) -> PerformerWaker {
        unreachable!("fibers wait by their parker, and a domain does not wait between fibers")
    }

    fn park(&self, interruptible: bool) -> Unparked {
        self.park_until(if interruptible { Ends::Unwinding } else { Ends::Never })
    }

    fn stay(&self) {
        let parker = parker::running().expect("only fibers wait in a domain");
        while !parker.woken.take() {
            self.take_inbox();
            std::thread::yield_now();
        }
    }

    fn unwind(&self) -> ! {
        resume_unwind(Box::new(Interrupted))
    }

    fn park_until(&self, ends: Ends) -> Unparked {
        let parker = parker::running().expect("only fibers wait in a domain");
        // SAFETY: the parker belongs to the running fiber. Waits in a context happen within a step's
        // `suspend`.
        unsafe { parker.park(ends, None) }
    }

    unsafe fn disturb(&self, parker: *const ()) {
        // SAFETY: by the caller's promise.
        let fiber = unsafe { parker.byte_sub(offset_of!(Fiber, parker)) }.cast::<Fiber>().cast_mut();
        let fiber = NonNull::new(fiber).expect("a field is not at the address 0");
        // SAFETY: it has begun here, since this thread fires its timers, and it waits.
        unsafe { self.begun.disturb(fiber) };
    }

    fn is_rooted(&self) -> bool {
        true
    }

    fn can_wait(&self) -> bool {
        // Foreign code may run between fibers, such as a waker or a destructor. It waits as on a
        // plain thread.
        parker::running().is_some()
    }

    fn may_spin(&self) -> bool {
        #[cfg(feature = "model")]
        if self.explorer().is_some() {
            return false;
        }
        self.shared.most_at_once() > 1 && !self.has_ready() && !self.domain.inbox.has_news()
    }

    unsafe fn arm(&self, timer: NonNull<Timer>, deadline: u64) {
        #[cfg(feature = "model")]
        if self.explorer().is_some() {
            return self.arm_modelled(timer, deadline);
        }
        // SAFETY: passed on to the caller.
        unsafe { self.timers.arm(timer, deadline, &self.domain.counts.next_timer) };
    }

    unsafe fn disarm(&self, timer: NonNull<Timer>) {
        #[cfg(feature = "model")]
        if self.explorer().is_some() {
            return self.disarm_modelled(timer);
        }
        // SAFETY: passed on to the caller.
        unsafe { self.timers.disarm(timer, &self.domain.counts.next_timer) };
    }

    fn tasks_wheel(&self) -> Option<&'static SharedWheel> {
        #[cfg(feature = "model")]
        if self.explorer().is_some() {
            return None;
        }
        Some(self.domain.tasks_timers.wheel())
    }

    #[inline]
    fn random(&self) -> u64 {
        self.random.next()
    }

    #[cfg(feature = "model")]
    fn is_model(&self) -> bool {
        self.explorer().is_some()
    }

    #[cfg(feature = "model")]
    fn visible(&self) {
        self.visible_step(None);
    }

    #[cfg(feature = "model")]
    fn about_to(&self, doing: crate::event::Doing<'_>) {
        if let Some(explorer) = self.explorer() {
            explorer.about_to(doing);
        }
    }

    #[cfg(feature = "model")]
    fn about_to_touch(
        &self,
        address: usize,
        size: usize,
        made: Option<&'static std::panic::Location<'static>>,
    ) {
        if let Some(explorer) = self.explorer() {
            explorer.about_to_touch(address, size, made);
        }
    }

    #[cfg(feature = "model")]
    fn wait_until(&self, awaited: Awaited, is_so: &dyn Fn() -> bool) {
        self.visible_step(Some((awaited, is_so)));
    }

    #[cfg(feature = "model")]
    fn way(&self, ways: usize) -> Option<usize> {
        self.explorer().map(|explorer| explorer.choose(ways))
    }

    #[cfg(feature = "model")]
    fn now(&self) -> u64 {
        self.modelled_now(Time::Read).unwrap_or_else(crate::shim::clock::now)
    }

    #[cfg(feature = "model")]
    fn now_to_arm(&self) -> u64 {
        self.modelled_now(Time::Armed).unwrap_or_else(crate::shim::clock::now)
    }

    #[cfg(feature = "model")]
    fn now_to_tell(&self) -> u64 {
        self.modelled_now_to_tell().unwrap_or_else(crate::shim::clock::now)
    }
}
