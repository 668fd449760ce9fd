//! The life of a task that has had to wait: queued, run, parked, ended.

use super::slots::Slots;
use crate::event::Interrupted;
use crate::event::recycled::Recycled;
use crate::masked;
use crate::memory::give_slot;
use crate::sched::shared::Shared;
use crate::sched::worker::{Worker, with_current};
use crate::sched::{Domain, unclaimed};
use crate::shim::atomic::Ordering;
use crate::shim::sync::Arc;
use crate::spawned::head::Outcome;
use crate::spawned::runnable::Runnable;
use crate::spawned::scope_state::ScopeState;
use crate::spawned::task_body::Progress;
use crate::spawned::task_cell::Task;
use crate::spawned::this_stack::{ThisStack, this_stack};
use std::mem::ManuallyDrop;
use std::panic::resume_unwind;
use std::ptr::NonNull;
use std::task::Context;

/// Notes that a task belongs to this runtime, which does not end before the task.
pub(crate) fn set_home(task: &Task, shared: &Arc<Shared>) {
    task.home.store(Arc::as_ptr(shared).cast_mut().cast(), Ordering::Relaxed);
}

/// Returns the runtime that a reified task belongs to.
fn home_of(task: &Task) -> *const Shared {
    task.home.load(Ordering::Relaxed).cast_const().cast()
}

/// Parks a task whose poll has returned `Pending`, or queues it again if it has been woken
/// meanwhile.
///
/// # Safety
///
/// The caller runs the task, which has been reified, and does not use it afterwards.
pub(crate) unsafe fn wait(task: NonNull<Task>) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { task.as_ref() };
    if this.recycled.is_leaving() {
        // SAFETY: passed on to the caller.
        return unsafe { inflate(task) };
    }
    if this.state().park() {
        return;
    }
    // The next turn looks whether the task is cancelled.
    this.state().absorb();
    // SAFETY: the caller still owns the task, and it is not used afterwards.
    unsafe { queue_at_home(task, Worker::postpone) };
}

/// Queues a task with `here` if this thread runs a domain of its runtime, and else for the first
/// domain of its runtime that takes it.
///
/// # Safety
///
/// The caller owns the task, and does not use it afterwards.
unsafe fn queue_at_home(task: NonNull<Task>, here: fn(&Worker, NonNull<Runnable>)) {
    // SAFETY: the caller owns the task, which is therefore alive.
    let home = home_of(unsafe { task.as_ref() });
    with_current(|worker| match worker {
        Some(worker) if std::ptr::eq(Arc::as_ptr(worker.shared()), home) => here(worker, task.cast()),
        // SAFETY: a runtime outlives its tasks.
        _ => unsafe { push_common_at(home, task.cast()) },
    });
}

/// Gives up the claim on a task.
///
/// # Safety
///
/// The caller has claimed the task, and does not use it afterwards.
pub(crate) unsafe fn release(task: NonNull<Task>) {
    // SAFETY: claimed by the caller.
    let this = unsafe { task.as_ref() };
    if !this.state().park() {
        this.state().absorb();
        // SAFETY: the caller still owns the task.
        unsafe { ready(task) };
    }
}

/// Runs a task that waits on this stack. Returns `false` if the task does not wait, or if it cannot
/// run here.
pub(crate) fn attach(task: NonNull<Task>) -> bool {
    with_current(|worker| {
        let is_of = |worker: &&Worker| Task::is_of(task, Arc::as_ptr(worker.shared()).cast());
        let Some(worker) = worker.filter(is_of) else { return false };
        if !this_stack().has_room() || !Task::state_of(task).claim() {
            return false;
        }
        let is_here = is_of(&worker);
        if is_here {
            // SAFETY: the task is claimed, so this code owns it, and this thread runs a domain of its
            // runtime.
            unsafe { run(task, worker) };
        } else {
            // Another task has moved into the slot meanwhile. SAFETY: just claimed.
            unsafe { release(task) };
        }
        is_here
    })
}

/// Queues a task that waits for the first domain that takes it. Returns `false` if it does not
/// wait.
pub(crate) fn inflate_parked(task: NonNull<Task>) -> bool {
    let claimed = Task::state_of(task).claim();
    if claimed {
        // SAFETY: the task is claimed, so this code owns it. It has been reified, since it was
        // parked.
        unsafe { inflate(task) };
    }
    claimed
}

/// Queues a task that runs for the first domain that takes it.
///
/// # Safety
///
/// As for [`wait`].
unsafe fn inflate(task: NonNull<Task>) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { task.as_ref() };
    // The next turn looks whether the task is cancelled.
    this.state().absorb();
    // SAFETY: passed on to the caller.
    unsafe { queue_anywhere(task) };
}

/// Queues a task for the first domain that takes it.
///
/// # Safety
///
/// As for [`wait`]. The task has been reified, and its state has no wakes but the owner's.
pub(crate) unsafe fn queue_anywhere(task: NonNull<Task>) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { task.as_ref() };
    if !this.inflated.replace(true) {
        count_inflation(this);
    }
    // SAFETY: the task has been reified, and its owner queues it here, with its own runtime.
    unsafe { push_common_at(home_of(this), task.cast()) };
}

fn count_inflation(this: &Task) {
    with_current(|worker| match worker {
        Some(worker) => worker.domain().counts.tally.inflations.add(1),
        // SAFETY: the caller is about to queue the task, so it is alive, and it has been reified.
        None => unsafe { &*home_of(this) }.outside.lock().inflations.add(1),
    });
}

/// Does the same as [`ready`], given the part of the task that wakers know.
///
/// # Safety
///
/// As for [`ready`].
pub(crate) unsafe fn ready_recycled(recycled: NonNull<Recycled>) {
    // SAFETY: passed on to the caller.
    unsafe { ready(Task::of(recycled)) };
}

/// Queues a task that was parked, to run next here if this thread runs a domain of its runtime.
///
/// # Safety
///
/// The caller owns the task, by a wake, a cancellation or a claim, and does not use it afterwards.
pub(crate) unsafe fn ready(task: NonNull<Task>) {
    // SAFETY: passed on to the caller.
    unsafe { queue_at_home(task, Worker::put_next) };
}

/// Runs a turn of a task that has left its queue, on this stack.
///
/// # Panics
///
/// If the runtime interrupts the fiber on whose stack the task runs.
///
/// # Safety
///
/// The caller owns the task: it was taken out of its queue for this, or claimed. This is the thread
/// of `worker`, which is a domain of the task's runtime.
pub(crate) unsafe fn run(task: NonNull<Task>, worker: &Worker) {
    // SAFETY: the caller owns the task, so it is alive.
    let this = unsafe { task.as_ref() };
    note_domain(this, worker.domain());
    // SAFETY: the caller owns the task, and `worker` is of its runtime.
    unsafe { turn(task, worker.shared()) };
}

/// Notes that a task has a turn on this domain.
#[inline]
fn note_domain(task: &Task, domain: &Domain) {
    domain.running_task(task.site());
    let before = task.domain.replace(domain.index);
    if before != domain.index && before != usize::MAX {
        domain.counts.tally.migrations.add(1);
    }
}

/// A guard that says, until it is dropped, that a task's code runs on this stack.
pub(crate) struct Aboard<'a> {
    stack: ThisStack<'a>,
    pub(crate) before: *const Recycled,
}

impl<'a> Aboard<'a> {
    /// # Safety
    ///
    /// This code runs on that stack. The task runs on it until the guard is dropped.
    #[inline(always)]
    pub(crate) unsafe fn new(stack: ThisStack<'a>, recycled: NonNull<Recycled>) -> Self {
        // SAFETY: passed on to the caller.
        Aboard { stack, before: unsafe { stack.task.replace(recycled.as_ptr()) } }
    }
}

impl Drop for Aboard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the task that ran before the guard was made runs again.
        unsafe { self.stack.task.replace(self.before) };
    }
}

/// Runs a turn of a task, on this stack.
///
/// # Safety
///
/// The caller runs the task, which has been reified and whose runtime is `home`, and does not use
/// it afterwards.
unsafe fn turn(task: NonNull<Task>, home: &Shared) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { task.as_ref() };
    let recycled = Task::recycled(task);
    // SAFETY: the task has its turn here.
    let _aboard = unsafe { Aboard::new(this_stack(), recycled) };
    this.recycled.begin_turn();
    let is_cancelled = this.state().is_cancelled();
    #[cfg(feature = "model")]
    let is_over = home.is_stopping() || with_current(|worker| worker.is_some_and(Worker::is_unwinding_all));
    #[cfg(not(feature = "model"))]
    let is_over = home.is_stopping();
    if is_cancelled || is_over {
        let outcome = if is_cancelled { Outcome::Cancelled } else { Outcome::ShutDown };
        // SAFETY: passed on to the caller.
        return unsafe { drop_and_end(task, outcome) };
    }
    // SAFETY: the task is in a slot.
    let waker = ManuallyDrop::new(unsafe { Recycled::waker(recycled) });
    // SAFETY: the task holds a future, and runs here.
    match unsafe { (this.table().poll)(task, &mut Context::from_waker(&waker)) } {
        // SAFETY: passed on to the caller.
        Progress::Description => unsafe { wait(task) },
        // SAFETY: passed on to the caller.
        Progress::Ended => unsafe { end(task) },
        Progress::Interrupted(payload) => {
            // SAFETY: passed on to the caller.
            unsafe { end(task) };
            resume_unwind(payload)
        }
    }
}

/// Ends a task that was parked and has been cancelled, on this stack.
///
/// # Safety
///
/// The caller owns the task, and does not use it afterwards.
pub(crate) unsafe fn end_here(task: NonNull<Task>) {
    // SAFETY: the task ends here.
    let _aboard = unsafe { Aboard::new(this_stack(), Task::recycled(task)) };
    // SAFETY: passed on to the caller.
    unsafe { drop_and_end(task, Outcome::Cancelled) };
}

/// Drops the future of a task that is not to go on, and ends the task.
///
/// # Safety
///
/// As for [`wait`].
unsafe fn drop_and_end(task: NonNull<Task>, outcome: Outcome) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { task.as_ref() };
    // The future's destructors run to their end, even if the runtime ends.
    masked!(masked);
    // SAFETY: the task holds a future, which is not polled again.
    let dropped = unsafe { (this.table().drop_future)(task) };
    this.outcome().set(outcome);
    let interrupted = match dropped {
        Err(panic) if panic.is::<Interrupted>() => Some(panic),
        Err(panic) => {
            unclaimed::of_task(panic, None, this.site());
            None
        }
        Ok(()) => None,
    };
    drop(masked);
    // SAFETY: passed on to the caller.
    unsafe { end(task) };
    if let Some(payload) = interrupted {
        resume_unwind(payload);
    }
}

/// Ends a reified task whose body holds no future any more, and wakes its joiners.
///
/// # Safety
///
/// As for [`wait`].
unsafe fn end(task: NonNull<Task>) {
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { task.as_ref() };
    let scope = this.scope.get();
    let home = home_of(this);
    this.clear_locals();
    #[cfg(feature = "model")]
    with_current(|worker| worker.into_iter().for_each(|worker| worker.has_ended(&this.runnable)));
    if this.state().is_detached() {
        // The handle is gone, so no other code can wait for the task, or ask about it. SAFETY: the
        // task has ended, and its handle is gone.
        unsafe { vacate(task) };
    } else {
        this.finish();
        if this.state().finish() {
            // SAFETY: the task has ended, and its handle is gone.
            unsafe { vacate_joinable(task) };
        }
    }
    if let Some(scope) = scope {
        // SAFETY: the scope waits for every fiber and task that has entered it, and this is the
        // last step of the task.
        unsafe { ScopeState::exit(scope) };
    }
    // SAFETY: the task is counted out here, and its home was alive until then.
    unsafe { count_out(home) };
}

/// Makes the slot of a task vacant whose handle was dropped when the task could already be joined.
///
/// # Safety
///
/// As for [`vacate`].
pub(crate) unsafe fn vacate_joinable(task: NonNull<Task>) {
    // SAFETY: the slot is the caller's alone.
    unsafe { task.as_ref() }.finished.update_plain(|finished, _| *finished = false);
    // SAFETY: passed on to the caller.
    unsafe { vacate(task) };
}

/// Makes a slot vacant. Drops an unclaimed result on this stack, where its destructors may block if
/// this is a fiber.
///
/// # Safety
///
/// The task was reified and has ended, and its handle is gone. The caller does not use it
/// afterwards.
unsafe fn vacate(task: NonNull<Task>) {
    // SAFETY: the slot is the caller's alone.
    let this = unsafe { task.as_ref() };
    // SAFETY: no other code refers to the body.
    unsafe {
        this.drop_result(task, &this.table().contents, |panic| unclaimed::report_task(panic, this.site()));
    }
    this.clear_locals();
    this.inflated.set(false);
    this.penalty.set(0);
    this.number.set(0);
    this.domain.set(usize::MAX);
    this.home.store(std::ptr::null_mut(), Ordering::Relaxed);
    this.state().vacate();
    // SAFETY: everything in the slot has been dropped.
    unsafe { give_slot::<Slots>(task.cast(), this.table().class) };
}

/// Counts out a task that was reified. A runtime may end as soon as no task is left.
///
/// # Safety
///
/// `home` is the runtime of such a task, which has ended.
unsafe fn count_out(home: *const Shared) {
    with_current(|worker| match worker {
        Some(worker) if std::ptr::eq(Arc::as_ptr(worker.shared()), home) => {
            worker.domain().counts.finished.add(1);
            worker.shared().fiber_ended();
        }
        _ => {
            // SAFETY: alive, since the task has not been counted out.
            unsafe { Arc::increment_strong_count(home) };
            // SAFETY: this is the count that was just added.
            let home = unsafe { Arc::from_raw(home) };
            home.spawned_outside.fetch_sub(1, Ordering::SeqCst);
            home.fiber_ended();
        }
    });
}

/// Does the same as [`push_common`](Shared::push_common), for a caller that does not keep the
/// runtime alive.
///
/// # Safety
///
/// `home` is alive until it has been given `task`, which is in no list and stays until it runs.
unsafe fn push_common_at(home: *const Shared, task: NonNull<Runnable>) {
    // SAFETY: alive, by the caller's promise.
    unsafe { Arc::increment_strong_count(home) };
    // SAFETY: this takes over the count that was just added.
    let home = unsafe { Arc::from_raw(home) };
    #[cfg(feature = "model")]
    if !with_current(|worker| worker.is_some_and(|worker| std::ptr::eq(&**worker.shared(), &*home))) {
        home.domains[0].woken_from_outside.store(true, Ordering::Relaxed);
    }
    home.push_common(task);
}
