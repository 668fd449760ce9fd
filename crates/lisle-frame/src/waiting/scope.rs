//! Async scopes within the body of a stream.

use crate::engine;
use crate::engine::branches::{InScope, OwnBranches};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Awaits a future as an async scope. When the future is done or dropped, the
/// [`branch`](crate::branch)es that it has started end, and so do the losers of a
/// [`rush`](crate::rush) in it.
///
/// The body of each stream is an async scope, and so is each of the futures given to
/// [`all`](crate::all), [`race`](crate::race), [`rush`](crate::rush), [`branch`](crate::branch),
/// [`spawn`](crate::spawn) and [`timeout`](crate::timeout). A call of an `async fn` is not a scope
/// by itself, unlike a call in Verse. A future in a `select` of another library is not a scope
/// either.
///
/// ```
/// use lisle_frame::{World, async_scope, branch, frames, next_frame};
///
/// async fn scene() {
///     branch(async {
///         loop {
///             // Music.
///             next_frame().await;
///         }
///     });
///     frames(3).await;
/// }
///
/// let mut world = World::new();
/// world.live((), async |_| {
///     async_scope(scene()).await;
///     // There is no music any more.
///     std::future::pending().await
/// });
/// let streams = [0; 5].map(|_| world.frame().streams);
/// assert_eq!(streams, [2, 2, 2, 1, 1]);
/// ```
pub async fn async_scope<F: Future>(future: F) -> F::Output {
    Scoped::new(future).await
}

/// A future that is an async scope.
pub(crate) struct Scoped<F> {
    branches: OwnBranches,
    future: F,
    /// The code that has pinned it keeps a reference into a future that other code reads meanwhile.
    _pinned: PhantomPinned,
}

impl<F> Scoped<F> {
    pub(crate) fn new(future: F) -> Self {
        Scoped { branches: Cell::new(None), future, _pinned: PhantomPinned }
    }
}

impl<F: Future> Future for Scoped<F> {
    type Output = F::Output;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is not moved, and is pinned with `self`. The branches are not pinned.
        let (branches, future) = unsafe {
            let this = self.get_unchecked_mut();
            (&this.branches, Pin::new_unchecked(&mut this.future))
        };
        // Outside of a frame it starts no branches.
        let Some(core) = engine::current() else { return future.poll(cx) };
        let in_scope = InScope::new(core, branches);
        let polled = future.poll(cx);
        drop(in_scope);
        if polled.is_ready() {
            drop(branches.take());
        }
        polled
    }
}

impl<F> fmt::Debug for Scoped<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scoped").finish_non_exhaustive()
    }
}
