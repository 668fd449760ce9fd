//! Joins and loops where something fails in the middle, or whose work other domains might not
//! notice.
//!
//! Tests that may end or stop the whole process run in a child process.

use lisle::par::iter::Part;
use lisle::par::join;
use lisle::par::prelude::*;
use lisle::{Event, Runtime, fiber};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CHILD: &str = "LISLE_PAR_REVIEW_CHILD";
/// The time after which something that takes milliseconds is considered stuck.
const LONG: Duration = Duration::from_secs(20);

fn on(domains: usize) -> Runtime {
    Runtime::builder().domains(domains).start().unwrap()
}

/// Runs `body` in a child process with the limits that the command `shell` sets.
fn in_child(test: &str, shell: &str, body: impl FnOnce()) {
    if std::env::var_os(CHILD).is_some_and(|child| child == test) {
        body();
        return;
    }
    let this = std::env::current_exe().unwrap();
    let mut child = Command::new("sh")
        .args(["-c", &format!("{shell} exec \"$0\" --exact --nocapture --test-threads=1 trouble::{test}")])
        .arg(this)
        .env(CHILD, test)
        .spawn()
        .unwrap();
    let end = Instant::now() + LONG;
    let status: Option<ExitStatus> = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if Instant::now() > end => break None,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    if status.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(status.is_some_and(|status| status.success()), "it ended with {status:?}; none: it hung");
}

/// Keeps the processor for this time, in a way that a loop cannot notice.
fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        black_box(0);
    }
}

fn joins(depth: u32) {
    if depth == 0 {
        return compute(Duration::from_micros(3));
    }
    join(|| joins(depth - 1), || joins(depth - 1));
}

/// Numbers that call a function when they are divided, except by a block.
struct Odd<F>(usize, F);
struct OddPart<'f, F> {
    len: usize,
    divide: &'f F,
}

/// Numbers that cannot be counted while their loop is in a block.
struct Uncounted;
struct UncountedPart(usize);

thread_local! {
    static IN_STEP: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl ParallelIterator for Uncounted {
    type Item = ();
    type Part<'a> = UncountedPart;
    fn part(&mut self) -> UncountedPart {
        UncountedPart(64)
    }
}

impl Part for UncountedPart {
    type Item = ();
    type Items = std::iter::RepeatN<()>;
    fn len(&self) -> usize {
        assert!(!IN_STEP.get(), "not countable");
        self.0
    }
    fn split_at(self, at: usize) -> (Self, Self) {
        (UncountedPart(at), UncountedPart(self.0 - at))
    }
    fn items(self) -> Self::Items {
        std::iter::repeat_n((), self.0)
    }
}

impl<F: Fn() + Sync + Send> ParallelIterator for Odd<F> {
    type Item = ();
    type Part<'a>
        = OddPart<'a, F>
    where
        Self: 'a;
    fn part(&mut self) -> OddPart<'_, F> {
        OddPart { len: self.0, divide: &self.1 }
    }
}

impl<F: Fn() + Sync> Part for OddPart<'_, F> {
    type Item = ();
    type Items = std::iter::RepeatN<()>;
    fn len(&self) -> usize {
        self.len
    }
    fn split_at(self, at: usize) -> (Self, Self) {
        if at > 1 {
            (self.divide)();
        }
        let part = |len| OddPart { len, divide: self.divide };
        (part(at), part(self.len - at))
    }
    fn items(self) -> Self::Items {
        std::iter::repeat_n((), self.len)
    }
}

#[test]
fn a_part_that_panics_when_it_is_offered_does_no_harm() {
    in_child("a_part_that_panics_when_it_is_offered_does_no_harm", "", || {
        let caught = on(2).run(|| {
            catch_unwind(AssertUnwindSafe(|| {
                Odd(64, || panic!("not divisible")).grain(1).for_each(|()| joins(8));
            }))
        });
        assert!(caught.is_err(), "it was offered, and so divided");
        on(2).run(|| joins(8));
    });
}

#[test]
fn a_part_that_panics_when_it_is_counted_does_no_harm() {
    in_child("a_part_that_panics_when_it_is_counted_does_no_harm", "", || {
        on(2).run(|| {
            // Other domains determine whether it is counted during a step or before the first one.
            let start = Instant::now();
            let mut is_counted = false;
            while !is_counted && start.elapsed() < LONG / 4 {
                let caught = catch_unwind(|| {
                    Uncounted.grain(1).for_each(|()| {
                        IN_STEP.set(true);
                        joins(8);
                        IN_STEP.set(false);
                    });
                });
                is_counted = caught.is_err();
            }
            assert!(is_counted, "it was to be offered, and so counted");
            IN_STEP.set(false);
            joins(8);
        });
    });
}

#[test]
fn a_part_may_let_others_run_when_it_is_offered() {
    in_child("a_part_may_let_others_run_when_it_is_offered", "", || {
        on(2).run(|| {
            let fibers = [(); 3].map(|()| {
                fiber::spawn_on(0, || {
                    for _ in 0..20 {
                        Odd(64, fiber::yield_now).grain(1).for_each(|()| joins(5));
                    }
                })
            });
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        });
    });
}

#[test]
fn a_part_may_use_loops_when_it_is_offered() {
    in_child("a_part_may_use_loops_when_it_is_offered", "", || {
        on(2).run(|| {
            for _ in 0..20 {
                Odd(64, || joins(8)).grain(1).for_each(|()| joins(5));
            }
        });
    });
}

#[test]
fn a_thread_that_cannot_have_a_runtime_is_left_whole() {
    /// Uses the memory of the frame of a join that ended in a panic.
    #[inline(never)]
    fn use_stack() -> usize {
        let mut zeros = [0_u64; 8192];
        black_box(&mut zeros);
        joins(6);
        black_box(&mut zeros).iter().filter(|&&word| word != 0).count()
    }
    in_child("a_thread_that_cannot_have_a_runtime_is_left_whole", "ulimit -n 64;", || {
        let files: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
        let caught = catch_unwind(|| joins(6));
        drop(files);
        assert_eq!(use_stack(), 0, "words written that are nobody's; the panic was {caught:?}");
    });
}

/// Returns `true` if another domain begins the second half of a join while the first half takes
/// long.
fn second_half_begins_while_the_first_runs() -> bool {
    let has_begun = AtomicBool::new(false);
    let (seen, ()) = join(
        || {
            let start = Instant::now();
            while !has_begun.load(Ordering::Relaxed) && start.elapsed() < Duration::from_secs(2) {
                std::thread::yield_now();
            }
            has_begun.load(Ordering::Relaxed)
        },
        || has_begun.store(true, Ordering::Relaxed),
    );
    seen
}

#[test]
fn an_idle_domain_helps_also_if_its_wakes_were_of_no_use_before() {
    if std::thread::available_parallelism().map_or(1, Into::into) < 2 {
        return;
    }
    let runtime = on(2);
    assert!(
        runtime.run(|| {
            std::thread::sleep(Duration::from_millis(50)); // the other domain falls asleep
            second_half_begins_while_the_first_runs()
        }),
        "without anything before"
    );
    assert!(
        runtime.run(|| {
            // Each is over before another domain could take it.
            for _ in 0..200_000 {
                lisle::spawn(|| ()).join().unwrap();
            }
            std::thread::sleep(Duration::from_millis(50));
            second_half_begins_while_the_first_runs()
        }),
        "after many fibers that nobody needed to take"
    );
}

/// The other domains have not started yet, and are waited for.
#[test]
fn the_first_thing_that_a_runtime_does_is_divided() {
    if std::thread::available_parallelism().map_or(1, Into::into) < 2 {
        return;
    }
    for round in 0..50 {
        let builder = Runtime::builder().domains(2);
        assert!(builder.run(second_half_begins_while_the_first_runs), "round {round}");
    }
}

/// Returns `true` if the third of three domains helps domain 0 while `waiting` has a fiber that
/// waits in a join.
fn is_helped(waiting: Option<usize>) -> bool {
    let runtime = on(3);
    let (tx, rx) = lisle::channel::<()>();
    let (told, tell) = lisle::channel::<()>();
    let waiter = waiting.map(|waiting| {
        runtime.run(|| {
            fiber::spawn_on(waiting, move || {
                let taken = AtomicBool::new(false);
                std::thread::sleep(Duration::from_millis(100)); // all the others fall asleep
                join(
                    || {
                        let start = Instant::now();
                        while !taken.load(Ordering::Relaxed) && start.elapsed() < Duration::from_secs(2) {
                            std::thread::yield_now();
                        }
                        assert!(taken.load(Ordering::Relaxed), "this one was to be helped, too");
                    },
                    || {
                        taken.store(true, Ordering::Relaxed);
                        told.send(()).unwrap();
                        rx.recv().unwrap();
                    },
                );
            })
        })
    });
    if waiter.is_some() {
        tell.recv().unwrap();
    }
    let asks = runtime.run(|| {
        fiber::spawn_on(0, || {
            std::thread::sleep(Duration::from_millis(100));
            second_half_begins_while_the_first_runs()
        })
    });
    let helped = asks.join().unwrap();
    if let Some(waiter) = waiter {
        tx.send(()).unwrap();
        waiter.join().unwrap();
    }
    helped
}

#[test]
fn a_domain_that_may_take_it_is_woken_also_if_another_sleeps_that_may_not() {
    if std::thread::available_parallelism().map_or(1, Into::into) < 2 {
        return;
    }
    // In any order of the requests, one of these goes to a domain that does not help.
    assert_eq!([None, Some(1), Some(2)].map(is_helped), [true; 3]);
}

#[test]
fn a_loop_is_shared_also_if_wakes_were_of_no_use_before() {
    if std::thread::available_parallelism().map_or(1, Into::into) < 2 {
        return;
    }
    let runtime = on(2);
    let elsewhere = AtomicUsize::new(0);
    runtime.run(|| {
        for _ in 0..200_000 {
            lisle::spawn(|| ()).join().unwrap();
        }
        std::thread::sleep(Duration::from_millis(50));
        let here = std::thread::current().id();
        (0..20_000).into_par_iter().for_each(|_| {
            compute(Duration::from_micros(100));
            if std::thread::current().id() != here {
                elsewhere.fetch_add(1, Ordering::Relaxed);
            }
        });
    });
    let elsewhere = elsewhere.into_inner();
    assert!(elsewhere > 2_000, "{elsewhere} of 20,000 steps were done by the other domain");
}

/// A waker that lets other fibers run, as a waker that locks or sends does.
struct Yields(AtomicUsize);

impl std::task::Wake for Yields {
    fn wake(self: std::sync::Arc<Self>) {
        for _ in 0..100 {
            fiber::yield_now();
            compute(Duration::from_micros(10));
        }
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_waker_may_wait_also_while_a_loop_looks_at_sockets() {
    in_child("a_waker_may_wait_also_while_a_loop_looks_at_sockets", "", || {
        use lisle::Event;
        use std::io::Write;
        on(1).run(|| {
            let done = AtomicBool::new(false);
            let done = &done;
            fiber::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(move || {
                        while !done.load(Ordering::Relaxed) {
                            joins(8);
                        }
                    });
                }
                let (near, mut far) = std::os::unix::net::UnixStream::pair().unwrap();
                near.set_nonblocking(true).unwrap();
                let near = lisle::net::Pollable::new(near).unwrap();
                let wakes = std::sync::Arc::new(Yields(AtomicUsize::new(0)));
                let waker = wakes.clone().into();
                {
                    let mut ready = std::pin::pin!(near.readable_evt().future());
                    let mut context = std::task::Context::from_waker(&waker);
                    assert!(ready.as_mut().poll(&mut context).is_pending());
                    far.write_all(b"!").unwrap();
                    while wakes.0.load(Ordering::Relaxed) == 0 {
                        fiber::yield_now();
                    }
                    assert!(ready.as_mut().poll(&mut context).is_ready());
                }
                done.store(true, Ordering::Relaxed);
            });
        });
    });
}

/// Runs a loop when it is dropped.
struct Loops;

impl Drop for Loops {
    fn drop(&mut self) {
        assert_eq!((0..100).into_par_iter().sum::<u64>(), 4_950);
    }
}

#[inline(never)]
fn panic_deep(depth: usize) {
    let frame = [0_u8; 1024];
    black_box(&frame);
    if depth == 0 {
        let _loops = Loops;
        panic!("deep");
    }
    panic_deep(depth - 1);
    black_box(&frame);
}

#[test]
fn a_destructor_may_loop_while_a_deep_stack_unwinds() {
    in_child("a_destructor_may_loop_while_a_deep_stack_unwinds", "", || {
        let runtime = Runtime::builder().domains(1).stack_size(256 * 1024).start().unwrap();
        runtime.run(|| assert!(catch_unwind(|| panic_deep(200)).is_err()));
    });
}

#[test]
fn a_part_that_does_nothing_is_no_trouble() {
    // It shows that the other tests fail by the code in their parts.
    let divided = AtomicUsize::new(0);
    on(2).run(|| {
        for _ in 0..20 {
            Odd(64, || _ = divided.fetch_add(1, Ordering::Relaxed)).grain(1).for_each(|()| joins(8));
        }
    });
    assert!(divided.into_inner() > 0);
}

/// The same code for every `op`.
fn each(steps: usize, op: &(dyn Fn() + Sync)) {
    (0..steps).into_par_iter().for_each(|_| op());
}

/// Returns how many of `steps` steps of a millisecond another domain does, after as many that took
/// almost no time.
fn shared_after_cheap_ones(steps: usize) -> usize {
    on(2).run(|| {
        fiber::spawn_on(0, move || {
            for _ in 0..1_000 {
                each(steps, &|| _ = black_box(0));
            }
            std::thread::sleep(Duration::from_millis(50)); // the other domain falls asleep
            let (here, elsewhere) = (std::thread::current().id(), AtomicUsize::new(0));
            each(steps, &|| {
                compute(Duration::from_millis(1));
                elsewhere.fetch_add(usize::from(std::thread::current().id() != here), Ordering::Relaxed);
            });
            elsewhere.into_inner()
        })
        .join()
        .unwrap()
    })
}

#[test]
fn a_loop_is_shared_also_if_the_same_code_was_cheap_before() {
    if std::thread::available_parallelism().map_or(1, Into::into) < 2 {
        return;
    }
    for steps in [400, 1_000, 4_000] {
        let shared = shared_after_cheap_ones(steps);
        assert!(shared > steps / 10, "{shared} of {steps} steps were done by the other domain");
    }
}

/// A runtime that ends unwinds the fibers that wait, although a loop occupies the only domain.
#[test]
fn a_shutdown_reaches_fibers_beside_a_loop() {
    struct Unwound<'a>(&'a AtomicBool);
    impl Drop for Unwound<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    static LOOPS: AtomicBool = AtomicBool::new(false);
    static UNWOUND: AtomicBool = AtomicBool::new(false);
    let runtime = on(1);
    let fiber = runtime.spawn(|| {
        let waits = lisle::spawn(|| {
            let _unwound = Unwound(&UNWOUND);
            lisle::never::<()>().sync();
        });
        let until_unwound = |_| {
            LOOPS.store(true, Ordering::SeqCst);
            UNWOUND.load(Ordering::SeqCst)
        };
        assert!((0..usize::MAX).into_par_iter().any(until_unwound));
        drop(waits);
    });
    while !LOOPS.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    // The fiber that waits begins while the loop beats.
    let shutdown = runtime.shutdown(LONG);
    assert!(shutdown.is_clean(), "{shutdown}");
    fiber.join().unwrap();
}
