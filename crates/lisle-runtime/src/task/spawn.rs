//! Spawning tasks: a task begins as a part of its spawner.

use super::enter;
use super::handle::TaskHandle;
use crate::event::recycled::Recycled;
use crate::event::{Interrupted, tally, tick};
use crate::memory::{give_slot, take_slot};
use crate::sched::tasks::life::{self, Aboard};
use crate::sched::tasks::slots::Slots;
use crate::spawned::scope_state::ScopeState;
use crate::spawned::task_body::{self, Kept};
use crate::spawned::task_cell::Task;
use crate::spawned::this_stack::{ThisStack, this_stack};
use std::any::Any;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{Location, resume_unwind};
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// The number of following tasks that do not begin on the stack of a spawner after one of its tasks
/// has taken long. This is the *penalty count* of the paper. Ten works well in practice there, too.
pub(super) const PENALTY: u32 = 10;

/// Spawns a task that runs `future`.
///
/// The task begins at once, as a part of the caller. If it does not wait, it has ended when this
/// function returns, and has cost little more than a call. If it waits, it stays where it is, in
/// recycled memory, and goes on later, on the domain of the partner that wakes it.
///
/// It belongs to the current runtime, or, if it waits outside any runtime, to the default one.
/// Dropping the handle lets the task go on.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use lisle::spawn_task;
///
/// let at_once = spawn_task(async { 1 + 1 });
/// assert!(at_once.is_finished());
/// assert_eq!(at_once.join().unwrap(), 2);
///
/// let (tx, rx) = lisle::channel();
/// let later = spawn_task(async move { rx.recv_evt().await.unwrap() + 1 });
/// assert!(!later.is_finished());
/// tx.send(1).unwrap();
/// assert_eq!(later.join().unwrap(), 2);
/// ```
///
/// It may go on on another thread, so the values that it keeps while it waits must be `Send`:
///
/// ```compile_fail,E0277
/// # use lisle_runtime::facade as lisle;
/// lisle::spawn_task(async {
///     let local = std::rc::Rc::new(1);
///     lisle::task::yield_now().await;
///     println!("{local}");
/// });
/// ```
///
/// It may outlive its spawner, so it must not borrow from it. See
/// [`Scope::spawn_task`](crate::fiber::Scope::spawn_task) for tasks that borrow:
///
/// ```compile_fail,E0597
/// # use lisle_runtime::facade as lisle;
/// let text = String::from("here");
/// lisle::spawn_task(async { text.len() }).join().unwrap();
/// # let reference: &'static str = &text;
/// ```
///
/// # Where it does not begin at once
///
/// The task is queued for the first domain that takes it
///
/// - if the spawner is charged for tasks that took long, see [`inflate`](super::inflate()), or
/// - if most of the stack is used: tasks that spawn tasks do so on one stack.
///
/// # Panics
///
/// This function does not panic with the panic of `future`, which goes to the joiner. (If the task
/// waits, so that the default runtime has to be started, and the system provides no threads, the
/// process is ended with a message.)
///
/// # Complexity
///
/// Once warm, spawning allocates nothing if the future takes less than about 800 bytes. A larger
/// future is boxed.
#[track_caller]
#[inline]
pub fn spawn_task<F>(future: F) -> TaskHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // SAFETY: nothing is borrowed.
    unsafe { spawn_unchecked(future, None, Location::caller()) }
}

/// # Safety
///
/// The borrows of `future` and its output outlive the task and its unclaimed result. So does the
/// scope.
#[inline(always)]
pub(crate) unsafe fn spawn_unchecked<F>(
    future: F,
    scope: Option<NonNull<ScopeState>>,
    site: &'static Location<'static>,
) -> TaskHandle<F::Output>
where
    F: Future + Send,
    F::Output: Send,
{
    if const { Kept::<F>::IS_LARGE } {
        // SAFETY: passed on to the caller.
        unsafe { begin(Box::pin(future), scope, site, may_begin) }
    } else {
        // SAFETY: passed on to the caller.
        unsafe { begin(future, scope, site, may_begin) }
    }
}

/// Spawns a task that begins here, whatever the spawner is charged with and however little is left
/// of the stack.
///
/// For tasks that have to begin in order, and that need no more stack to begin than an event that
/// is performed in place.
#[inline]
pub(super) fn spawn_here<F>(future: F, site: &'static Location<'static>) -> TaskHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    if const { Kept::<F>::IS_LARGE } {
        // SAFETY: nothing is borrowed.
        unsafe { begin(Box::pin(future), None, site, |_| true) }
    } else {
        // SAFETY: nothing is borrowed.
        unsafe { begin(future, None, site, |_| true) }
    }
}

/// # Safety
///
/// As for [`spawn_unchecked`].
#[inline(always)]
unsafe fn begin<F: Future>(
    future: F,
    scope: Option<NonNull<ScopeState>>,
    site: &'static Location<'static>,
    may_begin: impl FnOnce(ThisStack<'_>) -> bool,
) -> TaskHandle<F::Output> {
    tally::task();
    let stack = this_stack();
    let slot = take_slot::<Slots>(Kept::<F>::CLASS).cast::<Task>();
    // SAFETY: the slot has just been taken, for a future of this type.
    unsafe { task_body::settle(slot, future, scope, site) };
    if !may_begin(stack) {
        // SAFETY: the task has just been put into the slot.
        unsafe { enter::queue(slot) };
        // SAFETY: the task was made with this output.
        return unsafe { TaskHandle::living(slot) };
    }
    // SAFETY: the task is this function's own.
    let this = unsafe { slot.as_ref() };
    this.state().begin();
    let recycled = Task::recycled(slot);
    // SAFETY: as above.
    unsafe { recycled.as_ref() }.begin_turn();
    // SAFETY: the task begins here.
    let aboard = unsafe { Aboard::new(stack, recycled) };
    // SAFETY: the task is in a slot.
    let waker = ManuallyDrop::new(unsafe { Recycled::waker(recycled) });
    // SAFETY: the task has just begun, here.
    let polled = unsafe { task_body::poll_future::<F>(slot, &mut Context::from_waker(&waker)) };
    // SAFETY: as above.
    if unsafe { recycled.as_ref() }.began() != tick::now() && !crate::event::is_modelled() {
        charge(stack, aboard.before);
    }
    let result = match polled {
        Ok(Poll::Ready(value)) => Ok(value),
        Ok(Poll::Pending) => {
            // SAFETY: the task runs here, and has not been reified.
            unsafe { enter::reify(slot) };
            // SAFETY: the task runs here.
            unsafe { life::wait(slot) };
            // SAFETY: the task was made with this output.
            return unsafe { TaskHandle::living(slot) };
        }
        Err(panic) => Err(panic),
    };
    // SAFETY: the task has ended, and no other code knows of it.
    let result = unsafe { task_body::drop_after::<F>(slot, result) };
    this.clear_locals();
    if this.penalty.get() != 0 {
        this.penalty.set(0);
    }
    this.state().vacate();
    drop(aboard);
    // SAFETY: nothing is in the slot, and its state is the state of a vacant one.
    unsafe { give_slot::<Slots>(slot.cast(), Kept::<F>::CLASS) };
    match result {
        // Built here, from the value alone: a type for both a value and a panic is copied as a
        // whole, and reading it back waits for the stores of its parts.
        Ok(value) => TaskHandle::ended(Ok(value), scope, site),
        Err(panic) => ended_by_panic(panic, scope, site),
    }
}

#[cold]
fn ended_by_panic<T>(
    panic: Box<dyn Any + Send>,
    scope: Option<NonNull<ScopeState>>,
    site: &'static Location<'static>,
) -> TaskHandle<T> {
    if panic.is::<Interrupted>() {
        // The fiber on whose stack the task ran is interrupted, not the task alone.
        resume_unwind(panic);
    }
    TaskHandle::ended(Err(panic), scope, site)
}

/// Returns `true` if a task may begin on this stack now. If the spawner is charged, this returns
/// `false` and lowers the charge by one.
#[inline(always)]
fn may_begin(stack: ThisStack<'_>) -> bool {
    let penalty = match NonNull::new(stack.task.get().cast_mut()) {
        None => &stack.penalty,
        // SAFETY: that task runs, below this code.
        Some(task) => unsafe { &(*Task::of(task).as_ptr()).penalty },
    };
    if penalty.get() > 0 {
        penalty.set(penalty.get() - 1);
        return false;
    }
    stack.has_room()
}

/// Charges the spawner of a task whose first turn was long: the task below it, or the stack's
/// owner.
#[cold]
fn charge(stack: ThisStack<'_>, spawner: *const Recycled) {
    match NonNull::new(spawner.cast_mut()) {
        // SAFETY: the spawner runs, below the task that it has spawned.
        Some(task) => unsafe { &(*Task::of(task).as_ptr()).penalty }.set(PENALTY),
        None => stack.penalty.set(PENALTY),
    }
}
