//! The worker of a domain: the thread's loop, and the context that its fibers run in.
//!
//! A turn runs one fiber until it parks, yields or ends. Between turns the worker takes the next
//! fiber from its run-next slot; from the youngest fiber that has not begun (a streak limits how
//! often these two go first); or, in alternation, from its ready queue and the other fibers that
//! have not begun. Every `VISIT` turns, after a long turn, and when it has nothing to run, it also
//! visits its inbox, timers and sockets. `idle.rs` describes how it falls asleep.

use super::Domain;
use super::reactor::{self, Driver};
use super::shared::Shared;
use super::sighting::Sighting;
use crate::abort;
use crate::event::adaptive_spin::AdaptiveSpin;
use crate::event::parker::{self, State, Suspend};
use crate::event::{Context, Interrupted, Timer, Unparked, Waker, install, tally, tick};
use crate::jobs::heartbeat;
use crate::own_threads;
use crate::queue::fifo::Fifo;
use crate::report::{self, NoStack, Report};
use crate::sched::either::{Either, either};
use crate::sched::joining::Load;
use crate::sched::joining::{Joining, Taken};
use crate::shim::{clock, random::Random, sync::Arc};
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use crate::spawned::head::Outcome;
use crate::spawned::hooks::{HookList, Moment};
use crate::spawned::runnable::Runnable;
use crate::stack::{StackPool, overflow::AltStack};
use crate::time::wheel::Wheel;
use crate::unwinding;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::ptr::NonNull;

/// The number of short turns between two visits of a busy domain to its inbox, timers and sockets.
pub(super) const VISIT: u32 = 32;
/// The part of a fiber's stack that is left to the code that runs last on it. No task begins there.
const LEFT_TO_LEAVES: usize = 64 * 1024;

thread_local! {
    static WORKER: Cell<*const Worker> = const { Cell::new(std::ptr::null()) };
}

/// Calls `f` with the worker of this thread, or with `None` if this thread is no worker.
#[inline(always)]
pub fn with_current<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
    // SAFETY: `Worker::enter` keeps the worker in place for as long as its address is here.
    f(unsafe { WORKER.with(Cell::get).as_ref() })
}

/// Has the worker note that the current fiber, which may be suspended, has often asked for what had
/// not happened.
fn asked_often() {
    with_current(|worker| worker.into_iter().for_each(Worker::asked_in_vain));
}

pub struct Worker {
    pub shared: Arc<Shared>,
    pub(crate) domain: Arc<Domain>,
    pub(super) driver: RefCell<Driver>,
    pub wheel: RefCell<Wheel<*const Timer>>,
    pub(super) stacks: RefCell<StackPool>,
    pub random: Random,
    /// The fiber that runs now; null between turns.
    pub(super) current: Cell<*mut Fiber>,
    /// The run-next slot: what the running code has woken last.
    pub(super) next: Cell<Option<NonNull<Runnable>>>,
    pub(super) streak: Cell<u32>,
    /// Which of the three queues of `pick` has the next turn.
    pub(super) queue: Cell<u8>,
    pub(super) ready: Fifo<Runnable>,
    /// What timers have woken. It goes before what has not begun, which may take long.
    pub(super) timed: Fifo<Runnable>,
    /// Set while timers fire: what is woken meanwhile is woken by a timer.
    pub(super) firing: Cell<bool>,
    /// The tick (see `tick.rs`) of the last visit to what is not in the worker's queues.
    pub(super) visited: Cell<u32>,
    /// Tasks that are ready, except those that lie where they may be stolen; how many there are;
    /// and how many of them run before the next fiber does.
    pub(super) woken: Fifo<Runnable>,
    pub(super) backlog: Cell<u32>,
    pub(super) due: Cell<u32>,
    /// The tick (see `tick.rs`) at which the oldest of those that have not begun last had its turn
    /// before younger ones.
    pub(super) oldest_began: Cell<u32>,
    pub turn: Cell<u32>,
    /// The turn in which a fiber last asked in vain often enough to be looked into, and how often
    /// it did so before.
    pub(super) asked: Cell<(u32, u32)>,
    /// The hooks to call when a fiber is resumed and when it is suspended.
    pub(super) hooks: HookList,
    /// All fibers that have begun here and have not ended, for the shutdown.
    pub(super) begun: Cell<*mut Fiber>,
    /// Set while the fibers of this domain are being interrupted.
    pub(super) stopping: Cell<bool>,
    /// The next fiber to interrupt in the list of begun fibers. A parked fiber that has been
    /// committed may lie in the inbox, so it is run straight from here and put into no other list.
    pub(super) interrupting: Cell<*mut Fiber>,
    /// Set when a fiber that has caught an interrupt waits again.
    pub(super) stubborn: Cell<bool>,
    /// A runner that rests, and the work that it begins with when it is resumed.
    pub(super) runner: Cell<Option<NonNull<Fiber>>>,
    pub(super) borne: Cell<Option<Load>>,
    /// A part of a loop that was taken from elsewhere and runs next.
    pub taken: Cell<Option<Taken>>,
    /// The last of the fibers here that wait for parts of their loops.
    pub joining: Cell<*const Joining>,
    /// Set until the worker first runs something or looks for something to run.
    pub is_starting: Cell<bool>,
    /// When a computation here last looked at what others want, in ticks.
    pub last_beat: Cell<u64>,
    /// How many more spawns pass before an idle domain is woken again, and the length of the whole
    /// pause.
    pub(super) wake_pause: Cell<(u32, u32)>,
    pub(super) stolen_before: Cell<u64>,
    pub(super) last_poll: Cell<u64>,
    pub(super) adaptive_spin: AdaptiveSpin,
    pub(super) sighting: Cell<Option<Sighting>>,
    /// The number of snapshots that had been requested when this worker last answered.
    pub(super) answered: Cell<u64>,
    /// What this thread had counted before it became a worker.
    pub(crate) tally_before: (u64, u64),
    /// How often this worker has slept.
    pub(super) sleeps: Cell<u64>,
}

impl Worker {
    pub(crate) fn new(shared: Arc<Shared>, index: usize, driver: Driver) -> Self {
        Worker {
            domain: shared.domains[index].clone(),
            driver: RefCell::new(driver),
            wheel: RefCell::new(Wheel::new(clock::now())),
            stacks: RefCell::new(StackPool::new(shared.stack_size)),
            random: Random::from_entropy(),
            current: Cell::new(std::ptr::null_mut()),
            next: Cell::new(None),
            streak: Cell::new(0),
            queue: Cell::new(0),
            ready: Fifo::new(),
            timed: Fifo::new(),
            firing: Cell::new(false),
            visited: Cell::new(tick::now()),
            woken: Fifo::new(),
            backlog: Cell::new(0),
            due: Cell::new(0),
            oldest_began: Cell::new(0),
            turn: Cell::new(0),
            asked: Cell::new((u32::MAX, 0)),
            hooks: shared.hooks.clone(),
            begun: Cell::new(std::ptr::null_mut()),
            stopping: Cell::new(false),
            interrupting: Cell::new(std::ptr::null_mut()),
            stubborn: Cell::new(false),
            runner: Cell::new(None),
            borne: Cell::new(None),
            taken: Cell::new(None),
            joining: Cell::new(std::ptr::null()),
            is_starting: Cell::new(true),
            last_beat: Cell::new(0),
            wake_pause: Cell::new((0, 0)),
            stolen_before: Cell::new(0),
            last_poll: Cell::new(0),
            adaptive_spin: AdaptiveSpin::new(),
            sighting: Cell::new(None),
            answered: Cell::new(0),
            tally_before: tally::read(),
            sleeps: Cell::new(0),
            shared,
        }
    }

    /// Makes this thread the worker of its domain, runs `f`, and undoes that.
    pub(crate) fn enter<R>(self, f: impl FnOnce(&Worker) -> R) -> R {
        struct Leave<'a>(&'a Domain);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                WORKER.with(|worker| worker.set(std::ptr::null()));
                reactor::set_current(None);
                report::set_current(None);
                // SAFETY: this removes the address and puts nothing in its place.
                unsafe { heartbeat::set_here(None) };
                self.0.mark.leave();
            }
        }
        // Leaked here: fibers that outlive a failed shutdown may still refer to it.
        let worker: &'static Worker = Box::leak(Box::new(self));
        let _alternative = AltStack::ensure();
        let _enlisted = own_threads::enlist(own_threads::Owner::Runtime(worker.shared.number));
        let result = {
            let _leave = Leave(&worker.domain);
            worker.domain.mark.settle(asked_often);
            WORKER.with(|current| current.set(worker));
            reactor::set_current(Some(worker.domain.reactor.clone()));
            report::set_current(worker.shared.handler.clone());
            // SAFETY: the worker keeps its domain alive, and takes this back when it leaves.
            unsafe { heartbeat::set_here(Some(NonNull::from(&*worker.domain.heartbeat))) };
            // SAFETY: dropped at the end of this block, on this thread.
            let _installed = unsafe { install(worker) };
            f(worker)
        };
        if worker.begun.get().is_null() {
            // SAFETY: leaked above. No fiber refers to it, and nothing else keeps a worker's
            // address.
            drop(unsafe { Box::from_raw(std::ptr::from_ref(worker).cast_mut()) });
        }
        result
    }

    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn current_fiber(&self) -> Option<NonNull<Fiber>> {
        NonNull::new(self.current.get())
    }

    /// Runs fibers until `done` returns `true`. Calls `done` now and then, and whenever there is
    /// nothing to run.
    pub(crate) fn work(&self, done: &dyn Fn() -> bool) {
        // A worker that stopped here would leave its fibers waiting for ever.
        let why = "a panic has reached a worker's loop, which its fibers cannot survive";
        // Compiled twice: a runtime without hooks does not pay for checking whether it has any.
        abort::if_it_unwinds(why, || {
            if self.hooks.is_empty() { self.work_on::<false>(done) } else { self.work_on::<true>(done) }
        });
    }

    fn work_on<const HOOKED: bool>(&self, done: &dyn Fn() -> bool) {
        loop {
            let turn = self.turn.get().wrapping_add(1);
            self.turn.set(turn);
            // One long turn counts as many short ones.
            if turn.is_multiple_of(VISIT) || tick::now() != self.visited.get() {
                self.visit();
                if done() {
                    return;
                }
            }
            match self.pick() {
                // SAFETY: what was queued is alive, and the worker that takes it runs it.
                Some(picked) => match unsafe { either(picked) } {
                    Either::Fiber(fiber) => {
                        self.run_hooked::<HOOKED>(fiber, turn);
                        self.look_at_backlog();
                    }
                    Either::Task(task) => self.run_on_runner(Load::Task(task), turn),
                },
                None if done() => return,
                None => self.idle(),
            }
        }
    }

    /// Runs `fiber` until it parks, yields or ends.
    pub(super) fn run(&self, fiber: NonNull<Fiber>, turn: u32) {
        if self.hooks.is_empty() {
            self.run_hooked::<false>(fiber, turn);
        } else {
            self.run_hooked::<true>(fiber, turn);
        }
    }

    /// Does the same as [`run`](Worker::run), where it is known at compile time whether there are
    /// hooks.
    #[inline]
    fn run_hooked<const HOOKED: bool>(&self, fiber: NonNull<Fiber>, turn: u32) {
        // SAFETY: a queued fiber is alive.
        let this = unsafe { fiber.as_ref() };
        if this.parker.state.get() == State::New && !self.begin(fiber) {
            return;
        }
        this.parker.state.set(State::Running);
        self.current.set(fiber.as_ptr());
        self.domain.running(turn, this, self.others_are_ready());
        // A fiber that waits now may have turned it off, and that need not be right for this one.
        self.domain.heartbeat.turn_on();
        if HOOKED {
            self.before_turn(this);
        }
        // SAFETY: this is a field of a live fiber.
        parker::set_running(unsafe { &raw const (*fiber.as_ptr()).parker });
        // SAFETY: only the domain's own worker touches the coroutine, and it is not running.
        let coroutine = unsafe { &mut *this.coroutine.get() };
        let result = coroutine.as_mut().expect("a fiber that has begun has a stack").resume(());
        parker::set_running(std::ptr::null());
        let suspend = match result {
            CoroutineResult::Yield(suspend) => suspend,
            CoroutineResult::Return(()) => return self.end(fiber),
        };
        if HOOKED {
            self.after_turn(this, Moment::Waits);
        }
        self.current.set(std::ptr::null_mut());
        match suspend {
            Suspend::Parked => {}
            Suspend::Stubborn => self.stubborn.set(true),
            Suspend::Resting => {
                this.parker.state.set(State::Resting);
                self.runner.set(Some(fiber));
            }
            Suspend::Yielded => {
                this.parker.state.set(State::Queued);
                // SAFETY: it was running, so it is in no list.
                unsafe { self.ready.push(fiber.cast()) };
            }
        }
    }

    /// Gives a new fiber its stack. Returns `false` if no stack can be had now.
    #[inline(never)]
    fn begin(&self, fiber: NonNull<Fiber>) -> bool {
        self.arrive();
        // SAFETY: a queued fiber is alive, and one that has not begun belongs to this worker alone.
        let this = unsafe { fiber.as_ref() };
        let taken = self.stacks.borrow_mut().take();
        let stack = match taken {
            Ok(stack) => stack,
            Err(error) => {
                self.out_of_stacks(fiber, &error);
                return false;
            }
        };
        // SAFETY: the fiber keeps the stack until its coroutine has ended, see `end`.
        let lent = unsafe { stack.lend() };
        // SAFETY: a fiber that has not begun has no stack, and no other code reads this field.
        unsafe { *this.stack.get() = Some(stack) };
        this.domain.set(Arc::as_ptr(&self.domain).cast());
        this.parker.interrupted.set(self.stopping.get());
        // SAFETY: only this worker touches the field, which was just written.
        let usable = unsafe { &*this.stack.get() }.as_ref().map_or(0..0, |stack| stack.usable());
        this.stack_state.limit.set(usable.start + LEFT_TO_LEAVES.min(self.shared.stack_size / 2));
        // SAFETY: `wake_fiber` may be called from any thread while the fiber lives, and a fiber
        // with an unconsumed wake does not end.
        this.parker.waker.set(Some(unsafe { Waker::new(fiber.as_ptr().cast(), wake_fiber) }));
        let random = &raw const self.random;
        let coroutine = Coroutine::with_stack(lent, move |yielder: &Yielder<(), Suspend>, ()| {
            // SAFETY: a fiber is alive while it runs.
            unsafe { fiber.as_ref() }.parker.begin(yielder, random);
            // SAFETY: the fiber begins here, once.
            unwinding::outermost(|| unsafe { fiber_cell::live(fiber) });
        });
        // SAFETY: as above.
        unsafe { *this.coroutine.get() = Some(coroutine) };
        let first = self.begun.replace(fiber.as_ptr());
        this.siblings.set((std::ptr::null_mut(), first));
        if let Some(first) = NonNull::new(first) {
            // SAFETY: fibers in the list are alive.
            let siblings = unsafe { &first.as_ref().siblings };
            siblings.set((fiber.as_ptr(), siblings.get().1));
        }
        true
    }

    /// Puts back a fiber that gets no stack until other fibers have ended, and reports it once.
    #[cold]
    fn out_of_stacks(&self, fiber: NonNull<Fiber>, error: &std::io::Error) {
        if self.begun.get().is_null() {
            abort::process(format_args!("no stack for a fiber, and none will become free: {error}"));
        }
        // SAFETY: a queued fiber is alive.
        let site = unsafe { fiber.as_ref() }.site();
        let report = || Report::NoStack(NoStack::new(self.domain.index, site, error));
        self.shared.report_once(&self.shared.has_told_of_stacks, report);
        // SAFETY: it was just taken out of its queue.
        unsafe { self.ready.push(fiber.cast()) };
        self.park_briefly();
    }

    /// Takes back a fiber's stack and wakes its joiners.
    #[inline(never)]
    fn end(&self, fiber: NonNull<Fiber>) {
        // SAFETY: the fiber's own reference keeps it alive.
        let this = unsafe { fiber.as_ref() };
        if !self.hooks.is_empty() {
            self.after_turn(this, Moment::Ends);
        }
        self.current.set(std::ptr::null_mut());
        // SAFETY: only the domain's own worker touches the coroutine, and it has ended.
        unsafe { *this.coroutine.get() = None };
        // SAFETY: only the domain's own worker touches the stack, and the coroutine has ended.
        let stack = unsafe { &mut *this.stack.get() }.take();
        self.stacks.borrow_mut().give(stack.expect("it has just run"));
        let (before, after) = this.siblings.get();
        if self.interrupting.get() == fiber.as_ptr() {
            self.interrupting.set(after);
        }
        match NonNull::new(before) {
            // SAFETY: fibers in the list are alive.
            Some(before) => unsafe { before.as_ref() }.siblings.update(|(first, _)| (first, after)),
            None => self.begun.set(after),
        }
        if let Some(after) = NonNull::new(after) {
            // SAFETY: as above.
            unsafe { after.as_ref() }.siblings.update(|(_, second)| (before, second));
        }
        self.domain.retire(this);
        let is_runner = this.is_runner();
        // SAFETY: the fiber has run to its end.
        if unsafe { fiber_cell::finish(fiber) } {
            if this.outcome.get() == Outcome::Done {
                // The handle was dropped at the last moment. Destructors may block, so they get a
                // fiber.
                self.free_in_fiber(fiber);
            } else {
                // SAFETY: that was the last reference.
                unsafe { fiber_cell::free(fiber) };
            }
        }
        if !is_runner {
            self.domain.counts.finished.add(1);
            self.shared.fiber_ended();
        }
    }

    #[cold]
    fn free_in_fiber(&self, fiber: NonNull<Fiber>) {
        /// Frees the fiber also if the closure that owns this is dropped unrun.
        struct Last(NonNull<Fiber>);
        impl Drop for Last {
            fn drop(&mut self) {
                // SAFETY: the last reference was handed over to this.
                unsafe { fiber_cell::free(self.0) };
            }
        }
        let last = Last(fiber);
        // SAFETY: alive until the last reference is released.
        let site = unsafe { fiber.as_ref() }.site();
        let cleaner = Fiber::new(move || drop(last), Traits::default(), site);
        self.spawn(cleaner, None);
        // SAFETY: this is the reference of a handle, and there is no handle.
        unsafe { fiber_cell::release(cleaner) };
    }

    /// Fires the timers that are due.
    pub(super) fn fire_timers(&self) {
        let mut wheel = self.wheel.borrow_mut();
        if wheel.is_empty() {
            return;
        }
        let now = clock::now();
        self.firing.set(true);
        wheel.advance(now, |entry| {
            // SAFETY: the wheel has just handed the entry out; its fiber is parked on this thread.
            if let Some(waker) = unsafe { Timer::expire(entry) } {
                // This only queues the fiber, so nothing borrowed here is in its way.
                waker.wake();
            }
        });
        self.firing.set(false);
        if self.domain.counts.next_timer.get() <= now {
            self.domain.counts.next_timer.set(wheel.early_deadline().unwrap_or(u64::MAX));
        }
    }

    /// Calls `look` with each fiber that has begun here and has not ended. `look` must neither run
    /// fibers nor end any.
    pub(super) fn for_each_begun(&self, mut look: impl FnMut(&Fiber)) {
        let mut next = NonNull::new(self.begun.get());
        while let Some(fiber) = next {
            // SAFETY: fibers in the list are alive.
            let this = unsafe { fiber.as_ref() };
            look(this);
            next = NonNull::new(this.siblings.get().1);
        }
    }
}

/// Wakes the fiber at `data`, from any thread.
fn wake_fiber(data: *const ()) {
    let fiber = NonNull::new(data.cast_mut().cast::<Fiber>()).expect("the fiber of a waker");
    // SAFETY: a fiber does not end before a wake that is under way has arrived.
    let domain = unsafe { fiber.as_ref() }.domain.get().cast::<Domain>();
    with_current(|worker| match worker {
        Some(worker) if std::ptr::eq(Arc::as_ptr(&worker.domain), domain) => worker.wake(fiber),
        // SAFETY: the fiber is alive and has begun, so its domain is alive until it has been woken.
        _ => unsafe { Domain::hand_over_at(domain, fiber) },
    });
}

// SAFETY: `park` suspends the fiber. The fiber is resumed by `wake`, or by an interrupt (and then
// says so), or does not suspend at all if a wake came first. Timers are kept in the worker's own
// wheel, on this thread.
unsafe impl Context for Worker {
    fn waker(&self) -> Waker {
        unreachable!("fibers wait by their parker, and a worker does not wait between fibers")
    }

    fn park(&self, interruptible: bool) -> Unparked {
        parker::running().expect("only fibers wait in a worker").park(interruptible, None)
    }

    fn stay(&self) {
        let parker = parker::running().expect("only fibers wait in a worker");
        while !parker.woken.take() {
            self.take_inbox();
            std::thread::yield_now();
        }
    }

    fn unwind(&self) -> ! {
        resume_unwind(Box::new(Interrupted))
    }

    fn can_wait(&self) -> bool {
        // Foreign code may run between fibers, such as a waker or a destructor. It waits as on a
        // plain thread.
        parker::running().is_some()
    }

    unsafe fn arm(&self, timer: NonNull<Timer>, deadline: u64) {
        // SAFETY: alive and pinned, by the caller's promise.
        let entry = unsafe { Timer::entry(timer) };
        // SAFETY: not linked, and pinned until it has fired or been removed.
        unsafe { self.wheel.borrow_mut().insert(entry, deadline) };
        self.domain.counts.next_timer.armed(deadline);
    }

    unsafe fn disarm(&self, timer: NonNull<Timer>) {
        // SAFETY: alive, by the caller's promise.
        let entry = unsafe { Timer::entry(timer) };
        // SAFETY: alive, by the caller's promise.
        let timer = unsafe { entry.as_ref() };
        let next_timer = &self.domain.counts.next_timer;
        let was_told = timer.is_linked() && timer.deadline() <= next_timer.get();
        let mut wheel = self.wheel.borrow_mut();
        // SAFETY: if it is linked, then into this wheel.
        unsafe { wheel.remove(entry) };
        if was_told {
            next_timer.set(wheel.early_deadline().unwrap_or(u64::MAX));
        }
    }

    #[inline]
    fn random(&self) -> u64 {
        self.random.next()
    }
}
