//! Handlers of effects whose computations go on.

use crate::support::{Add, Ask, Counts, Fail, message_of};
use lisle_effect::{Effect, finish, handle, perform};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn a_computation_without_effects_has_its_value() {
    assert_eq!(handle(|| 1).run(), 1);
    assert_eq!(handle(|| "x".to_string()).returning(|text| text.len()).run(), 1);
}

#[test]
fn an_answer_comes_back() {
    assert_eq!(handle(|| perform(Ask) + perform(Ask)).on(|Ask, k| k.resume(21)).run(), 42);
    assert_eq!(handle(|| perform(Ask) + perform(Ask)).answer(|Ask| 21).run(), 42);
}

#[test]
fn several_clauses() {
    let run = || {
        handle(|| perform(Add(1)) + perform(Ask) + perform(Add(2)))
            .on(|Ask, k| k.resume(100))
            .answer(|Add(n)| n * 10)
            .run()
    };
    assert_eq!(run(), 130);
}

#[test]
fn of_two_clauses_for_an_effect_the_last_is_used() {
    assert_eq!(handle(|| perform(Ask)).answer(|Ask| 1).answer(|Ask| 2).run(), 2);
    assert_eq!(handle(|| perform(Ask)).on(|Ask, k| k.resume(1)).answer(|Ask| 2).run(), 2);
}

#[test]
fn the_nearest_handler_is_asked() {
    let inner = || handle(|| perform(Ask)).on(|Ask, k| k.resume(2)).run();
    assert_eq!(handle(|| inner() + perform(Ask)).on(|Ask, k| k.resume(10)).run(), 12);
}

#[test]
fn what_a_handler_does_not_handle_goes_on_outwards() {
    let inner = || handle(|| perform(Add(1)) + perform(Ask)).on(|Ask, k| k.resume(2)).run();
    for _ in 0..3 {
        assert_eq!(handle(inner).on(|Add(n), k| k.resume(n + 10)).run(), 13);
        assert_eq!(handle(inner).answer(|Add(n)| n + 10).run(), 13);
    }
}

#[test]
fn effects_of_clauses_go_outwards() {
    for in_place in [true, false] {
        let inner = move || {
            let handler = handle(|| perform(Ask));
            if in_place {
                handler.answer(|Ask| perform(Ask) + 1).run()
            } else {
                handler.on(|Ask, k| k.resume(perform(Ask) + 1)).run()
            }
        };
        assert_eq!(handle(inner).on(|Ask, k| k.resume(5)).run(), 6);
        assert_eq!(handle(inner).answer(|Ask| 5).run(), 6);
    }
}

/// The clause is suspended in the middle, on the stack of its performer.
#[test]
fn an_answer_may_be_suspended() {
    let trace = RefCell::new(Vec::new());
    let inner = || {
        handle(|| {
            let first = perform(Ask);
            let nested = handle(|| perform(Ask) + perform(Add(1))).answer(|Add(n)| perform(Add(n))).run();
            first + nested + perform(Ask)
        })
        .answer(|Ask| perform(Add(1)))
        .run()
    };
    let sum = handle(inner)
        .on(|Add(n), k| {
            trace.borrow_mut().push(n);
            k.resume(n + 1)
        })
        .run();
    assert_eq!((sum, trace.into_inner()), (8, vec![1; 4]));
}

#[test]
fn the_returning_function_runs_outside() {
    let inner = || handle(|| 1).returning(|n| n + perform(Ask)).on(|Ask, k| k.resume(100)).run();
    assert_eq!(handle(inner).on(|Ask, k| k.resume(5)).run(), 6);
}

#[test]
fn clauses_own_and_borrow() {
    let mut asked = Vec::new();
    let text = String::from("borrowed");
    let mut last = 0;
    let sum = handle(|| perform(Add(1)) + perform(Add(2)) + text.len() as u32)
        .on(|Add(n), k| {
            asked.push(n);
            last += n;
            k.resume(last)
        })
        .run();
    assert_eq!((sum, asked), (1 + 3 + 8, vec![1, 2]));
}

#[test]
fn ten_million_in_constant_space() {
    const MANY: u32 = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };
    let count = handle(|| (0..MANY).map(|_| perform(Ask)).fold(0_u64, |sum, n| sum + u64::from(n)))
        .on(|Ask, k| k.resume(1))
        .stack_size(16 * 1024)
        .run();
    assert_eq!(count, u64::from(MANY));
}

/// Each clause has something left to do, and none of that is on a stack.
#[test]
fn resumption_that_is_not_the_last_step() {
    const MANY: i64 = 100_000;
    struct Step(i64);
    impl Effect for Step {
        type Answer = ();
    }
    let result = handle(|| (1..=MANY).for_each(|n| perform(Step(n))))
        .returning(|()| 0_i64)
        .on(|Step(n), k| k.resume_then((), move |rest| (n - 503 * rest + 37).abs() % 1009))
        .run();
    let wanted = (1..=MANY).rev().fold(0_i64, |rest, n| (n - 503 * rest + 37).abs() % 1009);
    assert_eq!(result, wanted);
}

#[test]
fn what_a_later_clause_gives_passes_through_what_is_left_to_do() {
    let result = handle(|| perform(Ask) + perform(Fail("")))
        .on(|Ask, k| k.resume_then(1, |result| result + 100))
        .on(|Fail(_), _| finish(5))
        .run();
    assert_eq!(result, 105);
}

#[test]
fn large_and_small_and_aligned_values() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(align(128))]
    struct Large([u64; 64]);
    struct Swap(Large);
    impl Effect for Swap {
        type Answer = Large;
    }
    struct Nothing;
    impl Effect for Nothing {
        type Answer = ();
    }
    let first = Large(std::array::from_fn(|i| i as u64));
    let result = handle(move || {
        perform(Nothing);
        perform(Swap(first))
    })
    .on(|Swap(mut large), k| {
        large.0.reverse();
        k.resume(large)
    })
    .on(|Nothing, k| k.resume(()))
    .run();
    assert_eq!(result.0[0], 63);
    assert_eq!(std::ptr::from_ref(&result).addr() % 128, 0);
}

#[test]
fn a_deep_recursion_performs() {
    fn down(depth: u32) -> u32 {
        if depth == 0 { perform(Ask) } else { std::hint::black_box(down(depth - 1)) + 1 }
    }
    assert_eq!(handle(|| down(300) + down(10)).on(|Ask, k| k.resume(1)).run(), 312);
}

#[test]
fn handlers_in_handlers() {
    fn nest(depth: u32) -> u32 {
        if depth == 0 {
            return (0..10).map(|_| perform(Ask)).sum();
        }
        handle(|| nest(depth - 1)).on(|Add(n), k| k.resume(n)).run()
    }
    assert_eq!(handle(|| nest(100)).on(|Ask, k| k.resume(1)).run(), 10);
    assert_eq!(handle(|| nest(100)).answer(|Ask| 1).run(), 10);
}

#[test]
fn nobody_handles_it() {
    let line = line!() + 1;
    let message = message_of(|| perform(Ask));
    assert!(message.contains("::support::Ask"), "{message}");
    assert!(message.contains("no handler for the effect"), "{message}");
    let place = Cell::new(0);
    let before = std::panic::take_hook();
    drop(before);
    let _ = (line, place);
    // A handler that has ended, and one that is being asked, handle nothing.
    assert_eq!(handle(|| perform(Ask)).answer(|Ask| 1).run(), 1);
    let message = message_of(|| handle(|| perform(Ask)).answer(|Ask| perform(Ask)).run());
    assert!(message.contains("no handler for the effect"), "{message}");
    let message = message_of(|| handle(|| perform(Ask)).on(|Ask, k| k.resume(perform(Ask))).run());
    assert!(message.contains("no handler for the effect"), "{message}");
}

/// The effect itself is dropped when nobody takes it.
#[test]
fn an_effect_that_nobody_takes_is_dropped() {
    thread_local! {
        static DROPPED: Cell<u32> = const { Cell::new(0) };
    }
    struct Owns(#[allow(dead_code, reason = "it is dropped")] Counts<'static>);
    impl Effect for Owns {
        type Answer = ();
    }
    let counter: &'static Cell<u32> = Box::leak(Box::new(Cell::new(0)));
    assert!(catch_unwind(AssertUnwindSafe(|| perform(Owns(Counts(counter))))).is_err());
    assert_eq!(counter.get(), 1);
    handle(|| perform(Owns(Counts(counter)))).on(|Owns(_), k| k.resume(())).run();
    handle(|| perform(Owns(Counts(counter)))).answer(|Owns(_)| ()).run();
    assert_eq!(counter.get(), 3);
    DROPPED.set(0);
}

/// A catch in between does not catch the answer.
#[test]
fn an_effect_passes_a_catch() {
    let result = handle(|| catch_unwind(|| perform(Ask)).unwrap()).on(|Ask, k| k.resume(3)).run();
    assert_eq!(result, 3);
}
