//! Destructors wait in frames that raise panics again, while a deadline or the end of a runtime unwinds
//! these: the destructors complete. With optimization many of these frames are one, and so this is another
//! test.

use lisle::effect::{Effect, handle, perform};
use lisle::fiber::scope;
use lisle::time::{DeadlinePassed, sleep, with_deadline, without_deadline};
use lisle::{Runtime, par, spawn};
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_secs(1000);

struct Never;
impl Effect for Never {
    type Answer = ();
}

/// Waits in a destructor, in this way, and counts when it has.
struct Waits {
    way: usize,
    count: Arc<AtomicU32>,
}

const WAYS: usize = 8;

/// The clauses for this wait, and then resume.
struct Flush;
impl Effect for Flush {
    type Answer = ();
}

struct Flushes;
impl Drop for Flushes {
    fn drop(&mut self) {
        perform(Flush);
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        match self.way {
            0 => assert_eq!(with_deadline(SHORT, || sleep(LONG)), Err(DeadlinePassed)),
            1 => without_deadline(|| sleep(SHORT)),
            2 => scope(|scope| {
                scope.spawn(|| ());
                sleep(SHORT);
            }),
            3 => _ = par::join(|| sleep(SHORT), || sleep(SHORT)),
            4 => assert!(catch_unwind(|| sleep(SHORT)).is_ok()),
            5 => handle(|| sleep(SHORT)).on(|Never, k| k.resume(())).run(),
            // The handler that drops the computation answers its destructor.
            6 => flushing(|| {
                let _flushes = Flushes;
                perform(Never);
            }),
            // A handler around answers this one.
            _ => perform(Flush),
        }
        self.count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs `f` with a handler that waits when it is asked to, and drops the computation for `Never`.
fn flushing(f: impl FnOnce()) {
    handle(f)
        .catch(|Never| ())
        .on(|Flush, k| {
            sleep(SHORT);
            k.resume(())
        })
        .run();
}

/// Calls `unwound` for each way with code that waits, and whose destructor then waits in that way.
fn each_way(unwound: impl Fn(Box<dyn Fn() + Send>)) {
    for way in 0..WAYS {
        for in_computation in [false, true] {
            let count = Arc::new(AtomicU32::new(0));
            let counts = count.clone();
            let waits = move || {
                let _waits = Waits { way, count: counts.clone() };
                sleep(LONG);
            };
            unwound(if way == 7 {
                Box::new(move || flushing(&waits))
            } else if in_computation {
                Box::new(move || handle(&waits).on(|Never, k| k.resume(())).run())
            } else {
                Box::new(waits)
            });
            assert_eq!(count.load(Ordering::Relaxed), 1, "way {way}, in a computation: {in_computation}");
        }
    }
}

#[test]
fn those_that_a_deadline_unwinds() {
    let case = || {
        each_way(|waits| assert_eq!(with_deadline(SHORT, waits), Err(DeadlinePassed)));
    };
    case();
    Runtime::builder().domains(1).run(case);
}

#[test]
fn those_of_a_fiber_that_the_deadline_of_its_scope_unwinds() {
    Runtime::builder().domains(2).run(|| {
        each_way(|waits| {
            let ended = with_deadline(SHORT, || {
                scope(|scope| {
                    scope.spawn(waits);
                });
            });
            assert_eq!(ended, Err(DeadlinePassed));
        });
    });
}

#[test]
fn those_that_the_end_of_a_runtime_unwinds() {
    each_way(|waits| {
        Runtime::builder().domains(1).run(move || {
            spawn(waits);
            sleep(SHORT);
        });
    });
}
