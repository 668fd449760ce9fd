//! How a closure becomes the future of a stream.
//!
//! Every stream is one future that never ends by itself, polled once in each frame and whenever
//! something that it waits for within the frame is there. The compiler makes its state machine. A
//! body that is run anew in each frame is a loop around the closure.

use crate::engine::group::value_of;
use crate::engine::slot::{Head, Phase};
use crate::engine::{self, Core};
use crate::error::{Failure, StreamError};
use crate::panics::{forget_panic, message};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// The value that a stream gives, in the stream's own hands.
///
/// It is lent to the body of a stream that lives over frames; see [`Here::live`](crate::Here::live).
/// Its lifetime is a name that no other stream's has, so that two bodies cannot exchange theirs:
///
/// ```compile_fail,E0521
/// use lisle_frame::{Out, World};
///
/// fn exchange(out: &mut Out<'static, i32>) { /* with one that lies in a thread-local */ }
///
/// World::new().live(0, async |out| exchange(out));
/// ```
pub struct Out<'s, T> {
    head: NonNull<Head>,
    value: PhantomData<*mut T>,
    /// Neither a longer nor a shorter lifetime will do.
    stream: PhantomData<Exactly<'s>>,
}

type Exactly<'s> = fn(&'s ()) -> &'s ();

impl<T> Out<'_, T> {
    /// # Safety
    ///
    /// The slot is that of a stream with values of this type. The value is used only by the future
    /// of that stream, while it is polled.
    pub(crate) unsafe fn new(head: NonNull<Head>) -> Self {
        Out { head, value: PhantomData, stream: PhantomData }
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

impl<T> fmt::Debug for Out<'_, T> {
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

/// Runs a body once, gives its value to `f`, and is done for this frame. It is ready when it is polled
/// in the next one. If `CATCHES`, a panic is a failure like others.
struct OneFrame<'a, B, F, const CATCHES: bool> {
    body: Pin<&'a mut B>,
    f: F,
    is_done: bool,
}

impl<'a, B, F, const CATCHES: bool> OneFrame<'a, B, F, CATCHES> {
    #[inline(always)]
    fn new(body: Pin<&'a mut B>, f: F) -> Self {
        OneFrame { body, f, is_done: false }
    }
}

// The function is not pinned.
impl<B, F, const CATCHES: bool> Unpin for OneFrame<'_, B, F, CATCHES> {}

impl<B: Future, F: FnMut(B::Output), const CATCHES: bool> Future for OneFrame<'_, B, F, CATCHES> {
    type Output = ();

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_done {
            return Poll::Ready(());
        }
        let polled = if CATCHES { poll_caught(self.body.as_mut(), cx) } else { self.body.as_mut().poll(cx) };
        let Some(core) = engine::current() else { return Poll::Pending };
        match polled {
            Poll::Ready(value) => {
                core.waits_over_frames(false);
                (self.f)(value);
                // What it has begun to wait for, and then has not waited for, as in a race.
                core.flags.set(core.flags.get() & !engine::flags::WITHIN);
                self.is_done = true;
            }
            // As often: it waits within the frame.
            Poll::Pending if core.flags.get() == engine::flags::WITHIN => {}
            Poll::Pending => self.is_done = has_failed(core),
        }
        Poll::Pending
    }
}

/// Returns `true` if the body that is pending has failed. Otherwise it may wait over frames.
#[cold]
fn has_failed(core: &Core) -> bool {
    if core.has_failed() {
        return true;
    }
    if !core.waits_within() {
        core.waits_over_frames(true);
    }
    false
}

fn poll_caught<B: Future>(body: Pin<&mut B>, cx: &mut Context<'_>) -> Poll<B::Output> {
    catch_unwind(AssertUnwindSafe(|| body.poll(cx))).unwrap_or_else(|panic| {
        if let Some(core) = engine::current()
            && let Some(origin) = core.current_origin()
        {
            core.fail_current(StreamError::new(Failure::Panicked(origin, message(&*panic))));
        }
        forget_panic(panic);
        Poll::Pending
    })
}

/// The future of a stream that is run anew in each frame.
#[inline(always)]
pub(crate) async fn anew<const CATCHES: bool, T, B: AsyncFnMut() -> T>(
    mut out: Out<'static, T>,
    mut body: B,
) {
    loop {
        let body = pin!(body());
        OneFrame::<_, _, CATCHES>::new(body, |value| out.set(value)).await;
        forget_children(&out);
    }
}

/// What a run has made lives until the next run.
#[inline(always)]
fn forget_children<T>(out: &Out<'_, T>) {
    if let Some(core) = engine::current() {
        core.remove_owned(out.head);
    }
}

/// The future of a stream that changes its value in each frame by what it reads.
pub(crate) async fn folding<S, T, F>(mut out: Out<'static, S>, source: super::handle::Stream<T>, mut f: F)
where
    T: Clone,
    F: FnMut(&mut S, T),
{
    loop {
        let read = pin!(source.get());
        let change = |value| {
            out.update(|state| f(state, value));
        };
        OneFrame::<_, _, false>::new(read, change).await;
    }
}

/// The future of a stream that changes its value in place, anew in each frame.
pub(crate) async fn changing<T, B: AsyncFnMut(&mut Out<'_, T>)>(mut out: Out<'static, T>, mut body: B) {
    loop {
        let body = pin!(body(&mut out));
        OneFrame::<_, _, false>::new(body, |()| {}).await;
    }
}

/// The future of a stream that lives over frames.
pub(crate) async fn living<T, B: AsyncFnOnce(&mut Out<'_, T>)>(mut out: Out<'static, T>, body: B) {
    body(&mut out).await;
}
