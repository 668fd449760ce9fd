//! Work that was short a hundred times and is long now is divided nevertheless.
//!
//! In each of these tests the divided work waits for its other half, which programs must not do.
//! Here it shows, without a clock, that the two run at the same time; the watchdog ends a test that
//! hangs. This is a test binary of its own, since work that other tests divide on plain threads
//! would share the default runtime's domains with it.

#[path = "it/support/watch.rs"]
mod watch;

use lisle::Runtime;
use lisle::par::prelude::*;
use lisle::par::{self, join};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use watch::watched;

/// The number of times that the work is short before it is long.
const TIMES: usize = 100;

/// A meeting whose participants continue when all have come.
struct Meeting {
    wanted: usize,
    came: AtomicUsize,
}

impl Meeting {
    fn of(wanted: usize) -> Self {
        Meeting { wanted, came: AtomicUsize::new(0) }
    }

    /// Comes, and computes until the others have come.
    fn come(&self) {
        self.came.fetch_add(1, Ordering::SeqCst);
        while self.came.load(Ordering::SeqCst) < self.wanted {
            std::hint::spin_loop();
            std::thread::yield_now();
        }
    }
}

/// Plain threads share the default runtime. Two meetings there, each with one half on one of its
/// two domains, would wait for each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs `f` in a fiber, in a task, in the fiber that a runtime begins with, and on a plain thread.
fn by_everybody(domains: usize, f: impl Fn() + Send + Sync + Clone + 'static) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let _watched = watched();
    let runtime = Runtime::builder().domains(domains).start().unwrap();
    runtime.run(&f);
    let task = f.clone();
    runtime.run(move || lisle::spawn_task(async move { task() }).join().unwrap());
    // The first domain is the calling thread.
    Runtime::builder().domains(domains).run(&f);
    std::thread::spawn(f).join().unwrap();
}

/// Calls `program` with a meeting of one, which is over at once, until its shortness is known, and
/// then with a meeting of `wanted`.
fn short_then_long(
    domains: usize,
    wanted: usize,
    program: impl Fn(&Meeting) + Send + Sync + Clone + 'static,
) {
    by_everybody(domains, move || {
        for times in [TIMES, 3] {
            (0..times).for_each(|_| program(&Meeting::of(1)));
            program(&Meeting::of(wanted));
        }
    });
}

#[test]
fn two_halves_of_a_join() {
    short_then_long(2, 2, |meeting| {
        join(|| meeting.come(), || meeting.come());
    });
}

#[test]
fn two_halves_that_are_combined() {
    short_then_long(2, 2, |meeting| par::join_with(|| meeting.come(), || meeting.come(), |(), ()| ()));
}

#[test]
fn an_inner_join_of_a_short_one() {
    short_then_long(2, 2, |meeting| {
        let inner = || join(|| meeting.come(), || meeting.come());
        join(inner, || ());
        join(|| (), inner);
    });
}

/// Joins down to `depth`, and calls `leaf` with the number of each leaf.
fn tree(depth: u32, number: usize, leaf: &(impl Fn(usize) + Sync)) {
    if depth == 0 {
        return leaf(number);
    }
    join(|| tree(depth - 1, 2 * number, leaf), || tree(depth - 1, 2 * number + 1, leaf));
}

#[test]
fn any_two_leaves_of_a_tree() {
    for (one, other) in [(0, 1), (0, 2), (0, 7), (2, 3), (3, 4), (5, 7), (6, 7)] {
        short_then_long(2, 2, move |meeting| {
            let leaf = |number| {
                if number == one || number == other {
                    meeting.come();
                }
            };
            tree(3, 0, &leaf);
        });
    }
}

#[test]
fn two_tasks_of_a_scope() {
    short_then_long(2, 2, |meeting| {
        par::scope(|s| {
            let jobs = [s.spawn(|| meeting.come()), s.spawn(|| meeting.come())];
            jobs.into_iter().for_each(par::Promise::wait);
        });
    });
    short_then_long(2, 2, |meeting| {
        par::scope(|s| {
            let job = s.spawn(|| meeting.come());
            meeting.come();
            job.wait();
        });
    });
    short_then_long(2, 2, |meeting| {
        par::scope(|s| {
            for _ in 0..2 {
                let _ = s.spawn(|| meeting.come());
            }
        });
    });
}

#[test]
fn a_task_in_a_short_join() {
    short_then_long(2, 2, |meeting| {
        let jobs = || {
            par::scope(|s| {
                let job = s.spawn(|| meeting.come());
                meeting.come();
                job.wait();
            });
        };
        join(jobs, || ());
    });
}

#[test]
fn the_first_and_the_last_step_of_a_loop() {
    for steps in [2, 16, 1_000, 100_000] {
        short_then_long(2, 2, move |meeting| {
            (0..steps).into_par_iter().for_each(|step| {
                if step == 0 || step == steps - 1 {
                    meeting.come();
                }
            });
        });
    }
}

#[test]
fn a_loop_in_a_short_join() {
    short_then_long(2, 2, |meeting| {
        join(|| [0, 1].par_iter().for_each(|_| meeting.come()), || ());
    });
}

#[test]
fn a_half_that_sends_what_the_other_waits_for() {
    short_then_long(2, 2, |meeting| {
        let long = meeting.wanted > 1;
        let (tx, rx) = lisle::channel::<()>();
        join(
            || {
                if long {
                    rx.recv().unwrap()
                }
            },
            || {
                if long {
                    tx.send(()).unwrap()
                }
            },
        );
    });
}
