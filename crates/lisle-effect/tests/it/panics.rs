//! Handlers that catch the panics of their computations.

use crate::support::{Add, Ask, Counts, Fail, Yield};
use lisle_effect::{Suspended, finish, generate, handle, perform};
use lisle_runtime::facade as lisle;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn raise<T>(number: u32) -> T {
    resume_unwind(Box::new(number))
}

fn number(payload: &(dyn Any + Send)) -> u32 {
    *payload.downcast_ref().expect("it is one of this test")
}

#[test]
fn the_clause_gives_the_result() {
    let dropped = Cell::new(0);
    let run = |panics: bool| {
        handle(|| {
            let _counts = Counts(&dropped);
            let n = perform(Ask);
            if panics { raise(n) } else { n }
        })
        .returning(|n| n.to_string())
        .on(|Ask, k| k.resume(7))
        .catch_panic(|payload| {
            assert_eq!(dropped.get(), 1, "the computation has ended");
            format!("panic {}, answer {}", number(&*payload), perform(Add(1)))
        })
        .run()
    };
    let run = |panics| handle(|| run(panics)).answer(|Add(n)| n + 1).run();
    assert_eq!((run(false), dropped.take()), ("7".to_string(), 1));
    assert_eq!(run(true), "panic 7, answer 2");
}

#[test]
fn of_several_the_last_is_used_and_it_may_raise_again() {
    let run = || {
        handle(|| {
            handle(|| raise(1))
                .catch_panic(|_| unreachable!("another was added later"))
                .catch_panic(|payload| raise(number(&*payload) + 10))
                .answer(|Ask| 0)
                .run()
        })
        .catch_panic(|payload| raise(number(&*payload) + 100))
        .run()
    };
    let panic: Result<(), _> = catch_unwind(run);
    assert_eq!(number(&*panic.unwrap_err()), 111);
}

#[test]
fn whose_panics_it_sees() {
    let run = |f: &dyn Fn() -> u32| {
        handle(f)
            .on(|Ask, k| k.resume_unwind(Box::new(1_u32)))
            .answer(|Add(n)| raise(n))
            .on(|Fail(_), _k| raise(3))
            .catch_panic(|payload| number(&*payload) + 10)
            .run()
    };
    assert_eq!(run(&|| perform(Ask)), 11);
    assert_eq!(run(&|| perform(Add(2))), 12);
    assert_eq!(run(&|| generate(|_: &lisle_effect::Items<u32>| raise(4), |items| items.sum())), 14);
    let of_clause = catch_unwind(AssertUnwindSafe(|| run(&|| perform(Fail("")))));
    assert_eq!(number(&*of_clause.unwrap_err()), 3);
    // A panic of `returning`, too.
    let run = || handle(|| 1).returning(|_| raise(5)).catch_panic(|_| 0).run();
    assert_eq!(number(&*catch_unwind(run).unwrap_err()), 5);
    // An effect that nobody handles is a panic of the performer.
    let run = || handle(|| perform(Ask)).catch_panic(|panic| panic.is::<String>().into()).run();
    assert_eq!(run(), 1);
}

#[test]
fn a_computation_that_is_dropped_has_not_panicked() {
    let dropped = Cell::new(0);
    let result = handle(|| {
        handle(|| {
            let _counts = Counts(&dropped);
            perform(Fail("")) // for the handler around
        })
        .catch_panic(|_| unreachable!("the inner one is unwound"))
        .run()
    })
    .catch(|Fail(_)| 1)
    .catch_panic(|_| unreachable!("so is the outer one"))
    .run();
    assert_eq!((result, dropped.get()), (1, 1));
    // If it panics on the way, that is the panic of who drops it, which is in a clause.
    let run = || {
        handle(|| {
            assert!(catch_unwind(|| perform(Ask)).is_err());
            raise(1)
        })
        .on(|Ask, k| {
            drop(k);
            finish(2)
        })
        .catch_panic(|_| 3)
        .run()
    };
    assert_eq!(number(&*catch_unwind(run).unwrap_err()), 1);
}

#[test]
fn what_is_left_to_do_is_done_with_its_value() {
    let result = handle(|| {
        perform(Ask);
        raise(1)
    })
    .on(|Ask, k| k.resume_then(0, |n: u32| n * 10))
    .catch_panic(|payload| number(&*payload) + 1)
    .run();
    assert_eq!(result, 20);
}

#[test]
fn of_a_kept_computation() {
    let slot: Rc<RefCell<Option<Suspended<(), u32>>>> = Rc::default();
    let keeps = slot.clone();
    let begun = handle(|| {
        perform(Yield);
        raise(1)
    })
    .on(move |Yield, k| {
        *keeps.borrow_mut() = Some(k.keep());
        finish(0)
    })
    .catch_panic(|payload| number(&*payload) + 1)
    .run();
    assert_eq!(begun, 0);
    let kept = slot.take().unwrap();
    assert_eq!(kept.resume(()), 2);
}

/// Deadlines and the end of a runtime unwind waiters, and are no panics.
#[test]
fn interruptions_pass_by() {
    let caught = Arc::new(AtomicU32::new(0));
    let waits = {
        let caught = caught.clone();
        move || {
            handle(|| lisle::time::sleep(Duration::from_secs(1000)))
                .answer(|Ask| 0)
                .catch_panic(|_| _ = caught.fetch_add(1, Ordering::Relaxed))
                .run();
        }
    };
    let is_late = || lisle::time::with_deadline(Duration::from_millis(2), &waits).is_err();
    assert!(is_late());
    lisle::Runtime::builder().domains(1).run(|| {
        assert!(is_late());
        lisle::spawn(waits.clone());
        lisle::fiber::yield_now();
    });
    assert_eq!(caught.load(Ordering::Relaxed), 0);
}
