//! The fibers of a scope that is opened below a deadline.

use super::{LONG, SOON};
use crate::support::{on_domains, watched};
use lisle::channel;
use lisle::fiber::scope;
use lisle::time::{DeadlinePassed, deadline, sleep, with_deadline, without_deadline};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

#[test]
fn they_end_and_so_does_the_scope() {
    on_domains(|| {
        let (_tx, rx) = channel::<u32>();
        let dropped = AtomicU32::new(0);
        struct Counts<'a>(&'a AtomicU32);
        impl Drop for Counts<'_> {
            fn drop(&mut self) {
                sleep(Duration::from_micros(10)); // a destructor completes
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        for within in [Duration::ZERO, SOON] {
            dropped.store(0, Ordering::Relaxed);
            let ended = with_deadline(within, || {
                scope(|scope| {
                    for _ in 0..10 {
                        scope.spawn(|| {
                            let _counts = Counts(&dropped);
                            rx.recv().unwrap()
                        });
                    }
                });
                sleep(LONG);
            });
            assert_eq!((ended, dropped.load(Ordering::Relaxed)), (Err(DeadlinePassed), 10));
        }
    });
}

/// Whose timer fires first does not matter.
#[test]
fn whoever_joins_one_is_unwound_as_well() {
    on_domains(|| {
        for _ in 0..20 {
            let ended = with_deadline(Duration::from_micros(200), || {
                scope(|scope| scope.spawn(|| sleep(LONG)).join().unwrap());
            });
            assert_eq!(ended, Err(DeadlinePassed));
        }
    });
}

#[test]
fn it_is_that_of_the_code_which_opened_the_scope() {
    on_domains(|| {
        // A fiber that is spawned within a deadline, in a scope around it, is not part of the call.
        let at = Instant::now() + LONG;
        scope(|scope| {
            let known = with_deadline(SOON, || scope.spawn(deadline)).unwrap();
            assert_eq!(known.join().unwrap(), None);
        });
        with_deadline(at, || {
            scope(|outer| {
                // A deadline is inherited further, and a deadline below it counts for the scopes
                // opened there.
                assert_eq!(
                    outer.spawn(|| scope(|inner| inner.spawn(deadline).join())).join().unwrap().unwrap(),
                    Some(at)
                );
                let sooner = at - SOON;
                let within = with_deadline(sooner, || scope(|inner| inner.spawn(deadline).join().unwrap()));
                assert_eq!(within, Ok(Some(sooner)));
                assert_eq!(without_deadline(|| scope(|inner| inner.spawn(deadline).join().unwrap())), None);
                // A fiber of its own is nobody's part.
                assert_eq!(lisle::spawn(deadline).join().unwrap(), None);
            });
        })
        .unwrap();
    });
}

/// A scope in a destructor, which runs while the deadline unwinds, waits for its fibers; these get
/// their messages.
#[test]
fn a_destructor_may_open_one() {
    struct Opens<'a>(&'a AtomicU32);
    impl Drop for Opens<'_> {
        fn drop(&mut self) {
            scope(|scope| {
                scope.spawn(|| {
                    sleep(Duration::from_micros(100));
                    self.0.fetch_add(1, Ordering::Relaxed);
                });
            });
        }
    }
    on_domains(|| {
        let done = AtomicU32::new(0);
        let ended = with_deadline(SOON, || {
            let _opens = Opens(&done);
            sleep(LONG);
        });
        assert_eq!((ended, done.load(Ordering::Relaxed)), (Err(DeadlinePassed), 1));
    });
}

#[test]
fn a_plain_thread_may_open_one() {
    let _watched = watched();
    let ended = with_deadline(SOON, || scope(|scope| scope.spawn(|| sleep(LONG)).join().unwrap()));
    assert_eq!(ended, Err(DeadlinePassed));
}

/// A task that awaits is given up, and a task that waits in place is unwound.
#[test]
fn tasks_end_as_well() {
    struct Counts<'a>(&'a AtomicU32);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            sleep(Duration::from_micros(10)); // a destructor completes
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    on_domains(|| {
        let (_tx, rx) = channel::<u32>();
        for within in [Duration::ZERO, SOON] {
            for joined in [false, true] {
                let dropped = AtomicU32::new(0);
                let ended = with_deadline(within, || {
                    scope(|scope| {
                        let tasks: Vec<_> = (0..12)
                            .map(|n| {
                                let (dropped, rx) = (&dropped, &rx);
                                scope.spawn_task(async move {
                                    let _counts = Counts(dropped);
                                    assert!(deadline().is_some());
                                    match n % 3 {
                                        0 => rx.recv_evt().await.map(drop),
                                        1 => rx.recv().map(drop),
                                        _ => {
                                            lisle::task::yield_now().await;
                                            rx.recv().map(drop)
                                        }
                                    }
                                })
                            })
                            .collect();
                        if joined {
                            tasks.into_iter().for_each(|task| _ = task.join());
                        }
                    });
                });
                assert_eq!((ended, dropped.load(Ordering::Relaxed)), (Err(DeadlinePassed), 12));
            }
        }
        // A task that ends in time has its result, and one that is not awaited says that it was late.
        let results = with_deadline(SOON, || {
            scope(|scope| {
                let quick = scope.spawn_task(async { 1 });
                let late = scope.spawn_task(async { rx.recv_evt().await });
                without_deadline(|| (quick.join().unwrap(), late.join().unwrap_err().is_deadline_passed()))
            })
        });
        assert_eq!(results, Ok((1, true)));
    });
}

/// A waker may come from anywhere, and a future may be ready at the last moment.
#[test]
fn tasks_end_by_themselves_or_by_their_deadline() {
    on_domains(|| {
        for micros in 0..40 {
            let done = AtomicU32::new(0);
            let ended = with_deadline(Duration::from_micros(200), || {
                scope(|scope| {
                    for _ in 0..4 {
                        scope.spawn_task(async {
                            lisle::time::after(Duration::from_micros(micros * 10)).await;
                            done.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
            });
            assert!(ended == Err(DeadlinePassed) || done.load(Ordering::Relaxed) == 4);
        }
    });
}
