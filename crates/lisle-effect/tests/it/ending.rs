//! Each way in which a computation ends without going on: dropped, forgotten, panicking.

use crate::support::{Add, Ask, Counts, Fail, Yield, elsewhere, message_of};
use lisle_effect::{finish, handle, perform};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

#[test]
fn a_dropped_continuation_runs_destructors_at_once() {
    let dropped = Cell::new(0);
    let result = handle(|| {
        let _counts = Counts(&dropped);
        perform(Ask)
    })
    .on(|Ask, k| {
        assert_eq!(dropped.get(), 0);
        drop(k);
        assert_eq!(dropped.get(), 1);
        finish(7)
    })
    .run();
    assert_eq!((result, dropped.get()), (7, 1));
}

#[test]
fn a_forgotten_continuation_is_unwound_when_its_clause_has_returned() {
    let dropped = Cell::new(0);
    let result = handle(|| {
        let _counts = Counts(&dropped);
        perform(Ask)
    })
    .on(|Ask, k| {
        std::mem::forget(k);
        assert_eq!(dropped.get(), 0);
        finish(7)
    })
    .run();
    assert_eq!((result, dropped.get()), (7, 1));
}

#[test]
fn resumed_and_then_given_up() {
    let dropped = Cell::new(0);
    let result = handle(|| {
        let _counts = Counts(&dropped);
        perform(Ask)
    })
    .on(|Ask, k| {
        drop(k.resume(1));
        finish(7)
    })
    .run();
    assert_eq!((result, dropped.get()), (7, 1));
}

#[test]
fn a_catching_clause() {
    let dropped = Cell::new(0);
    let result = handle(|| {
        let _counts = Counts(&dropped);
        perform(Fail("it failed")).to_string()
    })
    .returning(Ok)
    .catch(|Fail(why)| {
        assert_eq!(dropped.get(), 1);
        Err(why)
    })
    .run();
    assert_eq!(result, Err("it failed"));
}

#[test]
fn computations_within_are_unwound_with_it() {
    let dropped = Cell::new(0);
    let result = handle(|| {
        let _outer = Counts(&dropped);
        handle(|| {
            let _inner = Counts(&dropped);
            handle(|| {
                let _innermost = Counts(&dropped);
                perform(Fail(""))
            })
            .on(|Ask, k| k.resume(0))
            .run()
        })
        .answer(|Add(n)| n)
        .run()
    })
    .catch(|Fail(_)| 9)
    .run();
    assert_eq!((result, dropped.get()), (9, 3));
}

#[test]
fn a_panic_leaves_with_its_payload() {
    let dropped = Cell::new(0);
    let run = || {
        handle(|| {
            let _counts = Counts(&dropped);
            perform(Ask);
            resume_unwind(Box::new(17_u8))
        })
        .on(|Ask, k| k.resume(1))
        .run()
    };
    let caught = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!((caught.downcast_ref(), dropped.get()), (Some(&17_u8), 1));
}

#[test]
fn a_panic_of_a_clause_unwinds_the_computation_and_leaves() {
    for in_place in [false, true] {
        let dropped = Cell::new(0);
        let computation = || {
            let _counts = Counts(&dropped);
            perform(Ask)
        };
        let message = message_of(|| {
            if in_place {
                handle(computation).answer(|Ask| panic!("no {}", "answer")).run()
            } else {
                handle(computation).on(|Ask, _k| panic!("no {}", "answer")).run()
            }
        });
        assert_eq!((message.as_str(), dropped.get()), ("no answer", 1));
    }
}

#[test]
fn a_panic_of_a_clause_that_has_forgotten_the_continuation() {
    let dropped = Cell::new(0);
    let message = message_of(|| {
        handle(|| {
            let _counts = Counts(&dropped);
            perform(Ask)
        })
        .on(|Ask, k| {
            std::mem::forget(k);
            panic!("clause")
        })
        .run()
    });
    assert_eq!((message.as_str(), dropped.get()), ("clause", 1));
}

#[test]
fn a_panic_of_the_returning_function_and_of_what_is_left_to_do() {
    assert_eq!(message_of(|| handle(|| 1).returning(|_| -> u32 { panic!("returning") }).run()), "returning");
    let message =
        message_of(|| handle(|| perform(Ask)).on(|Ask, k| k.resume_then(1, |_| panic!("then"))).run());
    assert_eq!(message, "then");
}

#[test]
fn a_computation_catches_the_panic_that_it_is_answered_with() {
    let result = handle(|| {
        let caught = catch_unwind(|| perform(Fail("why")));
        let why = *caught.unwrap_err().downcast::<&str>().unwrap();
        why.len() as u32 + perform(Ask)
    })
    .on(|Fail(why), k| k.resume_unwind(Box::new(why)))
    .on(|Ask, k| k.resume(10))
    .run();
    assert_eq!(result, 13);
    // Nor need it.
    let run = || handle(|| perform(Ask)).on(|Ask, k| k.resume_unwind(Box::new(1_u8))).run();
    assert!(catch_unwind(run).unwrap_err().is::<u8>());
}

/// The computation goes on after it has been dropped. Its value is dropped, and effects that would
/// suspend it unwind it again.
#[test]
fn a_computation_that_catches_the_unwinding_and_goes_on() {
    let (dropped, steps) = (Cell::new(0), RefCell::new(Vec::new()));
    let result = handle(|| {
        let first = catch_unwind(AssertUnwindSafe(|| perform(Ask)));
        steps.borrow_mut().push(("caught", first.is_err()));
        let second = catch_unwind(AssertUnwindSafe(|| perform(Ask)));
        steps.borrow_mut().push(("caught again", second.is_err()));
        steps.borrow_mut().push(("answered", perform(Add(1)) == 2));
        // Handlers of its own are not concerned.
        let own = handle(|| perform(Ask)).on(|Ask, k| k.resume(4)).run();
        steps.borrow_mut().push(("its own", own == 4));
        Some(Counts(&dropped))
    })
    .returning(|_| 0)
    .on(|Ask, k| {
        drop(k);
        assert_eq!(dropped.get(), 1, "the value of a dropped computation is dropped");
        finish(5)
    })
    .answer(|Add(n)| n + 1)
    .run();
    assert_eq!(result, 5);
    let wanted = [("caught", true), ("caught again", true), ("answered", true), ("its own", true)];
    assert_eq!(steps.into_inner(), wanted);
}

#[test]
fn a_computation_that_panics_when_it_is_dropped() {
    let run = || {
        handle(|| {
            let caught = catch_unwind(|| perform(Ask));
            assert!(caught.is_err());
            panic!("on the way out")
        })
        .on(|Ask, k| {
            let message = message_of(|| drop(k));
            assert_eq!(message, "on the way out");
            finish(3)
        })
        .run()
    };
    assert_eq!(run(), 3);
    // In a clause that has panicked itself, it is told and contained.
    let message = message_of(|| {
        handle(|| {
            assert!(catch_unwind(|| perform(Ask)).is_err());
            panic!("on the way out")
        })
        .on(|Ask, _k| -> lisle_effect::Next<'_, u32> { panic!("clause") })
        .run()
    });
    assert_eq!(message, "clause");
}

#[test]
fn destructors_perform_while_the_computation_is_unwound() {
    struct Performs<'a>(&'a Cell<u32>);
    impl Drop for Performs<'_> {
        fn drop(&mut self) {
            self.0.set(perform(Add(1)));
        }
    }
    // An answer in place, by the handler that drops the computation, and by another.
    let seen = Cell::new(0);
    let result = handle(|| {
        let _performs = Performs(&seen);
        perform(Ask)
    })
    .catch(|Ask| 1)
    .answer(|Add(n)| n + 1)
    .run();
    assert_eq!((result, seen.take()), (1, 2));
    // A handler around it may be suspended for it, and answer.
    let inner = || {
        handle(|| {
            let _performs = Performs(&seen);
            perform(Ask)
        })
        .catch(|Ask| 1)
        .run()
    };
    let result = handle(inner).on(|Add(n), k| k.resume(n + 2)).run();
    assert_eq!((result, seen.take()), (1, 3));
    // Likewise in an ordinary panic.
    let panics = || {
        let _performs = Performs(&seen);
        resume_unwind(Box::new(()))
    };
    let run = || handle(panics).on(|Add(n), k| k.resume(n + 3)).run();
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    assert_eq!(seen.take(), 4);
}

/// A destructor that runs because of a panic cannot be unwound: the process ends, and says why.
#[test]
fn a_destructor_is_not_answered() {
    let name = "ending::a_destructor_is_not_answered";
    if let Some((said, ended_well)) = elsewhere(name) {
        assert!(!ended_well);
        assert!(said.contains("was performed at crates/lisle-effect/tests/it/ending.rs:"), "{said}");
        assert!(said.contains("by a destructor that runs because of a panic"), "{said}");
        return;
    }
    struct Performs;
    impl Drop for Performs {
        fn drop(&mut self) {
            perform(Yield);
        }
    }
    handle(|| {
        let _performs = Performs;
        perform(Yield);
    })
    .catch(|Yield| ())
    .run();
}

#[test]
fn an_unwinding_for_a_handler_further_out_passes_one_that_is_dropping() {
    // The inner computation is dropped, and performs meanwhile; the outer handler drops it all.
    let dropped = Cell::new(0);
    let inner = || {
        let _outer = Counts(&dropped);
        handle(|| {
            let _inner = Counts(&dropped);
            assert!(catch_unwind(|| perform(Ask)).is_err());
            perform(Fail("outwards"))
        })
        .on(|Ask, k| {
            drop(k);
            unreachable!("the drop does not return")
        })
        .run()
    };
    assert_eq!(handle(inner).catch(|Fail(_)| 8).run(), 8);
    assert_eq!(dropped.get(), 2);
}

#[test]
fn everything_is_dropped_once() {
    let dropped = Cell::new(0);
    let (f, returning, clause) = (Counts(&dropped), Counts(&dropped), Counts(&dropped));
    let handler = handle(move || {
        let _f = &f;
        Some(perform(Ask))
    })
    .returning(move |value| {
        let _returning = &returning;
        value
    })
    .on(move |Ask, k| {
        let _clause = &clause;
        k.resume(1)
    });
    drop(handler);
    assert_eq!(dropped.take(), 3);
    let (f, returning, clause) = (Counts(&dropped), Counts(&dropped), Counts(&dropped));
    let end = |goes_on| {
        handle(move || {
            let _f = &f;
            Some(perform(Ask))
        })
        .returning(move |value| {
            let _returning = &returning;
            value
        })
        .on(move |Ask, k| {
            let _clause = &clause;
            if goes_on { k.resume(1) } else { finish(None) }
        })
        .run()
    };
    end(false);
    assert_eq!(dropped.take(), 3);
}
