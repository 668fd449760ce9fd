//! Effects in fibers and tasks.

use crate::support::{Add, Ask, Counts, Yield, elsewhere, message_of};
use lisle::Event;
use lisle_effect::{Generator, Items, Suspended, finish, generator, handle, perform};
use lisle_runtime::facade as lisle;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Handled code waits for an event: its fiber waits, and another on the same domain runs meanwhile.
#[test]
fn handled_code_waits_for_events() {
    let runtime = lisle::Runtime::builder().domains(1);
    let sum = runtime.run(|| {
        let (tx, rx) = lisle::channel::<u32>();
        let reader = lisle::spawn(move || {
            handle(|| {
                let mut sum = 0;
                while let Ok(n) = rx.recv() {
                    sum += n * perform(Ask);
                    lisle::fiber::yield_now();
                }
                sum
            })
            .on(|Ask, k| {
                lisle::fiber::yield_now(); // clauses wait, too
                k.resume(10)
            })
            .run()
        });
        let writer = lisle::spawn(move || {
            handle(|| (0..5).for_each(|_| tx.send(perform(Ask)).unwrap())).answer(|Ask| 2).run();
        });
        writer.join().unwrap();
        reader.join().unwrap()
    });
    assert_eq!(sum, 100);
}

/// Each fiber has handlers of its own, although they take turns in the middle.
#[test]
fn fibers_do_not_see_each_others_handlers() {
    lisle::Runtime::builder().domains(2).run(|| {
        let fiber = |answer: u32| {
            move || {
                let inner = || {
                    (0..50)
                        .map(|_| {
                            lisle::fiber::yield_now();
                            perform(Ask) + perform(Add(1))
                        })
                        .sum::<u32>()
                };
                let middle = || handle(inner).on(|Ask, k| k.resume(answer)).run();
                handle(middle).answer(|Add(n)| n + answer).run()
            }
        };
        let fibers: Vec<_> = (0..20).map(|answer| (answer, lisle::spawn(fiber(answer)))).collect();
        for (answer, fiber) in fibers {
            assert_eq!(fiber.join().unwrap(), 50 * (2 * answer + 1));
        }
        let message =
            handle(|| lisle::spawn(|| message_of(|| perform(Ask))).join().unwrap()).answer(|Ask| 1).run();
        assert!(message.contains("no handler for the effect"), "{message}");
    });
}

#[test]
fn the_handlers_of_a_thread_are_not_those_of_a_runtime_that_it_starts() {
    let message = handle(|| lisle::run(|| message_of(|| perform(Ask)))).answer(|Ask| 1).run();
    assert!(message.contains("no handler for the effect"), "{message}");
}

/// A scope is suspended with the computation that it is in, and left with it.
#[test]
fn scopes_are_suspended_and_unwound() {
    lisle::run(|| {
        let done = AtomicU32::new(0);
        let computation = || {
            lisle::fiber::scope(|scope| {
                scope.spawn(|| {
                    lisle::time::after(Duration::from_millis(1)).sync();
                    done.fetch_add(1, Ordering::Relaxed);
                });
                perform(Ask)
            })
        };
        assert_eq!(handle(computation).on(|Ask, k| k.resume(2)).run(), 2);
        assert_eq!(done.load(Ordering::Relaxed), 1);
        assert_eq!(handle(computation).catch(|Ask| 3).run(), 3);
        assert_eq!(done.load(Ordering::Relaxed), 2);
        let resumed = handle(|| {
            let panic = || handle(computation).on(|Ask, k| k.resume_unwind(Box::new("x"))).run();
            message_of(panic).len() as u32
        });
        assert_eq!(resumed.run(), 1);
        assert_eq!(done.load(Ordering::Relaxed), 3);
    });
}

/// A computation that has been dropped waits in a destructor.
#[test]
fn destructors_wait_while_a_computation_is_unwound() {
    struct Waits<'a>(&'a Cell<u32>);
    impl Drop for Waits<'_> {
        fn drop(&mut self) {
            lisle::time::after(Duration::from_millis(1)).sync();
            self.0.set(self.0.get() + 1);
        }
    }
    let waited = Cell::new(0);
    lisle::run(|| {
        let result = handle(|| {
            let _waits = Waits(&waited);
            perform(Ask)
        })
        .catch(|Ask| 4)
        .run();
        assert_eq!((result, waited.get()), (4, 1));
    });
}

/// The end of a runtime unwinds fibers through the handled computations in them.
#[test]
fn a_shutdown_unwinds_handled_stacks() {
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Drops;
    impl Drop for Drops {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    let (tx, rx) = lisle::channel::<u32>();
    lisle::Runtime::builder().domains(1).run(|| {
        lisle::spawn(move || {
            let _outer = Drops;
            handle(|| {
                let _middle = Drops;
                handle(|| {
                    let _inner = Drops;
                    perform(Yield);
                    rx.recv()
                })
                .on(|Ask, k| k.resume(1))
                .run()
            })
            .on(|Yield, k| k.resume(()))
            .run()
        });
        lisle::fiber::yield_now();
    });
    assert_eq!(DROPPED.load(Ordering::Relaxed), 3);
    drop(tx);
}

/// A clause that waits when the runtime ends is unwound, and the computation that it handles, too.
#[test]
fn a_shutdown_unwinds_clauses_and_what_they_handle() {
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Drops;
    impl Drop for Drops {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    for in_place in [false, true] {
        let (tx, rx) = lisle::channel::<u32>();
        lisle::Runtime::builder().domains(1).run(|| {
            lisle::spawn(move || {
                let handler = handle(|| {
                    let _drops = Drops;
                    perform(Ask)
                });
                if in_place {
                    handler.answer(|Ask| rx.recv().unwrap_or(0)).run()
                } else {
                    handler.on(|Ask, k| k.resume(rx.recv().unwrap_or(0))).run()
                }
            });
            lisle::fiber::yield_now();
        });
        drop(tx);
    }
    assert_eq!(DROPPED.load(Ordering::Relaxed), 2);
}

/// The end of a runtime leaves a fiber where it is whose producer waits, if the consumer is a
/// function that no panic leaves. The producer is unwound.
#[test]
fn a_shutdown_does_not_unwind_a_consumer_that_foreign_code_has_called() {
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Drops;
    impl Drop for Drops {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    // The switch to the producer is in this function itself.
    extern "C" fn consume(values: &mut Generator<u32>) {
        assert_eq!(values.next(), None);
    }
    // The fiber that stays keeps `run` from returning.
    let runtime = std::thread::spawn(|| {
        let (_tx, rx) = lisle::channel::<u32>();
        lisle::Runtime::builder().domains(1).run(|| {
            let producer = move |items: &Items<u32>| {
                let _drops = Drops;
                items.give(rx.recv().unwrap_or(0));
            };
            lisle::spawn(|| consume(&mut generator(producer)));
            lisle::fiber::yield_now();
        });
    });
    while DROPPED.load(Ordering::Relaxed) == 0 {
        assert!(!runtime.is_finished());
        std::thread::yield_now();
    }
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
}

#[test]
fn a_cancelled_fiber_asks_within_handled_code() {
    lisle::run(|| {
        let fiber = lisle::spawn(|| {
            handle(|| {
                while !lisle::fiber::is_cancelled() {
                    perform(Yield);
                    lisle::fiber::yield_now();
                }
            })
            .on(|Yield, k| k.resume(()))
            .run();
        });
        fiber.cancel();
        fiber.join().unwrap();
    });
}

#[test]
fn no_suspend_is_not_left() {
    let inside = || lisle::fiber::no_suspend(|| perform(Ask));
    assert_eq!(handle(inside).answer(|Ask| 1).run(), 1);
    let message = message_of(|| handle(inside).on(|Ask, k| k.resume(1)).run());
    assert!(message.contains("would suspend `no_suspend`"), "{message}");
    // It may be around.
    let around = || lisle::fiber::no_suspend(|| handle(|| perform(Ask)).on(|Ask, k| k.resume(2)).run());
    assert_eq!(around(), 2);
    assert_eq!(handle(around).on(|Ask, k| k.resume(9)).run(), 2);
}

/// A task does not see the handlers around the code that spawns it: it might begin elsewhere.
#[test]
fn tasks_have_no_handlers_but_their_own() {
    lisle::run(|| {
        let outer = || {
            let task = lisle::spawn_task(async {
                let own = handle(|| perform(Ask)).on(|Ask, k| k.resume(7)).run();
                (own, message_of(|| perform(Ask)), generator(|items| items.give(3)).next())
            });
            task.join().unwrap()
        };
        for _ in 0..20 {
            let (own, message, given) = handle(outer).answer(|Ask| 1).run();
            assert_eq!((own, given), (7, Some(3)));
            assert!(message.contains("in a task") || message.contains("no handler"), "{message}");
        }
        let (_, message, _) = handle(outer).on(|Ask, k| k.resume(1)).run();
        assert!(message.contains("in a task") || message.contains("no handler"), "{message}");
    });
}

/// Tasks begin on the stack of a handled computation, and join within it.
#[test]
fn handled_code_spawns_tasks() {
    lisle::run(|| {
        let computation = || {
            let tasks: Vec<_> = (0..100)
                .map(|n| {
                    lisle::spawn_task(async move {
                        lisle::task::yield_now().await;
                        n
                    })
                })
                .collect();
            tasks.into_iter().map(|task| task.join().unwrap() + perform(Ask)).sum::<u32>()
        };
        assert_eq!(handle(computation).on(|Ask, k| k.resume(1)).run(), 4_950 + 100);
    });
}

thread_local! {
    static KEPT: RefCell<Vec<Suspended<u32, u32>>> = const { RefCell::new(Vec::new()) };
}

fn keep() {
    handle(|| perform(Ask))
        .on(|Ask, k| {
            KEPT.with(|kept| kept.borrow_mut().push(k.keep()));
            finish(0)
        })
        .run();
}

/// A kept computation goes on only in the fiber that has kept it. A try elsewhere leaves it as it
/// is.
#[test]
fn a_kept_computation_stays_in_its_fiber() {
    let runtime = lisle::Runtime::builder().domains(1);
    runtime.run(|| {
        lisle::spawn(|| {
            keep();
            let own = KEPT.with(|kept| kept.borrow_mut().pop()).unwrap();
            lisle::fiber::yield_now();
            assert_eq!(own.resume(3), 3);
            keep();
            keep();
        })
        .join()
        .unwrap();
        let other = KEPT.with(|kept| kept.borrow_mut().pop()).unwrap();
        let message = message_of(|| other.resume(1));
        assert!(message.contains("is resumed in a fiber to which it does not belong"), "{message}");
        drop(KEPT.with(RefCell::take));
        // In a task, it is the task's.
        let kept = lisle::spawn_task(async {
            keep();
            KEPT.with(|kept| kept.borrow_mut().pop()).map(|kept| kept.resume(8))
        });
        assert_eq!(kept.join().unwrap(), Some(8));
    });
}

/// The same for generators: a fiber's is unwound when that ends, and a task's, which may end on
/// another thread, stays, with a message on standard error.
#[test]
fn a_generator_stays_in_its_fiber() {
    let name = "fibers::a_generator_stays_in_its_fiber";
    if let Some((said, ended_well)) = elsewhere(name) {
        assert!(ended_well, "{said}");
        assert_eq!(said.matches("its stack stays for ever").count(), 1, "{said}");
        return;
    }
    thread_local! {
        static MADE: RefCell<Option<lisle_effect::Generator<u32>>> = const { RefCell::new(None) };
        static UNWOUND: Cell<u32> = const { Cell::new(0) };
    }
    struct Counts;
    impl Drop for Counts {
        fn drop(&mut self) {
            UNWOUND.set(UNWOUND.get() + 1);
        }
    }
    lisle::Runtime::builder().domains(1).run(|| {
        let make = || {
            let mut made = generator(|items| {
                let _counts = Counts;
                (0..1_000).for_each(|n| items.give(n));
            });
            assert_eq!(made.next(), Some(0));
            MADE.set(Some(made));
        };
        for (is_task, unwound) in [(false, 1), (true, 1)] {
            if is_task {
                lisle::spawn_task(async move { make() }).join().unwrap();
            } else {
                lisle::spawn(make).join().unwrap();
            }
            let mut made = MADE.take().unwrap();
            let message = message_of(|| made.next());
            assert!(
                message.contains("a generator is used in a fiber to which it does not belong"),
                "{message}"
            );
            drop(made);
            assert_eq!(UNWOUND.get(), unwound);
        }
    });
}

#[test]
fn a_scheduler_in_a_fiber_among_others() {
    lisle::Runtime::builder().domains(1).run(|| {
        let others = lisle::spawn(|| (0..100).for_each(|_| lisle::fiber::yield_now()));
        let dropped = Rc::new(Cell::new(0));
        let queue: Rc<RefCell<Vec<Suspended<(), ()>>>> = Rc::default();
        for _ in 0..10 {
            let (dropped, queue) = (dropped.clone(), queue.clone());
            handle(move || {
                let counts = Counts(&dropped);
                lisle::fiber::scope(|scope| {
                    scope.spawn(lisle::fiber::yield_now);
                    perform(Yield);
                });
                drop(counts);
            })
            .on(move |Yield, k| {
                queue.borrow_mut().push(k.keep());
                finish(())
            })
            .run();
        }
        let all = queue.take();
        assert_eq!(all.len(), 10);
        for (index, one) in all.into_iter().enumerate() {
            lisle::fiber::yield_now();
            if index % 2 == 0 {
                one.resume(());
            }
        }
        assert_eq!(dropped.get(), 10);
        others.join().unwrap();
    });
}
