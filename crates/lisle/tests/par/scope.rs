//! Jobs and promises: results, panics, borrowing, waiting in any order, from every kind of caller.

use lisle::Runtime;
use lisle::par::{self, Promise, Scope, join, scope};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::current;
use std::time::{Duration, Instant};

/// Runs `f` on several numbers of domains, and on a plain thread.
fn everywhere(f: impl Fn() + Sync) {
    for domains in [1, 2, 4, 8] {
        Runtime::builder().domains(domains).stack_size(1 << 20).start().unwrap().run(&f);
    }
    f();
}

/// Shuffles the items in a way that is determined by `seed`.
fn shuffle<T>(items: &mut [T], mut seed: u64) {
    for i in (1..items.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        items.swap(i, (seed >> 33) as usize % (i + 1));
    }
}

fn plain_fibonacci(n: u64) -> u64 {
    if n < 2 { n } else { plain_fibonacci(n - 1) + plain_fibonacci(n - 2) }
}

fn fibonacci<'s>(s: &'s Scope<'s, '_>, n: u64, cut_off: u64) -> u64 {
    if n < cut_off {
        return plain_fibonacci(n);
    }
    let a = s.spawn(move || fibonacci(s, n - 1, cut_off));
    let b = fibonacci(s, n - 2, cut_off);
    a.wait() + b
}

#[test]
fn a_recursion_comes_to_the_same_everywhere() {
    everywhere(|| {
        assert_eq!(scope(|s| fibonacci(s, 24, 2)), 46_368);
        assert_eq!(scope(|s| fibonacci(s, 27, 12)), 196_418);
    });
}

#[test]
fn results_need_not_be_copied_and_may_borrow() {
    everywhere(|| {
        let words: Vec<String> = (0..100).map(|i| format!("word {i}")).collect();
        let longest = scope(|s| {
            let halves: Vec<Promise<'_, &String>> = words
                .chunks(10)
                .map(|chunk| s.spawn(move || chunk.iter().max_by_key(|word| word.len()).unwrap()))
                .collect();
            halves.into_iter().map(Promise::wait).max_by_key(|word| word.len()).unwrap()
        });
        assert_eq!(longest.len(), 7);
    });
}

#[test]
fn large_functions_and_results() {
    everywhere(|| {
        let big = [7_u8; 4_000];
        let sum = scope(|s| {
            let copy = s.spawn(move || big);
            let sum = s.spawn(move || big.iter().map(|&b| u32::from(b)).sum::<u32>());
            assert_eq!(copy.wait(), big);
            sum.wait()
        });
        assert_eq!(sum, 28_000);
    });
}

#[test]
fn promises_are_waited_for_or_dropped_in_any_order() {
    everywhere(|| {
        for seed in 0..40 {
            let ran = AtomicUsize::new(0);
            scope(|s| {
                let ran = &ran;
                let mut promises: Vec<_> = (0..60_usize)
                    .map(|i| {
                        let promise = s.spawn(move || {
                            ran.fetch_add(1, Ordering::Relaxed);
                            Box::new(i)
                        });
                        (i, promise)
                    })
                    .collect();
                shuffle(&mut promises, seed);
                for (at, (i, promise)) in promises.into_iter().enumerate() {
                    match at % 3 {
                        0 => assert_eq!(*promise.wait(), i),
                        1 => assert_eq!(*promise.join().unwrap(), i),
                        _ => drop(promise),
                    }
                }
            });
            assert_eq!(ran.into_inner(), 60);
        }
    });
}

fn tree<'s>(s: &'s Scope<'s, '_>, depth: u32, count: &'s AtomicUsize) {
    count.fetch_add(1, Ordering::Relaxed);
    if depth > 0 {
        for _ in 0..3 {
            let _ = s.spawn(move || tree(s, depth - 1, count));
        }
    }
}

#[test]
fn tasks_spawn_tasks_wide() {
    everywhere(|| {
        let count = AtomicUsize::new(0);
        scope(|s| tree(s, 8, &count));
        assert_eq!(count.into_inner(), (3_usize.pow(9) - 1) / 2);
    });
}

#[test]
fn tasks_spawn_tasks_deep() {
    fn chain<'s>(s: &'s Scope<'s, '_>, left: usize, count: &'s AtomicUsize) {
        count.fetch_add(1, Ordering::Relaxed);
        if left > 0 {
            let _ = s.spawn(move || chain(s, left - 1, count));
        }
    }
    everywhere(|| {
        let count = AtomicUsize::new(0);
        scope(|s| chain(s, 100_000, &count));
        assert_eq!(count.into_inner(), 100_001);
    });
}

/// Counts its drops.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn everything_is_dropped_once() {
    everywhere(|| {
        let (functions, results) = (AtomicUsize::new(0), AtomicUsize::new(0));
        for round in 0..30 {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                scope(|s| {
                    let results = &results;
                    let mut promises: Vec<_> = (0..20)
                        .map(|i| {
                            let held = Counted(&functions);
                            s.spawn(move || {
                                let _held = held;
                                assert_ne!(i, round, "this one");
                                Counted(results)
                            })
                        })
                        .collect();
                    shuffle(&mut promises, round);
                    promises.truncate(10);
                    for promise in promises {
                        drop(promise.join());
                    }
                });
            }));
        }
        assert_eq!(functions.into_inner(), 600);
        assert_eq!(results.into_inner(), 600 - 20);
    });
}

#[test]
fn a_panic_arrives_where_it_is_waited_for() {
    everywhere(|| {
        for bad in 0..30 {
            scope(|s| {
                let promises: Vec<_> = (0..30)
                    .map(|i| {
                        s.spawn(move || {
                            if i == bad {
                                panic_any(i);
                            }
                            i
                        })
                    })
                    .collect();
                for (i, promise) in promises.into_iter().enumerate() {
                    match promise.join() {
                        Ok(value) => assert_eq!(value, i),
                        Err(panic) => assert_eq!((i, *panic.downcast::<usize>().unwrap()), (bad, bad)),
                    }
                }
            });
        }
    });
}

#[test]
fn a_panic_that_nobody_waits_for_goes_on_from_the_scope_once_all_have_ended() {
    fn panics_at<'s>(s: &'s Scope<'s, '_>, depth: u32, leaf: u32, bad: u32, ended: &'s AtomicUsize) {
        if depth == 0 {
            ended.fetch_add(1, Ordering::Relaxed);
            if leaf == bad {
                panic_any(leaf);
            }
            return;
        }
        for side in 0..2 {
            let _ = s.spawn(move || panics_at(s, depth - 1, 2 * leaf + side, bad, ended));
        }
    }
    everywhere(|| {
        for bad in 0..64 {
            let ended = AtomicUsize::new(0);
            let caught = catch_unwind(AssertUnwindSafe(|| scope(|s| panics_at(s, 6, 0, bad, &ended))));
            assert_eq!(*caught.unwrap_err().downcast::<u32>().unwrap(), bad);
            assert_eq!(ended.into_inner(), 64);
        }
    });
}

#[test]
fn a_panic_of_the_scope_itself_lets_all_tasks_end_and_comes_first() {
    everywhere(|| {
        let ended = AtomicUsize::new(0);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            scope(|s| {
                for _ in 0..50 {
                    let _ = s.spawn(|| {
                        ended.fetch_add(1, Ordering::Relaxed);
                        panic_any(1);
                    });
                }
                panic_any(2);
            })
        }));
        assert_eq!(*caught.unwrap_err().downcast::<i32>().unwrap(), 2);
        assert_eq!(ended.into_inner(), 50);
    });
}

#[test]
fn a_result_that_panics_when_dropped_is_a_panic_of_its_task() {
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic_any("dropped");
        }
    }
    everywhere(|| {
        let caught = catch_unwind(|| scope(|s| drop(s.spawn(|| Bad))));
        assert_eq!(*caught.unwrap_err().downcast::<&str>().unwrap(), "dropped");
    });
}

/// Each job waits for the promises that it was given, wherever their jobs are.
#[test]
fn tasks_wait_for_promises_they_were_given() {
    everywhere(|| {
        for width in [1, 2, 7, 30] {
            let sum = scope(|s| {
                let mut layer: Vec<Promise<'_, u64>> =
                    (0..width).map(|i| s.spawn(move || plain_fibonacci(10) + i)).collect();
                for _ in 0..6 {
                    layer = layer
                        .into_iter()
                        .map(|before| s.spawn(move || before.wait() + plain_fibonacci(9)))
                        .collect();
                }
                let all = s.spawn(move || layer.into_iter().map(Promise::wait).sum::<u64>());
                all.wait()
            });
            assert_eq!(sum, width * (55 + 6 * 34) + width * (width - 1) / 2);
        }
    });
}

#[test]
fn a_promise_may_be_the_result_of_a_task() {
    everywhere(|| {
        for _ in 0..200 {
            let value = scope(|s| {
                let outer = s.spawn(move || s.spawn(|| plain_fibonacci(12)));
                let _ = s.spawn(|| plain_fibonacci(14));
                outer.wait().wait()
            });
            assert_eq!(value, 144);
        }
    });
}

/// The jobs are spawned on stacks on which the scope does not run.
#[test]
fn tasks_from_joins_and_fibers_within() {
    fn halves<'s>(s: &'s Scope<'s, '_>, n: u32, count: &'s AtomicUsize) {
        if n == 0 {
            let dropped = s.spawn(|| count.fetch_add(1, Ordering::Relaxed));
            let waited = s.spawn(|| count.fetch_add(1, Ordering::Relaxed));
            drop(dropped);
            waited.wait();
            return;
        }
        join(|| halves(s, n - 1, count), || halves(s, n - 1, count));
    }
    everywhere(|| {
        let count = AtomicUsize::new(0);
        scope(|s| {
            halves(s, 9, &count);
            lisle::fiber::scope(|fibers| {
                for _ in 0..10 {
                    fibers.spawn(|| {
                        let waited = s.spawn(|| count.fetch_add(1, Ordering::Relaxed));
                        let _ = s.spawn(|| tree(s, 2, &count));
                        waited.wait();
                    });
                }
            });
        });
        assert_eq!(count.into_inner(), 1_024 + 10 * (1 + 13));
    });
}

#[test]
fn scopes_within_scopes_and_loops() {
    use lisle::par::prelude::*;
    fn sort<T: Ord + Send>(items: &mut [T]) {
        if items.len() < 2 {
            return;
        }
        let (left, right) = items.split_at_mut(items.len() / 2);
        scope(|s| {
            let _ = s.spawn(|| sort(left));
            sort(right);
        });
        items.sort();
    }
    everywhere(|| {
        let sorted = (0..40_u64).into_par_iter().all(|seed| {
            let mut items: Vec<u32> = (0..100).collect();
            shuffle(&mut items, seed);
            sort(&mut items);
            items.is_sorted()
        });
        assert!(sorted);
        // Jobs of the outer scope, spawned in the inner one.
        let count = AtomicUsize::new(0);
        scope(|outer| {
            for _ in 0..50 {
                scope(|inner| {
                    let job = inner.spawn(|| outer.spawn(|| tree(outer, 2, &count)));
                    let _ = inner.spawn(|| tree(outer, 1, &count));
                    job.wait().wait();
                });
            }
        });
        assert_eq!(count.into_inner(), 50 * (13 + 4));
    });
}

/// A lock of the standard library is held while a job waits for the jobs that it has spawned.
#[test]
fn a_lock_held_across_a_wait_does_not_meet_itself() {
    everywhere(|| {
        for _ in 0..10 {
            let lock = Mutex::new(0);
            scope(|s| {
                for _ in 0..40 {
                    let _ = s.spawn(|| {
                        let mut held = lock.lock().unwrap();
                        *held += fibonacci(s, 11, 2);
                    });
                }
            });
            assert_eq!(lock.into_inner().unwrap(), 40 * 89);
        }
    });
}

/// A caller that waits for such jobs in order runs others of them in the meantime, and continues
/// only after they have released the lock.
#[test]
fn a_lock_held_by_tasks_that_are_waited_for_in_order_does_not_meet_itself() {
    everywhere(|| {
        for _ in 0..3 {
            let lock = Mutex::new(0);
            scope(|s| {
                let job = || {
                    let mut held = lock.lock().unwrap();
                    *held += fibonacci(s, 18, 2);
                };
                let promises: Vec<_> = (0..40).map(|_| s.spawn(job)).collect();
                promises.into_iter().for_each(Promise::wait);
            });
            assert_eq!(lock.into_inner().unwrap(), 40 * 2_584);
        }
    });
}

/// Spins until `done` returns `true`.
fn until(done: impl Fn() -> bool) {
    while !done() {
        std::thread::yield_now();
    }
}

/// The caller waits for one job, and then spawns the job that the others wait for. While it waits,
/// it may have begun one of these others.
#[test]
fn a_task_may_wait_for_what_comes_after_a_wait() {
    for domains in [1, 2, 4] {
        Runtime::builder().domains(domains).start().unwrap().run(|| {
            for _ in 0..20 {
                let (tx, rx) = lisle::channel::<u64>();
                let sum: u64 = scope(|s| {
                    let first = s.spawn(|| plain_fibonacci(16));
                    let hear = || rx.recv().unwrap();
                    // Every other job waits by a fiber of a scope. The end of a runtime does not
                    // interrupt that wait.
                    let masked = move || lisle::fiber::scope(|fibers| fibers.spawn(hear).join().unwrap());
                    let job = |i| s.spawn(move || if i % 2 == 0 { hear() } else { masked() });
                    let told: Vec<_> = (0..10).map(job).collect();
                    let first = first.wait();
                    let teller = s.spawn(|| (0..10).for_each(|i| tx.send(i).unwrap()));
                    lisle::fiber::scope(|fibers| {
                        fibers.spawn(|| teller.wait());
                        first + told.into_iter().map(Promise::wait).sum::<u64>()
                    })
                });
                assert_eq!(sum, 987 + 45);
            }
        });
    }
}

/// A job that waits for a promise that it was given may hold a lock of the standard library. Jobs
/// that were spawned next to it want that lock. On the same thread they would wait forever.
#[test]
fn while_a_task_waits_those_beside_it_do_not_run_on_its_domain() {
    if std::thread::available_parallelism().map_or(1, Into::into) < 2 {
        return;
    }
    for is_inside in [false, true].repeat(10) {
        let (has_begun, holder, met) = (AtomicBool::new(false), Mutex::new(None), AtomicUsize::new(0));
        let waits = |given: Promise<'_, ()>| {
            *holder.lock().unwrap() = Some(current().id());
            given.wait();
            *holder.lock().unwrap() = None;
        };
        lisle::run(|| {
            scope(|s| {
                let given = s.spawn(|| {
                    has_begun.store(true, Ordering::SeqCst);
                    // Each request for the graph wakes its domain, which then looks for work.
                    until(|| lisle::waiting().to_string().contains("wait for another domain to end"));
                    (0..3).for_each(|_| drop(lisle::waiting()));
                });
                until(|| has_begun.load(Ordering::SeqCst));
                for _ in 0..4 {
                    let _ = s.spawn(|| {
                        let meets = *holder.lock().unwrap() == Some(current().id());
                        met.fetch_add(meets.into(), Ordering::SeqCst);
                    });
                }
                if is_inside {
                    scope(|inside| inside.spawn(|| waits(given)).wait());
                } else {
                    s.spawn(|| waits(given)).wait();
                }
            });
        });
        assert_eq!(met.into_inner(), 0);
    }
}

/// Returns the largest number of jobs, out of `jobs`, that ran at the same time, up to `wanted`.
/// Each job waits for the others for a while.
fn most_at_once(jobs: usize, wanted: usize) -> usize {
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let job = || {
        let start = Instant::now();
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        while most.load(Ordering::SeqCst) < wanted && start.elapsed() < Duration::from_secs(2) {
            std::thread::yield_now();
        }
        now.fetch_sub(1, Ordering::SeqCst);
    };
    scope(|s| {
        let promises: Vec<_> = (0..jobs).map(|_| s.spawn(job)).collect();
        promises.into_iter().for_each(Promise::wait);
    });
    most.into_inner()
}

#[test]
fn tasks_that_are_waited_for_in_their_order_run_at_the_same_time() {
    if std::thread::available_parallelism().map_or(1, Into::into) < 2 {
        return;
    }
    for round in 0..20 {
        for jobs in [2, 3, 20] {
            assert_eq!(lisle::run(|| most_at_once(jobs, 2)), 2, "{jobs} jobs, round {round}");
        }
    }
    // The domains of the default runtime may be busy with other tests when the first jobs begin.
    assert_eq!(most_at_once(20, 2), 2, "on a plain thread");
}

#[test]
fn a_task_may_block() {
    for domains in [1, 2, 4] {
        Runtime::builder().domains(domains).stack_size(1 << 20).start().unwrap().run(|| {
            let (tx, rx) = lisle::channel::<u64>();
            let feeder = lisle::spawn(move || (0..100).for_each(|i| tx.send(i).unwrap()));
            let sum: u64 = scope(|s| {
                let promises: Vec<_> = (0..100).map(|_| s.spawn(|| rx.recv().unwrap())).collect();
                promises.into_iter().map(Promise::wait).sum()
            });
            feeder.join().unwrap();
            assert_eq!(sum, 99 * 100 / 2);
        });
    }
}

#[test]
fn many_scopes_at_once() {
    let runtime = Runtime::builder().domains(4).start().unwrap();
    std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| assert_eq!(par::scope(|s| fibonacci(s, 20, 2)), 6_765));
        }
        runtime.run(|| {
            let fibers: Vec<_> = (0..32).map(|_| lisle::spawn(|| scope(|s| fibonacci(s, 16, 2)))).collect();
            for fiber in fibers {
                assert_eq!(fiber.join().unwrap(), 987);
            }
        });
    });
}

/// A cycle is a mistake in the program, and must only cause a deadlock. Here it stops a thread that
/// the test leaves behind.
#[test]
fn a_task_that_waits_for_itself_waits() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    const TASK: u32 = line!() + 5;
    std::thread::spawn(|| {
        scope(|s| {
            let slot: std::sync::Arc<Mutex<Option<Promise<'_, u32>>>> = std::sync::Arc::default();
            let inner = slot.clone();
            let own = s.spawn(move || {
                RUNS.fetch_add(1, Ordering::Relaxed);
                // Another domain may have begun it already.
                until(|| inner.lock().unwrap().is_some());
                let own = inner.lock().unwrap().take();
                own.map_or(0, Promise::wait)
            });
            *slot.lock().unwrap() = Some(own);
        });
    });
    let place = format!("scope.rs:{TASK}");
    let waits = |text: &str| text.lines().any(|line| line.contains(&place) && line.contains("wait for"));
    until(|| waits(&lisle::waiting().to_string()));
    assert_eq!(RUNS.load(Ordering::Relaxed), 1);
}
