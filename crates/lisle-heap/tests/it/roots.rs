//! Handles, variables and registers.

use crate::scheme::{Cons, ConsRef, Value, ValueView, numbers, sum};
#[cfg(not(miri))]
use crate::support::{Running, block_until_let_go};
use crate::support::{Text, small};
use lisle_heap::{Heap, Kind};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn registers_are_roots() {
    Heap::builder().stress(true).build().enter(|s| {
        for len in [0, 1, 255, 300, if cfg!(miri) { 600 } else { 5_000 }] {
            s.scope(|s| {
                let mut regs = s.regs::<Value>(len, ValueView::Nil);
                assert!(regs.len() == len && regs.is_empty() == (len == 0));
                for index in (0..len).step_by(61) {
                    s.scope(|s| {
                        let pair = s.alloc::<Cons>(Cons::init(index as i64, Value::nil()));
                        regs.set(s, index, pair);
                    });
                }
                for index in 0..len {
                    let expected = if index % 61 == 0 { index as i64 } else { 0 };
                    assert_eq!(sum(regs.get(s, index)), expected);
                }
                if len > 1 {
                    let pair = s.alloc::<Cons>(Cons::init(regs.arg(0), 1));
                    assert!(pair.get(s).car() == regs.get(s, 0));
                    regs.copy(s, 0, len - 1);
                    assert!(regs.get(s, len - 1) == regs.get(s, 0));
                }
            });
        }
    });
}

/// A scope lets go of its handles, also over the ends of chunks of the root stack.
#[test]
fn scopes_let_go_of_their_handles() {
    let heap = Heap::builder().nursery(1 << 16).build();
    heap.enter(|s| {
        let kept = numbers(s, 3);
        for depth in [1, 10, if cfg!(miri) { 50 } else { 1_000 }] {
            fn nested(s: &mut lisle_heap::Scope<'_>, depth: usize) {
                let list = numbers(s, 3);
                if depth > 0 {
                    s.scope(|s| nested(s, depth - 1));
                }
                assert_eq!(sum(list.get(s)), 3);
            }
            s.scope(|s| nested(s, depth));
            s.collect(Kind::Full);
            assert_eq!(s.stats().live_bytes, 3 * 24);
        }
        assert_eq!(sum(kept.get(s)), 3);
    });
}

/// Registers without number, or with too many.
#[test]
fn registers_that_cannot_be_made_change_nothing() {
    small().enter(|s| {
        let none = s.regs::<Option<Text>>(0, None);
        assert!(catch_unwind(AssertUnwindSafe(|| none.get(s, 0).is_none())).is_err());
        s.scope(|s| {
            for len in [usize::MAX, usize::MAX / 8, usize::MAX / 16 + 1] {
                assert!(catch_unwind(AssertUnwindSafe(|| s.regs::<Option<Text>>(len, None).len())).is_err());
                let text = s.alloc::<Text>(Text::init("x".into()));
                let regs = s.regs::<Option<Text>>(300, text);
                s.collect(Kind::Full);
                assert!((0..300).all(|index| regs.get(s, index).unwrap().text == "x"));
                assert_eq!(s.verify(), Ok(()));
            }
        });
    });
}

/// A loop that makes a handle in each round is found by its report.
#[cfg(not(miri))] // there are no processes
#[test]
fn a_session_with_a_million_handles_is_reported() {
    let Some(mut child) = Running::new(|| {
        let heap = Heap::builder().name("scripts").nursery(1 << 16).build();
        for _ in 0..2 {
            heap.enter(|s| {
                let nil = s.local::<Value>(ValueView::Nil);
                for _ in 1..1_100_000 {
                    s.local::<Value>(nil);
                }
                s.collect(Kind::Minor);
            });
        }
        block_until_let_go();
    }) else {
        return;
    };
    child.until_said(&[
        "a session of the heap `scripts` has 1100000 handles, of the thread `roots::a_session",
        "roots.rs:",
    ]);
    let said = child.succeeds();
    assert_eq!(said.matches(" handles, of ").count(), 1, "{said}");
}
