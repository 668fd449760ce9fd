//! How a closure becomes the future of a stream.
//!
//! Every stream is one future that never ends by itself, polled once in each frame and whenever
//! something that it waits for within the frame is there. The compiler makes its state machine. A
//! body that is run anew in each frame is a loop around the closure.

use super::group::value_of;
use super::slot::{Head, Phase};
use crate::core::{self, Core, forget_panic};
use crate::error::{Failure, StreamError, message};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// The value that a stream gives, in the stream's own hands.
///
/// It is lent to the body of a stream that lives over frames; see [`Here::live`](crate::Here::live).
pub struct Out<T> {
    head: NonNull<Head>,
    value: PhantomData<*mut T>,
}

impl<T> Out<T> {
    /// # Safety
    ///
    /// The slot is that of a stream with values of this type. The value is used only by the future
    /// of that stream, while it is polled.
    pub(crate) unsafe fn new(head: NonNull<Head>) -> Self {
        Out { head, value: PhantomData }
    }

    /// Sets the stream's value, which readers have from now on: in this frame, and in those after it
    /// until it is set again.
    ///
    /// Readers see the value when the stream is done for this frame, so only the last of several is
    /// seen.
    #[inline(always)]
    pub fn set(&mut self, value: T) {
        // SAFETY: alive while its future is, by the promise of `new`.
        let head = unsafe { self.head.as_ref() };
        let place = self.place();
        let state = head.state.get();
        if state.phase() != Phase::Running {
            // The future is being dropped.
            return;
        }
        if state.has_value() {
            // SAFETY: it has a value; nobody looks at it while the stream runs. The old value is
            // dropped when the new one is in its place.
            drop(unsafe { place.replace(value) });
        } else {
            // SAFETY: the place is the stream's own, and is empty.
            unsafe { place.write(value) };
            head.state.set(state.and_value());
        }
    }

    /// Calls `f` with the stream's value, to change it in place. Returns what `f` returns, or `None`
    /// if the stream has no value yet or is being dropped.
    #[inline]
    pub fn update<R>(&mut self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        // SAFETY: alive while its future is, by the promise of `new`.
        let state = unsafe { self.head.as_ref() }.state.get();
        if !state.has_value() || state.phase() != Phase::Running {
            return None;
        }
        // SAFETY: it has a value; nobody looks at it while the stream runs.
        Some(f(unsafe { &mut *self.place() }))
    }

    /// Returns where the value lies.
    #[inline(always)]
    fn place(&self) -> *mut T {
        // SAFETY: the slot is of this type, by the promise of `new`.
        unsafe { value_of::<T>(self.head) }
    }
}

impl<T> fmt::Debug for Out<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Out").finish_non_exhaustive()
    }
}

/// Lets the stream be done for this frame. Unlike `next_frame` it is polled only by a stream's own
/// loop, which is not polled twice in a frame after that.
pub(crate) struct Done(bool);

impl Done {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Done(false)
    }
}

impl Future for Done {
    type Output = ();

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Runs a body once, until it has a value or has failed.
struct Run<'a, F>(Pin<&'a mut F>);

/// What else a body may wait for than something in this frame.
#[cold]
fn pending<T>(core: &Core) -> Poll<Option<T>> {
    if core.has_failed() {
        return Poll::Ready(None);
    }
    if !core.waits_within() {
        core.waits_over_frames(true);
    }
    Poll::Pending
}

impl<F: Future> Future for Run<'_, F> {
    type Output = Option<F::Output>;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = self.0.as_mut().poll(cx);
        let Some(core) = core::current() else { return Poll::Pending };
        match polled {
            Poll::Ready(value) => {
                core.waits_over_frames(false);
                Poll::Ready(Some(value))
            }
            // As often: it waits within the frame.
            Poll::Pending if core.flags.get() == core::flags::WITHIN => Poll::Pending,
            Poll::Pending => pending(core),
        }
    }
}

/// Runs a body once. If it panics, the stream fails in this frame only.
struct Caught<'a, F>(Run<'a, F>);

impl<F: Future> Future for Caught<'_, F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let run = Pin::new(&mut self.0);
        catch_unwind(AssertUnwindSafe(|| run.poll(cx))).unwrap_or_else(|panic| {
            if let Some(core) = core::current()
                && let Some(origin) = core.current_origin()
            {
                core.fail_current(StreamError::new(Failure::Panicked(origin, message(&*panic))));
            }
            forget_panic(panic);
            Poll::Ready(None)
        })
    }
}

/// The future of a stream that is run anew in each frame.
#[inline(always)]
pub(crate) async fn anew<T, B: AsyncFnMut() -> T>(mut out: Out<T>, mut body: B) {
    loop {
        if let Some(value) = Run(pin!(body())).await {
            out.set(value);
        }
        Done::new().await;
        forget_children(&out);
    }
}

/// The same for a stream that is tried again in the next frame when its body has panicked.
pub(crate) async fn anew_retrying<T, B: AsyncFnMut() -> T>(mut out: Out<T>, mut body: B) {
    loop {
        if let Some(value) = Caught(Run(pin!(body()))).await {
            out.set(value);
        }
        Done::new().await;
        forget_children(&out);
    }
}

/// What a run has made lives until the next run.
#[inline(always)]
fn forget_children<T>(out: &Out<T>) {
    if let Some(core) = core::current() {
        core.remove_owned(out.head);
    }
}

/// The future of a stream that changes its value in each frame by what it reads.
pub(crate) async fn folding<S, T, F>(mut out: Out<S>, source: super::handle::Stream<T>, mut f: F)
where
    T: Clone,
    F: FnMut(&mut S, T),
{
    loop {
        if let Some(value) = Run(pin!(source.get())).await {
            out.update(|state| f(state, value));
        }
        Done::new().await;
    }
}

/// The future of a stream that lives over frames.
pub(crate) async fn living<T, B: AsyncFnOnce(&mut Out<T>)>(mut out: Out<T>, body: B) {
    body(&mut out).await;
}
