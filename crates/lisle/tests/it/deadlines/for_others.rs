//! Code that is called below a deadline, and does something for others: it completes.

use super::{LONG, SOON, everywhere};
use crate::support::on_domains;
use lisle::effect::{Effect, Suspended, finish, handle, perform};
use lisle::fiber::scope;
use lisle::fiber_local;
use lisle::sync::Mutex;
use lisle::time::{DeadlinePassed, deadline, sleep, with_deadline, without_deadline};
use lisle::{Event, channel, never};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

/// Waits, and knows afterwards that nothing has ended the wait.
fn completes(count: &AtomicU32) {
    assert_eq!(deadline(), None);
    sleep(Duration::from_micros(100));
    // A deadline of its own counts.
    assert_eq!(with_deadline(SOON, || sleep(LONG)), Err(DeadlinePassed));
    count.fetch_add(1, Ordering::Relaxed);
}

#[derive(Default)]
struct Wakes(AtomicU32);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        completes(&self.0);
    }
}

/// A waker belongs to the executor of the waiter.
#[test]
fn a_waker_is_not_unwound() {
    everywhere(|| {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        for several in [false, true] {
            wakes.0.store(0, Ordering::Relaxed);
            let (tx, rx) = channel();
            let mut one = pin!(rx.recv_evt().future());
            let mut other = pin!(rx.recv_evt().future());
            assert!(one.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            if several {
                assert!(other.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            }
            let sent = with_deadline(Duration::ZERO, || {
                tx.send(1).unwrap();
                // The deadline is there again.
                assert!(deadline().is_some());
                if several {
                    drop(tx);
                }
            });
            assert_eq!((sent, wakes.0.load(Ordering::Relaxed)), (Ok(()), 1 + u32::from(several)));
        }
    });
}

/// The waker waits for a lock that another has.
#[test]
fn a_wake_is_not_lost_to_a_lock() {
    struct Locks(Mutex<u32>);
    impl Wake for Locks {
        fn wake(self: Arc<Self>) {
            *self.0.lock() += 1;
        }
    }
    on_domains(|| {
        let locks = Arc::new(Locks(Mutex::new(0)));
        let waker = Waker::from(locks.clone());
        let (tx, rx) = channel();
        let mut future = pin!(rx.recv_evt().future());
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let (begun_tx, begun_rx) = channel();
        let holder = lisle::spawn({
            let locks = locks.clone();
            move || {
                let guard = locks.0.lock();
                begun_tx.send(()).unwrap();
                sleep(SOON);
                drop(guard);
            }
        });
        begun_rx.recv().unwrap();
        assert_eq!(with_deadline(Duration::ZERO, || tx.send(1).unwrap()), Ok(()));
        holder.join().unwrap();
        assert_eq!(*locks.0.lock(), 1);
    });
}

/// A result that nobody takes is dropped by the handle's owner.
#[test]
fn the_destructor_of_a_result_is_not_unwound() {
    struct Completes(Arc<AtomicU32>);
    impl Drop for Completes {
        fn drop(&mut self) {
            completes(&self.0);
        }
    }
    everywhere(|| {
        let count = Arc::new(AtomicU32::new(0));
        let fiber = lisle::spawn({
            let count = count.clone();
            move || Completes(count)
        });
        let task = lisle::spawn_task({
            let count = count.clone();
            async move { Completes(count) }
        });
        while !(fiber.is_finished() && task.is_finished()) {
            std::thread::yield_now();
            sleep(Duration::from_micros(10));
        }
        assert_eq!(with_deadline(Duration::ZERO, || drop((fiber, task))), Ok(()));
        assert_eq!(count.load(Ordering::Relaxed), 2);
    });
}

/// A late fiber that nobody has joined has not done its work, and so the scope has not either.
#[test]
fn a_scope_whose_fiber_was_ended_ends_as_well() {
    on_domains(|| {
        for within in [Duration::ZERO, SOON] {
            let ended = with_deadline(within, || {
                scope(|scope| {
                    scope.spawn(|| sleep(LONG));
                });
            });
            assert_eq!(ended, Err(DeadlinePassed));
            // One that has caught the end of its wait for the fiber has not joined it.
            for of_task in [false, true] {
                let ended = with_deadline(within, || {
                    scope(|scope| {
                        if of_task {
                            let task = scope.spawn_task(never::<()>().future());
                            catch_unwind(AssertUnwindSafe(|| task.join())).is_err()
                        } else {
                            let fiber = scope.spawn(|| sleep(LONG));
                            catch_unwind(AssertUnwindSafe(|| fiber.join())).is_err()
                        }
                    })
                });
                assert_eq!(ended, Err(DeadlinePassed));
            }
            // A joiner that cannot be ended is told, and goes on.
            let told = with_deadline(within, || {
                scope(|scope| {
                    let fiber = scope.spawn(|| sleep(LONG));
                    without_deadline(|| fiber.join()).unwrap_err().is_deadline_passed()
                })
            });
            assert_eq!(told, Ok(true));
            // A fiber that needs no time ends.
            let sum = with_deadline(within, || scope(|scope| scope.spawn(|| 1 + 1).join().unwrap()));
            if within == SOON {
                assert_eq!(sum, Ok(2));
            }
        }
    });
}

/// The payload of another call's deadline says nothing in a fiber that has none.
#[test]
fn a_payload_that_was_carried_elsewhere_is_a_panic() {
    on_domains(|| {
        let payload = with_deadline(SOON, || catch_unwind(|| sleep(LONG)).unwrap_err()).unwrap();
        let carried = lisle::spawn(|| resume_unwind(payload)).join();
        assert!(carried.unwrap_err().is_panic());
        let payload = with_deadline(SOON, || catch_unwind(|| sleep(LONG)).unwrap_err()).unwrap();
        let carried = with_deadline(LONG, || scope(|scope| scope.spawn(|| resume_unwind(payload)).join()));
        assert!(carried.unwrap().unwrap_err().is_panic());
    });
}

/// The end of a late task is no panic, but a panic of its destructor is one.
#[test]
fn a_panicking_destructor_of_a_late_task_is_told() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("of the destructor");
        }
    }
    on_domains(|| {
        let told = with_deadline(SOON, || {
            scope(|scope| {
                let task = scope.spawn_task(async {
                    let _panics = Panics;
                    never::<()>().await;
                });
                without_deadline(|| task.join()).unwrap_err().into_panic()
            })
        });
        assert_eq!(told.unwrap().unwrap().downcast_ref(), Some(&"of the destructor"));
        let told = catch_unwind(|| {
            with_deadline(SOON, || {
                scope(|scope| {
                    scope.spawn_task(async {
                        let _panics = Panics;
                        never::<()>().await;
                    });
                });
            })
        });
        assert!(told.is_err());
    });
}

struct Ask;
impl Effect for Ask {
    type Answer = ();
}

fiber_local! {
    static KEPT: Cell<Option<Suspended<(), u32>>> = Cell::new(None);
}

/// Begins a computation that is suspended in code that must complete, and keeps it.
fn begin() {
    let begun = handle(|| {
        masked(|| {
            perform(Ask);
            sleep(Duration::from_micros(100));
        });
        7
    })
    .on(|Ask, k| {
        let kept = k.keep();
        KEPT.with(|place| place.set(Some(kept)));
        finish(0)
    })
    .run();
    assert_eq!(begun, 0);
}

fn go_on() {
    assert_eq!(KEPT.with(Cell::take).unwrap().resume(()), 7);
    sleep(Duration::from_micros(100));
}

/// Calls `f` in code that must complete.
fn masked(f: fn()) {
    struct Calls(fn());
    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            (self.0)();
        }
    }
    let (tx, rx) = channel();
    let mut future = pin!(rx.recv_evt().future());
    let waker = Waker::from(Arc::new(Calls(f)));
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    tx.send(1).unwrap();
}

/// A computation has its own masks, and the masks of the surroundings in which it goes on.
#[test]
fn a_computation_goes_on_with_the_masks_of_its_surroundings() {
    everywhere(|| {
        // Begun where code must complete, below a deadline; and goes on where it need not.
        assert_eq!(with_deadline(LONG, || masked(begin)), Ok(()));
        go_on();
        assert_eq!(with_deadline(SOON, || sleep(LONG)), Err(DeadlinePassed));
        // The other way round.
        begin();
        assert_eq!(with_deadline(Duration::ZERO, || masked(go_on)), Ok(()));
        assert_eq!(with_deadline(SOON, || sleep(LONG)), Err(DeadlinePassed));
    });
}
