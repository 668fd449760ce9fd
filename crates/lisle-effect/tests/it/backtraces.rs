//! Backtraces that clauses take of performers.

use crate::support::{Add, Ask, Fail, Yield, message_of};
use lisle_effect::{Effect, Suspended, finish, generate, handle, perform};
use lisle_runtime::facade as lisle;
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

#[inline(never)]
fn named_performer<E: Effect>(effect: E) -> E::Answer {
    std::hint::black_box(perform(effect))
}

#[inline(never)]
fn named_around_it(f: impl FnOnce() -> u32) -> u32 {
    std::hint::black_box(f())
}

fn check(backtrace: &str) {
    for name in ["named_performer", "named_around_it"] {
        assert!(backtrace.contains(name), "{name} in {backtrace}");
    }
}

#[test]
fn of_each_kind_of_clause() {
    let case = || {
        let mut count = 0;
        let sum = handle(|| named_around_it(|| named_performer(Ask) + named_performer(Add(1))))
            .on(|Ask, k| {
                for _ in 0..2 {
                    check(&k.backtrace().to_string());
                    count += 1;
                }
                k.resume(1)
            })
            .answer(|Add(n)| {
                check(&Backtrace::force_capture().to_string());
                n
            })
            .run();
        assert_eq!((sum, count), (2, 2));
    };
    case();
    lisle::run(case);
}

/// The performer may be in computations within, in an answer of a handler within, and in a generator. The
/// clause may take the backtrace in a computation of its own.
#[test]
fn through_what_lies_between() {
    let inner = || {
        handle(|| generate(|items| items.give(named_performer(Fail(""))), |items| items.sum::<u32>()))
            .answer(|Fail(_)| named_performer(Ask))
            .answer(|Add(n)| n)
            .run()
    };
    let result = handle(|| named_around_it(inner))
        .on(|Ask, k| {
            let backtrace = handle(|| {
                assert_eq!(perform(Add(3)), 4);
                k.backtrace()
            });
            check(&backtrace.answer(|Add(n)| n + 1).run().to_string());
            k.resume(5)
        })
        .run();
    assert_eq!(result, 5);
}

/// A clause may take the backtrace before it drops the continuation or resumes it with a panic, and
/// also while the computation is unwound.
#[test]
fn of_what_is_unwound() {
    struct Performs;
    impl Drop for Performs {
        fn drop(&mut self) {
            assert_eq!(named_around_it(|| named_performer(Add(1))), 2);
        }
    }
    let seen = Cell::new(0);
    let result = handle(|| {
        let _performs = Performs;
        named_around_it(|| named_performer(Ask))
    })
    .on(|Ask, k| {
        check(&k.backtrace().to_string());
        drop(k);
        assert_eq!(seen.get(), 1);
        finish(3)
    })
    .on(|Add(n), k| {
        check(&k.backtrace().to_string());
        seen.set(seen.get() + 1);
        k.resume(n + 1)
    })
    .on(|Yield, k| k.resume(()))
    .run();
    assert_eq!(result, 3);
    let caught = handle(|| {
        let caught = std::panic::catch_unwind(|| named_around_it(|| named_performer(Ask)));
        caught.unwrap_err().downcast_ref().copied()
    })
    .on(|Ask, k| {
        check(&k.backtrace().to_string());
        k.resume_unwind(Box::new(4_u8))
    })
    .run();
    assert_eq!(caught, Some(4_u8));
}

enum Stage {
    Waits(Suspended<u32, Stage>),
    Over(u32),
}

/// At each wait the backtrace has the frames of that wait, however often it is taken.
#[test]
fn of_what_is_kept() {
    #[inline(never)]
    fn later() -> u32 {
        std::hint::black_box(named_performer(Ask))
    }
    let case = || {
        let begun = handle(|| named_around_it(|| named_performer(Ask)) + later())
            .returning(Stage::Over)
            .on(|Ask, k| finish(Stage::Waits(k.keep())))
            .run();
        let Stage::Waits(kept) = begun else { panic!("it waits") };
        for _ in 0..2 {
            let backtrace = kept.backtrace().to_string();
            check(&backtrace);
            assert!(!backtrace.contains("later"), "{backtrace}");
        }
        let Stage::Waits(kept) = kept.resume(1) else { panic!("it waits again") };
        assert!(kept.backtrace().to_string().contains("later"));
        assert!(matches!(kept.resume(2), Stage::Over(3)));
    };
    case();
    lisle::run(case);
}

thread_local! {
    static KEPT: RefCell<Option<Suspended<u32, Stage>>> = const { RefCell::new(None) };
}

/// Where a computation may not be resumed, its backtrace may not be taken: that would use its
/// stack.
#[test]
fn of_what_is_kept_where_it_may_go_on_only() {
    lisle::Runtime::builder().domains(1).run(|| {
        let is_asked = Arc::new(lisle::sync::Condition::new());
        let asked = is_asked.clone();
        let owner = lisle::spawn(move || {
            let keeps = handle(|| named_performer(Ask)).returning(Stage::Over);
            let kept = keeps.on(|Ask, k| finish(Stage::Waits(k.keep()))).run();
            let Stage::Waits(kept) = kept else { panic!("it waits") };
            KEPT.set(Some(kept));
            asked.wait();
            let kept = KEPT.take().expect("it is given back");
            check(&format!("named_around_it {}", kept.backtrace()));
            assert!(matches!(kept.resume(2), Stage::Over(2)));
        });
        while KEPT.with_borrow(Option::is_none) {
            lisle::fiber::yield_now();
        }
        let message = message_of(|| KEPT.with_borrow(|kept| kept.as_ref().map(Suspended::backtrace)));
        let expected = "is asked for a backtrace in a fiber to which it does not belong";
        assert!(message.contains(expected), "{message}");
        is_asked.signal();
        owner.join().unwrap();
    });
}
