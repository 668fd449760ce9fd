//! Running futures in fibers and plain threads, and waiting for them.
//!
//! Futures of any executor can await events ([`Event::future`]). This module is the reverse: a
//! fiber drives a future of any kind, and the end of that future is an event.
//!
//! - [`block_on`] runs a future in the caller. A fiber parks while the future waits, and its domain
//!   runs other fibers.
//! - [`spawn`] runs a future in a fiber of its own and returns a [`FutureHandle`]. Its
//!   [`join_evt`](FutureHandle::join_evt) can be chosen against other events. When the handle is
//!   cancelled, the future is dropped.
//!
//! ```
//! use lisle::{Event, choose, future, time::after};
//! use std::time::Duration;
//!
//! lisle::run(|| {
//!     let (tx, rx) = lisle::channel::<u32>();
//!     let answer = future::spawn(async move { rx.recv_evt().await.unwrap() + 1 });
//!     let never_in_time = || after(Duration::from_millis(1)).wrap(|()| None);
//!     assert!(choose((answer.join_evt().wrap(Some), never_in_time())).sync().is_none());
//!     tx.send(41).unwrap(); // the future lost the choice, and goes on
//!     assert_eq!(answer.join().unwrap(), 42);
//! });
//! ```
//!
//! # Why a future is not itself an event
//!
//! An event is a value that may be performed many times, also by several performers at once, and
//! that does nothing unless it is performed. A future makes progress only while it is polled, gives
//! its value once, and must not be polled from two places at once. An event that polls the future
//! would drive it in some performances and not in others, and would run its code in the middle of a
//! choice. Therefore a fiber of its own drives the future, and the event is the end of that fiber.
//!
//! # Caveats
//!
//! - Futures that need a certain runtime (tokio's sockets and timers) still need it. Enter that
//!   runtime around [`block_on`] or inside it.
//! - A future lives on the stack of the fiber that drives it. Box one that is very large (some
//!   hundred KiB).
//! - While it is polled, a future is a part of its fiber. If it computes for long, the other fibers
//!   of the domain do not run.

mod handle;
mod wakeup;

pub use handle::{FutureEvt, FutureHandle, spawn};

use crate::Event;
use crate::event::{choose_biased, turn};
use crate::fiber::{CancelledEvt, yield_now};
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use wakeup::Wakeup;

/// Runs `future` to completion and returns its value. While the future waits, the caller waits as
/// [`Event::sync`] does: a fiber parks, a plain thread sleeps.
///
/// The future need not be `Send`, since a fiber stays on its thread. If the future yields by waking
/// itself at once, the other fibers of the domain run. They also run now and then if the future
/// awaits events of Lisle that are ready each time: such an event is then pending once, and wakes
/// the future.
///
/// Costs one allocation, regardless of how often the future is polled.
///
/// # Cancel safety
///
/// When a runtime shuts down, a fiber that waits here, or that lets others run before it polls the
/// future, is unwound, which drops the future.
/// [`JoinHandle::cancel`](crate::fiber::JoinHandle::cancel) only makes a request to the fiber. It
/// reaches the future if the future looks at [`cancelled_evt`](crate::fiber::cancelled_evt).
///
/// # Panics
///
/// Panics if the future panics, with the same payload.
///
/// ```
/// lisle::run(|| {
///     let text = std::rc::Rc::new("not `Send`");
///     assert_eq!(lisle::future::block_on(async { text.len() }), 10);
/// });
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    drive(pin!(future), None).expect("it is not cancelled")
}

/// Polls `future` until it is done. Returns `None` if the future has been cancelled first.
#[track_caller]
fn drive<F: Future>(mut future: Pin<&mut F>, cancelled: Option<CancelledEvt>) -> Option<F::Output> {
    // An event that is ready at once never waits below.
    turn::pass_if_due();
    let (wakeup, waker) = Wakeup::new();
    let mut context = Context::from_waker(&waker);
    let woken = wakeup.woken_evt();
    let next = choose_biased((cancelled.as_ref().wrap(|()| false), (&woken).wrap(|()| true)));
    loop {
        let driving = turn::Driving::new(&waker);
        let polled = future.as_mut().poll(&mut context);
        drop(driving);
        if let Poll::Ready(value) = polled {
            return Some(value);
        }
        match next.poll() {
            // The future was woken while it was polled. It wants to continue, but other fibers run
            // first.
            Some(true) => yield_now(),
            Some(false) => return None,
            None => {
                if !next.sync() {
                    return None;
                }
            }
        }
    }
}
