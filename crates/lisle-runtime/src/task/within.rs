//! Tasks of a scope that is opened below a deadline: they end when it passes.

use crate::event::limit;
use crate::spawned::scope_state::Late;
use crate::time::{At, at_nanos};
use std::future::{Future, IntoFuture};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that ends its task when the deadline of its scope has passed and it would have to wait.
///
/// An awaited event is given up, as by a cancellation: the future is dropped. A wait in place is unwound,
/// as in a fiber.
pub(crate) struct Within<F> {
    future: F,
    over: <At as IntoFuture>::IntoFuture,
    deadline: u64,
    is_over: bool,
}

impl<F> Within<F> {
    pub(crate) fn new(future: F, deadline: u64) -> Self {
        Within { future, over: at_nanos(deadline).into_future(), deadline, is_over: false }
    }
}

impl<F: Future> Future for Within<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: `future` and `over` do not move.
        let this = unsafe { self.get_unchecked_mut() };
        if this.is_over {
            resume_unwind(Box::new(Late));
        }
        // SAFETY: as above.
        let (future, over) =
            unsafe { (Pin::new_unchecked(&mut this.future), Pin::new_unchecked(&mut this.over)) };
        match limit::bounded(this.deadline, || future.poll(context)) {
            Some(Poll::Ready(value)) => return Poll::Ready(value),
            Some(Poll::Pending) => this.is_over = over.poll(context).is_ready(),
            None => this.is_over = true,
        }
        if this.is_over {
            // It ends in a turn of its own: in the first, which is a part of its spawner's, it has no
            // handle yet.
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
