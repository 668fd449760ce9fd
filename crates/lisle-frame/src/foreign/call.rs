//! The futures of foreign calls.

use super::batch::Batch;
use super::function::{Class, Native};
use super::lane::Lane;
use crate::core::{self, Core};
use crate::error::{CallError, Failure, StreamError};
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

enum State<F, A> {
    /// It has not been polled.
    Before { class: &'static Class, is_long: bool, f: F, args: A },
    /// It is a call in a batch.
    Made { batch: NonNull<Batch>, at: u32 },
    /// It has failed, or its result was taken.
    Over(Option<Box<CallError>>),
}

/// The future of a foreign call: [`Foreign::call`](crate::Foreign::call). It is not `Send`.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Call<F: Native<S>, S>(State<F, F::Args>);

// Nothing in it is pinned.
impl<F: Native<S>, S> Unpin for Call<F, S> {}

impl<F: Native<S>, S: 'static> Call<F, S> {
    #[inline(always)]
    pub(crate) fn new(class: &'static Class, f: F, args: F::Args, is_long: bool) -> Self {
        Call(State::Before { class, is_long, f, args })
    }

    /// Makes the call if it has not been made, or takes the result if that has been delivered.
    #[inline(always)]
    fn step(&mut self, core: &Core) -> Option<F::Output> {
        match self.0 {
            State::Made { batch, at } => {
                // SAFETY: the batch lives while it is held, which this future does.
                let header = unsafe { batch.as_ref() };
                // SAFETY: delivered, and hence complete; of this function; taken once.
                if at < header.own.delivered.get() && unsafe { Batch::has_returned(batch, at) } {
                    self.0 = State::Over(None);
                    // SAFETY: as above.
                    let result = unsafe { Batch::take::<F, S>(batch, at) };
                    release(header, batch);
                    return Some(result);
                }
            }
            State::Before { .. } => self.make(core),
            State::Over(_) => {}
        }
        None
    }

    /// Makes the call.
    #[inline(always)]
    fn make(&mut self, core: &Core) {
        if let State::Before { class, is_long, f, args } = std::mem::replace(&mut self.0, State::Over(None)) {
            let (batch, at) = core.foreigns().call::<F, S>(core, class, f, args, is_long);
            self.0 = State::Made { batch, at };
        }
    }

    /// Makes the call, and does not wait for it.
    pub(super) fn begin(&mut self) {
        if let (State::Before { .. }, Some(core)) = (&self.0, core::current()) {
            self.make(core);
        }
    }

    /// Returns the error if the call has failed. Otherwise notes that the stream waits for it.
    #[inline(always)]
    fn failure(&mut self, core: &Core, cx: &Context<'_>) -> Option<CallError> {
        if let State::Made { batch, at } = self.0 {
            // SAFETY: the batch lives while it is held, which this future does.
            let own = &unsafe { batch.as_ref() }.own;
            let has_ended = at < own.delivered.get() || own.is_expired.get() || own.is_gone.get();
            if !has_ended {
                if !own.is_late.get() {
                    core.flag(core::flags::WITHIN);
                }
                core.keep_waker(cx.waker());
                return None;
            }
        }
        Some(self.failed())
    }

    #[cold]
    fn failed(&mut self) -> CallError {
        let error = match &mut self.0 {
            State::Over(error) => *error.clone().expect("the future is not polled after it is ready"),
            State::Before { .. } => CallError::Outside,
            State::Made { batch, at } => {
                // SAFETY: the batch lives while it is held, which this future does.
                let header = unsafe { batch.as_ref() };
                let function = header.class.name;
                let error = if header.own.is_gone.get() {
                    CallError::Outside
                } else if *at < header.own.delivered.get() {
                    CallError::Panicked { function, message: header.panic_of(*at) }
                } else {
                    CallError::Deadline { function }
                };
                self.abandon();
                error
            }
        };
        self.0 = State::Over(Some(Box::new(error.clone())));
        error
    }
}

impl<F: Native<S>, S> Call<F, S> {
    /// Gives up the result.
    fn abandon(&mut self) {
        let State::Made { batch, at } = std::mem::replace(&mut self.0, State::Over(None)) else { return };
        // SAFETY: the batch lives while it is held, which this future does.
        let header = unsafe { batch.as_ref() };
        if header.own.is_gone.get() {
            // Left to itself by the end of its world.
            return;
        }
        // SAFETY: the call is in the batch; this is the world's thread, since futures of calls are
        // not `Send`. What is delivered is complete, and was not taken.
        unsafe {
            if at < header.own.delivered.get() {
                Batch::drop_result(batch, at);
            } else {
                Batch::abandon(batch, at);
            }
        }
        release(header, batch);
    }
}

/// Lets go of a batch.
#[inline(always)]
fn release(header: &Batch, batch: NonNull<Batch>) {
    let held = header.own.held.get().wrapping_sub(1);
    header.own.held.set(held);
    if held == 0 && header.own.is_retired.get() {
        recycle(header, batch);
    }
}

#[cold]
fn recycle(header: &Batch, batch: NonNull<Batch>) {
    if let Some(core) = core::current() {
        core.foreigns().lane_of(header, |lane: &Lane| lane.recycle(batch));
    }
}

impl<F: Native<S>, S> Drop for Call<F, S> {
    fn drop(&mut self) {
        if let State::Made { .. } = self.0 {
            self.abandon();
        }
    }
}

impl<F: Native<S>, S: 'static> Future for Call<F, S> {
    type Output = F::Output;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Some(core) = core::current() else { outside() };
        if let Some(result) = self.step(core) {
            return Poll::Ready(result);
        }
        if let Some(error) = self.failure(core, cx) {
            fail_caller(core, error);
        }
        Poll::Pending
    }
}

#[cold]
fn outside() -> ! {
    panic!("{}", CallError::Outside)
}

/// Lets the stream fail whose call has.
#[cold]
fn fail_caller(core: &Core, error: CallError) {
    if let Some(origin) = core.current_origin() {
        core.fail_current(StreamError::new(Failure::Called(origin, error)));
    }
}

impl<F: Native<S>, S> fmt::Debug for Call<F, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").finish_non_exhaustive()
    }
}

/// The future of [`Foreign::try_call`](crate::Foreign::try_call).
#[must_use = "futures do nothing unless they are awaited"]
pub struct TryCall<F: Native<S>, S>(Call<F, S>);

impl<F: Native<S>, S> TryCall<F, S> {
    pub(crate) fn new(call: Call<F, S>) -> Self {
        TryCall(call)
    }
}

impl<F: Native<S>, S: 'static> Future for TryCall<F, S> {
    type Output = Result<F::Output, CallError>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(core) = core::current() else { return Poll::Ready(Err(CallError::Outside)) };
        match self.0.step(core) {
            Some(result) => Poll::Ready(Ok(result)),
            None => self.0.failure(core, cx).map_or(Poll::Pending, |error| Poll::Ready(Err(error))),
        }
    }
}

impl<F: Native<S>, S> fmt::Debug for TryCall<F, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TryCall").field(&self.0).finish()
    }
}

/// Calls a closure on another core, within this frame, as [`Foreign::call`](crate::Foreign::call)
/// does for functions. The closures of one place in the program are collected into batches.
///
/// ```
/// use lisle_frame::{World, call};
///
/// let mut world = World::new();
/// let sum = world.stream(async || {
///     let numbers = vec![1, 2, 3];
///     call(move || numbers.iter().sum::<i32>()).await
/// });
/// world.frame();
/// assert_eq!(world.get(sum)?, 6);
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
#[track_caller]
pub fn call<F, R>(f: F) -> CallOnce<F, R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let site = Location::caller();
    let class = Class::of_closures::<F>(site.file());
    Call::new(class, |once: Once<F>| (once.0)(), Once(f), false)
}

/// The future of [`call`].
pub type CallOnce<F, R> = Call<fn(Once<F>) -> R, fn(Once<F>) -> R>;

/// A closure on its way; see [`call`].
#[derive(Debug)]
pub struct Once<F>(F);
