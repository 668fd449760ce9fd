//! The futures by which a stream reads another.

use super::handle::Stream;
use crate::engine::group::value_of;
use crate::engine::slot::Phase;
use crate::engine::{self, Core};
use crate::error::{Failure, StreamError};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The outcome of a look at a stream.
enum Look {
    Value,
    NotYet,
    Error(StreamError),
}

/// A read: the stream, and the frame in which the reader was put on its list.
#[derive(Debug)]
struct Read<T> {
    stream: Stream<T>,
    listed: u32,
}

impl<T> Read<T> {
    #[inline(always)]
    fn poll(&mut self, core: &Core, cx: &Context<'_>) -> Look {
        if self.stream.is_ready(core) {
            return Look::Value;
        }
        self.poll_slowly(core, cx)
    }

    #[inline(never)]
    fn poll_slowly(&mut self, core: &Core, cx: &Context<'_>) -> Look {
        let living = match self.stream.living(core) {
            Ok(living) => living,
            Err(error) => return Look::Error(error),
        };
        if self.stream.is_cosmetic() && !core.runs_cosmetic() {
            return Look::Error(core.reads_cosmetic(living.head));
        }
        let _counted = engine::current_counted();
        let state = living.get().map(|head| head.state.get());
        if state.is_some_and(|state| core.is_runnable(state)) && !core.demand(living.head) {
            core.demand_later(living.head);
        }
        let Some(head) = living.get() else { return Look::Error(core.removed(living)) };
        let state = head.state.get();
        match state.phase() {
            Phase::Settled | Phase::Ended if state.has_value() => Look::Value,
            Phase::Settled | Phase::Ended => {
                Look::Error(StreamError::new(Failure::NoValue(core.origin(living.head))))
            }
            Phase::Failed => Look::Error(core.error_of(living.head)),
            _ => {
                if self.listed == core.epoch.get() {
                    core.flag(engine::flags::WITHIN);
                } else {
                    self.listed = core.epoch.get();
                    core.block_on(living.head);
                }
                core.keep_waker(cx.waker());
                Look::NotYet
            }
        }
    }

    /// Calls a function with the value, which has been found.
    #[inline(always)]
    fn value<R>(&self, core: &Core, f: impl FnOnce(&T) -> R) -> R {
        let _looking = Looking::new(core);
        // SAFETY: the stream has a value, and is settled in this frame or has ended, so that it
        // does not run while `f` does. It is not buried while a function looks at it.
        f(unsafe { &*value_of::<T>(self.stream.head()) })
    }
}

/// Marks that a function of the user's looks at a value.
pub(crate) struct Looking<'a>(&'a Core);

impl<'a> Looking<'a> {
    #[inline(always)]
    pub(crate) fn new(core: &'a Core) -> Self {
        core.looking.set(core.looking.get() + 1);
        Looking(core)
    }
}

impl Drop for Looking<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.looking.set(self.0.looking.get() - 1);
    }
}

#[cold]
fn outside() -> ! {
    panic!("{}", StreamError::new(Failure::Outside))
}

/// Fails the reader, because the stream that it reads has failed.
#[cold]
pub(crate) fn fail_reader(core: &Core, cause: StreamError) {
    if let Failure::Cosmetic { .. } = cause.failure()
        && core.current_origin().as_ref() == cause.reader()
    {
        return core.fail_current(cause);
    }
    // Only the first failure is kept: a chain of streams that fail may be long.
    let cause = cause.root().clone();
    match core.current_origin() {
        Some(reader) => core.fail_current(StreamError::new(Failure::Read { reader, cause })),
        None => core.fail_current(cause),
    }
}

/// The future of [`Stream::get`]: the value of a stream in this frame.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct Get<T>(Read<T>);

impl<T> Get<T> {
    #[inline(always)]
    pub(super) fn new(stream: Stream<T>) -> Self {
        Get(Read { stream, listed: 0 })
    }
}

impl<T> Unpin for Get<T> {}

impl<T: Clone> Future for Get<T> {
    type Output = T;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some(core) = engine::current() else { outside() };
        match self.0.poll(core, cx) {
            Look::Value => Poll::Ready(self.0.value(core, T::clone)),
            Look::NotYet => Poll::Pending,
            Look::Error(error) => {
                fail_reader(core, error);
                Poll::Pending
            }
        }
    }
}

/// The future of [`Stream::try_get`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited"]
pub struct TryGet<T>(Read<T>);

impl<T> TryGet<T> {
    pub(super) fn new(stream: Stream<T>) -> Self {
        TryGet(Read { stream, listed: 0 })
    }
}

impl<T> Unpin for TryGet<T> {}

impl<T: Clone> Future for TryGet<T> {
    type Output = Result<T, StreamError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(core) = engine::current() else {
            return Poll::Ready(Err(StreamError::new(Failure::Outside)));
        };
        match self.0.poll(core, cx) {
            Look::Value => Poll::Ready(Ok(self.0.value(core, T::clone))),
            Look::NotYet => Poll::Pending,
            Look::Error(error) => Poll::Ready(Err(error)),
        }
    }
}

/// Waits until a stream has its value for this frame, or has failed.
pub(crate) struct Settled<T>(Read<T>);

impl<T> Settled<T> {
    pub(crate) fn new(stream: Stream<T>) -> Self {
        Settled(Read { stream, listed: 0 })
    }
}

impl<T> Unpin for Settled<T> {}

impl<T> Future for Settled<T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(core) = engine::current() else { outside() };
        match self.0.poll(core, cx) {
            Look::NotYet => Poll::Pending,
            Look::Value | Look::Error(_) => Poll::Ready(()),
        }
    }
}

/// The future of [`Stream::with`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct With<T, F> {
    read: Read<T>,
    f: Option<F>,
}

impl<T, F> With<T, F> {
    #[inline(always)]
    pub(super) fn new(stream: Stream<T>, f: F) -> Self {
        With { read: Read { stream, listed: 0 }, f: Some(f) }
    }
}

// The function is never pinned.
impl<T, F> Unpin for With<T, F> {}

impl<T, R, F: FnOnce(&T) -> R> Future for With<T, F> {
    type Output = R;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        let Some(core) = engine::current() else { outside() };
        match self.read.poll(core, cx) {
            Look::Value => {
                let f = self.f.take().expect("the future is not polled after it is ready");
                Poll::Ready(self.read.value(core, f))
            }
            Look::NotYet => Poll::Pending,
            Look::Error(error) => {
                fail_reader(core, error);
                Poll::Pending
            }
        }
    }
}

impl<T, F> fmt::Debug for With<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("With").field("stream", &self.read.stream).finish_non_exhaustive()
    }
}
