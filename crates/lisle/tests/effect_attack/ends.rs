//! Each value is forgotten, dropped, or used at a moment at which it should not.

#![allow(clippy::forget_non_drop, reason = "what is forgotten may get a destructor")]

use crate::support::{Ask, Canary, Looks, Other, Yield, begin, message_of};
use lisle::effect::{Effect, Suspended, finish, generate, generator, handle, perform};
use std::cell::{Cell, RefCell};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// Forgets each thing that can be forgotten, many times: stacks are used again or lost, never
/// twice.
#[test]
fn forgetting_everything() {
    for _ in 0..100 {
        mem::forget(handle(|| perform(Ask)).answer(|Ask| 1));
        assert_eq!(
            handle(|| perform(Ask))
                .on(|Ask, k| {
                    mem::forget(k);
                    finish(3)
                })
                .run(),
            3
        );
        let next_forgotten = handle(|| perform(Ask))
            .on(|Ask, k| {
                mem::forget(k.resume(1));
                finish(4)
            })
            .run();
        assert_eq!(next_forgotten, 4);
        mem::forget(begin(|| perform(Yield)));
        mem::forget(generator(|items| items.give(1)));
        generate(|items| items.give(1), |values| mem::forget(values));
        generate(
            |items| items.give(1),
            |mut values| {
                values.next();
                mem::forget(values)
            },
        );
        let payload = handle(|| catch_unwind(|| perform(Ask)).map_err(mem::forget))
            .on(|Ask, k| k.resume_unwind(Box::new(7)))
            .run();
        assert!(payload.is_err());
    }
}

/// The caught payload of an unwinding is later raised in other computations, and dropped.
#[test]
fn the_payload_of_an_unwinding_is_used_elsewhere() {
    let payload = Rc::new(Cell::new(None));
    let caught = payload.clone();
    let kept = begin(move || {
        caught.set(catch_unwind(|| perform(Yield)).err());
    });
    drop(kept);
    let payload = payload.take().expect("it was unwound");
    // On the same stack, most likely.
    let raised = catch_unwind(AssertUnwindSafe(|| handle(|| -> u32 { resume_unwind(payload) }).run()));
    let payload = raised.expect_err("it was raised");
    let kept = begin(move || {
        let _ = catch_unwind(|| perform(Yield));
        resume_unwind(payload);
    });
    let _ = catch_unwind(AssertUnwindSafe(|| drop(kept)));
}

/// A computation catches its unwinding, again and again.
#[test]
fn it_never_gives_up() {
    let rounds = Rc::new(Cell::new(0));
    let counted = rounds.clone();
    handle(move || {
        for _ in 0..1_000 {
            if catch_unwind(|| perform(Yield)).is_err() {
                counted.set(counted.get() + 1);
                assert_eq!(handle(|| perform(Ask)).on(|Ask, k| k.resume(5)).run(), 5);
                assert_eq!(generator(|items| items.give(6)).next(), Some(6));
            }
        }
    })
    .on(|Yield, k| {
        let k = k.keep();
        drop(k);
        finish(())
    })
    .run();
    assert_eq!(rounds.get(), 1_000);
}

struct Loud(Rc<Cell<u32>>);
impl Drop for Loud {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}
impl Effect for Loud {
    type Answer = Loud;
}

/// Effects and answers with destructors: each is dropped once, whatever happens.
#[test]
fn effects_and_answers_are_dropped_once() {
    let count = Rc::new(Cell::new(0));
    let loud = |count: &Rc<Cell<u32>>| Loud(count.clone());
    let dropped = |what: &str, expected: u32, f: &dyn Fn()| {
        count.set(0);
        let _ = catch_unwind(AssertUnwindSafe(f));
        assert_eq!(count.get(), expected, "{what}");
    };
    dropped("unhandled", 1, &|| drop(perform(loud(&count))));
    dropped("answered", 2, &|| {
        handle(|| drop(perform(loud(&count)))).answer(|Loud { .. }: Loud| loud(&count)).run()
    });
    dropped("answered with a panic", 1, &|| {
        handle(|| drop(perform(loud(&count)))).answer(|_: Loud| -> Loud { panic!("no") }).run();
    });
    dropped("resumed", 2, &|| {
        handle(|| drop(perform(loud(&count)))).on(|_: Loud, k| k.resume(loud(&count))).run()
    });
    dropped("dropped", 1, &|| handle(|| drop(perform(loud(&count)))).on(|_: Loud, _| finish(())).run());
    dropped("forgotten", 1, &|| {
        handle(|| drop(perform(loud(&count))))
            .on(|_: Loud, k| {
                mem::forget(k);
                finish(())
            })
            .run();
    });
    dropped("panics after it was resumed", 2, &|| {
        handle(|| drop(perform(loud(&count))))
            .on(|_: Loud, k| {
                let next = k.resume(loud(&count));
                if next_is_given_up() {
                    panic!("no");
                }
                next
            })
            .run();
    });
    dropped("in no_suspend", 1, &|| {
        handle(|| drop(lisle::fiber::no_suspend(|| perform(loud(&count)))))
            .on(|_: Loud, k| k.resume(loud(&count)))
            .run();
    });
    fn next_is_given_up() -> bool {
        true
    }
}

/// Destructors that perform, wait, and panic, in every order.
#[test]
fn destructors_do_all_of_it() {
    struct Busy(u32);
    impl Drop for Busy {
        fn drop(&mut self) {
            let kind = self.0;
            let answer = handle(|| perform(Ask)).on(|Ask, k| k.resume(kind)).run();
            assert_eq!(answer, kind);
            lisle::fiber::yield_now();
            assert!(catch_unwind(|| perform(Ask)).is_err());
            drop(begin(|| {
                let _inner = Canary::new();
                perform(Yield);
            }));
        }
    }
    let all = || {
        for kind in 0..4 {
            let kept = begin(move || {
                let _first = Busy(kind);
                let _second = Busy(kind + 10);
                perform(Yield);
                let _third = Busy(kind + 20);
                perform(Yield);
            });
            match kind {
                0 => drop(kept),
                1 => kept.unwrap().resume(()),
                2 => {
                    let _ = catch_unwind(AssertUnwindSafe(|| kept.unwrap().resume_unwind(Box::new(1))));
                }
                _ => {
                    let _ = catch_unwind(AssertUnwindSafe(|| {
                        let _kept = kept;
                        resume_unwind(Box::new(2));
                    }));
                }
            }
        }
    };
    all();
    lisle::run(all);
}

/// A clause of `answer` performs, panics, and begins computations that come back to it.
#[test]
fn an_answer_that_is_reentered() {
    let depth = Cell::new(0);
    fn ask(depth: &Cell<u32>) -> u32 {
        handle(|| perform(Ask))
            .answer(|Ask| {
                depth.set(depth.get() + 1);
                if depth.get() < 200 { ask(depth) + 1 } else { 0 }
            })
            .stack_size(64 * 1024)
            .run()
    }
    assert_eq!(ask(&depth), 199);
    // Its own effect goes outwards.
    let sum = handle(|| handle(|| perform(Ask)).answer(|Ask| perform(Ask) + 1).run()).answer(|Ask| 10).run();
    assert_eq!(sum, 11);
    assert!(message_of(|| handle(|| perform(Ask)).answer(|Ask| perform(Ask)).run()).contains("no handler"));
    // A destructor of a value that the clause has taken performs again, when the clause has ended.
    let seen = RefCell::new(Vec::new());
    handle(|| {
        struct Again<'a>(&'a RefCell<Vec<u32>>);
        impl Drop for Again<'_> {
            fn drop(&mut self) {
                let answer = perform(Ask);
                self.0.borrow_mut().push(answer);
            }
        }
        let _again = Again(&seen);
        perform(Other);
    })
    .answer(|Ask| 4)
    .on(|Other, k| {
        drop(k);
        finish(())
    })
    .run();
    assert_eq!(*seen.borrow(), [4]);
}

/// A kept continuation is dropped, resumed, or forgotten within its clause, beside a panic.
#[test]
fn within_the_clause() {
    for way in 0..6 {
        let left = Rc::new(RefCell::new(None::<Suspended<(), ()>>));
        let slot = left.clone();
        let _ = catch_unwind(AssertUnwindSafe(|| {
            handle(|| {
                let canary = Canary::new();
                let _looks = Looks(&canary, |is_alive| assert!(is_alive));
                perform(Yield);
            })
            .on(move |Yield, k| {
                let kept = k.keep();
                match way {
                    0 => drop(kept),
                    1 => mem::forget(kept),
                    2 => *slot.borrow_mut() = Some(kept),
                    3 => kept.resume(()),
                    4 => {
                        *slot.borrow_mut() = Some(kept);
                        panic!("after it was kept elsewhere");
                    }
                    _ => {
                        let _kept = kept;
                        panic!("with it");
                    }
                }
                finish(())
            })
            .run();
        }));
        if let Some(kept) = left.take() {
            kept.resume(());
        }
        assert_eq!(handle(|| perform(Ask)).on(|Ask, k| k.resume(way)).run(), way);
    }
}

/// Values in the destructors of thread-locals, in threads that end.
#[test]
fn at_the_end_of_a_thread() {
    struct Runs(Option<Box<dyn FnOnce()>>);
    impl Drop for Runs {
        fn drop(&mut self) {
            self.0.take().unwrap()();
        }
    }
    for uses_first in [false, true] {
        std::thread::spawn(move || {
            thread_local! {
                static RUNS: RefCell<Vec<Runs>> = const { RefCell::new(Vec::new()) };
            }
            let use_all = || {
                let _ = catch_unwind(|| handle(|| perform(Ask)).on(|Ask, k| k.resume(1)).run());
                let _ = catch_unwind(|| generator(|items| (0..9).for_each(|n| items.give(n))).sum::<u32>());
                let _ = catch_unwind(|| generate(|items| items.give(1), |values| values.sum::<u32>()));
                let _ = catch_unwind(|| drop(begin(|| perform(Yield))));
            };
            if uses_first {
                use_all();
            }
            RUNS.with(|runs| {
                runs.borrow_mut().push(Runs(Some(Box::new(use_all))));
                let kept = begin(|| perform(Yield));
                runs.borrow_mut().push(Runs(Some(Box::new(move || drop(kept)))));
                let kept = begin(|| perform(Yield));
                runs.borrow_mut().push(Runs(Some(Box::new(move || {
                    let _ = catch_unwind(AssertUnwindSafe(|| kept.unwrap().resume(())));
                }))));
                let mut values = generator(|items| (0..9).for_each(|n| items.give(n)));
                values.next();
                runs.borrow_mut().push(Runs(Some(Box::new(move || {
                    let _ = catch_unwind(AssertUnwindSafe(|| values.next()));
                }))));
            });
        })
        .join()
        .unwrap();
    }
}
