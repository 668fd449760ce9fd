//! Loops over all cores: their parts are processes like any other.

use crate::support::{executions, explored, failing, outcomes};
use lisle::par::dag::Dag;
use lisle::par::prelude::*;
use lisle::par::{self, Progress};
use lisle::sync::Mutex;
use lisle_check::Checker;
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::Arc;

fn add_one(count: &AtomicU32) {
    count.store(count.load(SeqCst) + 1, SeqCst);
}

#[test]
fn loops_that_nobody_sees_cost_one_execution() {
    assert_eq!(executions(|| assert_eq!((0..10_u64).into_par_iter().map(|n| n * n).sum::<u64>(), 285)), 1);
    assert_eq!(executions(|| assert_eq!(par::join(|| 1, || 2), (1, 2))), 1);
    assert_eq!(executions(|| (0..5_000).into_par_iter().for_each(drop)), 1);
    assert_eq!(executions(|| assert_eq!(par::scope(|scope| scope.spawn(|| 3).wait()), 3)), 1);
}

#[test]
fn the_halves_of_a_join_interleave_as_two_fibers_do() {
    let join = || {
        let count = AtomicU32::new(0);
        par::join(|| add_one(&count), || add_one(&count));
        assert!((1..=2).contains(&count.load(SeqCst)));
    };
    let fibers = || {
        let count = AtomicU32::new(0);
        lisle::fiber::scope(|scope| {
            let other = scope.spawn(|| add_one(&count));
            add_one(&count);
            other.join().unwrap();
        });
    };
    assert_eq!(executions(join), executions(fibers));
}

#[test]
fn updates_of_n_parts_come_in_all_orders() {
    let count = |parts: u32| {
        executions(move || {
            let count = AtomicU32::new(0);
            (0..parts).into_par_iter().for_each(|_| {
                count.fetch_add(1, SeqCst);
            });
        })
    };
    assert_eq!([1, 2, 3, 4].map(count), [1, 2, 6, 24]);
}

#[test]
fn a_lost_update_in_a_loop_is_found() {
    let found = failing(|| {
        let count = AtomicU32::new(0);
        (0..3).into_par_iter().for_each(|_| add_one(&count));
        assert_eq!(count.load(SeqCst), 3);
    });
    assert!(found.contains("right: 3"), "{found}");
}

#[test]
fn a_long_loop_has_so_many_parts() {
    // All steps read before any writes, unless some of them are one part.
    let least = |parts| {
        let program = |least: &AtomicU32| {
            let count = AtomicU32::new(0);
            (0..4).into_par_iter().for_each(|_| add_one(&count));
            least.fetch_min(count.load(SeqCst), SeqCst);
        };
        let seen = Arc::new(AtomicU32::new(u32::MAX));
        let told = seen.clone();
        assert!(Checker::new().parts(parts).explore(move || program(&told)).is_exhaustive());
        seen.load(SeqCst)
    };
    assert_eq!([1, 2, 4].map(least), [4, 2, 1]);
}

#[test]
fn parts_that_take_locks_crosswise_wait_for_each_other() {
    let found = failing(|| {
        let locks = [Mutex::new(1).named("left"), Mutex::new(2).named("right")];
        let both = |first: usize| *locks[first].lock() + *locks[1 - first].lock();
        (0..2_usize).into_par_iter().for_each(|part| assert_eq!(both(part), 3));
    });
    assert!(found.contains("left") && found.contains("right") && found.contains("a cycle of 2"), "{found}");
}

#[test]
fn halves_that_wait_for_each_other_may_wait_for_ever() {
    // On one domain the second half begins when the first one has ended.
    let found = failing(|| {
        let (tx, rx) = lisle::channel();
        let (sent, received) = par::join(|| tx.send(1), || rx.recv());
        assert_eq!((sent, received), (Ok(()), Ok(1)));
    });
    assert!(found.contains("send to a channel"), "{found}");
    assert!(found.contains("nothing promises that they run at the same time"), "{found}");
    // A part may wait for another fiber's message.
    explored(|| {
        let (tx, rx) = lisle::channel();
        drop(lisle::spawn(move || tx.send(1)));
        assert_eq!(par::join(|| rx.recv(), || 2), (Ok(1), 2));
    });
}

#[test]
fn results_are_right_in_every_schedule() {
    explored(|| {
        let step = AtomicU32::new(0);
        let turn = |n: u32| {
            step.load(SeqCst);
            n
        };
        let doubled: Vec<u32> = (0..4).into_par_iter().map(|n| 2 * turn(n)).collect();
        assert_eq!(doubled, [0, 2, 4, 6]);
        step.store(1, SeqCst);
        let (even, odd): (Vec<u32>, Vec<u32>) = (0..4).into_par_iter().map(turn).partition(|n| n % 2 == 0);
        assert_eq!((even, odd), (vec![0, 2], vec![1, 3]));
        assert_eq!((0..4).into_par_iter().map(turn).reduce(|| 0, |a, b| a + b), 6);
        let text = ["a", "b", "c"].into_par_iter().map(String::from).reduce(String::new, |a, b| a + &b);
        assert_eq!(text, "abc");
        assert_eq!((0..4).into_par_iter().map(turn).find_first(|n| n % 2 == 1), Some(1));
    });
}

#[test]
fn a_search_gives_any_that_is_found() {
    let found = outcomes(|| {
        let step = AtomicU32::new(0);
        (0..3_u32).into_par_iter().find_any(|n| step.fetch_add(1, SeqCst) < 3 && *n > 0)
    });
    assert_eq!(found, [Some(1), Some(2)]);
    let calls = outcomes(|| {
        let calls = AtomicU32::new(0);
        (0..3_u32).into_par_iter().any(|_| calls.fetch_add(1, SeqCst) < 3);
        calls.load(SeqCst)
    });
    assert_eq!(calls, [1, 2, 3]);
}

#[test]
fn a_panic_in_one_part_ends_the_loop_when_all_have_ended() {
    // A part that has begun comes to its end; one that has not does not begin.
    let begun = outcomes(|| {
        let begun = AtomicU32::new(0);
        let run = || {
            (0..3).into_par_iter().for_each(|part| {
                begun.fetch_add(1, SeqCst);
                assert!(part != 1, "part 1");
            });
        };
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"part 1"));
        begun.load(SeqCst)
    });
    assert_eq!(begun, [1, 2, 3]);

    let found = failing(|| {
        let (first, second) = par::join(|| 1, || if true { panic!("the second half") } else { 2 });
        assert_eq!(first + second, 3);
    });
    assert!(found.contains("the second half"), "{found}");
}

#[test]
fn loops_are_nested() {
    let sums = outcomes(|| {
        let count = AtomicU32::new(0);
        let add = |_| add_one(&count);
        par::join(|| (0..2).into_par_iter().for_each(add), || add(0));
        count.load(SeqCst)
    });
    assert_eq!(sums, [1, 2, 3]);
    explored(|| {
        let square = |n: u64| (0..n).into_par_iter().map(|_| n).sum::<u64>();
        assert_eq!((0..5_u64).into_par_iter().map(square).sum::<u64>(), 30);
        fn fibonacci(n: u64) -> u64 {
            if n < 2 { n } else { par::join_with(|| fibonacci(n - 1), || fibonacci(n - 2), |a, b| a + b) }
        }
        assert_eq!(fibonacci(7), 13);
    });
}

#[test]
fn jobs_of_a_scope_are_processes() {
    let sums = outcomes(|| {
        let count = AtomicU32::new(0);
        par::scope(|scope| {
            let job = scope.spawn(|| add_one(&count));
            let _ = scope.spawn(|| add_one(&count));
            add_one(&count);
            job.wait();
        });
        count.load(SeqCst)
    });
    assert_eq!(sums, [1, 2, 3]);
    // A job that is spawned in a part of a loop is not put off until the loop has ended.
    let strays = outcomes(|| {
        let seen = AtomicU32::new(0);
        par::scope(|scope| par::join(|| seen.load(SeqCst), || drop(scope.spawn(|| seen.store(1, SeqCst)))).0)
    });
    assert_eq!(strays, [0, 1]);
    let asked = outcomes(|| {
        let step = AtomicU32::new(0);
        par::scope(|scope| {
            let job = scope.spawn(|| step.store(1, SeqCst));
            job.is_finished()
        })
    });
    assert_eq!(asked, [false, true]);
    let unheard = failing(|| par::scope(|scope| drop(scope.spawn(|| panic!("unheard")))));
    assert!(unheard.contains("unheard"), "{unheard}");
}

#[test]
fn a_promise_may_be_waited_for_elsewhere() {
    explored(|| {
        let step = AtomicU32::new(0);
        let sum = par::scope(|scope| {
            let job = scope.spawn(|| step.fetch_add(1, SeqCst));
            let (waited, added) = par::join(|| job.wait(), || step.fetch_add(1, SeqCst));
            waited + added
        });
        assert_eq!(sum, 1);
    });
}

#[test]
fn sparks_of_a_graph_run_when_what_they_use_is_there() {
    let orders = outcomes(|| {
        let order = AtomicU32::new(0);
        let note = |digit| {
            let before = order.load(SeqCst);
            order.store(10 * before + digit, SeqCst);
        };
        let mut dag = Dag::new();
        let left = dag.spark((), |()| note(1));
        let right = dag.spark((), |()| note(2));
        let _both = dag.spark((&left, &right), |((), ())| note(3));
        let _results = dag.run();
        order.load(SeqCst)
    });
    assert_eq!(orders, [13, 23, 123, 213]);
}

#[test]
fn progress_is_seen_while_the_loop_runs() {
    let seen = outcomes(|| {
        let progress = Progress::new();
        lisle::fiber::scope(|scope| {
            scope.spawn(|| (0..2).into_par_iter().progress(&progress).for_each(drop));
            (progress.done(), progress.total())
        })
    });
    assert_eq!(seen, [(0, 0), (0, 2), (1, 2), (2, 2)]);
    explored(|| {
        let progress = Progress::new();
        lisle::fiber::scope(|scope| {
            scope.spawn(|| (0..2).into_par_iter().progress(&progress).for_each(drop));
            assert!(lisle::Event::sync(&progress.reached_evt(1)) >= 1);
        });
    });
}

#[test]
fn a_loop_runs_in_a_task_and_where_nothing_may_wait() {
    let sums = outcomes(|| {
        let count = AtomicU32::new(0);
        let count = &count;
        lisle::fiber::scope(|scope| {
            scope.spawn_task(async move { (0..2).into_par_iter().for_each(|_| add_one(count)) });
        });
        count.load(SeqCst)
    });
    assert_eq!(sums, [1, 2]);
    let alone = executions(|| {
        let count = AtomicU32::new(0);
        lisle::fiber::no_suspend(|| (0..3).into_par_iter().for_each(|_| add_one(&count)));
        assert_eq!(count.load(SeqCst), 3);
    });
    assert_eq!(alone, 1);
}

#[test]
fn each_division_is_tried_if_that_is_asked_for() {
    let ways = |blocks: u32| {
        let sum = move || assert_eq!((0..blocks).into_par_iter().sum::<u32>(), blocks * (blocks - 1) / 2);
        let verdict = Checker::new().every_division().explore(sum);
        assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
        verdict.counts().complete
    };
    assert_eq!([1, 2, 3, 4, 5].map(ways), [1, 2, 5, 15, 51]);
    // The steps of one part share a value.
    let program = || {
        let count = |seen: &mut u32, _| {
            *seen += 1;
            *seen
        };
        let most = (0..3).into_par_iter().map_init(|| 0, count).max();
        assert!(most < Some(3), "three steps in one part");
    };
    assert!(Checker::new().explore(program).failure().is_none());
    assert!(Checker::new().every_division().explore(program).failure().is_some());
}

#[test]
fn a_fiber_that_is_cancelled_ends_its_loop() {
    // To cancel a fiber is to ask it, and this one does not look.
    let ends = outcomes(|| {
        let (tx, rx) = lisle::channel::<u32>();
        let (of_first, of_second) = (rx.clone(), rx);
        let looping = lisle::spawn(move || {
            let halves = par::join(|| of_first.recv().is_err(), || of_second.recv().is_err());
            assert_eq!(halves, (true, true));
        });
        looping.cancel();
        drop(tx);
        looping.join().is_ok()
    });
    assert_eq!(ends, [true]);
}

#[test]
fn what_a_given_up_loop_has_borrowed_stays_until_its_parts_have_ended() {
    // The panic ends the execution while the halves wait, and both are unwound.
    let found = failing(|| {
        let (tx, rx) = lisle::channel::<u32>();
        let looping = lisle::spawn(move || {
            let borrowed = [1, 2];
            let half = |at: usize| rx.recv().map_or(borrowed[at], |received| received + borrowed[at]);
            let (one, other) = par::join(|| half(0), || half(1));
            assert_eq!(one + other, 3);
        });
        let _sender = tx;
        looping.join().unwrap();
    });
    assert!(found.contains("receive from a channel"), "{found}");
}
