//! Fibers, tasks, jobs and threads that are under way in a computation that is left, dropped, or
//! forgotten; runtimes and fibers that end meanwhile.

use crate::support::{Ask, Canary, Looks, Yield, begin, message_of};
use lisle::effect::{Suspended, generate, generator, handle, perform};
use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

fn alive(is_alive: bool) {
    assert!(is_alive);
}

/// Ends a kept computation that something else borrows from, in each possible way.
fn each_way(begin: impl Fn() -> Option<Suspended<(), ()>>) {
    drop(begin());
    begin().unwrap().resume(());
    let _ = catch_unwind(AssertUnwindSafe(|| begin().unwrap().resume_unwind(Box::new(1))));
    mem::forget(begin());
}

/// Scoped fibers borrow from a computation that is left.
#[test]
fn a_scope_of_fibers() {
    for domains in [1, 2] {
        lisle::Runtime::builder().domains(domains).run(|| {
            each_way(|| {
                begin(|| {
                    let canary = Canary::new();
                    let number = AtomicU32::new(0);
                    lisle::fiber::scope(|scope| {
                        for _ in 0..10 {
                            scope.spawn(|| {
                                for _ in 0..10 {
                                    lisle::fiber::yield_now();
                                    number.fetch_add(1, Ordering::SeqCst);
                                }
                            });
                        }
                        perform(Yield);
                    });
                    assert_eq!(number.load(Ordering::SeqCst), 100);
                    alive(canary.is_alive());
                })
            });
            // The fiber that has forgotten the computation ends before the fibers of the scope.
            lisle::spawn(|| {
                mem::forget(begin(|| {
                    let number = AtomicU32::new(0);
                    lisle::fiber::scope(|scope| {
                        scope.spawn(|| {
                            lisle::time::sleep(std::time::Duration::from_millis(5));
                            number.fetch_add(1, Ordering::SeqCst);
                        });
                        perform(Yield);
                    });
                }));
            })
            .join()
            .unwrap();
            for _ in 0..100 {
                lisle::spawn(|| lisle::fiber::yield_now()).join().unwrap();
            }
        });
    }
}

#[test]
fn a_scope_of_jobs() {
    for domains in [1, 2] {
        lisle::Runtime::builder().domains(domains).run(|| {
            let way = || {
                begin(|| {
                    let number = AtomicU32::new(0);
                    let left = catch_unwind(AssertUnwindSafe(|| {
                        lisle::par::scope(|scope| {
                            for _ in 0..10 {
                                let _ = scope.spawn(|| number.fetch_add(1, Ordering::SeqCst));
                            }
                            perform(Yield);
                        });
                    }));
                    assert_eq!(number.load(Ordering::SeqCst), 10, "{:?}", left.is_ok());
                })
            };
            // The scope is not left, or is left as a whole.
            if let Some(kept) = way() {
                drop(kept);
                each_way(way);
            }
        });
    }
}

#[test]
fn a_scope_of_threads() {
    each_way(|| {
        begin(|| {
            let canary = Canary::new();
            let go = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        if go.load(Ordering::SeqCst) {
                            break;
                        }
                        std::thread::yield_now();
                    }
                    alive(canary.is_alive());
                });
                perform(Yield);
                go.store(true, Ordering::SeqCst);
            });
        })
    });
}

/// A runtime ends while computations wait for events, while others are kept, and forgotten.
#[test]
fn a_runtime_ends() {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    for domains in [1, 2] {
        lisle::Runtime::builder().domains(domains).run(|| {
            STARTED.store(0, Ordering::SeqCst);
            for way in 0..6 {
                lisle::spawn(move || {
                    let (_tx, rx) = lisle::channel::<()>();
                    let waits = move || {
                        let canary = Canary::new();
                        let _looks = Looks(&canary, alive);
                        STARTED.fetch_add(1, Ordering::SeqCst);
                        let _ = rx.recv();
                    };
                    match way {
                        0 => handle(waits).on(|Ask, k| k.resume(1)).run(),
                        1 => generator(move |items| {
                            waits();
                            items.give(1);
                        })
                        .for_each(drop),
                        2 => generate(
                            |items| {
                                items.give(1);
                                items.give(2);
                            },
                            |mut values| {
                                values.next();
                                waits();
                            },
                        ),
                        3 => {
                            // It waits in the clause.
                            let mut waits = Some(waits);
                            handle(|| {
                                let canary = Canary::new();
                                let _looks = Looks(&canary, alive);
                                perform(Ask);
                            })
                            .on(|Ask, k| {
                                waits.take().unwrap()();
                                k.resume(1)
                            })
                            .run();
                        }
                        4 => {
                            let kept = begin(|| {
                                let canary = Canary::new();
                                let _looks = Looks(&canary, alive);
                                perform(Yield);
                            });
                            waits();
                            drop(kept);
                        }
                        _ => {
                            let mut waits = Some(waits);
                            handle(|| _ = perform(Ask))
                                .answer(move |Ask| {
                                    waits.take().unwrap()();
                                    1
                                })
                                .run();
                        }
                    }
                });
            }
            while STARTED.load(Ordering::SeqCst) < 6 {
                lisle::fiber::yield_now();
            }
        });
    }
}

/// A fiber is cancelled where handled code waits, and that goes on with effects.
#[test]
fn a_fiber_is_cancelled() {
    lisle::run(|| {
        let (tx, rx) = lisle::channel::<()>();
        let fiber = lisle::spawn(move || {
            handle(|| {
                let waited = handle(|| {
                    lisle::select! {
                        _ = rx.recv_evt() => false,
                        _ = lisle::fiber::cancelled_evt() => true,
                    }
                })
                .on(|Yield, k| k.resume(()))
                .run();
                assert!(waited);
                perform(Ask)
            })
            .on(|Ask, k| k.resume(3))
            .run()
        });
        lisle::fiber::yield_now();
        fiber.cancel();
        assert_eq!(fiber.join().unwrap(), 3);
        drop(tx);
    });
}

/// Tasks that perform when they are polled, here and elsewhere; futures that are dropped with a
/// computation.
#[test]
fn tasks_and_futures() {
    lisle::run(|| {
        let sum = handle(|| {
            let message = message_of(|| lisle::spawn_task(async { perform(Ask) }).join().unwrap());
            assert!(!message.is_empty());
            let within = lisle::spawn_task(async {
                let first = handle(|| perform(Ask)).on(|Ask, k| k.resume(1)).run();
                lisle::task::yield_now().await;
                first + generator(|items| items.give(2)).sum::<u32>()
            });
            let polled = lisle::future::block_on(async { perform(Ask) });
            within.join().unwrap() + polled
        })
        .on(|Ask, k| k.resume(10))
        .run();
        assert_eq!(sum, 13);
        // A future that performs is left in the middle of its poll.
        each_way(|| {
            begin(|| {
                lisle::future::block_on(async {
                    let canary = Canary::new();
                    perform(Yield);
                    lisle::task::yield_now().await;
                    alive(canary.is_alive());
                });
            })
        });
    });
    each_way(|| begin(|| lisle::future::block_on(async { perform(Yield) })));
}

/// The waker of a future performs, and the waking code has to bear it.
#[test]
fn a_waker_performs() {
    struct Performs;
    impl std::task::Wake for Performs {
        fn wake(self: Arc<Self>) {
            perform(Yield);
        }
    }
    let begin_waking = || {
        begin(|| {
            let (tx, rx) = lisle::channel::<u32>();
            let mut future = Box::pin(lisle::Event::future(rx.recv_evt()));
            let waker = std::task::Waker::from(Arc::new(Performs));
            let mut context = std::task::Context::from_waker(&waker);
            assert!(std::future::Future::poll(future.as_mut(), &mut context).is_pending());
            let _ = tx.send(1);
            assert!(std::future::Future::poll(future.as_mut(), &mut context).is_ready());
        })
    };
    let (first, second) = (begin_waking(), begin_waking());
    drop(first);
    drop(second);
    each_way(|| begin_waking().or_else(|| begin(|| perform(Yield))));
    let (tx, rx) = lisle::channel::<u32>();
    let thread = std::thread::spawn(move || rx.recv().unwrap());
    tx.send(5).unwrap();
    assert_eq!(thread.join().unwrap(), 5);
}

/// Guards, makers and wraps of events perform.
#[test]
fn functions_that_events_call() {
    use lisle::Event;
    lisle::run(|| {
        let guarded = || {
            begin(|| {
                let number = lisle::event::guard(|| {
                    perform(Yield);
                    lisle::always(1)
                })
                .sync();
                assert_eq!(number, 1);
            })
        };
        let wrapped = || {
            begin(|| {
                let number = lisle::always(1)
                    .wrap(|n: i32| {
                        perform(Yield);
                        n
                    })
                    .sync();
                assert_eq!(number, 1);
            })
        };
        for kind in [&guarded as &dyn Fn() -> _, &wrapped] {
            // Refused, or kept: then whatever is done with it is harmless.
            let Ok(kept) = catch_unwind(AssertUnwindSafe(kind)) else { continue };
            drop(kept);
            each_way(kind);
        }
        let (tx, rx) = lisle::channel();
        lisle::spawn(move || tx.send(9));
        assert_eq!(rx.recv(), Ok(9));
    });
}

/// A kept computation goes to another fiber and thread through a value that is not `Send`.
#[test]
fn smuggled_through_a_thread_local() {
    thread_local! {
        static KEPT: RefCell<Vec<Suspended<(), ()>>> = const { RefCell::new(Vec::new()) };
    }
    lisle::Runtime::builder().domains(1).run(|| {
        lisle::spawn(|| {
            for _ in 0..3 {
                KEPT.with(|kept| kept.borrow_mut().extend(begin(|| perform(Yield))));
            }
        })
        .join()
        .unwrap();
        let kept = KEPT.with(|kept| kept.borrow_mut().pop()).unwrap();
        assert!(message_of(|| kept.resume(())).contains("does not belong"));
        let kept = KEPT.with(|kept| kept.borrow_mut().pop()).unwrap();
        assert!(message_of(|| kept.resume_unwind(Box::new(1))).contains("does not belong"));
    });
    KEPT.take();
    Box::leak(Box::new(begin(|| perform(Yield))));
}
