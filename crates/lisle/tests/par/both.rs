//! A half that panics does not keep the other half from running.

use crate::watch::watched;
use lisle::Runtime;
use lisle::par::{join, join_with};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug, PartialEq)]
struct Stop(usize);

fn stop(number: usize) {
    // Not `panic!`, to avoid the hook's message.
    resume_unwind(Box::new(Stop(number)));
}

fn caught<R>(f: impl FnOnce() -> R) -> Stop {
    let panic = catch_unwind(AssertUnwindSafe(f)).err().expect("it panics");
    *panic.downcast().expect("with what it was told to")
}

/// Runs `f` in fibers of one domain and of two, in a task, and on a plain thread. Each runs it many
/// times, so that it is known to be short, with and without other domains that could take a part.
fn by_everybody(f: impl Fn() + Send + Sync + Clone + 'static) {
    let _watched = watched();
    let often = move || (0..50).for_each(|_| f());
    for domains in [1, 2] {
        let runtime = Runtime::builder().domains(domains).start().unwrap();
        runtime.run(&often);
        let task = often.clone();
        runtime.run(move || lisle::spawn_task(async move { task() }).join().unwrap());
    }
    std::thread::spawn(often).join().unwrap();
}

#[test]
fn the_second_runs_if_the_first_panics() {
    by_everybody(|| {
        let ran = AtomicUsize::new(0);
        let count = || ran.fetch_add(1, Ordering::Relaxed);
        assert_eq!(caught(|| join(|| stop(1), count)), Stop(1));
        assert_eq!(caught(|| join_with(|| stop(2), count, |(), _| ())), Stop(2));
        assert_eq!(caught(|| join(count, || stop(3))), Stop(3));
        assert_eq!(ran.into_inner(), 3);
    });
}

#[test]
fn the_panic_of_the_first_goes_on_if_both_do() {
    by_everybody(|| {
        assert_eq!(caught(|| join(|| stop(1), || stop(2))), Stop(1));
        assert_eq!(caught(|| join_with(|| stop(1), || stop(2), |(), ()| ())), Stop(1));
        // The dropped value panics, too.
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                stop(3);
            }
        }
        assert_eq!(caught(|| join(|| stop(1), || Bomb)), Stop(1));
    });
}

/// Joins down to `depth`. Every other leaf panics with its number.
fn half_of_the_leaves(depth: u32, number: usize, ran: &AtomicUsize) {
    if depth == 0 {
        ran.fetch_add(1, Ordering::Relaxed);
        if number % 2 == 1 {
            stop(number);
        }
        return;
    }
    join(
        || half_of_the_leaves(depth - 1, 2 * number, ran),
        || half_of_the_leaves(depth - 1, 2 * number + 1, ran),
    );
}

#[test]
fn all_leaves_of_a_tree_run_and_the_first_panic_goes_on() {
    by_everybody(|| {
        let ran = AtomicUsize::new(0);
        assert_eq!(caught(|| half_of_the_leaves(8, 0, &ran)), Stop(1));
        assert_eq!(ran.into_inner(), 256);
    });
}

#[test]
fn the_second_may_wait_though_the_first_has_panicked() {
    by_everybody(|| {
        let waits = || lisle::time::sleep(std::time::Duration::from_micros(50));
        assert_eq!(caught(|| join(|| stop(1), waits)), Stop(1));
    });
}
