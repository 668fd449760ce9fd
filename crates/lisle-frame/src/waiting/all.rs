//! Waiting for all of several futures.

use super::scope::Scoped;
use super::slice::Slice;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Several futures, of which [`all`] awaits each: a tuple of two to eight, a vector or an array.
pub trait All {
    /// Their outputs, in the same form.
    type Output;

    #[doc(hidden)]
    fn all(self) -> impl Future<Output = Self::Output>;
}

/// Awaits several futures, which go on side by side. Returns their outputs, in the order of the
/// futures. Each future is an [async scope](crate::async_scope).
///
/// Each time the stream goes on, all futures that are not done are polled. For the results of very
/// many calls of one function, see [`Foreign::call_each`](crate::Foreign::call_each).
///
/// Cancel safety: the futures are dropped with this one.
///
/// ```
/// use lisle_frame::{Foreign, World, all};
///
/// let work = Foreign::new("work", |n: u32| n * n);
/// let mut world = World::new();
/// let sum = world.stream(async move || {
///     let (a, b) = all((work.call(3), work.call(4))).await;
///     a + b
/// });
/// world.frame();
/// assert_eq!(world.get(sum)?, 25);
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
pub async fn all<A: All>(futures: A) -> A::Output {
    futures.all().await
}

macro_rules! all {
    ($($name:ident $done:ident),*) => {
        impl<$($name: Future),*> All for ($($name,)*) {
            type Output = ($($name::Output,)*);

            #[allow(non_snake_case)]
            async fn all(self) -> Self::Output {
                let ($($name,)*) = self;
                $(let mut $name = pin!(Scoped::new($name)); let mut $done = None;)*
                poll_fn(move |cx| {
                    let mut are_done = true;
                    $(
                        if $done.is_none() {
                            match $name.as_mut().poll(cx) {
                                Poll::Ready(output) => $done = Some(output),
                                Poll::Pending => are_done = false,
                            }
                        }
                    )*
                    match ($($done.take(),)*) {
                        ($(Some($done),)*) => Poll::Ready(($($done,)*)),
                        ($($name,)*) => {
                            debug_assert!(!are_done);
                            $($done = $name;)*
                            Poll::Pending
                        }
                    }
                })
                .await
            }
        }
    };
}

all!(A a, B b);
all!(A a, B b, C c);
all!(A a, B b, C c, D d);
all!(A a, B b, C c, D d, E e);
all!(A a, B b, C c, D d, E e, F f);
all!(A a, B b, C c, D d, E e, F f, G g);
all!(A a, B b, C c, D d, E e, F f, G g, H h);

impl<F: Future> All for Vec<F> {
    type Output = Vec<F::Output>;

    async fn all(self) -> Vec<F::Output> {
        let mut futures = Slice::new(self);
        let mut outputs = (0..futures.len()).map(|_| None).collect::<Vec<_>>();
        poll_fn(|cx| {
            let mut are_done = true;
            for (at, output) in outputs.iter_mut().enumerate() {
                if output.is_none() {
                    match futures.get(at).poll(cx) {
                        Poll::Ready(value) => *output = Some(value),
                        Poll::Pending => are_done = false,
                    }
                }
            }
            if are_done { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        outputs.into_iter().flatten().collect()
    }
}

impl<F: Future, const N: usize> All for [F; N] {
    type Output = [F::Output; N];

    async fn all(self) -> [F::Output; N] {
        let outputs = Vec::from(self).all().await;
        let Ok(outputs) = outputs.try_into() else { unreachable!("as many outputs as futures") };
        outputs
    }
}
