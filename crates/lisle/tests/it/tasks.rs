//! Tasks: begun as a call, reified when they wait, and continued elsewhere.
//!
//! Any of them may be queued instead of begun, if the clock that detects long turns has advanced at
//! that moment. Therefore nothing here relies on a spawned task to have begun.

mod cancel;
mod depth;
mod inflation;
mod life;
mod locals;
mod locks;
mod moving;
mod panics;
mod primitives;
mod scoped;
mod shutdown;
mod told;
mod turns;
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

/// Lets other fibers run until `condition` holds.
fn until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        pause();
    }
}

/// Lets other fibers or threads run, for every kind of caller.
fn pause() {
    if lisle::statistics().fibers > 0 { fiber::yield_now() } else { std::thread::yield_now() }
}

/// Returns `true` if one of a few attempts succeeds. Used for behaviour that a tick of the clock
/// may prevent.
fn at_last(attempt: impl Fn() -> bool) -> bool {
    (0..50).any(|_| attempt())
}

/// Returns to the code that polls, after it has woken itself.
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

/// Polls once with the waker of the current task.
async fn polled<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|context: &mut Context<'_>| Poll::Ready(future.as_mut().poll(context))).await
}

/// Counts its live instances.
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
