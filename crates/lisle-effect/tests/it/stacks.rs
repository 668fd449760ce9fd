//! Stacks: their sizes, their use again, their overflow.

use crate::support::{Add, Ask, Fail, Yield, elsewhere, message_of};
use lisle_effect::{Suspended, finish, handle, perform};
use std::cell::RefCell;
use std::rc::Rc;

/// Uses at least `bytes` of the stack.
#[inline(never)]
fn deep(bytes: usize) -> usize {
    let frame = std::hint::black_box([1_u8; 1024]);
    if bytes <= 1024 { frame[0].into() } else { deep(bytes - 1024) + usize::from(frame[1]) }
}

#[test]
fn the_size_is_as_asked() {
    assert_eq!(handle(|| deep(200 * 1024)).run(), 200);
    assert_eq!(handle(|| deep(4 * 1024 * 1024)).stack_size(16 * 1024 * 1024).run(), 4 * 1024);
    for size in [1, 16 * 1024, 100_000, 3 * 1024 * 1024] {
        assert_eq!(handle(|| perform(Ask)).on(|Ask, k| k.resume(1)).stack_size(size).run(), 1);
    }
}

#[test]
fn closures_that_are_too_large_are_refused() {
    let large = [1_u8; 64 * 1024];
    let sum = move || large.iter().map(|&byte| usize::from(byte)).sum::<usize>();
    assert_eq!(handle(sum).run(), 64 * 1024);
    let message = message_of(move || handle(sum).stack_size(32 * 1024).run());
    assert!(message.contains("too much for a stack of") && message.contains("`stack_size`"), "{message}");
}

#[test]
fn a_stack_that_cannot_be_had() {
    let message = message_of(|| handle(|| 1).stack_size(usize::MAX / 4).run());
    assert!(message.contains("no stack for the handled computation begun at"), "{message}");
}

#[test]
fn many_suspended_computations() {
    const MANY: usize = if cfg!(debug_assertions) { 2_000 } else { 20_000 };
    let kept: Rc<RefCell<Vec<Suspended<(), usize>>>> = Rc::default();
    for round in 0..2 {
        for index in 0..MANY {
            let keep = kept.clone();
            handle(move || {
                perform(Yield);
                index
            })
            .on(move |Yield, k| {
                keep.borrow_mut().push(k.keep());
                finish(usize::MAX)
            })
            .stack_size(32 * 1024)
            .run();
        }
        let all = kept.take();
        assert_eq!(all.len(), MANY);
        if round == 0 {
            assert_eq!(all.into_iter().map(|one| one.resume(())).sum::<usize>(), MANY * (MANY - 1) / 2);
        }
    }
}

#[test]
fn an_overflow_on_a_thread_is_told() {
    let name = "stacks::an_overflow_on_a_thread_is_told";
    if let Some((said, ended_well)) = elsewhere(name) {
        assert!(!ended_well);
        assert!(said.contains("a handled computation (begun at "), "{said}");
        assert!(said.contains(") in a thread that runs no fiber overflowed its stack of 64 KiB;"), "{said}");
        return;
    }
    handle(|| deep(10_000_000)).stack_size(64 * 1024).run();
}

#[test]
fn an_overflow_in_a_clause_on_the_performers_stack_is_told() {
    let name = "stacks::an_overflow_in_a_clause_on_the_performers_stack_is_told";
    if let Some((said, ended_well)) = elsewhere(name) {
        assert!(!ended_well);
        assert!(said.contains("a handled computation (begun at "), "{said}");
        assert!(said.contains("overflowed its stack of 64 KiB;"), "{said}");
        return;
    }
    handle(|| perform(Ask)).answer(|Ask| deep(10_000_000) as u32).stack_size(64 * 1024).run();
}

#[test]
fn an_overflow_in_a_fiber_is_told() {
    let name = "stacks::an_overflow_in_a_fiber_is_told";
    if let Some((said, ended_well)) = elsewhere(name) {
        assert!(!ended_well);
        assert!(said.contains("a handled computation (begun at "), "{said}");
        assert!(said.contains(") in fiber 'deep' (spawned at "), "{said}");
        assert!(said.contains("overflowed its stack of 1024 KiB;"), "{said}");
        return;
    }
    use lisle_runtime::facade as lisle;
    lisle::run(|| {
        let fiber = lisle::fiber::Builder::new().name("deep").spawn(|| handle(|| deep(10_000_000)).run());
        drop(fiber.join());
    });
}

/// Each computation runs within another; an effect of the innermost is for the handler of the outermost, which
/// is suspended for it with all of them, and answers, or drops them.
#[test]
fn many_nested_computations() {
    fn nest(depth: u32) -> u32 {
        if depth == 0 {
            return perform(Ask) + perform(Fail(""));
        }
        handle(|| nest(depth - 1)).on(|Add(n), k| k.resume(n)).stack_size(64 * 1024).run() + 1
    }
    const DEPTH: u32 = 20_000;
    let run = |drops| {
        let mut asked = 0;
        handle(|| nest(DEPTH))
            .on(|Ask, k| {
                asked += 1;
                k.resume(asked)
            })
            .on(|Fail(_), k| if drops { finish(7) } else { k.resume(2) })
            .run()
    };
    assert_eq!(run(false), DEPTH + 3);
    assert_eq!(run(true), 7);
    // With the stacks that are left from before.
    assert_eq!(run(false), DEPTH + 3);
}
