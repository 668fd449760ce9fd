//! Halves of joins and parts of loops that another domain has taken: they are no longer noted down
//! on the stack that they were put off on.

use crate::support::Ask;
use lisle::effect::{handle, perform};
use lisle::par::{self, prelude::*};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// Waits until `flag` is set, and comes by where the library looks whether others want work.
fn until(flag: &AtomicBool) {
    while !flag.load(Ordering::SeqCst) {
        par::join(|| (), || ());
        std::thread::yield_now();
    }
}

/// Runs `f` within so many joins, whose other halves have been taken.
fn within<R: Send>(joins: usize, f: &(dyn Fn() -> R + Sync)) -> R {
    if joins == 0 {
        return f();
    }
    let taken = AtomicBool::new(false);
    let first = || {
        until(&taken);
        within(joins - 1, f)
    };
    par::join(first, || taken.store(true, Ordering::SeqCst)).0
}

/// A half has a handler of its own. Meanwhile the other half is taken, which makes no difference.
#[test]
fn the_other_half_is_taken_meanwhile() {
    for joins in 0..6 {
        lisle::Runtime::builder().domains(2).run(|| {
            within(joins, &|| {
                let taken = AtomicBool::new(false);
                let asks = || {
                    handle(|| {
                        let first = perform(Ask);
                        until(&taken);
                        first + perform(Ask)
                    })
                };
                let set = || taken.store(true, Ordering::SeqCst);
                assert_eq!(par::join(|| asks().on(|Ask, k| k.resume(1)).run(), set).0, 2);
                taken.store(false, Ordering::SeqCst);
                assert_eq!(par::join(|| asks().answer(|Ask| 1).run(), set).0, 2);
            });
        });
    }
}

/// It is an error, also if the other half has been taken.
#[test]
fn an_effect_does_not_leave_a_half_whose_other_half_was_taken() {
    for joins in 0..6 {
        lisle::Runtime::builder().domains(2).run(|| {
            let (started, ended) = (AtomicBool::new(false), AtomicBool::new(false));
            within(joins, &|| {
                let left = handle(|| {
                    par::join(
                        || {
                            until(&started);
                            let left = catch_unwind(AssertUnwindSafe(|| perform(Ask)));
                            ended.store(true, Ordering::SeqCst);
                            left.is_ok()
                        },
                        || {
                            started.store(true, Ordering::SeqCst);
                            while !ended.load(Ordering::SeqCst) {
                                std::thread::yield_now();
                            }
                        },
                    )
                    .0
                })
                .on(|Ask, k| k.resume(1))
                .run();
                assert!(!left, "it has left the half, within {joins} joins");
            });
        });
    }
}

#[test]
fn an_effect_does_not_leave_a_part_of_which_others_were_taken() {
    for joins in 0..6 {
        lisle::Runtime::builder().domains(2).run(|| {
            let home = std::thread::current().id();
            within(joins, &|| {
                // Another fiber of this domain may take the other part. Then there is none for the other
                // domain, and the round is repeated.
                let are_both_here = AtomicBool::new(true);
                while are_both_here.swap(false, Ordering::SeqCst) {
                    let (started, ended) = (AtomicBool::new(false), AtomicBool::new(false));
                    let is_here = AtomicBool::new(false);
                    let left = handle(|| {
                        let part = |_: u32| {
                            if std::thread::current().id() != home {
                                started.store(true, Ordering::SeqCst);
                                while !ended.load(Ordering::SeqCst) {
                                    std::thread::yield_now();
                                }
                                return false;
                            }
                            if ended.load(Ordering::SeqCst) {
                                return false;
                            }
                            if is_here.swap(true, Ordering::SeqCst) {
                                are_both_here.store(true, Ordering::SeqCst);
                                started.store(true, Ordering::SeqCst);
                                return false;
                            }
                            until(&started);
                            let left = !are_both_here.load(Ordering::SeqCst)
                                && catch_unwind(AssertUnwindSafe(|| perform(Ask))).is_ok();
                            ended.store(true, Ordering::SeqCst);
                            left
                        };
                        (0..2_u32).into_par_iter().map(part).any(|left| left)
                    })
                    .on(|Ask, k| k.resume(1))
                    .run();
                    assert!(!left, "it has left the part, within {joins} joins");
                }
            });
        });
    }
}
