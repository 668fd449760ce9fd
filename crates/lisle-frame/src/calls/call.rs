//! The futures of foreign calls.

use crate::batch::Batch;
use crate::batch::class::{Class, Native};
use crate::engine::{self, Core};
use crate::error::{Failure, ForeignCallError, StreamError};
use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

enum State<F, A> {
    /// The future has not been polled.
    Before { class: &'static Class, is_long: bool, f: F, args: A },
    /// The call is in a batch.
    Made { batch: NonNull<Batch>, at: u32 },
    /// The call has failed, or its result was taken.
    Over(Option<Box<ForeignCallError>>),
}

/// The future of a foreign call: [`Foreign::call`](crate::Foreign::call). It is not `Send`.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Call<F: Native<S>, S>(State<F, F::Args>);

// No field is pinned.
impl<F: Native<S>, S> Unpin for Call<F, S> {}

impl<F: Native<S>, S: 'static> Call<F, S> {
    #[inline(always)]
    pub(crate) fn new(class: &'static Class, f: F, args: F::Args, is_long: bool) -> Self {
        Call(State::Before { class, is_long, f, args })
    }

    /// Makes the call if it was not made yet, or takes the result if it was delivered. Returns
    /// `None` if the call has failed.
    #[inline(always)]
    fn poll_once(&mut self, core: &Core, cx: &Context<'_>) -> Poll<Option<F::Output>> {
        let is_late = match self.0 {
            State::Made { batch, at } => {
                // SAFETY: the batch lives while it is held, which this future does.
                let own = &unsafe { batch.as_ref() }.own;
                if at < own.delivered.get() {
                    return Poll::Ready(self.take(batch, at));
                }
                if own.is_expired.get() || own.is_gone.get() {
                    return Poll::Ready(None);
                }
                own.is_late.get()
            }
            State::Before { is_long, .. } => {
                self.make(core);
                is_long
            }
            State::Over(_) => return Poll::Ready(None),
        };
        if !is_late {
            core.flag(engine::flags::WITHIN);
        }
        core.keep_waker(cx.waker());
        Poll::Pending
    }

    /// Takes the result, which has been delivered.
    #[inline(always)]
    fn take(&mut self, batch: NonNull<Batch>, at: u32) -> Option<F::Output> {
        // SAFETY: delivered, and hence complete.
        if !unsafe { Batch::has_returned(batch, at) } {
            return None;
        }
        // SAFETY: of this function; taken once, since the future forgets the batch.
        let result = unsafe { Batch::take::<F, S>(batch, at) };
        // SAFETY: this future has held it, and forgets it.
        unsafe { release(batch) };
        // This way the compiler sees that nothing is dropped, now or later.
        std::mem::forget(std::mem::replace(&mut self.0, State::Over(None)));
        Some(result)
    }

    /// Makes the call.
    #[inline(always)]
    fn make(&mut self, core: &Core) {
        if let State::Before { class, is_long, f, args } = std::mem::replace(&mut self.0, State::Over(None)) {
            let owner = core.current.get().map(NonNull::cast);
            let (batch, at) = core.foreigns().call::<F, S>(owner, class, f, args, is_long);
            // Nothing is dropped, but the compiler does not know it.
            std::mem::forget(std::mem::replace(&mut self.0, State::Made { batch, at }));
        }
    }

    /// Makes the call, and does not wait for it.
    pub(super) fn begin(&mut self) {
        if let (State::Before { .. }, Some(core)) = (&self.0, engine::current()) {
            self.make(core);
        }
    }

    /// Returns the error of a call that has failed.
    #[cold]
    fn failed(&mut self) -> ForeignCallError {
        let error = match &mut self.0 {
            State::Over(error) => *error.clone().expect("the future is not polled after it is ready"),
            State::Before { .. } => ForeignCallError::Outside,
            State::Made { batch, at } => {
                // SAFETY: the batch lives while it is held, which this future does.
                let header = unsafe { batch.as_ref() };
                let function = header.class.name;
                let error = if header.own.is_gone.get() {
                    ForeignCallError::Outside
                } else if *at < header.own.delivered.get() {
                    ForeignCallError::Panicked { function, message: header.panic_of(*at) }
                } else {
                    ForeignCallError::Deadline { function }
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
        // SAFETY: the call is in the batch; this is the world's thread, since futures of calls are
        // not `Send`. A delivered call is complete, and its result was not taken.
        unsafe {
            if at < header.own.delivered.get() {
                Batch::drop_result(batch, at);
            } else {
                Batch::abandon(batch, at);
            }
            release(batch);
        }
    }
}

/// Lets go of a batch. The batch goes back to its own lane, whatever frame is under way here.
///
/// # Safety
///
/// The caller has held the batch, and does not use it any more.
#[inline(always)]
unsafe fn release(batch: NonNull<Batch>) {
    // SAFETY: the batch lives while it is held.
    let own = unsafe { &batch.as_ref().own };
    let held = own.held.get().wrapping_sub(1);
    own.held.set(held);
    if held == 0 {
        // SAFETY: no future holds it any more.
        unsafe { is_free(batch) };
    }
}

/// # Safety
///
/// No future holds the batch.
#[cold]
unsafe fn is_free(batch: NonNull<Batch>) {
    // SAFETY: a batch that is held is alive, and this one was held just now.
    let own = unsafe { &batch.as_ref().own };
    if own.is_gone.get() {
        // SAFETY: its lane has left it to the last future that holds it.
        unsafe { Batch::end(batch) };
    } else if own.is_retired.get() {
        // SAFETY: the lane lives as long as the world, which is alive.
        unsafe { own.lane.as_ref() }.recycle(batch);
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
        let Some(core) = engine::current() else { outside() };
        match self.poll_once(core, cx) {
            Poll::Ready(Some(result)) => Poll::Ready(result),
            Poll::Ready(None) => {
                fail_caller(core, self.failed());
                Poll::Pending
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

#[cold]
fn outside() -> ! {
    panic!("{}", ForeignCallError::Outside)
}

/// Fails the stream whose call has failed.
#[cold]
fn fail_caller(core: &Core, error: ForeignCallError) {
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
    type Output = Result<F::Output, ForeignCallError>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(core) = engine::current() else { return Poll::Ready(Err(ForeignCallError::Outside)) };
        self.0.poll_once(core, cx).map(|result| result.ok_or_else(|| self.0.failed()))
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
    let class = Class::of_closures::<F>(Location::caller());
    Call::new(class, |once: Once<F>| (once.0)(), Once(f), false)
}

/// The future of [`call`].
pub type CallOnce<F, R> = Call<fn(Once<F>) -> R, fn(Once<F>) -> R>;

/// A closure that is sent to another core; see [`call`].
#[derive(Debug)]
pub struct Once<F>(F);
