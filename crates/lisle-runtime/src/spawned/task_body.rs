//! The body of a slot, behind its head: the future, and after its end the result.
//!
//! Functions that know the type are called through a table. The first turn is not, since it is a
//! part of the spawner's code.

use super::cell::{Block, Contents};
use super::head::Outcome;
use super::scope_state::{Late, ScopeState};
use super::task_cell::Task;
use crate::event::Interrupted;
use crate::masked;
use crate::memory::{LARGEST_STEP, class_of};
use crate::panics::forget_panic;
use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// The functions and sizes of a slot for one type of future.
pub(crate) struct Table {
    pub(crate) poll: unsafe fn(NonNull<Task>, &mut Context<'_>) -> Progress,
    pub(crate) drop_future: unsafe fn(NonNull<Task>) -> std::thread::Result<()>,
    pub(crate) contents: Contents,
    pub(crate) class: usize,
}

/// The result of a poll.
pub(crate) enum Progress {
    Description,
    Ended,
    /// It has been ended by an interruption of the fiber on whose stack it ran. The payload is
    /// raised again.
    Interrupted(Box<dyn Any + Send>),
}

/// The cell of a future of this type.
type Slot<F> = Block<Task, F, <F as Future>::Output>;

/// How a future of this type is kept.
pub(crate) struct Kept<F>(std::marker::PhantomData<F>);

impl<F: Future> Kept<F> {
    pub(crate) const CLASS: usize = class_of(Slot::<F>::LAYOUT);
    /// `true` if the future is too large to keep a slot for it for ever.
    pub(crate) const IS_LARGE: bool =
        size_of::<F>() > size_of::<F::Output>() && Slot::<F>::LAYOUT.size() > LARGEST_STEP;
    pub(crate) const TABLE: &'static Table = &Table {
        poll: poll::<F>,
        drop_future: drop_future::<F>,
        contents: Slot::<F>::CONTENTS,
        class: Self::CLASS,
    };
}

/// Puts a future into a vacant slot.
///
/// # Safety
///
/// The slot is vacant, of the future's class, and the caller's alone.
#[inline(always)]
pub(crate) unsafe fn settle<F: Future>(
    slot: NonNull<Task>,
    future: F,
    scope: Option<NonNull<ScopeState>>,
    site: &'static Location<'static>,
) {
    // SAFETY: the slot is the caller's.
    let this = unsafe { slot.as_ref() };
    this.table.set(Some(Kept::<F>::TABLE));
    this.reuse(scope, site);
    this.recycled.move_in();
    // SAFETY: the slot is large enough, and nothing is in its body.
    unsafe { Slot::<F>::put(slot, future) };
}

/// Polls the future of a task once, on this stack.
///
/// # Safety
///
/// The caller runs the task, whose body holds a future of this type.
#[inline(always)]
pub(crate) unsafe fn poll_future<F: Future>(
    task: NonNull<Task>,
    context: &mut Context<'_>,
) -> std::thread::Result<Poll<F::Output>> {
    // SAFETY: by the caller's promise. A slot does not move.
    let future = unsafe { &mut *Slot::<F>::start(task) };
    // SAFETY: a slot does not move, and the future is dropped in place.
    let future = unsafe { Pin::new_unchecked(future) };
    catch_unwind(AssertUnwindSafe(|| future.poll(context)))
}

/// # Safety
///
/// As for [`poll_future`].
unsafe fn poll<F: Future>(task: NonNull<Task>, context: &mut Context<'_>) -> Progress {
    // SAFETY: passed on to the caller.
    let polled = unsafe { poll_future::<F>(task, context) };
    let result = match polled {
        Ok(Poll::Pending) => return Progress::Description,
        Ok(Poll::Ready(value)) => Ok(value),
        Err(panic) => Err(panic),
    };
    // SAFETY: the caller runs the task, and the future is not polled again.
    unsafe { end_body::<F>(task, result) }
}

/// Replaces a future that has ended with its result.
///
/// # Safety
///
/// As for [`poll_future`]. The future is not used again.
unsafe fn end_body<F: Future>(task: NonNull<Task>, result: std::thread::Result<F::Output>) -> Progress {
    // SAFETY: by the caller's promise.
    let result = unsafe { drop_after::<F>(task, result) };
    // SAFETY: alive, by the caller's promise.
    let this = unsafe { task.as_ref() };
    match result {
        Err(panic) if panic.is::<Interrupted>() => {
            this.outcome().set(Outcome::ShutDown);
            Progress::Interrupted(panic)
        }
        Err(panic) if panic.is::<Late>() => {
            this.outcome().set(Outcome::Late);
            Progress::Ended
        }
        result => {
            // SAFETY: the body is empty since the future was dropped.
            unsafe { Slot::<F>::put_result(task, result) };
            this.outcome().set(Outcome::Done);
            Progress::Ended
        }
    }
}

/// # Safety
///
/// The caller runs the task, whose body holds a future of this type, which is not used again.
#[inline(always)]
pub(crate) unsafe fn drop_future<F: Future>(task: NonNull<Task>) -> std::thread::Result<()> {
    let drop = || {
        // SAFETY: the slot holds such a future, by the caller's promise.
        unsafe { Slot::<F>::start(task).drop_in_place() };
    };
    if std::mem::needs_drop::<F>() { catch_unwind(AssertUnwindSafe(drop)) } else { Ok(()) }
}

/// Drops the future of a task that has ended with `result`. A panic of the destructor counts,
/// unless the future had panicked before.
///
/// # Safety
///
/// As for [`drop_future`].
#[inline(always)]
pub(crate) unsafe fn drop_after<F: Future>(
    task: NonNull<Task>,
    result: std::thread::Result<F::Output>,
) -> std::thread::Result<F::Output> {
    // The unwinding, perhaps by the end of the runtime, has been caught. The future's destructors
    // still run to their end.
    masked!(_masked if result.is_err());
    // SAFETY: passed on to the caller.
    let dropped = unsafe { drop_future::<F>(task) };
    with_drop(result, dropped)
}

/// Returns the result of a future whose destructor has run.
#[inline(always)]
fn with_drop<T>(result: std::thread::Result<T>, dropped: std::thread::Result<()>) -> std::thread::Result<T> {
    match dropped {
        Ok(()) => result,
        Err(panic) => first_panic(result, panic),
    }
}

#[cold]
fn first_panic<T>(result: std::thread::Result<T>, second: Box<dyn Any + Send>) -> std::thread::Result<T> {
    let (panic, other) = match result {
        Ok(value) => (second, catch_unwind(AssertUnwindSafe(|| drop(value)))),
        // The unwinding of a deadline is no panic, and would hide the other one.
        Err(first) if first.is::<Late>() => return Err(second),
        Err(first) => (first, Err(second)),
    };
    if let Err(other) = other {
        forget_panic(other);
    }
    Err(panic)
}
