//! Clauses that see effects of any type.

use crate::support::{Add, Ask, Counts, Fail, Yield, message_of};
use lisle_effect::{AnyEffect, Effect, finish, handle, perform};
use lisle_runtime::facade as lisle;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

#[test]
fn it_answers_what_it_knows_and_leaves_the_rest() {
    let names = RefCell::new(Vec::new());
    let see = |effect: &mut AnyEffect<'_>| {
        names.borrow_mut().push(effect.name().rsplit("::").next().unwrap());
        assert!(effect.site().file().ends_with("any.rs"));
        assert_eq!(
            effect.downcast_ref::<Add>().map(|add| add.0),
            effect.name().ends_with("Add").then_some(3)
        );
        assert!(!effect.is_answered());
        let unknown = effect.answer(|Add(n)| n + 1).answer(|Yield| ()).is_answered();
        assert_eq!(unknown, effect.downcast_ref::<Ask>().is_none());
    };
    let inner = || {
        handle(|| {
            perform(Yield);
            (perform(Add(3)), perform(Ask), perform(Fail("typed")))
        })
        // A clause for the type is nearer, in whatever order.
        .answer(|Fail(why)| why.len() as u32)
        .answer_any(see)
        .run()
    };
    for suspends in [false, true] {
        let result = if suspends {
            handle(inner).on(|Ask, k| k.resume(7)).run()
        } else {
            handle(inner).answer(|Ask| 7).run()
        };
        assert_eq!((result, names.take()), ((4, 7, 5), vec!["Yield", "Add", "Ask"]));
    }
}

#[test]
fn of_several_the_last_of_a_handler_sees_it_and_then_those_around() {
    let seen = RefCell::new(Vec::new());
    let sees = |who: &'static str| {
        let seen = &seen;
        move |_: &mut AnyEffect<'_>| seen.borrow_mut().push(who)
    };
    let inner = || handle(|| perform(Ask)).answer_any(sees("first")).answer_any(sees("inner")).run();
    let outer = || handle(inner).answer(|Add(n)| n).answer_any(sees("outer")).run();
    assert_eq!(handle(outer).on(|Ask, k| k.resume(1)).answer_any(sees("typed")).run(), 1);
    assert_eq!(seen.take(), ["inner", "outer"]);
    let message = message_of(outer);
    assert!(message.contains("no handler for the effect") && message.contains("Ask"), "{message}");
    assert_eq!(seen.take(), ["inner", "outer"]);
}

#[test]
fn what_the_clause_does_itself() {
    // It performs effects, which go to the handlers around, and waits.
    let result = lisle::run(|| {
        let inner = || {
            handle(|| perform(Ask))
                .answer_any(|effect| {
                    lisle::fiber::yield_now();
                    let more = perform(Add(1));
                    effect.answer(|Ask| more + perform(Add(2)));
                })
                .run()
        };
        handle(inner).on(|Add(n), k| k.resume(n * 10)).run()
    });
    assert_eq!(result, 30);
}

struct Owns(Counts<'static>);
impl Effect for Owns {
    type Answer = Counts<'static>;
}

#[test]
fn effects_and_answers_are_dropped_once() {
    let dropped: &'static Cell<u32> = Box::leak(Box::default());
    let run = |clause: &dyn Fn(&mut AnyEffect<'_>)| {
        let run = || handle(|| drop(perform(Owns(Counts(dropped))))).answer_any(clause).run();
        let result = catch_unwind(AssertUnwindSafe(run));
        (result.is_ok(), dropped.take())
    };
    assert_eq!(run(&|effect| _ = effect.answer(|Owns(counts)| counts)), (true, 1));
    assert_eq!(run(&|_| panic!("before")), (false, 1));
    assert_eq!(run(&|effect| _ = effect.answer(|Owns(_)| panic!("within"))), (false, 1));
    let after = |effect: &mut AnyEffect<'_>| {
        effect.answer(|Owns(counts)| {
            drop(counts);
            Counts(dropped)
        });
        panic!("after")
    };
    assert_eq!(run(&after), (false, 2));
    // Nobody handles it.
    assert_eq!(run(&|_| ()), (false, 1));
    let caught = |effect: &mut AnyEffect<'_>| {
        let answer = || _ = effect.answer(|Owns(_)| panic!("within"));
        assert!(catch_unwind(AssertUnwindSafe(answer)).is_err());
        assert!(effect.is_answered() && effect.downcast_ref::<Owns>().is_none());
    };
    assert_eq!(run(&caught), (false, 1));
}

#[test]
fn of_what_is_kept_and_of_what_is_unwound() {
    struct Performs(&'static RefCell<Vec<u32>>);
    impl Drop for Performs {
        fn drop(&mut self) {
            self.0.borrow_mut().push(perform(Add(2)));
        }
    }
    let seen: &'static RefCell<Vec<u32>> = Box::leak(Box::default());
    let slot = Rc::new(RefCell::new(None));
    let keeps = slot.clone();
    let inner = move || {
        handle(move || {
            let _performs = Performs(seen);
            perform(Yield);
            perform(Ask)
        })
        .answer_any(|effect| _ = effect.answer(|Add(n)| n + 1))
        .run()
    };
    handle(inner)
        .on(move |Yield, k| {
            *keeps.borrow_mut() = Some(k.keep());
            finish(0)
        })
        .run();
    let kept = slot.take().unwrap();
    // Its `Ask` passes the clause, and comes to the handler around the resumption.
    assert_eq!(handle(|| kept.resume(())).catch(|Ask| 5).run(), 5);
    assert_eq!(seen.take(), [3]);
}

#[test]
fn it_may_answer_where_nothing_is_suspended() {
    let computation = || lisle::fiber::no_suspend(|| perform(Ask));
    let inner = || handle(computation).answer_any(|_| ()).run();
    assert_eq!(handle(computation).answer_any(|effect| _ = effect.answer(|Ask| 1)).run(), 1);
    assert_eq!(handle(inner).answer(|Ask| 2).run(), 2);
    let message = message_of(|| handle(inner).on(|Ask, k| k.resume(3)).run());
    assert!(message.contains("would suspend `no_suspend`"), "{message}");
}
