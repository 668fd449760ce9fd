//! Futures that fibers and plain threads wait for.
//!
//! Events can be awaited in futures of any executor ([`Event::future`]). This module is
//! the way back: a future of anybody's, driven by a fiber, and its end as an event.
//!
//! - [`block_on`] runs a future where it is called. A fiber is parked while the future waits, and its domain goes on
//!   with others.
//! - [`spawn`] runs a future in a fiber of its own and gives a [`FutureHandle`], whose
//!   [`join_evt`](FutureHandle::join_evt) can be chosen against other events, and which drops the future when it is
//!   cancelled.
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
//!     tx.send(41).unwrap(); // it has lost nothing by losing
//!     assert_eq!(answer.join().unwrap(), 42);
//! });
//! ```
//!
//! # Why a future is not itself an event
//!
//! An event is a value that may be performed many times, by several performers at once, and that does nothing
//! while nobody performs it. A future makes progress only while somebody polls it, gives its value once, and may
//! not be polled by two. An event that polls it would drive it in some performances and not in others, and would
//! run its code in the middle of a choice. So the future has a driver of its own, a fiber, and what is chosen is the
//! driver's end.
//!
//! # Caveats
//!
//! - Futures that want a certain runtime (tokio's sockets and timers) still want it: enter it around
//!   [`block_on`], or inside.
//! - A future lives on the stack of the fiber that drives it. One that is very large, some hundred KiB, should be
//!   boxed.
//! - While it polls, a future is a part of its fiber: if it computes for long, it keeps the domain to itself.

mod handle;
mod wakeup;

pub use handle::{FutureEvt, FutureHandle, spawn};

use crate::event::{Event, choose_biased};
use crate::fiber::{CancelledEvt, yield_now};
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use wakeup::Wakeup;

/// Runs `future` to its end and gives its value. While it waits, the performer waits as
/// [`Event::sync`] does: a fiber is parked, a plain thread sleeps.
///
/// The future need not be `Send`: a fiber stays on its thread. One that wakes itself at once, to let others have a turn,
/// lets the other fibers have a turn.
///
/// Costs one allocation, however often the future is polled.
///
/// # Cancel safety
///
/// When a runtime shuts down, a fiber that waits here is unwound, which drops the future.
/// [`JoinHandle::cancel`](crate::JoinHandle::cancel) only asks the fiber, and reaches the future if that
/// asks [`cancelled_evt`](crate::fiber::cancelled_evt).
///
/// # Panics
///
/// With the panic of the future.
///
/// ```
/// lisle::run(|| {
///     let text = std::rc::Rc::new("not `Send`");
///     assert_eq!(lisle::future::block_on(async { text.len() }), 10);
/// });
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    drive(pin!(future), None).expect("nobody cancels it")
}

/// Polls `future` until it is done. `None`: it has been cancelled before.
#[track_caller]
fn drive<F: Future>(mut future: Pin<&mut F>, cancelled: Option<CancelledEvt>) -> Option<F::Output> {
    let (wakeup, waker) = Wakeup::new();
    let mut context = Context::from_waker(&waker);
    let woken = wakeup.woken_evt();
    let next = choose_biased((cancelled.as_ref().wrap(|()| false), (&woken).wrap(|()| true)));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        match next.poll() {
            // Woken while it was polled: it wants to go on, but not to keep its domain to itself.
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
