//! Performing an event in place: poll, publish, park, withdraw, complete.

use super::context::{Context, Unparked, installed};
#[cfg(not(lisle_loom))]
use super::parker::{self, Parker};
#[cfg(not(lisle_loom))]
use super::patience::Patience;
use super::record::{Attempt, Record, Task};
#[cfg(not(lisle_loom))]
use super::sleepers;
use super::step::{InStep, suspend};
use super::timer::Timer;
use super::waits::Parked;
use super::{Event, Step};
use crate::shim::{
    atomic::{AtomicBool, Ordering},
    thread,
};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::ptr::NonNull;

/// The ways of waiting that [`perform`] is compiled for.
trait Park {
    fn task(&self) -> Task;
    /// `parked` is what the performer waits for, for those who ask.
    fn park(&self, interruptible: bool, parked: Option<&Parked>) -> Unparked;
}

impl Park for &dyn Context {
    fn task(&self) -> Task {
        Context::task(*self)
    }
    fn park(&self, interruptible: bool, parked: Option<&Parked>) -> Unparked {
        self.parks(parked);
        let unparked = Context::park(*self, interruptible);
        self.parks(None);
        unparked
    }
}

#[cfg(not(lisle_loom))]
impl Park for &Parker {
    #[inline(always)]
    fn task(&self) -> Task {
        self.task.get().expect("a host that has begun has its task")
    }
    #[inline(always)]
    fn park(&self, interruptible: bool, parked: Option<&Parked>) -> Unparked {
        Parker::park(self, interruptible, parked)
    }
}

#[inline(always)]
pub(super) fn sync<E: Event>(event: &E) -> E::Output {
    sync_unless(event, true)
}

/// As [`sync`], but not to be interrupted when the runtime shuts down.
pub(crate) fn sync_masked<E: Event>(event: &E) -> E::Output {
    sync_unless(event, false)
}

#[inline(always)]
fn sync_unless<E: Event>(event: &E, interruptible: bool) -> E::Output {
    #[cfg(not(lisle_loom))]
    if let (Some(parker), Some(context)) = (parker::running(), installed()) {
        return perform(event, &parker, context, interruptible);
    }
    sync_elsewhere(event, interruptible)
}

/// Tells a model that something visible is about to happen.
#[inline(always)]
pub(crate) fn visible() {
    #[cfg(not(lisle_loom))]
    if parker::running().is_some() {
        return;
    }
    visible_elsewhere();
}

#[cold]
fn visible_elsewhere() {
    if let Some(context) = installed() {
        context.visible();
    }
}

/// Performs an event where no host runs.
#[inline(never)]
fn sync_elsewhere<E: Event>(event: &E, interruptible: bool) -> E::Output {
    match installed().filter(|context| context.can_wait()) {
        Some(context) => {
            context.visible();
            perform(event, &context, context, interruptible)
        }
        None => {
            let thread = OsThread::new();
            let context: &dyn Context = &thread;
            perform(event, &context, context, false)
        }
    }
}

#[inline]
pub(super) fn poll<E: Event>(event: &E) -> Option<E::Output> {
    visible();
    let record = Record::new(no_task(), true);
    let attempt = Attempt::new(&record, &Nowhere);
    let mut branch = pin!(event.branch());
    if E::STAGED {
        event.force(branch.as_mut());
    }
    while event.try_commit(branch.as_mut(), &attempt) == Step::Committed {
        if !E::STAGED || event.advance(branch.as_mut()) {
            return Some(event.complete(branch));
        }
    }
    None
}

/// Performs an event: inlined for hosts, see `parker.rs`.
#[inline(always)]
fn perform<E: Event>(event: &E, parker: &impl Park, context: &dyn Context, interruptible: bool) -> E::Output {
    let single = event.is_single();
    let record = Record::new(parker.task(), single);
    let attempt = Attempt::new(&record, context);
    let mut branch = pin!(event.branch());
    if E::STAGED {
        event.force(branch.as_mut());
    }
    loop {
        if wait(event, branch.as_mut(), &attempt, parker, interruptible)
            && (!E::STAGED || event.advance(branch.as_mut()))
        {
            return event.complete(branch);
        }
        // The withdrawn branch is used again, not made anew: it may hold a message, and it is the same performance.
        attempt.restart();
    }
}

/// One round: waits until the event is decided and its losing branches are withdrawn. False: told to start over.
#[inline(always)]
fn wait<'e, E: Event>(
    event: &'e E,
    mut branch: Pin<&mut E::Branch<'e>>,
    attempt: &Attempt<'_>,
    parker: &impl Park,
    interruptible: bool,
) -> bool {
    // A single event polls as it publishes; for a choice it pays to look at all branches first.
    if !attempt.record().is_single() && event.try_commit(branch.as_mut(), attempt) == Step::Committed {
        attempt.check_committed();
        return true;
    }
    if publish(event, branch.as_mut(), attempt) == Step::Committed {
        return true;
    }
    let parked = Parked::new(event, branch.as_ref());
    if suspend(|| parker.park(interruptible, Some(&parked))) == Unparked::Interrupted {
        if give_up(event, branch.as_mut(), attempt) {
            attempt.context().unwind();
        }
        // A partner was faster: its wake is on the way, and its value must not be lost.
        suspend(|| parker.park(false, None));
    }
    let won = event.withdraw(branch, attempt);
    debug_assert!(won || attempt.record().is_retry(), "woken without a winner");
    won
}

/// Publishes an event; if that commits it, its losing branches are withdrawn.
///
/// A function of the user's may panic in a later branch of a choice when an earlier one has been
/// published, or even committed; then the attempt is ended properly before the panic goes on.
#[inline(always)]
pub(super) fn publish<'e, E: Event>(
    event: &'e E,
    mut branch: Pin<&mut E::Branch<'e>>,
    attempt: &Attempt<'_>,
) -> Step {
    let in_step = InStep::new(attempt.record());
    if attempt.record().is_single() {
        let step = event.publish(branch, attempt);
        if step == Step::Committed {
            attempt.check_committed();
        }
        return step;
    }
    match catch_unwind(AssertUnwindSafe(|| event.publish(branch.as_mut(), attempt))) {
        Ok(Step::Committed) => {
            attempt.check_committed();
            event.withdraw(branch, attempt);
            Step::Committed
        }
        Ok(Step::Waiting) => Step::Waiting,
        Err(panic) => {
            drop(in_step);
            if !give_up(event, branch, attempt) {
                suspend(|| attempt.context().park(false));
            }
            resume_unwind(panic)
        }
    }
}

/// Withdraws an undecided attempt. `false`: it has been decided, and a wake is on the way.
pub(super) fn give_up<'e, E: Event>(
    event: &'e E,
    branch: Pin<&mut E::Branch<'e>>,
    attempt: &Attempt<'_>,
) -> bool {
    let _in_step = InStep::new(attempt.record());
    attempt.give_up();
    if !attempt.record().is_single() {
        // Once cancelled nobody can commit it any more; a single record is safe when out of its queue.
        attempt.record().cancel();
    }
    event.withdraw(branch, attempt);
    attempt.record().is_withdrawn()
}

pub(super) fn no_task() -> Task {
    fn nothing(_: *const ()) {}
    // SAFETY: waking does nothing at all.
    unsafe { Task::new(std::ptr::null(), nothing) }
}

/// The context of a poll, which never waits, and of others that have no context to wait in.
pub(crate) struct Nowhere;

// SAFETY: nothing here ever parks or arms.
unsafe impl Context for Nowhere {
    fn task(&self) -> Task {
        no_task()
    }
    fn park(&self, _: bool) -> Unparked {
        unreachable!("a poll does not park")
    }
    fn unwind(&self) -> ! {
        unreachable!("a poll is not interrupted")
    }
    unsafe fn arm(&self, _: NonNull<Timer>, _: u64) {
        unreachable!("a poll does not publish")
    }
    unsafe fn disarm(&self, _: NonNull<Timer>) {}
}

#[cfg(not(lisle_loom))]
thread_local! {
    static PATIENCE: Patience = const { Patience::new() };
}

/// The context of one sync on a plain OS thread.
struct OsThread {
    woken: AtomicBool,
    thread: thread::Thread,
    parked: Cell<Option<Parked>>,
}

impl OsThread {
    fn new() -> Self {
        OsThread { woken: AtomicBool::new(false), thread: thread::current(), parked: Cell::new(None) }
    }

    /// A partner on another core may be a few hundred nanoseconds away, a wake costs microseconds.
    #[cfg(not(lisle_loom))]
    fn look(&self) -> bool {
        PATIENCE.with(|patience| patience.look(|| self.woken.load(Ordering::Acquire)))
    }

    #[cfg(lisle_loom)]
    fn look(&self) -> bool {
        false
    }

    fn sleep(&self) {
        #[cfg(not(lisle_loom))]
        let asleep = crate::shim::clock::now();
        #[cfg(not(lisle_loom))]
        sleepers::sleep(self.parked.get(), || self.woken.load(Ordering::Acquire));
        #[cfg(lisle_loom)]
        while !self.woken.load(Ordering::Acquire) {
            thread::park();
        }
        #[cfg(not(lisle_loom))]
        PATIENCE.with(|patience| patience.slept(crate::shim::clock::now() - asleep));
    }

    /// Wakes the thread that waits on the context at `data`.
    fn wake(data: *const ()) {
        // SAFETY: the task's data is the context, which stays until the thread has seen `woken`.
        let this = unsafe { &*data.cast::<OsThread>() };
        // The context may be gone as soon as the flag is up, so the handle is taken first.
        let thread = this.thread.clone();
        this.woken.store(true, Ordering::Release);
        thread.unpark();
    }
}

// SAFETY: `park` returns only once `woken`, which only the task sets, is up, and the flag carries
// release and acquire. Timers go to the clock thread, which keeps the promises of `arm`.
unsafe impl Context for OsThread {
    fn task(&self) -> Task {
        // SAFETY: `wake` accepts any thread, and `self` outlives the sync that uses the task.
        unsafe { Task::new(std::ptr::from_ref(self).cast(), OsThread::wake) }
    }

    fn park(&self, _: bool) -> Unparked {
        if !self.look() {
            self.sleep();
        }
        self.woken.store(false, Ordering::Relaxed);
        Unparked::Woken
    }

    fn parks(&self, parked: Option<&Parked>) {
        self.parked.set(parked.copied());
    }

    fn unwind(&self) -> ! {
        unreachable!("an OS thread is not interrupted")
    }

    unsafe fn arm(&self, timer: NonNull<Timer>, deadline: u64) {
        // SAFETY: passed on to the caller.
        unsafe { crate::time::outside::arm(timer, deadline) }
    }

    unsafe fn disarm(&self, timer: NonNull<Timer>) {
        // SAFETY: passed on to the caller.
        unsafe { crate::time::outside::disarm(timer) }
    }
}
