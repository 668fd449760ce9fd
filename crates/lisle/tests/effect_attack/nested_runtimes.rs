//! A runtime within a computation of a plain thread: its fibers are called through that
//! computation, and are no part of it.

use crate::support::{Canary, Yield, message_of};
use lisle::effect::{generate, generator, handle, perform};
use std::sync::atomic::{AtomicU32, Ordering};

/// A producer does not leave the runtime that it runs.
#[test]
fn a_producer_gives_from_within_a_runtime() {
    let mut values = generator(|items| lisle::run(|| items.give(1)));
    let message = message_of(|| values.next());
    assert!(!message.is_empty());
    drop(values);
    assert_eq!(lisle::run(|| lisle::spawn(|| 7).join().unwrap()), 7);
}

#[test]
fn a_producer_gives_within_a_runtime_to_a_consumer_that_waits_for_it() {
    let given = generate(
        |items| {
            lisle::run(|| {
                let child = lisle::spawn(|| 1);
                items.give(1);
                items.give(child.join().unwrap());
            });
        },
        |values| message_of(|| values.count()),
    );
    assert!(!given.is_empty());
}

lisle::fiber_local! {
    static CANARY: Canary = Canary::new();
}
static DEAD: AtomicU32 = AtomicU32::new(0);

/// A consumer goes on with its producer in a fiber of a runtime, which ends before the producer.
#[test]
fn a_consumer_takes_within_a_runtime() {
    generate(
        |items| {
            CANARY.with(|canary| {
                items.give(1);
                DEAD.fetch_add(u32::from(!canary.is_alive()), Ordering::SeqCst);
            });
        },
        |mut values| {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                lisle::run(|| values.next());
            }));
            values.next();
        },
    );
    assert_eq!(DEAD.load(Ordering::SeqCst), 0);
}

/// A clause drops its continuation in a fiber of a runtime.
#[test]
fn a_clause_drops_within_a_runtime() {
    let value = handle(|| {
        perform(Yield);
        1
    })
    .on(|Yield, k| {
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lisle::run(|| drop(k))));
        lisle::effect::finish(2)
    })
    .run();
    assert_eq!(value, 2);
}
