//! Waiting for the first of several futures, and cancelling the others.

use super::scope::Scoped;
use super::slice::Slice;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Several futures with the same output, of which [`race`] awaits the first: a tuple of two to
/// eight, a vector or an array.
pub trait Race {
    /// The output of each future.
    type Output;

    #[doc(hidden)]
    fn race(self) -> impl Future<Output = Self::Output>;
}

/// Awaits the first of several futures, and drops the others at once: their calls that have not
/// begun do not begin, and their branches end. If several are done, the first in order wins. Each
/// future is an [async scope](crate::async_scope).
///
/// If one of the futures fails its stream, as reading a failed stream does, the stream fails,
/// whatever the others do. To avoid this, race futures that return errors
/// ([`try_get`](crate::Stream::try_get), [`try_call`](crate::Foreign::try_call)). Without any
/// future it waits for ever.
///
/// ```
/// use lisle_frame::{World, frames, race};
///
/// let mut world = World::new();
/// let winner = world.live("none", async |out| {
///     let slow = async { frames(3).await; "slow" };
///     let fast = async { frames(1).await; "fast" };
///     out.set(race((slow, fast)).await);
/// });
/// world.frame();
/// assert_eq!(world.get(winner)?, "none");
/// world.frame();
/// assert_eq!(world.get(winner)?, "fast");
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
pub async fn race<R: Race>(futures: R) -> R::Output {
    futures.race().await
}

macro_rules! race {
    ($($name:ident),*) => {
        impl<T, $($name: Future<Output = T>),*> Race for ($($name,)*) {
            type Output = T;

            #[allow(non_snake_case)]
            async fn race(self) -> T {
                let ($($name,)*) = self;
                $(let mut $name = pin!(Scoped::new($name));)*
                poll_fn(move |cx| {
                    $(
                        if let Poll::Ready(output) = $name.as_mut().poll(cx) {
                            return Poll::Ready(output);
                        }
                    )*
                    Poll::Pending
                })
                .await
            }
        }
    };
}

race!(A, B);
race!(A, B, C);
race!(A, B, C, D);
race!(A, B, C, D, E);
race!(A, B, C, D, E, F);
race!(A, B, C, D, E, F, G);
race!(A, B, C, D, E, F, G, H);

impl<F: Future> Race for Vec<F> {
    type Output = F::Output;

    async fn race(self) -> F::Output {
        let mut futures = Slice::new(self);
        poll_fn(move |cx| {
            for at in 0..futures.len() {
                if let Poll::Ready(output) = futures.get(at).poll(cx) {
                    return Poll::Ready(output);
                }
            }
            Poll::Pending
        })
        .await
    }
}

impl<F: Future, const N: usize> Race for [F; N] {
    type Output = F::Output;

    async fn race(self) -> F::Output {
        Vec::from(self).race().await
    }
}
