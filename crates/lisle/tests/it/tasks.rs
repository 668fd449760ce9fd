//! Tasks: begun as a call, reified when they wait, gone on with elsewhere.
//!
//! Any of them may be queued instead of begun, when the clock that finds those that take long has moved on at the wrong
//! moment. So nothing here relies on one that was spawned to have begun.

mod cancel;
mod depth;
mod inflation;
mod life;
mod locals;
mod locks;
mod panics;
mod primitives;
mod scoped;
mod shutdown;
mod told;
mod wakers;

use crate::support::{on_domains, watched};
use lisle::fiber;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Runs `f` as a fiber, on one domain and on several, and on a plain thread.
fn everywhere(f: impl Fn()) {
    on_domains(&f);
    let _watched = watched();
    f();
}

/// Lets others run until `condition` holds.
fn until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        pause();
    }
}

/// Lets others run, whoever this is.
fn pause() {
    if lisle::statistics().fibers > 0 { fiber::yield_now() } else { std::thread::yield_now() }
}

/// Does any of a few attempts succeed? For what is so unless a tick of the clock comes in between.
fn at_last(attempt: impl Fn() -> bool) -> bool {
    (0..50).any(|_| attempt())
}

/// Comes back to whoever polls, having had itself woken.
async fn come_back() {
    let mut polled = false;
    poll_fn(|context| {
        if std::mem::replace(&mut polled, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls once, as the task that runs this.
async fn polled<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|context: &mut Context<'_>| Poll::Ready(future.as_mut().poll(context))).await
}

/// Counts how many of it there are.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Counted(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Calls a function when it is dropped.
struct Then<F: FnMut()>(F);

impl<F: FnMut()> Drop for Then<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
