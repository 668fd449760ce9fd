//! Destructors that perform effects of the handler that has let their computation go: it stays in place
//! while the computation is unwound.

use crate::support::{Add, Ask, Counts, Fail, Yield, case, elsewhere_with, message_of};
use lisle_effect::{Effect, Items, Suspended, finish, generator, handle, perform};
use lisle_runtime::facade as lisle;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Performs `Add` with its number when it is dropped, and notes the answer.
struct Adds<'a>(u32, &'a RefCell<Vec<u32>>);

impl Drop for Adds<'_> {
    fn drop(&mut self) {
        let answer = perform(Add(self.0));
        self.1.borrow_mut().push(answer);
    }
}

/// The ways in which a clause lets a computation go.
const WAYS: u32 = 5;

#[test]
fn each_way_to_let_a_computation_go() {
    for way in 0..WAYS {
        let (seen, mut sum) = (RefCell::new(Vec::new()), 0);
        let run = || {
            handle(|| {
                let _adds = [Adds(1, &seen), Adds(2, &seen)];
                perform(Ask)
            })
            .on(|Ask, k| {
                match way {
                    0 => drop(k),
                    1 => std::mem::forget(k),
                    2 => drop(k.resume(1)),
                    3 => drop(k.resume_unwind(Box::new(7))),
                    _ => resume_unwind(Box::new(8_u8)),
                }
                finish(9)
            })
            .on(|Add(n), k| {
                sum += n;
                k.resume(sum * 10)
            })
            .run()
        };
        let result = catch_unwind(AssertUnwindSafe(run));
        assert_eq!(
            result.map_err(|panic| panic.downcast_ref() == Some(&8_u8)),
            if way < 4 { Ok(9) } else { Err(true) }
        );
        assert_eq!((seen.into_inner(), sum), (vec![10, 30], 3), "way {way}");
    }
}

#[test]
fn a_catching_clause_and_one_that_does_something_afterwards() {
    let seen = RefCell::new(Vec::new());
    let result = handle(|| {
        let _adds = Adds(1, &seen);
        perform(Fail("")).to_string()
    })
    .catch(|Fail(_)| {
        assert_eq!(*seen.borrow(), [2]);
        "caught".to_string()
    })
    // The continuation for the result does not run, since there is no result.
    .on(|Add(n), k| k.resume_then(n + 1, |_| unreachable!("the computation has no result")))
    .run();
    assert_eq!(result, "caught");
}

#[test]
fn destructors_of_nested_computations_perform_for_each_of_their_handlers() {
    let (seen, calls) = (RefCell::new(Vec::new()), Cell::new(0));
    let asks = |n: u32| {
        struct Asks<'a>(u32, &'a RefCell<Vec<u32>>);
        impl Drop for Asks<'_> {
            fn drop(&mut self) {
                let answer = perform(Ask) + self.0;
                self.1.borrow_mut().push(answer);
            }
        }
        Asks(n, &seen)
    };
    let result = handle(|| {
        let _outer = (asks(1), Adds(2, &seen));
        handle(|| {
            let _inner = (asks(3), Adds(4, &seen));
            perform(Fail(""))
        })
        .on(|Add(n), k| k.resume(n * 10))
        .run()
    })
    .on(|Ask, k| {
        calls.set(calls.get() + 1);
        k.resume(calls.get() * 100)
    })
    .on(|Add(n), k| k.resume(n * 1000))
    .catch(|Fail(_)| 5)
    .run();
    assert_eq!((result, seen.into_inner()), (5, vec![103, 40, 201, 2000]));
}

#[test]
fn a_computation_within_a_destructor_is_dropped_and_performs_itself() {
    struct Nested<'a>(u32, &'a RefCell<Vec<u32>>);
    impl Drop for Nested<'_> {
        fn drop(&mut self) {
            let Nested(depth, seen) = *self;
            let inner = handle(|| {
                let _adds = Adds(depth, seen);
                let _deeper = (depth > 0).then(|| Nested(depth - 1, seen));
                perform(Ask)
            })
            .catch(|Ask| depth)
            .on(|Add(n), k| k.resume(n + perform(Add(n))))
            .run();
            assert_eq!(inner, depth);
        }
    }
    let seen = RefCell::new(Vec::new());
    let result = handle(|| {
        let _nested = Nested(5, &seen);
        perform(Fail(""))
    })
    .catch(|Fail(_)| 7)
    .on(|Add(n), k| k.resume(n * 10))
    .run();
    assert_eq!(result, 7);
    // Each is answered by its own handler, whose clause asks the handlers around it, up to the outermost.
    let wanted = |n: u32| n * (6 - n) + n * 10;
    assert_eq!(*seen.borrow(), (0..=5).map(wanted).collect::<Vec<_>>());
}

type Slot<A> = Rc<RefCell<Option<Suspended<A, u32>>>>;

/// Begins a computation whose destructor adds, and that is kept at `Ask`.
fn kept(seen: &'static RefCell<Vec<u32>>) -> Slot<u32> {
    let slot = Slot::default();
    let (keeps, mut sum) = (slot.clone(), 0);
    handle(move || {
        let _adds = [Adds(1, seen), Adds(2, seen)];
        perform(Ask)
    })
    .on(move |Ask, k| {
        *keeps.borrow_mut() = Some(k.keep());
        finish(0)
    })
    .on(move |Add(n), k| {
        sum += n;
        k.resume(sum)
    })
    .run();
    slot
}

#[test]
fn what_is_kept_is_unwound_by_whoever_drops_it() {
    let seen: &'static RefCell<Vec<u32>> = Box::leak(Box::default());
    let slot = kept(seen);
    assert_eq!(*seen.borrow(), []);
    drop(slot.take());
    assert_eq!(seen.take(), [1, 3]);
    // In a clause of another handler.
    let slot = kept(seen);
    handle(|| perform(Yield))
        .on(|Yield, k| {
            drop(slot.take());
            k.resume(())
        })
        .on(|Add(_), _| unreachable!("its own handler is nearer"))
        .run();
    assert_eq!(seen.take(), [1, 3]);
    // Within the clause that has kept it.
    let result = handle(move || {
        let _adds = Adds(4, seen);
        perform(Ask)
    })
    .on(move |Ask, k| {
        drop(k.keep());
        assert_eq!(seen.take(), [5]);
        finish(6)
    })
    .on(|Add(n), k| k.resume(n + 1))
    .run();
    assert_eq!(result, 6);
}

/// Code that has caught the unwinding goes on, as in a destructor, but can be unwound again.
#[test]
fn clauses_that_do_not_resume_while_it_is_unwound() {
    struct Owns(Counts<'static>);
    impl Effect for Owns {
        type Answer = ();
    }
    let dropped: &'static Cell<u32> = Box::leak(Box::default());
    let steps = RefCell::new(Vec::new());
    let step = |what: &'static str, f: &dyn Fn()| {
        steps.borrow_mut().push((what, catch_unwind(AssertUnwindSafe(f)).is_ok()));
    };
    let caught = Cell::new(0);
    let result = handle(|| {
        step("first", &|| perform(Owns(Counts(dropped))));
        assert_eq!(dropped.take(), 1);
        step("its clause still runs", &|| perform(Owns(Counts(dropped))));
        assert_eq!(dropped.take(), 1);
        step("answered", &|| assert_eq!(perform(Add(1)), 2));
        step("finished", &|| _ = perform(Ask));
        step("finished again", &|| _ = perform(Ask));
        step("caught", &|| _ = perform(Fail("")));
        step("answered again", &|| assert_eq!(perform(Add(2)), 3));
        Counts(dropped)
    })
    .returning(|_| 0)
    .on(|Owns(counts), k| {
        drop((counts, k));
        finish(1)
    })
    .on(|Add(n), k| k.resume(n + 1))
    .on(|Ask, _| finish(2))
    .catch(|Fail(_)| {
        caught.set(caught.get() + 1);
        3
    })
    .run();
    assert_eq!((result, caught.get(), dropped.get()), (1, 0, 1));
    let wanted = [
        ("first", false),
        ("its clause still runs", false),
        ("answered", true),
        ("finished", false),
        ("finished again", false),
        ("caught", false),
        ("answered again", true),
    ];
    assert_eq!(steps.into_inner(), wanted);
}

#[test]
fn a_clause_that_panics_while_it_is_unwound() {
    let run = |panics_too: bool| {
        handle(move || {
            assert!(catch_unwind(|| perform(Ask)).is_err());
            // This panics where the effect was performed, as it is unwound: the panic is the clause's.
            assert!(catch_unwind(|| perform(Add(1))).is_err());
            assert!(!panics_too, "the computation");
            1
        })
        .on(|Ask, k| {
            assert_eq!(message_of(|| drop(k)), "the clause");
            finish(2)
        })
        .on(|Add(_), _k| panic!("the clause"))
        .run()
    };
    assert_eq!((run(false), run(true)), (2, 2));
}

#[test]
fn an_answer_with_a_panic_while_it_is_unwound() {
    let result = handle(|| {
        assert!(catch_unwind(|| perform(Ask)).is_err());
        let caught = catch_unwind(|| perform(Fail("why"))).unwrap_err();
        assert_eq!(caught.downcast_ref(), Some(&"why"));
        1
    })
    .on(|Ask, k| {
        drop(k);
        finish(2)
    })
    .on(|Fail(why), k| k.resume_unwind(Box::new(why)))
    .run();
    assert_eq!(result, 2);
}

/// The clause that answers the destructor is suspended itself, with the drop that waits for it.
#[test]
fn the_clause_that_answers_is_suspended() {
    let seen: &'static RefCell<Vec<u32>> = Box::leak(Box::default());
    let (slot, calls) = (Slot::<()>::default(), Rc::new(Cell::new(0)));
    let (keeps, called) = (slot.clone(), calls.clone());
    let first = handle(move || {
        handle(|| {
            let _adds = Adds(1, seen);
            perform(Ask)
        })
        .catch(|Ask| 5)
        .on(move |Add(n), k| {
            perform(Yield);
            called.set(called.get() + 1);
            k.resume(n + 1)
        })
        .run()
    })
    .on(move |Yield, k| {
        *keeps.borrow_mut() = Some(k.keep());
        finish(0)
    })
    .run();
    assert_eq!((first, calls.get(), seen.borrow().len()), (0, 0, 0));
    // Below another handler than before.
    let last = handle(|| slot.take().unwrap().resume(())).answer(|Add(_)| unreachable!()).run();
    assert_eq!((last, calls.get(), seen.take()), (5, 1, vec![2]));
}

#[test]
fn in_an_ordinary_panic() {
    let seen = RefCell::new(Vec::new());
    let run = || {
        handle(|| {
            let _adds = Adds(1, &seen);
            resume_unwind(Box::new(3_u8))
        })
        .on(|Add(n), k| k.resume(n + 1))
        .run()
    };
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!((panic.downcast_ref(), seen.into_inner()), (Some(&3_u8), vec![2]));
}

/// An effect of a destructor that its handler does not answer ends the process. The message names the
/// effect, its place, the handler, and the reason.
#[test]
fn what_no_destructor_can_be_answered_with() {
    struct Performs;
    impl Drop for Performs {
        fn drop(&mut self) {
            perform(Yield);
        }
    }
    const CASES: [(&str, &str); 6] = [
        ("the clause that has dropped it", "still runs"),
        ("finish", "does not resume"),
        ("keep", "does not resume"),
        ("panic", "the handler answers with a panic"),
        ("an ordinary panic", "does not resume"),
        ("an item", "the items of this generator are no longer wanted"),
    ];
    let name = "cleanup::what_no_destructor_can_be_answered_with";
    let Some(case) = case(name) else {
        for (case, why) in CASES {
            let (said, ended_well) = elsewhere_with(name, case);
            assert!(!ended_well, "{case}");
            assert!(
                said.contains(
                    "by a destructor that runs because of a panic, or because its computation is dropped"
                ),
                "{case}: {said}"
            );
            assert!(
                said.contains("was performed at crates/lisle-effect/tests/it/cleanup.rs:"),
                "{case}: {said}"
            );
            assert!(
                said.contains("The handler begun at crates/lisle-effect/tests/it/cleanup.rs:"),
                "{case}: {said}"
            );
            assert!(said.contains(why), "{case}: {said}");
            assert_eq!(said.contains("is kept while it is unwound"), case == "keep", "{said}");
        }
        return;
    };
    let computation = || {
        let _performs = Performs;
        perform(Ask);
    };
    match case.as_str() {
        "the clause that has dropped it" => {
            handle(|| {
                let _performs = Performs;
                perform(Yield);
            })
            .on(|Yield, k| {
                drop(k);
                finish(())
            })
            .run();
        }
        "finish" => handle(computation).catch(|Ask| ()).on(|Yield, _| finish(())).run(),
        "keep" => handle(computation)
            .catch(|Ask| ())
            .on(|Yield, k| {
                std::mem::forget(k.keep());
                finish(())
            })
            .run(),
        "panic" => {
            handle(computation).catch(|Ask| ()).on(|Yield, k| k.resume_unwind(Box::new(()))).run();
        }
        "an ordinary panic" => {
            handle(|| {
                let _performs = Performs;
                panic!("ordinary")
            })
            .on(|Yield, _| finish(()))
            .run();
        }
        _ => {
            let mut items = generator(|items: &Items<u32>| {
                struct Gives<'a>(&'a Items<u32>);
                impl Drop for Gives<'_> {
                    fn drop(&mut self) {
                        self.0.give(2);
                    }
                }
                let _gives = Gives(items);
                items.give(1);
            });
            assert_eq!(items.next(), Some(1));
            drop(items);
        }
    }
}

/// A computation kept in a fiber is unwound when the fiber ends, also if it was forgotten, and its
/// clauses may wait.
#[test]
fn at_the_end_of_a_fiber() {
    lisle::Runtime::builder().domains(1).run(|| {
        for forget in [false, true] {
            let sum = Arc::new(AtomicU32::new(0));
            let adds = sum.clone();
            let fiber = lisle::spawn(move || {
                struct Performs;
                impl Drop for Performs {
                    fn drop(&mut self) {
                        assert_eq!(perform(Add(2)), 20);
                    }
                }
                let slot = Slot::default();
                let keeps = slot.clone();
                handle(|| {
                    let _performs = [Performs, Performs];
                    perform(Ask)
                })
                .on(move |Ask, k| {
                    *keeps.borrow_mut() = Some(k.keep());
                    finish(0)
                })
                .on(move |Add(n), k| {
                    lisle::fiber::yield_now();
                    adds.fetch_add(n, Ordering::Relaxed);
                    k.resume(n * 10)
                })
                .run();
                if forget {
                    std::mem::forget(slot.take());
                } else {
                    // Dropped with the fiber's closure, before its end.
                    fiber_drops(slot);
                }
            });
            fiber.join().unwrap();
            assert_eq!(sum.load(Ordering::Relaxed), 4);
        }
    });
}

fn fiber_drops(slot: Slot<u32>) {
    drop(slot.take());
}

/// A task may end on another thread than the one on which it was spawned. Its handlers are within its polls.
#[test]
fn in_a_task() {
    lisle::Runtime::builder().domains(2).run(|| {
        let task = lisle::spawn_task(async {
            let mut total = 0;
            for _ in 0..10 {
                lisle::task::yield_now().await;
                let seen = RefCell::new(Vec::new());
                total += handle(|| {
                    let _adds = Adds(1, &seen);
                    perform(Fail(""))
                })
                .catch(|Fail(_)| 1)
                .on(|Add(n), k| k.resume(n + 1))
                .run();
                total += seen.take()[0];
            }
            total
        });
        assert_eq!(task.join().unwrap(), 30);
    });
}
