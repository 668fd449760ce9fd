//! Computations within a kept one have noted its surroundings. It is resumed elsewhere.

use crate::support::{Ask, Other, Yield, begin};
use lisle::effect::{Suspended, handle, perform};
use std::cell::RefCell;
use std::rc::Rc;

/// Begins a computation that has another within it.
fn nested() -> Option<Suspended<(), ()>> {
    begin(|| {
        let sum = handle(|| {
            perform(Yield);
            perform(Ask) + perform(Ask)
        })
        .on(|Ask, k| k.resume(21))
        .run();
        assert_eq!(sum, 42);
    })
}

#[test]
fn begun_outside_and_resumed_in_no_suspend() {
    let kept = nested().unwrap();
    lisle::fiber::no_suspend(|| kept.resume(()));
}

#[test]
fn begun_in_no_suspend_and_resumed_outside() {
    let kept = lisle::fiber::no_suspend(nested).unwrap();
    kept.resume(());
}

#[test]
fn begun_outside_and_resumed_in_a_half_of_a_join() {
    thread_local! {
        static KEPT: RefCell<Option<Suspended<(), ()>>> = const { RefCell::new(None) };
    }
    lisle::run(|| {
        KEPT.with(|slot| *slot.borrow_mut() = nested());
        let (was_kept, ()) = lisle::par::join(|| KEPT.take().map(|kept| kept.resume(())).is_some(), || ());
        assert!(was_kept);
    });
}

#[test]
fn begun_outside_and_resumed_in_an_answer() {
    let slot = Rc::new(RefCell::new(nested()));
    handle(|| perform(Other)).answer(move |Other| slot.take().unwrap().resume(())).run();
}

/// The computation begins in an answer, which is over when it goes on.
#[test]
fn begun_in_an_answer_and_resumed_outside() {
    let slot = Rc::new(RefCell::new(None));
    let begins = slot.clone();
    handle(|| perform(Other)).answer(move |Other| *begins.borrow_mut() = nested()).run();
    let kept = slot.take().unwrap();
    kept.resume(());
}

/// Likewise, and an effect that is performed later goes through all answers.
#[test]
fn begun_in_an_answer_whose_stack_is_used_again() {
    fn overwrite(depth: u32) -> u64 {
        let room = std::hint::black_box([0x4141_4141_4141_4141_u64; 256]);
        if depth > 0 { overwrite(depth - 1) ^ room[0] } else { room[1] }
    }
    /// Overwrites the stack on which the answer was given, among others.
    fn overwrite_all(stacks: u32) {
        handle(|| {
            overwrite(20);
            if stacks > 0 {
                overwrite_all(stacks - 1);
            }
        })
        .run();
    }
    let suspends = || {
        let slot = Rc::new(RefCell::new(None));
        let begins = slot.clone();
        handle(|| perform(Other)).answer(move |Other| *begins.borrow_mut() = nested()).run();
        let kept = slot.take().unwrap();
        kept.resume(());
        overwrite_all(10);
        // On another stack.
        handle(|| perform(Other)).answer(|Other| perform(Yield)).stack_size(256 << 10).run();
    };
    let mut suspended = false;
    handle(suspends)
        .on(|Yield, k| {
            suspended = true;
            k.resume(())
        })
        .run();
    assert!(suspended);
}

#[test]
fn begun_in_a_scope_and_resumed_outside() {
    lisle::run(|| {
        let kept = lisle::fiber::scope(|_| nested()).unwrap();
        kept.resume(());
        let kept = nested().unwrap();
        lisle::fiber::scope(|_| kept.resume(()));
        lisle::spawn(|| ()).join().unwrap();
    });
}

/// A clause is suspended, and goes on elsewhere: the computation that it resumes has other
/// surroundings from then on.
#[test]
fn a_clause_that_goes_on_elsewhere() {
    let within_clause = || {
        begin(|| {
            let mut answers = 0;
            let sum = handle(|| perform(Ask) + perform(Ask))
                .on(|Ask, k| {
                    answers += 1;
                    if answers == 1 {
                        perform(Yield);
                    }
                    k.resume(21)
                })
                .run();
            assert_eq!(sum, 42);
        })
    };
    let kept = lisle::fiber::no_suspend(within_clause).unwrap();
    kept.resume(());
    let kept = within_clause().unwrap();
    lisle::fiber::no_suspend(|| kept.resume(()));
    let slot = Rc::new(RefCell::new(None));
    let begins = slot.clone();
    handle(|| perform(Other)).answer(move |Other| *begins.borrow_mut() = within_clause()).run();
    slot.take().unwrap().resume(());
}

/// The handlers that an answer hides have moved, too.
#[test]
fn an_answer_that_goes_on_elsewhere() {
    fn hidden() -> Option<Suspended<(), ()>> {
        begin(|| {
            let sum = handle(|| {
                handle(|| {
                    perform(Other); // answered further out, by what suspends all of this
                    perform(Ask)
                })
                .on(|Ask, k| k.resume(42))
                .run()
            })
            .answer(|Other| perform(Yield))
            .run();
            assert_eq!(sum, 42);
        })
    }
    hidden().unwrap().resume(());
    let kept = lisle::fiber::no_suspend(hidden).unwrap();
    kept.resume(());
    let kept = hidden().unwrap();
    lisle::fiber::no_suspend(|| kept.resume(()));
    lisle::run(|| {
        let kept = lisle::fiber::scope(|_| hidden()).unwrap();
        kept.resume(());
        let kept = hidden().unwrap();
        lisle::fiber::scope(|_| kept.resume(()));
    });
}

/// Effects within a generator that is asked at different places.
#[test]
fn a_generator_is_asked_elsewhere() {
    let producer = || {
        lisle::effect::generator(|items| {
            handle(|| {
                for _ in 0..3 {
                    items.give(perform(Ask));
                }
            })
            .on(|Ask, k| k.resume(7))
            .run();
        })
    };
    let mut values = producer();
    assert_eq!(lisle::fiber::no_suspend(|| values.next()), Some(7));
    assert_eq!(values.next(), Some(7));
    assert_eq!(lisle::fiber::no_suspend(|| values.next()), Some(7));
    assert_eq!(values.next(), None);
    lisle::run(move || {
        let mut values = producer();
        assert_eq!(lisle::fiber::scope(|_| values.next()), Some(7));
        assert_eq!(values.next(), Some(7));
        assert_eq!(lisle::fiber::scope(|_| values.next()), Some(7));
        assert_eq!(values.next(), None);
    });
}
