//! The functions that the loom models of this crate share: to explore a model, and to start its
//! other threads.

use crate::event::Event;
use crate::shim::sync::Arc;
use loom::thread::{self, JoinHandle};
use std::task::{Context, Poll, Waker};

/// Explores `model` with at most `preemptions` forced switches a run. Most bugs need one or two.
/// The number for each model is the highest with which it ends within seconds.
pub(crate) fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Spawns a thread that does `f` with its own reference to `shared`.
pub(crate) fn spawn_with<T: 'static, R: 'static>(
    shared: &Arc<T>,
    f: impl FnOnce(&T) -> R + 'static,
) -> JoinHandle<R> {
    let shared = shared.clone();
    thread::spawn(move || f(&shared))
}

/// As [`spawn_with`], with two things that the threads share.
pub(crate) fn spawn_with_both<T: 'static, U: 'static, R: 'static>(
    first: &Arc<T>,
    second: &Arc<U>,
    f: impl FnOnce(&T, &U) -> R + 'static,
) -> JoinHandle<R> {
    let second = second.clone();
    spawn_with(first, move |first| f(first, &second))
}

/// Joins all of `threads`, which return nothing.
pub(crate) fn join_all(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Performs `event` as a future that is polled once and dropped, and returns its value if it had
/// one. Its memory is leaked, which makes a committer that comes too late detectable; see `Lock`.
pub(crate) fn poll_once<E: Event>(event: E) -> Option<E::Output> {
    let mut place = Box::pin(Some(event.future()));
    let future = place.as_mut().as_pin_mut().expect("just made");
    let outcome = future.poll(&mut Context::from_waker(Waker::noop()));
    place.set(None);
    std::mem::forget(place);
    match outcome {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
