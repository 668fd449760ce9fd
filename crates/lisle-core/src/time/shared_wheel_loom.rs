//! Loom models of timers that one thread arms, and others fire, hand over and disarm. They are a
//! domain's wheel and the clock thread's; the models fire them, since loom has no time.

use super::SharedWheel;
use crate::event::Event;
use crate::event::choose;
use crate::loom_models::{explore, spawn_with, spawn_with_both};
use crate::shim::sync::Arc;
use crate::time::outside::arm_in;
use crate::time::{After, after};
use loom::thread;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A time at which all timers are due.
const LATE: u64 = u64::MAX - 1;

/// A time that does not come in a model.
fn later() -> After {
    after(Duration::from_secs(3_600))
}

fn open() -> Arc<SharedWheel> {
    let wheel = SharedWheel::new();
    wheel.open(0);
    Arc::new(wheel)
}

/// Arms timers of this thread in `wheel`.
fn arm_here(wheel: &Arc<SharedWheel>) {
    // SAFETY: the models keep their wheels until all threads have ended and all futures are gone.
    unsafe { arm_in(wheel) };
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn fires(wheel: &Arc<SharedWheel>) -> thread::JoinHandle<()> {
    spawn_with(wheel, |wheel| wheel.fire(LATE))
}

/// The domain ends, or does not look for a while; then the clock thread fires.
fn hands_over(from: &Arc<SharedWheel>, clock: &Arc<SharedWheel>, is_end: bool) -> thread::JoinHandle<()> {
    spawn_with_both(from, clock, move |from, clock| {
        let is_earlier = if is_end { from.close(clock) } else { from.hand_over_due(LATE, clock) };
        if is_earlier {
            clock.fire(LATE);
        }
    })
}

#[test]
fn a_timer_that_fires_wakes_its_future() {
    explore(3, || {
        let wheel = open();
        arm_here(&wheel);
        let firing = {
            let wheel = wheel.clone();
            thread::spawn(move || {
                while wheel.is_empty() {
                    thread::yield_now();
                }
                wheel.fire(LATE);
            })
        };
        loom::future::block_on(later().future());
        assert!(wheel.is_empty());
        firing.join().unwrap();
    });
}

/// The future is dropped, or is polled and dropped, while its timer fires.
#[test]
fn a_timer_that_fires_is_disarmed() {
    for polls in [false, true] {
        explore(4, move || {
            let wheel = open();
            arm_here(&wheel);
            let firing = {
                let mut future = pin!(later().future());
                assert!(poll(future.as_mut()).is_pending());
                let firing = fires(&wheel);
                if polls {
                    let _ = poll(future.as_mut());
                }
                firing
            };
            firing.join().unwrap();
            assert!(wheel.is_empty());
        });
    }
}

/// As above, and it is handed over meanwhile.
#[test]
fn a_timer_that_is_handed_over_is_disarmed() {
    for is_end in [false, true] {
        explore(4, move || {
            let (wheel, clock) = (open(), open());
            arm_here(&wheel);
            let handing_over = {
                let mut future = pin!(later().future());
                assert!(poll(future.as_mut()).is_pending());
                hands_over(&wheel, &clock, is_end)
            };
            handing_over.join().unwrap();
            assert!(wheel.is_empty() && clock.is_empty());
        });
    }
}

/// The domain fires at the moment at which it is handed over.
#[test]
fn a_timer_that_is_handed_over_fires_once() {
    explore(3, || {
        let (wheel, clock) = (open(), open());
        arm_here(&wheel);
        let mut future = pin!(choose((later().wrap(|()| 1), later().wrap(|()| 2))).future());
        assert!(poll(future.as_mut()).is_pending());
        let threads = [fires(&wheel), hands_over(&wheel, &clock, false)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(poll(future.as_mut()).is_ready());
        assert!(wheel.is_empty() && clock.is_empty());
    });
}

/// A thread that disarms takes the lock of a wheel that another domain has by then.
#[test]
fn a_timer_is_disarmed_while_its_wheel_is_lent_again() {
    explore(3, || {
        let (wheel, clock) = (open(), open());
        arm_here(&wheel);
        let lending = {
            let mut future = pin!(later().future());
            assert!(poll(future.as_mut()).is_pending());
            spawn_with_both(&wheel, &clock, |wheel, clock| {
                wheel.close(clock);
                wheel.open(0);
                wheel.fire(LATE);
            })
        };
        lending.join().unwrap();
        assert!(wheel.is_empty() && clock.is_empty());
    });
}
