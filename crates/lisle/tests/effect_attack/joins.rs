//! Halves of joins and parts of loops that another domain has taken: they are no longer noted down
//! on the stack that they were put off on.

use crate::support::Ask;
use lisle::effect::{handle, perform};
use lisle::par::{self, prelude::*};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// The levels of joins that are always noted down, so that others find their halves
/// (`jobs/README.md` of the runtime). A join further down may run in turn, and its first half then waits
/// in vain for the other.
const NOTED: usize = 3;
/// The number of times that a half further down looks whether the other has been taken, before its round
/// is repeated.
const LOOKS: usize = 100_000;

/// The payload that ends a round in which a join has run in turn.
struct InTurn;

/// Sets a flag when it is dropped.
struct Sets<'a>(&'a AtomicBool);

impl Drop for Sets<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Waits until `flag` is set, and comes by where the library looks whether others want work. The half of
/// a join that sets the flag is on this level.
fn until(flag: &AtomicBool, level: usize) {
    let mut looks = 0;
    while !flag.load(Ordering::SeqCst) {
        par::join(|| (), || ());
        std::thread::yield_now();
        looks += 1;
        if level > NOTED && looks == LOOKS {
            resume_unwind(Box::new(InTurn));
        }
    }
}

/// Runs `f`, which is given the level of its joins, within 0 to 5 joins whose other halves have been taken.
fn within_joins(f: impl Fn(usize) + Sync) {
    for joins in 0..6 {
        lisle::Runtime::builder().domains(2).run(|| {
            while let Err(payload) = catch_unwind(AssertUnwindSafe(|| within(joins, 1, &f))) {
                if !payload.is::<InTurn>() {
                    resume_unwind(payload);
                }
            }
        });
    }
}

fn within(joins: usize, level: usize, f: &(dyn Fn(usize) + Sync)) {
    if joins == 0 {
        return f(level);
    }
    let taken = AtomicBool::new(false);
    let first = || {
        until(&taken, level);
        within(joins - 1, level + 1, f);
    };
    par::join(first, || taken.store(true, Ordering::SeqCst));
}

/// A half has a handler of its own. Meanwhile the other half is taken, which makes no difference.
#[test]
fn the_other_half_is_taken_meanwhile() {
    within_joins(|level| {
        let taken = AtomicBool::new(false);
        let asks = || {
            handle(|| {
                let first = perform(Ask);
                until(&taken, level);
                first + perform(Ask)
            })
        };
        let set = || taken.store(true, Ordering::SeqCst);
        assert_eq!(par::join(|| asks().on(|Ask, k| k.resume(1)).run(), set).0, 2);
        taken.store(false, Ordering::SeqCst);
        assert_eq!(par::join(|| asks().answer(|Ask| 1).run(), set).0, 2);
    });
}

/// It is an error, also if the other half has been taken.
#[test]
fn an_effect_does_not_leave_a_half_whose_other_half_was_taken() {
    within_joins(|level| {
        let (started, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let left = handle(|| {
            let first = || {
                let _ended = Sets(&ended);
                until(&started, level);
                catch_unwind(AssertUnwindSafe(|| perform(Ask))).is_ok()
            };
            let second = || {
                started.store(true, Ordering::SeqCst);
                while !ended.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
            };
            par::join(first, second).0
        })
        .on(|Ask, k| k.resume(1))
        .run();
        assert!(!left, "it has left the half, on level {level}");
    });
}

#[test]
fn an_effect_does_not_leave_a_part_of_which_others_were_taken() {
    within_joins(|level| {
        let home = std::thread::current().id();
        // Another fiber of this domain may take the other part. Then there is none for the other domain,
        // and the round is repeated.
        let are_both_here = AtomicBool::new(true);
        while are_both_here.swap(false, Ordering::SeqCst) {
            let (started, ended) = (AtomicBool::new(false), AtomicBool::new(false));
            let is_here = AtomicBool::new(false);
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
                let _ended = Sets(&ended);
                until(&started, level);
                !are_both_here.load(Ordering::SeqCst)
                    && catch_unwind(AssertUnwindSafe(|| perform(Ask))).is_ok()
            };
            let left = handle(|| (0..2_u32).into_par_iter().map(part).any(|left| left))
                .on(|Ask, k| k.resume(1))
                .run();
            assert!(!left, "it has left the part, on level {level}");
        }
    });
}
