//! Futures that go on beside the body of a stream.

use crate::engine;
use crate::streams::handle::Stream;
use crate::streams::making::here;
use std::future::poll_fn;
use std::panic::Location;
use std::pin::Pin;
use std::task::Poll;

/// Starts a future that goes on beside its caller, and ends with the [async
/// scope](crate::async_scope) around the call. The scope is the innermost that is being awaited: one
/// of the futures of a [`race`](crate::race), an [`all`](crate::all) or a `rush`, another branch, or
/// the body of the stream.
///
/// So if a `race` drops a scene, all branches of the scene end, and a body that returns ends its
/// branches. A future that has to go on is started with [`spawn`].
///
/// The future is run until it first waits. Returns a stream that is `None` until the future is
/// done, and has its output from then on.
///
/// ```
/// use lisle_frame::{World, branch, frames, next_frame};
///
/// let mut world = World::new();
/// let log = world.live(Vec::new(), async |out| {
///     let door = branch(async {
///         frames(2).await;
///         "open"
///     });
///     loop {
///         let seen = door.await;
///         out.update(|log| log.push(seen));
///         next_frame().await;
///     }
/// });
/// for _ in 0..3 {
///     world.frame();
/// }
/// assert_eq!(world.get(log)?, [None, None, Some("open")]);
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
///
/// # Panics
///
/// Panics outside of a frame.
#[track_caller]
pub fn branch<F>(future: F) -> Stream<Option<F::Output>>
where
    F: Future<Output: Clone> + 'static,
{
    start(future, Location::caller())
}

/// Starts a future that goes on beside the running body, as long as the body's stream exists. It
/// goes on even when the [async scope](crate::async_scope) that has started it has ended, or the
/// body has returned. It belongs to the stream, as streams do that are made with
/// [`here`](crate::here). If the body is run anew in each frame, the future is dropped before the
/// next run.
///
/// Otherwise it does the same as [`branch`].
///
/// ```
/// use lisle_frame::{World, frames, race, spawn};
///
/// let mut world = World::new();
/// let game = world.live(None, async |out| {
///     let scene = async {
///         out.set(Some(spawn(async {
///             frames(3).await;
///             "saved"
///         })));
///         std::future::pending().await
///     };
///     race((scene, frames(1))).await;
/// });
/// for _ in 0..4 {
///     world.frame();
/// }
/// let saving = world.get(game)?.expect("it was set in the first frame");
/// assert_eq!(world.get(saving)?, Some("saved"));
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
///
/// # Panics
///
/// Panics outside of a frame.
#[track_caller]
pub fn spawn<F>(future: F) -> Stream<Option<F::Output>>
where
    F: Future<Output: Clone> + 'static,
{
    begin("spawned", Location::caller(), future, false)
}

fn start<F>(future: F, site: &'static Location<'static>) -> Stream<Option<F::Output>>
where
    F: Future<Output: Clone> + 'static,
{
    begin("branch", site, future, true)
}

fn begin<F>(
    name: &'static str,
    site: &'static Location<'static>,
    future: F,
    ends_with_scope: bool,
) -> Stream<Option<F::Output>>
where
    F: Future<Output: Clone> + 'static,
{
    let here = here();
    let making = here.named(name).at(site);
    let stream = making.live(None, async move |out| out.set(Some(future.await)));
    if ends_with_scope && let Ok(branch) = stream.living(&here.core) {
        here.core.end_with_scope(branch);
    }
    here.core.start(stream.head());
    stream
}

/// Several futures of which [`rush`] awaits the first: a tuple of two to eight, a vector or an
/// array.
pub trait Rush {
    /// The output of each future.
    type Output;

    #[doc(hidden)]
    fn start(self, site: &'static Location<'static>) -> Vec<Stream<Option<Self::Output>>>;
}

/// Awaits the first of several futures. The others go on as [`branch`]es, and end with the
/// [async scope](crate::async_scope) in which this is awaited.
///
/// ```
/// use lisle_frame::{World, frames, rush};
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// let mut world = World::new();
/// let arrived = Rc::new(Cell::new(0));
/// let all = arrived.clone();
/// let first = world.live(0, async move |out| {
///     let runner = |number: u64| {
///         let all = all.clone();
///         async move {
///             frames(number).await;
///             all.set(all.get() + 1);
///             number
///         }
///     };
///     out.set(rush((runner(3), runner(1), runner(2))).await);
///     std::future::pending::<()>().await;
/// });
/// for _ in 0..4 {
///     world.frame();
/// }
/// assert_eq!((world.get(first)?, arrived.get()), (1, 3));
/// # Ok::<(), lisle_frame::StreamError>(())
/// ```
///
/// # Panics
///
/// The future panics if it is polled outside of a frame.
#[track_caller]
pub fn rush<R: Rush<Output: Clone>>(futures: R) -> impl Future<Output = R::Output> {
    first(futures, Location::caller())
}

async fn first<R: Rush<Output: Clone>>(futures: R, site: &'static Location<'static>) -> R::Output {
    let branches = futures.start(site);
    let mut reads = branches.iter().map(|branch| branch.get()).collect::<Vec<_>>();
    poll_fn(move |cx| {
        for (read, branch) in reads.iter_mut().zip(&branches) {
            match Pin::new(&mut *read).poll(cx) {
                Poll::Ready(Some(output)) => return Poll::Ready(output),
                // It waits over frames: it is read again in the next frame.
                Poll::Ready(None) => *read = branch.get(),
                Poll::Pending => {}
            }
        }
        if let Some(core) = engine::current() {
            core.keep_waker(cx.waker());
        }
        Poll::Pending
    })
    .await
}

macro_rules! rush {
    ($($name:ident),*) => {
        impl<T: Clone + 'static, $($name: Future<Output = T> + 'static),*> Rush for ($($name,)*) {
            type Output = T;

            #[allow(non_snake_case)]
            fn start(self, site: &'static Location<'static>) -> Vec<Stream<Option<T>>> {
                let ($($name,)*) = self;
                vec![$(start($name, site)),*]
            }
        }
    };
}

rush!(A, B);
rush!(A, B, C);
rush!(A, B, C, D);
rush!(A, B, C, D, E);
rush!(A, B, C, D, E, F);
rush!(A, B, C, D, E, F, G);
rush!(A, B, C, D, E, F, G, H);

impl<F: Future<Output: Clone> + 'static> Rush for Vec<F> {
    type Output = F::Output;

    fn start(self, site: &'static Location<'static>) -> Vec<Stream<Option<F::Output>>> {
        self.into_iter().map(|future| start(future, site)).collect()
    }
}

impl<F: Future<Output: Clone> + 'static, const N: usize> Rush for [F; N] {
    type Output = F::Output;

    fn start(self, site: &'static Location<'static>) -> Vec<Stream<Option<F::Output>>> {
        Vec::from(self).start(site)
    }
}
