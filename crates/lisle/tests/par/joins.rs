//! Joins: results, panics, nesting, from every kind of caller.

use lisle::par::prelude::*;
use lisle::par::{self, join};
use lisle::{Event, Runtime, channel};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn on(domains: usize) -> Runtime {
    Runtime::builder().domains(domains).start().unwrap()
}

fn fibonacci(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

#[test]
fn a_recursion_comes_to_the_same_on_any_number_of_domains() {
    for domains in [1, 2, 3, 8] {
        assert_eq!(on(domains).run(|| fibonacci(27)), 196_418, "on {domains} domains");
    }
    assert_eq!(fibonacci(27), 196_418, "on a plain thread");
}

#[test]
fn many_fibers_and_threads_at_once() {
    let runtime = on(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(fibonacci(23), 28_657));
        }
        runtime.run(|| {
            let fibers: Vec<_> = (0..32).map(|_| lisle::spawn(|| fibonacci(20))).collect();
            for fiber in fibers {
                assert_eq!(fiber.join().unwrap(), 6_765);
            }
        });
    });
}

/// Joins down to `depth`. The leaf with this number panics.
fn panics_at(depth: u32, leaf: u32, bad: u32, begun: &AtomicUsize, dropped: &AtomicUsize) {
    struct Counted<'a>(&'a AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    begun.fetch_add(1, Ordering::Relaxed);
    let _counted = Counted(dropped);
    if depth == 0 {
        assert_ne!(leaf, bad, "this one");
        return;
    }
    join(
        || panics_at(depth - 1, 2 * leaf, bad, begun, dropped),
        || panics_at(depth - 1, 2 * leaf + 1, bad, begun, dropped),
    );
}

#[test]
fn a_panic_in_any_leaf_arrives_once_all_that_began_has_ended() {
    let runtime = on(3);
    for bad in (0..512).step_by(7) {
        let (begun, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let caught =
            runtime.run(|| catch_unwind(AssertUnwindSafe(|| panics_at(9, 0, bad, &begun, &dropped))));
        assert!(caught.is_err());
        assert_eq!(begun.into_inner(), dropped.into_inner());
    }
}

#[test]
fn a_half_may_block() {
    let runtime = on(2);
    let sum = runtime.run(|| {
        let (tx, rx) = channel::<u64>();
        let feeder = lisle::spawn(move || (0..200).for_each(|i| tx.send(i).unwrap()));
        fn sum(n: u32, rx: &lisle::channel::Receiver<u64>) -> u64 {
            if n == 1 {
                return rx.recv().unwrap();
            }
            let (a, b) = join(|| sum(n / 2, rx), || sum(n - n / 2, rx));
            a + b
        }
        let sum = sum(200, &rx);
        feeder.join().unwrap();
        sum
    });
    assert_eq!(sum, 199 * 200 / 2);
}

/// A lock of the standard library is held while an inner join runs: no part of the outer one may
/// run on top of it.
#[test]
fn a_lock_held_across_a_join_does_not_meet_itself() {
    fn outer(n: u32, lock: &Mutex<u64>) {
        if n > 0 {
            join(|| outer(n - 1, lock), || outer(n - 1, lock));
            return;
        }
        let mut held = lock.lock().unwrap();
        *held += fibonacci(13);
    }
    let runtime = on(4);
    for _ in 0..20 {
        let lock = Mutex::new(0);
        runtime.run(|| outer(7, &lock));
        assert_eq!(lock.into_inner().unwrap(), 128 * 233);
    }
}

#[test]
fn others_have_their_turn_while_a_fiber_computes() {
    // The joins are long, or so short that each is run alone.
    for (domains, n) in [(1, 22), (2, 22), (1, 9), (2, 9), (1, 2), (2, 2)] {
        others_have_their_turn_beside_fibonacci(domains, n);
    }
}

fn others_have_their_turn_beside_fibonacci(domains: usize, n: u64) {
    let runtime = on(domains);
    runtime.run(move || {
        let (tx, rx) = channel::<u32>();
        let server = lisle::spawn(move || rx.iter().count());
        let (pings, done) = (AtomicUsize::new(0), lisle::sync::Latch::new(1));
        lisle::fiber::scope(|scope| {
            scope.spawn(|| {
                while done.wait_evt().poll().is_none() {
                    tx.send(1).unwrap();
                    pings.fetch_add(1, Ordering::Relaxed);
                    lisle::time::sleep(std::time::Duration::from_micros(100));
                }
            });
            while pings.load(Ordering::Relaxed) < 20 {
                fibonacci(n);
            }
            done.count_down();
        });
        drop(tx);
        assert!(server.join().unwrap() >= 20);
    });
}

#[test]
fn a_join_in_a_destructor_while_unwinding_is_done_in_place() {
    struct Joins<'a>(&'a AtomicUsize);
    impl Drop for Joins<'_> {
        fn drop(&mut self) {
            self.0.store(fibonacci(18) as usize, Ordering::Relaxed);
        }
    }
    let result = AtomicUsize::new(0);
    let caught = on(2).run(|| {
        catch_unwind(AssertUnwindSafe(|| {
            let _joins = Joins(&result);
            par::join(|| fibonacci(15), || panic!("on purpose"));
        }))
    });
    assert!(caught.is_err());
    assert_eq!(result.into_inner(), 2_584);
}

/// A loop of one step in a loop of one step, and so on.
fn nested(depth: u32) -> u32 {
    if depth == 0 {
        return 0;
    }
    (0..1_u32).into_par_iter().map(|_| 1 + nested(depth - 1)).sum()
}

#[test]
fn nested_loops_do_not_overflow() {
    assert_eq!(on(2).run(|| nested(10_000)), 10_000);
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(|| nested(10_000));
    assert_eq!(thread.unwrap().join().unwrap(), 10_000);
}

/// Runs `f` while another fiber of the domain waits in a destructor that a panic runs: the thread
/// counts as panicking.
fn beside_a_waiting_destructor<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    struct Waits(channel::Sender<()>, channel::Receiver<()>);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
            self.1.recv().unwrap();
        }
    }
    on(1).run(|| {
        let ((waits, is_waiting), (release, released)) = (lisle::channel(), lisle::channel());
        let unwinds = lisle::spawn(move || {
            let _waits = Waits(waits, released);
            resume_unwind(Box::new(()))
        });
        is_waiting.recv().unwrap();
        assert!(std::thread::panicking());
        let result = f();
        release.send(()).unwrap();
        let unwound: Result<(), _> = unwinds.join();
        unwound.unwrap_err();
        result
    })
}

#[test]
fn nested_loops_do_not_overflow_beside_a_destructor_that_waits() {
    assert_eq!(beside_a_waiting_destructor(|| nested(1_000)), 1_000);
}

#[test]
fn a_panic_in_one_of_a_million_steps_arrives_once_and_leaks_nothing() {
    struct Live<'a>(&'a AtomicUsize, u32);
    impl Drop for Live<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let runtime = on(3);
    for bad in [0, 1, 499_999, 777_777, 999_999] {
        let live = AtomicUsize::new(1_000_000);
        let items: Vec<_> = (0..1_000_000).map(|i| Live(&live, i)).collect();
        let caught = runtime.run(|| {
            catch_unwind(AssertUnwindSafe(|| {
                let kept: Vec<_> =
                    items.into_par_iter().inspect(|item| assert_ne!(item.1, bad, "this one")).collect();
                kept.len()
            }))
        });
        let panic = caught.unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().contains("this one"));
        assert_eq!(live.into_inner(), 0);
    }
}

#[test]
fn sums_are_the_same_on_any_number_of_domains_if_asked() {
    let numbers: Vec<f64> = (0..1_000_000).map(|i| 1.0 / f64::from(i % 1_009 * 7_919 % 1_003 + 1)).collect();
    let sum = |domains: usize| -> f64 {
        on(domains).run(|| numbers.par_iter().copied().deterministic(1_000).sum())
    };
    let one = sum(1);
    for domains in [2, 3, 8] {
        assert_eq!(sum(domains).to_bits(), one.to_bits());
    }
}
