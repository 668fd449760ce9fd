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
    Before(F, A),
    /// It is a call in a batch.
    Made { batch: NonNull<Batch>, at: u32 },
    /// It has failed, or its result was taken.
    Over(Option<CallError>),
}

/// The future of a foreign call: [`Foreign::call`](crate::Foreign::call). It is not `Send`.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Call<F: Native<S>, S> {
    class: &'static Class,
    is_long: bool,
    state: State<F, F::Args>,
}

// Nothing in it is pinned.
impl<F: Native<S>, S> Unpin for Call<F, S> {}

impl<F: Native<S>, S> Call<F, S> {
    #[inline(always)]
    pub(crate) fn new(class: &'static Class, f: F, args: F::Args, is_long: bool) -> Self {
        Call { class, is_long, state: State::Before(f, args) }
    }

    #[inline(always)]
    fn poll_result(&mut self, cx: &Context<'_>) -> Poll<Result<F::Output, CallError>>
    where
        S: 'static,
    {
        let Some(core) = core::current() else { return Poll::Ready(Err(CallError::Outside)) };
        if let State::Made { batch, at } = self.state {
            // SAFETY: the batch lives while it is held, which this future does.
            let header = unsafe { batch.as_ref() };
            if at < header.own.delivered.get() {
                self.state = State::Over(None);
                // SAFETY: delivered, and hence complete; of this function; taken once.
                let result = unsafe { Batch::take::<F, S>(batch, at) };
                release(header, batch);
                return Poll::Ready(result.map_err(|message| self.panicked(message)));
            }
            return self.poll_undelivered(header, core, cx);
        }
        self.poll_others(core, cx)
    }

    /// Makes the call, and does not wait for it.
    pub(super) fn begin(&mut self, cx: &Context<'_>)
    where
        S: 'static,
    {
        if let (State::Before(..), Some(core)) = (&self.state, core::current()) {
            let flags = core.flags.get();
            let polled = self.poll_others(core, cx);
            debug_assert!(polled.is_pending());
            core.flags.set(flags | core.flags.get() & core::flags::QUEUED);
        }
    }

    fn panicked(&self, message: String) -> CallError {
        CallError::Panicked { function: self.class.name, message }
    }

    fn poll_undelivered(
        &mut self,
        header: &Batch,
        core: &Core,
        cx: &Context<'_>,
    ) -> Poll<Result<F::Output, CallError>> {
        if header.own.is_expired.get() {
            self.abandon();
            return Poll::Ready(Err(CallError::Deadline { function: self.class.name }));
        }
        if header.own.is_gone.get() {
            return Poll::Ready(Err(CallError::Outside));
        }
        if !header.own.is_late.get() {
            core.flag(core::flags::WITHIN);
        }
        core.keep_waker(cx.waker());
        Poll::Pending
    }

    #[inline(always)]
    fn poll_others(&mut self, core: &Core, cx: &Context<'_>) -> Poll<Result<F::Output, CallError>>
    where
        S: 'static,
    {
        match std::mem::replace(&mut self.state, State::Over(None)) {
            State::Before(f, args) => {
                let (batch, at) = core.foreigns().call::<F, S>(core, self.class, f, args, self.is_long);
                self.state = State::Made { batch, at };
                if !self.is_long {
                    core.flag(core::flags::WITHIN);
                }
                core.keep_waker(cx.waker());
                Poll::Pending
            }
            State::Over(error) => {
                let error = error.expect("the future is not polled after it is ready");
                self.state = State::Over(Some(error.clone()));
                Poll::Ready(Err(error))
            }
            State::Made { .. } => unreachable!("looked at before"),
        }
    }

    /// Gives up the result.
    fn abandon(&mut self) {
        let State::Made { batch, at } = std::mem::replace(&mut self.state, State::Over(None)) else { return };
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
fn release(header: &Batch, batch: NonNull<Batch>) {
    header.own.held.set(header.own.held.get() - 1);
    if header.own.held.get() == 0
        && header.own.is_retired.get()
        && let Some(core) = core::current()
    {
        core.foreigns().lane_of(header, |lane: &Lane| lane.recycle(batch));
    }
}

impl<F: Native<S>, S> Drop for Call<F, S> {
    fn drop(&mut self) {
        if let State::Made { .. } = self.state {
            self.abandon();
        }
    }
}

impl<F: Native<S>, S: 'static> Future for Call<F, S> {
    type Output = F::Output;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        match self.poll_result(cx) {
            Poll::Ready(Ok(result)) => Poll::Ready(result),
            Poll::Ready(Err(error)) => {
                self.state = State::Over(Some(error.clone()));
                fail_caller(error);
                Poll::Pending
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Lets the stream fail whose call has.
#[cold]
fn fail_caller(error: CallError) {
    let Some(core) = core::current() else { panic!("{error}") };
    if let Some(origin) = core.current_origin() {
        core.fail_current(StreamError::new(Failure::Called(origin, error)));
    }
}

impl<F: Native<S>, S> fmt::Debug for Call<F, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("function", &self.class.name).finish_non_exhaustive()
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
        self.0.poll_result(cx)
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
