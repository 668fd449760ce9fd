//! Loom models of the limits of plain threads: one thread fires the timer of a limit, another wakes
//! the thread that waits below it, or that thread leaves the limit by itself.

use super::SharedWheel;
use crate::event::waiting::limit::bounded;
use crate::event::{Source, sync_or_passed};
use crate::loom_models::{explore, spawn_with};
use crate::shim::sync::Arc;
use crate::time::outside::arm_in;
use loom::thread;

/// A deadline that comes when the model says so, in a day of the clock.
const DEADLINE: u64 = 86_400_000_000_000;
/// A time at which all timers are due.
const LATE: u64 = u64::MAX - 1;

fn open() -> Arc<SharedWheel> {
    let wheel = SharedWheel::new();
    wheel.open(0);
    let wheel = Arc::new(wheel);
    // SAFETY: the models keep their wheels until all threads have ended.
    unsafe { arm_in(&wheel) };
    wheel
}

/// Fires the timers that are armed by then.
fn fires(wheel: &Arc<SharedWheel>) -> thread::JoinHandle<()> {
    spawn_with(wheel, |wheel| wheel.fire(LATE))
}

/// Leaving waits for the thread that fires, which uses the limit until it has marked it.
#[test]
fn loom_a_limit_is_left_while_it_fires() {
    explore(4, || {
        let wheel = open();
        let firing = bounded(DEADLINE, || fires(&wheel)).expect("nothing waits in it");
        firing.join().unwrap();
        assert!(wheel.is_empty());
    });
}

/// A wait ends by its partner or by its deadline, and in the latter case has taken nothing.
#[test]
fn loom_a_deadline_comes_with_the_wake() {
    for by_error in [false, true] {
        explore(2, move || {
            let wheel = open();
            let tokens = Arc::new(Source::<u32, ()>::new(0));
            let giving = spawn_with(&tokens, |tokens| {
                tokens.update(|tokens, waiters| {
                    if waiters.grant(()).is_err() {
                        *tokens += 1;
                    }
                });
            });
            let mut firing = None;
            let take = tokens.event(|tokens| (*tokens > 0).then(|| *tokens -= 1));
            let taken = bounded(DEADLINE, || {
                firing = Some(fires(&wheel));
                match by_error {
                    true => sync_or_passed(&take).is_ok(),
                    false => {
                        crate::event::Event::sync(&take);
                        true
                    }
                }
            });
            let is_taken = taken.unwrap_or(false);
            giving.join().unwrap();
            firing.into_iter().for_each(|firing| firing.join().unwrap());
            assert_eq!(tokens.with(|tokens| *tokens), u32::from(!is_taken));
            assert!(wheel.is_empty());
        });
    }
}
