//! The turns of tasks beside the turns of fibers. The side that could starve counts how many of the
//! other side went before it.

use crate::support::{compute, watched};
use lisle::sync::Latch;
use lisle::{Runtime, fiber, spawn, spawn_task};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Releases `tasks` tasks at once, each of which computes for `millis` milliseconds. Returns how
/// many have ended when a fiber continues that is due after 10 ms.
fn done_before_a_due_fiber(tasks: usize, millis: u64) -> usize {
    let _watched = watched();
    let (done, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    Runtime::builder().domains(1).stall_report(None).drain(true).run(|| {
        let begin = Arc::new(Latch::new(1));
        for _ in 0..tasks {
            let (begin, done, seen) = (begin.clone(), done.clone(), seen.clone());
            drop(spawn_task(async move {
                begin.wait_evt().await;
                // The test need not wait any longer once the fiber has continued.
                if seen.load(Ordering::Relaxed) == 0 {
                    compute(Duration::from_millis(millis));
                    done.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        let (done, seen) = (done.clone(), seen.clone());
        let sleeper = spawn(move || {
            lisle::time::sleep(Duration::from_millis(10));
            seen.store(done.load(Ordering::Relaxed).max(1), Ordering::Relaxed);
        });
        // All tasks wait.
        (0..3).for_each(|_| fiber::yield_now());
        begin.count_down();
        sleeper.join().unwrap();
    });
    seen.load(Ordering::Relaxed)
}

/// The turns are counted, and the tasks may begin anywhere in the count.
#[test]
fn a_fiber_that_is_due_goes_between_tasks_that_follow_each_other() {
    for _ in 0..4 {
        let done = done_before_a_due_fiber(30, 20);
        assert!(done <= 12, "{done} tasks have gone before");
    }
}

#[test]
fn a_fiber_that_is_due_goes_between_many_tasks_that_were_released_at_once() {
    let done = done_before_a_due_fiber(1_000, 2);
    assert!(done <= 150, "{done} tasks have gone before");
}

/// When one of the fibers waits the other one is due.
#[test]
fn fibers_that_are_always_due_do_not_keep_many_tasks_from_their_turns() {
    let _watched = watched();
    Runtime::builder().domains(1).stall_report(None).run(|| {
        let (begin, stop) = (Arc::new(Latch::new(1)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..40)
            .map(|_| {
                let begin = begin.clone();
                spawn_task(async move { begin.wait_evt().await })
            })
            .collect();
        let sleepers = [(); 2].map(|()| {
            let stop = stop.clone();
            spawn(move || {
                while stop.load(Ordering::Relaxed) == 0 {
                    lisle::time::sleep(Duration::from_millis(1));
                    compute(Duration::from_millis(12));
                }
            })
        });
        (0..3).for_each(|_| fiber::yield_now());
        begin.count_down();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        stop.store(1, Ordering::Relaxed);
        sleepers.into_iter().for_each(|sleeper| sleeper.join().unwrap());
    });
}

/// Counts the turns of tasks between the turns of a fiber that does `beside` in each.
fn turns_of_tasks(beside: impl Fn() + Send + 'static) {
    const TURNS: usize = 50;
    let _watched = watched();
    Runtime::builder().domains(1).stall_report(None).run(|| {
        let (turns, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..200)
            .map(|_| {
                let (turns, stop) = (turns.clone(), stop.clone());
                spawn_task(async move {
                    while stop.load(Ordering::Relaxed) == 0 {
                        turns.fetch_add(1, Ordering::Relaxed);
                        lisle::task::yield_now().await;
                    }
                })
            })
            .collect();
        fiber::yield_now();
        let before = turns.load(Ordering::Relaxed);
        (0..TURNS).for_each(|_| {
            beside();
            fiber::yield_now();
        });
        let between = turns.load(Ordering::Relaxed) - before;
        stop.store(1, Ordering::Relaxed);
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert!(between <= 60 * TURNS, "{between} turns of tasks between {TURNS} of a fiber");
    });
}

/// Tasks that yield have not been left by the fiber between them.
#[test]
fn many_tasks_that_yield_do_not_keep_a_fiber_from_its_turns() {
    turns_of_tasks(|| ());
}

/// Only the one that the fiber has woken comes before its next turn.
#[test]
fn many_tasks_that_yield_do_not_go_first_for_one_that_a_fiber_wakes() {
    turns_of_tasks(|| drop(spawn_task(lisle::task::yield_now())));
}

/// One domain has more fibers that have not begun than its ring holds, and the other one helps it:
/// of its own ring only one would begin every 10 ms.
#[test]
fn ready_tasks_have_their_turns_beside_a_surplus_of_fibers() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(2).stall_report(None).start().unwrap();
    let begin = Arc::new(Latch::new(1));
    let released = begin.clone();
    let spawns_tasks = move || {
        let task = |_| {
            let begin = released.clone();
            spawn_task(async move { begin.wait_evt().await })
        };
        (0..30).map(task).collect::<Vec<_>>()
    };
    let tasks = runtime.spawn(spawns_tasks).join().unwrap();
    let (begun, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (many, stopped) = (begun.clone(), stop.clone());
    let spawner = runtime.spawn(move || {
        for _ in 0..4_000 {
            let (begun, stop) = (many.clone(), stopped.clone());
            drop(spawn(move || {
                begun.fetch_add(1, Ordering::Relaxed);
                if stop.load(Ordering::Relaxed) == 0 {
                    compute(Duration::from_millis(1));
                }
            }));
        }
    });
    spawner.join().unwrap();
    let before = begun.load(Ordering::Relaxed);
    begin.count_down();
    tasks.into_iter().for_each(|task| task.join().unwrap());
    let meanwhile = begun.load(Ordering::Relaxed) - before;
    stop.store(1, Ordering::Relaxed);
    assert!(meanwhile < 450, "{meanwhile} fibers have begun before all tasks went on");
}
