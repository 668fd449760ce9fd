//! How a closure becomes the future of a stream.
//!
//! Every stream is one future that never ends by itself. It is polled once in each frame, and again
//! when a value or result is there that it waits for within the frame. The compiler makes its state
//! machine. For a body that is run anew in each frame, the future is a loop around the closure.

use crate::engine::body::Body;
use crate::engine::group::value_of;
use crate::engine::slot::{Head, Phase};
use crate::engine::{self, Core};
use crate::error::{Failure, StreamError};
use crate::panics::{forget_panic, message};
use std::fmt;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// The value of a stream, as the stream's own body holds it.
///
/// The body of a stream that lives over frames borrows it; see [`Here::live`](crate::Here::live).
/// Each stream has a lifetime of its own, so two bodies cannot exchange their values:
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
    /// The lifetime is invariant: it can neither grow nor shrink.
    stream: PhantomData<Exactly<'s>>,
}

type Exactly<'s> = fn(&'s ()) -> &'s ();

impl<T> Out<'_, T> {
    /// # Safety
    ///
    /// The slot belongs to a stream with values of this type. Only the future of that stream uses
    /// the value, while it is polled.
    pub(crate) unsafe fn new(head: NonNull<Head>) -> Self {
        Out { head, value: PhantomData, stream: PhantomData }
    }

    /// Sets the stream's value. Readers get it in this frame, and in the frames after it until it
    /// is set again.
    ///
    /// Readers see the value when the stream is done for this frame. If it is set several times,
    /// they see only the last value.
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
            // SAFETY: it has a value; no code looks at it while the stream runs. The old value is
            // dropped when the new one is in its place.
            drop(unsafe { place.replace(value) });
        } else {
            // SAFETY: the place is the stream's own, and is empty.
            unsafe { place.write(value) };
            head.state.set(state.and_value());
        }
    }

    /// Calls `f` with the stream's value, to change it in place. Returns what `f` returns, or
    /// `None` if the stream has no value yet or is being dropped.
    #[inline]
    pub fn update<R>(&mut self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        // SAFETY: alive while its future is, by the promise of `new`.
        let state = unsafe { self.head.as_ref() }.state.get();
        if !state.has_value() || state.phase() != Phase::Running {
            return None;
        }
        // SAFETY: it has a value; no code looks at it while the stream runs.
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

/// Ends the work of the stream for this frame. Unlike `next_frame`, only a stream's own loop polls
/// it, and the loop is not polled twice in a frame after that.
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

/// The future of a stream that is run anew in each frame. It is written by hand, because each
/// stream pays for it: the compiler's future of a loop around the body takes 40 bytes more.
///
/// In each frame `start` makes a body from `made_of`, and `end` gets the result of the body. If
/// `CATCHES`, a panic is a failure like others.
pub(crate) struct Anew<M, B, S, E, const CATCHES: bool> {
    /// The body under way. It borrows from `made_of`, and is dropped before `made_of`.
    body: Option<B>,
    made_of: M,
    start: S,
    end: E,
    _borrowed: PhantomPinned,
}

impl<M, B, S, E, const CATCHES: bool> Anew<M, B, S, E, CATCHES> {
    /// # Safety
    ///
    /// It is the future of a stream, and only the stream's group polls it. `start` and the body do
    /// not need the borrow to be longer than the body.
    #[inline(always)]
    unsafe fn new(made_of: M, start: S, end: E) -> Self
    where
        M: 'static,
        B: Future,
        S: Fn(&Core, NonNull<Head>, &'static mut M) -> B,
        E: Fn(&Core, NonNull<Head>, &mut M, B::Output),
    {
        Anew { body: None, made_of, start, end, _borrowed: PhantomPinned }
    }
}

impl<M, B, S, E, const CATCHES: bool> Future for Anew<M, B, S, E, CATCHES>
where
    M: 'static,
    B: Future,
    S: Fn(&Core, NonNull<Head>, &'static mut M) -> B,
    E: Fn(&Core, NonNull<Head>, &mut M, B::Output),
{
    type Output = ();

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: it is polled with its stream, by the promise of `new`.
        let core = unsafe { Core::of_context(cx) };
        let Some(head) = core.current.get() else { return Poll::Pending };
        // SAFETY: no field is moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        if this.body.is_none() {
            // SAFETY: the body that borrows it is dropped before other code uses it, and before it
            // is moved or dropped.
            let made_of = unsafe { NonNull::from(&mut this.made_of).as_mut() };
            this.body = Some((this.start)(core, head, made_of));
        }
        let Some(body) = &mut this.body else { return Poll::Pending };
        // SAFETY: it is pinned with `self`.
        let mut body = unsafe { Pin::new_unchecked(body) };
        let polled = if CATCHES { poll_caught(body.as_mut(), cx) } else { body.poll(cx) };
        match polled {
            Poll::Ready(value) => {
                this.body = None;
                core.body_has_ended();
                (this.end)(core, head, &mut this.made_of, value);
                // The body has begun to wait for something, and then has given it up, as in a race.
                core.flags.set(core.flags.get() & !engine::flags::WITHIN);
            }
            // The usual case: the body waits within the frame.
            Poll::Pending if core.flags.get() == engine::flags::WITHIN => {}
            Poll::Pending => {
                if has_failed(core) {
                    this.body = None;
                    core.body_has_ended();
                }
            }
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
        core.waits_over_frames();
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

impl<M, B, S, E, const CATCHES: bool> Body for Anew<M, B, S, E, CATCHES>
where
    M: 'static,
    B: Future + 'static,
    S: Fn(&Core, NonNull<Head>, &'static mut M) -> B + 'static,
    E: Fn(&Core, NonNull<Head>, &mut M, B::Output) + 'static,
{
    fn rest(self: Pin<&mut Self>) {
        // SAFETY: no field is moved: the body is dropped in its place, before the value that it
        // borrows.
        unsafe { self.get_unchecked_mut() }.body = None;
    }
}

/// The future of a stream that is not run anew.
pub(crate) struct Lasting<F>(pub(crate) F);

impl<F: Future<Output = ()>> Future for Lasting<F> {
    type Output = ();

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the future is pinned with `self`, and is not moved.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

impl<F: Future<Output = ()> + 'static> Body for Lasting<F> {}

/// Returns the future of a stream that is run anew in each frame. The streams that a run has made
/// live until the next run.
#[inline(always)]
pub(crate) fn anew<const CATCHES: bool, T, B>(body: B) -> impl Body
where
    T: 'static,
    B: AsyncFnMut() -> T + 'static,
{
    let start = |core: &Core, head, body: &'static mut B| {
        core.remove_made(head);
        body()
    };
    // SAFETY: it is given to a stream with values of type `T`. The body's code holds for all
    // lifetimes.
    unsafe {
        Anew::<_, _, _, _, CATCHES>::new(body, start, |_, head, _, value| Out::<T>::new(head).set(value))
    }
}

/// Returns the future of a stream that changes its value in each frame by the value that it reads.
pub(crate) fn folding<S, T, F>(source: super::handle::Stream<T>, f: F) -> impl Body
where
    S: 'static,
    T: Clone + 'static,
    F: FnMut(&mut S, T) + 'static,
{
    let end = |_: &Core, head, f: &mut F, value| {
        // SAFETY: it is given to a stream with values of type `S`.
        unsafe { Out::<S>::new(head) }.update(|state| f(state, value));
    };
    // SAFETY: this is the future of a stream, and reading borrows nothing.
    unsafe { Anew::<_, _, _, _, false>::new(f, move |_, _, _| source.get(), end) }
}

/// Returns the future of a stream that changes its value in place, anew in each frame.
pub(crate) fn changing<T, B>(out: Out<'static, T>, body: B) -> impl Body
where
    T: 'static,
    B: AsyncFnMut(&mut Out<'_, T>) + 'static,
{
    let start = |_: &Core, _, made_of: &'static mut (Out<'static, T>, B)| (made_of.1)(&mut made_of.0);
    // SAFETY: this is the future of a stream. The body's code holds for all lifetimes.
    unsafe { Anew::<_, _, _, _, false>::new((out, body), start, |_, _, _, ()| {}) }
}

/// Returns the future of a stream that lives over frames.
pub(crate) fn living<T, B>(mut out: Out<'static, T>, body: B) -> impl Body
where
    T: 'static,
    B: AsyncFnOnce(&mut Out<'_, T>) + 'static,
{
    Lasting(async move { body(&mut out).await })
}
