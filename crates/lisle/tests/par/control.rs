//! Loops that are stopped by events and by failures, and loops that are watched.

use lisle::event::{Attempt, Step, with_nack};
use lisle::par::iter::{Part, Stopped};
use lisle::par::{Progress, prelude::*};
use lisle::sync::{Condition, Latch};
use lisle::{Event, Runtime, always, channel, choose, fiber, never};
use std::collections::HashSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{ThreadId, current, yield_now};

/// Practically endless: a loop over this many steps returns only because it was stopped.
const ENDLESS: u64 = u64::MAX / 2;

/// Calls `test` in fibers of runtimes with these numbers of domains, and on a plain thread with the
/// argument 0.
fn everywhere(test: impl Fn(usize) + Sync) {
    for domains in [1, 2, 4] {
        Runtime::builder().domains(domains).stack_size(1 << 20).start().unwrap().run(|| test(domains));
    }
    test(0);
}

/// Signals when a thousand steps have been done.
struct Soon {
    stop: Condition,
    steps: AtomicUsize,
}

impl Soon {
    fn new() -> Self {
        Soon { stop: Condition::new(), steps: AtomicUsize::new(0) }
    }

    fn step(&self) {
        if self.steps.fetch_add(1, SeqCst) == 1_000 {
            self.stop.signal();
        }
    }
}

#[test]
fn a_loop_that_is_not_stopped_has_its_result() {
    everywhere(|_| {
        let numbers = || (0..10_000_u64).into_par_iter().until(never::<()>());
        assert_eq!(numbers().sum::<u64>(), Ok(49_995_000));
        assert_eq!(numbers().count(), Ok(10_000));
        assert_eq!(numbers().max(), Ok(Some(9_999)));
        assert_eq!(numbers().min(), Ok(Some(0)));
        assert_eq!(numbers().reduce(|| 0, u64::max), Ok(9_999));
        assert_eq!(numbers().reduce_with(u64::max), Ok(Some(9_999)));
        assert_eq!(numbers().find_first(|n| n % 7 == 6), Ok(Some(6)));
        assert_eq!(numbers().any(|n| n == 77), Ok(true));
        assert_eq!(numbers().all(|n| n == 77), Ok(false));
        assert_eq!(numbers().try_for_each(|n| if n < 5 { Ok(()) } else { Err(n) }), Ok(Err(5)));
        assert_eq!(numbers().collect::<Vec<_>>(), Ok((0..10_000).collect()));
        let odd = numbers().run(|numbers| numbers.filter(|n| n % 2 == 1).map(|n| n / 2).collect::<Vec<_>>());
        assert_eq!(odd, Ok((0..5_000).collect()));
        let folded = numbers().run(|numbers| numbers.fold(|| 0, |a, b| a + b).reduce(|| 0, |a, b| a + b));
        assert_eq!(folded, Ok(49_995_000));
        let more = numbers().run(|numbers| numbers.chain(0..10).count());
        assert_eq!(more, Ok(10_010));
        assert_eq!((0..0).into_par_iter().until(never::<()>()).sum::<i32>(), Ok(0));
    });
}

#[test]
fn an_event_that_is_ready_stops_a_loop_before_it_begins() {
    everywhere(|_| {
        let begun = AtomicUsize::new(0);
        let items: Vec<_> = (0..1_000).map(|_| std::sync::Arc::new(())).collect();
        let kept = items.clone();
        let stopped = items.into_par_iter().until(always(5)).for_each(|_| _ = begun.fetch_add(1, SeqCst));
        assert_eq!(stopped, Err(Stopped(5)));
        assert_eq!(begun.into_inner(), 0);
        assert!(kept.iter().all(|item| std::sync::Arc::strong_count(item) == 1));
        assert_eq!((0..0).into_par_iter().until(always(5)).count(), Err(Stopped(5)));
        let never_called = (0..9).into_par_iter().until(always(5)).run(|_| panic!("called"));
        assert_eq!(never_called, Err::<(), _>(Stopped(5)));
    });
}

#[test]
fn a_loop_is_stopped_whatever_its_end() {
    macro_rules! stops {
        ($($iter:ident, $soon:ident => $loop:expr;)*) => {
            $({
                let $soon = &Soon::new();
                let $iter = (0..ENDLESS).into_par_iter().inspect(|_| $soon.step()).until($soon.stop.wait_evt());
                assert!(matches!($loop, Err(Stopped(()))), stringify!($loop));
            })*
        };
    }
    everywhere(|_| {
        stops! {
            iter, soon => iter.for_each(drop);
            iter, soon => iter.for_each_init(|| 0, |_, _| ());
            iter, soon => iter.count();
            iter, soon => iter.reduce(|| 0, u64::max);
            iter, soon => iter.max();
            iter, soon => iter.any(|n| n > ENDLESS);
            iter, soon => iter.find_first(|&n| n > ENDLESS);
            iter, soon => iter.try_for_each(|_| Some(()));
            iter, soon => iter.run(|iter| iter.fold(|| 0, |a, b| a ^ b).reduce(|| 0, |a, b| a ^ b));
            iter, soon => iter.run(|iter| iter.map(|n| n / 2).filter(|n| n % 1_000 == 0).collect::<HashSet<_>>());
            iter, soon => iter.run(|iter| iter.partition::<Vec<_>, Vec<_>, _>(|n| n % 2 == 0));
            iter, soon => iter.run(|iter| iter.find_last(|&n| n == 1));
        }
        let soon = Soon::new();
        let numbers = (0..1 << 40).into_par_iter().inspect(|_: &u64| soon.step()).deterministic(64);
        assert_eq!(numbers.until(soon.stop.wait_evt()).sum::<u64>(), Err(Stopped(())));
        let soon = Soon::new();
        let numbers = (0..1_u64 << 40).into_par_iter().inspect(|_| soon.step()).grain(10);
        assert_eq!(numbers.until(soon.stop.wait_evt()).sum::<u64>(), Err(Stopped(())));
    });
}

/// An item that must be dropped exactly once.
struct Once<'a>(&'a AtomicUsize);

impl Drop for Once<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn every_item_of_a_loop_that_is_stopped_is_dropped_once() {
    everywhere(|_| {
        for fixed in [false, true] {
            let drops: Vec<_> = (0..100_000).map(|_| AtomicUsize::new(0)).collect();
            let items: Vec<_> = drops.iter().map(Once).collect();
            let soon = Soon::new();
            let items = items.into_par_iter().map(|item| {
                soon.step();
                item
            });
            let event = soon.stop.wait_evt();
            let all = match fixed {
                true => items.deterministic(100).until(event).collect::<Vec<_>>(),
                false => items.until(event).collect::<Vec<_>>(),
            };
            // The test does not know whether it was stopped in time.
            assert!(all.as_ref().map_or(true, |all| all.len() == 100_000));
            drop(all);
            assert!(drops.iter().all(|drops| drops.load(SeqCst) == 1));
        }
    });
}

#[test]
fn each_stop_takes_one_message_and_a_loop_that_ends_takes_none() {
    everywhere(|_| {
        let (tx, rx) = channel::bounded::<usize>(1);
        for n in 0..50 {
            let steps = AtomicUsize::new(0);
            let numbers = (0..ENDLESS).into_par_iter().inspect(|_| {
                if steps.fetch_add(1, SeqCst) == 1_000 {
                    tx.send(n).unwrap();
                }
            });
            assert_eq!(numbers.until(rx.recv_evt()).count(), Err(Stopped(Ok(n))));
            assert_eq!(rx.recv_evt().poll(), None);
            tx.send(n).unwrap();
            assert_eq!((0..100).into_par_iter().until(rx.recv_evt()).count(), Err(Stopped(Ok(n))));
            assert_eq!((0..100).into_par_iter().until(rx.recv_evt()).count(), Ok(100));
        }
    });
}

/// Messages come while loops run: each is taken by a loop or left in the channel.
#[test]
fn no_message_is_lost_between_loops_and_waiters() {
    everywhere(|_| {
        let (tx, rx) = channel::<u64>();
        let sender = std::thread::spawn(move || (0..200).for_each(|n| tx.send(n).unwrap()));
        let mut next = 0;
        for round in 0.. {
            let numbers = (0..1_000 * (round % 20)).into_par_iter();
            match numbers.until(rx.recv_evt()).for_each(|_| std::hint::spin_loop()) {
                Ok(()) => {}
                Err(Stopped(Ok(n))) => {
                    assert_eq!(n, next);
                    next += 1;
                }
                Err(Stopped(Err(_))) => break,
            }
        }
        assert_eq!(next, 200);
        sender.join().unwrap();
    });
}

/// Counts the looks at it, and happens at the hundredth look.
#[derive(Default)]
struct Watchful {
    forced: AtomicUsize,
    looks: AtomicUsize,
    inside: AtomicBool,
}

impl Event for Watchful {
    type Output = usize;
    type Branch<'e> = ();
    const STAGED: bool = true;

    fn branch(&self) {}
    fn force(&self, _: Pin<&mut ()>) {
        self.forced.fetch_add(1, SeqCst);
    }
    fn try_commit(&self, branch: Pin<&mut ()>, attempt: &Attempt<'_>) -> Step {
        assert!(!self.inside.swap(true, SeqCst), "two look at once");
        let looks = self.looks.fetch_add(1, SeqCst) + 1;
        yield_now();
        self.inside.store(false, SeqCst);
        assert!(looks <= 100, "looked at after it has happened");
        if looks == 100 { always(()).try_commit(branch, attempt) } else { Step::Waiting }
    }
    fn publish(&self, _: Pin<&mut ()>, _: &Attempt<'_>) -> Step {
        panic!("nobody waits for it")
    }
    fn withdraw(&self, _: Pin<&mut ()>, _: &Attempt<'_>) -> bool {
        false
    }
    fn complete(&self, _: Pin<&mut ()>) -> usize {
        self.looks.load(SeqCst)
    }
}

#[test]
fn one_at_a_time_looks_and_nobody_after_it_has_happened() {
    everywhere(|_| {
        let event = Watchful::default();
        let stopped = (0..ENDLESS).into_par_iter().until(&event).for_each(|_| std::hint::spin_loop());
        assert_eq!(stopped, Err(Stopped(100)));
        assert_eq!(event.forced.into_inner(), 1);
    });
}

#[test]
fn the_loop_is_one_performance_of_the_event() {
    everywhere(|_| {
        let nacks = Mutex::new(Vec::new());
        let event = with_nack(|nack| {
            nacks.lock().unwrap().push(nack);
            never::<()>()
        });
        let progress = Progress::new();
        let numbers = (0..2_000_000_u64).into_par_iter().progress(&progress);
        let all = numbers.until(&event).for_each(|_| assert!(!nacks.lock().unwrap()[0].is_lost()));
        assert_eq!(all, Ok(()));
        let nacks = nacks.into_inner().unwrap();
        assert!(nacks.len() == 1 && nacks[0].is_lost());
    });
}

#[test]
fn a_panic_in_a_step_or_in_the_event_arrives() {
    everywhere(|_| {
        let soon = Soon::new();
        let numbers = (0..ENDLESS).into_par_iter().until(soon.stop.wait_evt());
        let caught = catch_unwind(AssertUnwindSafe(|| numbers.for_each(|n| assert_ne!(n, 500))));
        assert!(caught.is_err());

        let soon = Soon::new();
        let event = soon.stop.wait_evt().wrap(|()| panic!("as it happened"));
        let numbers = (0..ENDLESS).into_par_iter().until(event);
        let caught = catch_unwind(AssertUnwindSafe(|| numbers.for_each(|_| soon.step())));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"as it happened"));
    });
}

#[test]
fn a_fiber_that_is_asked_to_end_stops_its_loops() {
    for domains in [1, 2, 4] {
        Runtime::builder().domains(domains).stack_size(1 << 20).start().unwrap().run(|| {
            fiber::scope(|scope| {
                let fibers: Vec<_> = (0..3)
                    .map(|_| {
                        scope.spawn(|| {
                            let numbers = (0..ENDLESS).into_par_iter().until(fiber::cancelled_evt());
                            numbers.for_each(|_| std::hint::spin_loop())
                        })
                    })
                    .collect();
                for fiber in fibers {
                    fiber.cancel();
                    assert_eq!(fiber.join().unwrap(), Err(Stopped(())));
                }
            });
        });
    }
}

/// One step fails while each other participant is in the middle of a step. The others continue
/// after the failure has been recorded.
struct Failing {
    /// The number of other participants.
    others: usize,
    first: ThreadId,
    held: Mutex<HashSet<ThreadId>>,
    has_failed: AtomicBool,
    is_noted: AtomicBool,
    late: AtomicUsize,
}

/// The numbers of some steps. Its drop tells when the failed block is done.
struct Steps<'f>(Range<usize>, &'f Failing);

impl Iterator for Steps<'_> {
    type Item = usize;
    fn next(&mut self) -> Option<usize> {
        self.0.next()
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        if self.1.has_failed.load(SeqCst) {
            self.1.is_noted.store(true, SeqCst);
        }
    }
}

struct SomeSteps<'f>(Range<usize>, &'f Failing);

impl<'f> Part for SomeSteps<'f> {
    type Item = usize;
    type Items = Steps<'f>;
    fn len(&self) -> usize {
        self.0.end - self.0.start
    }
    fn split_at(self, at: usize) -> (Self, Self) {
        let middle = self.0.start + at;
        (SomeSteps(self.0.start..middle, self.1), SomeSteps(middle..self.0.end, self.1))
    }
    fn items(self) -> Steps<'f> {
        Steps(self.0, self.1)
    }
}

struct AllSteps<'f>(&'f Failing);

impl ParallelIterator for AllSteps<'_> {
    type Item = usize;
    type Part<'a>
        = SomeSteps<'a>
    where
        Self: 'a;
    fn part(&mut self) -> SomeSteps<'_> {
        SomeSteps(0..usize::MAX / 2, self.0)
    }
}

impl Failing {
    fn new(others: usize) -> Self {
        Failing {
            others,
            first: current().id(),
            held: Mutex::default(),
            has_failed: AtomicBool::new(false),
            is_noted: AtomicBool::new(false),
            late: AtomicUsize::new(0),
        }
    }

    /// Returns `true` if this is the step that fails.
    fn step(&self) -> bool {
        if self.is_noted.load(SeqCst) {
            // A helper that joins may have looked for a failure just before it was recorded, but
            // only once.
            let has_looked =
                current().id() == self.first || !self.held.lock().unwrap().insert(current().id());
            self.late.fetch_add(has_looked.into(), SeqCst);
            return false;
        }
        if current().id() == self.first {
            let fails = self.held.lock().unwrap().len() >= self.others;
            self.has_failed.fetch_or(fails, SeqCst);
            return fails;
        }
        self.held.lock().unwrap().insert(current().id());
        while !self.is_noted.load(SeqCst) {
            yield_now();
        }
        false
    }

    fn check(self, has_failed: bool) {
        assert!(has_failed);
        assert_eq!(self.late.into_inner(), 0, "steps that began though a failure was known");
    }
}

#[test]
fn nobody_begins_a_block_after_a_failure() {
    everywhere(|domains| {
        // On a plain thread the default runtime helps. One of its domains is enough.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        // Domains beyond the number of processors are not woken.
        let others = domains.min(processors).saturating_sub(1).max(usize::from(domains == 0));
        let result = |fails| if fails { Err("failed") } else { Ok(()) };

        let failing = Failing::new(others);
        let end = AllSteps(&failing).grain(1).try_for_each(|_| result(failing.step()));
        failing.check(end.is_err());

        let failing = Failing::new(others);
        let steps = AllSteps(&failing).grain(1).map(|_| result(failing.step()));
        let end = steps.try_reduce(|| (), |(), ()| Ok(()));
        failing.check(end.is_err());

        let failing = Failing::new(others);
        let steps = AllSteps(&failing).grain(1).map(|_| result(failing.step()));
        let end = steps.filter(|end| end.is_err()).collect::<Result<Vec<()>, _>>();
        failing.check(end.is_err());

        let failing = Failing::new(others);
        let end = AllSteps(&failing).grain(1).find_any(|_| failing.step());
        failing.check(end.is_some());

        let failing = Failing::new(others);
        let end = AllSteps(&failing).grain(1).find_first(|_| failing.step());
        failing.check(end.is_some());

        let failing = Failing::new(others);
        let end = AllSteps(&failing).grain(1).any(|_| failing.step());
        failing.check(end);
    });
}

#[test]
fn a_failure_ends_a_loop_that_is_divided_the_same_way_each_time() {
    everywhere(|_| {
        let begun = AtomicUsize::new(0);
        let end = (0..1_usize << 40).into_par_iter().deterministic(16).try_for_each(|n| {
            begun.fetch_add(1, SeqCst);
            if n == 1_000 { Err(n) } else { Ok(()) }
        });
        assert_eq!(end, Err(1_000));
        let found = (0..1_usize << 40).into_par_iter().deterministic(16).find_first(|n| *n >= 1_000);
        assert_eq!(found, Some(1_000));
    });
}

#[test]
fn all_steps_of_a_loop_that_ends_are_counted() {
    everywhere(|_| {
        let progress = Progress::new();
        let counted = |by: u64| {
            assert_eq!(progress.done(), by);
            assert_eq!(progress.total(), by);
        };
        let numbers = || (0..1_000_u64).into_par_iter().progress(&progress);
        assert_eq!(numbers().sum::<u64>(), 499_500);
        counted(1_000);
        assert_eq!(numbers().filter(|n| n % 2 == 0).count(), 500);
        counted(2_000);
        assert_eq!(numbers().collect::<Vec<_>>(), (0..1_000).collect::<Vec<_>>());
        counted(3_000);
        assert_eq!(numbers().rev().collect::<Vec<_>>(), (0..1_000).rev().collect::<Vec<_>>());
        counted(4_000);
        numbers().zip(0..1_000_u64).enumerate().for_each(|(i, (a, b))| assert!(a == b && a == i as u64));
        counted(5_000);
        assert_eq!(numbers().deterministic(7).max(), Some(999));
        counted(6_000);
        assert_eq!(numbers().flat_map_iter(|n| 0..n % 3).count(), 999);
        counted(7_000);
        assert_eq!(numbers().map(Some).collect::<Option<Vec<_>>>().unwrap().len(), 1_000);
        counted(8_000);
        numbers().chunks(10).for_each(drop);
        counted(9_000);
        let squares: Vec<_> = numbers().map(|n| n * n).until(never::<()>()).collect().unwrap();
        assert_eq!(squares[999], 998_001);
        counted(10_000);
    });
}

/// Another fiber of the domain begins to wait in a destructor while a block runs, and the thread
/// counts as panicking.
#[test]
fn steps_are_counted_though_another_fiber_unwinds() {
    struct Waits(lisle::channel::Sender<()>, lisle::channel::Receiver<()>);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
            self.1.recv().unwrap();
        }
    }
    Runtime::builder().domains(1).run(|| {
        let progress = Progress::new();
        let ((waits, is_waiting), (release, released)) = (lisle::channel(), lisle::channel());
        let waits = Mutex::new(Some(Waits(waits, released)));
        (0..10_u32).into_par_iter().progress(&progress).grain(10).for_each(|step| {
            if step == 5 {
                let waits = waits.lock().unwrap().take();
                drop(lisle::spawn(move || {
                    let _waits = waits;
                    std::panic::resume_unwind(Box::new("on purpose"))
                }));
                is_waiting.recv().unwrap();
                assert!(std::thread::panicking());
            }
        });
        assert_eq!(progress.done(), 10);
        release.send(()).unwrap();
    });
}

#[test]
fn what_is_not_done_is_not_counted() {
    everywhere(|_| {
        // A search that is over, and a loop that is stopped.
        let progress = Progress::new();
        let all = (0..ENDLESS).into_par_iter().progress(&progress);
        assert_eq!(all.find_first(|n| *n == 5_000), Some(5_000));
        assert!(progress.done() > 5_000 && progress.done() < ENDLESS);
        let (progress, soon) = (Progress::new(), Soon::new());
        let all = (0..ENDLESS).into_par_iter().progress(&progress);
        let done = AtomicUsize::new(0);
        let stopped = all.until(soon.stop.wait_evt()).for_each(|_| {
            soon.step();
            done.fetch_add(1, SeqCst);
        });
        assert_eq!(stopped, Err(Stopped(())));
        assert_eq!((progress.done(), progress.total()), (done.into_inner() as u64, ENDLESS));
        // A block that panics.
        let progress = Progress::new();
        let all = (0..10).into_par_iter().progress(&progress).grain(10);
        catch_unwind(AssertUnwindSafe(|| all.for_each(|n| assert_ne!(n, 5)))).unwrap_err();
        assert_eq!((progress.done(), progress.total()), (0, 10));
    });
}

#[test]
fn whoever_waits_for_a_count_is_woken_when_it_is_reached() {
    let watched = |start: &(dyn Fn(&Progress) + Sync)| {
        let (progress, ready) = (Progress::new(), Latch::new(20));
        std::thread::scope(|threads| {
            for i in 1..=20 {
                let (progress, ready) = (&progress, &ready);
                threads.spawn(move || {
                    ready.count_down();
                    let count = 500 * i;
                    // Some look at each block, some wait for all, and some are in a choice.
                    if i % 3 == 0 {
                        let mut seen = 0;
                        while seen < count {
                            let now = progress.changed_evt(seen).sync();
                            assert!(now > seen);
                            seen = now;
                        }
                    } else if i % 3 == 1 {
                        assert!(progress.reached_evt(count).sync() >= count);
                    } else {
                        let never = progress.reached_evt(1 << 60);
                        assert!(choose((never, progress.reached_evt(count))).sync() >= count);
                    }
                });
            }
            ready.wait();
            start(&progress);
        });
        assert_eq!(progress.done(), 10_000);
        assert_eq!(progress.reached_evt(10_000).poll(), Some(10_000));
        assert_eq!(progress.reached_evt(10_001).poll(), None);
    };
    everywhere(|_| {
        for _ in 0..20 {
            watched(&|progress| {
                (0..10_000).into_par_iter().progress(progress).grain(7).for_each(drop);
            });
            // Two loops at once, and loops one after the other.
            watched(&|progress| {
                let count = |n: u64| (0..n).into_par_iter().progress(progress).for_each(drop);
                lisle::par::join(|| (0..4).for_each(|_| count(1_000)), || count(6_000));
            });
        }
    });
}

/// Fibers that see the count also see the writes of the counted steps.
#[test]
fn a_fiber_sees_what_the_steps_have_written_that_it_has_waited_for() {
    for domains in [1, 2, 4] {
        Runtime::builder().domains(domains).stack_size(1 << 20).start().unwrap().run(|| {
            let progress = Progress::new();
            let flags: Vec<_> = (0..10_000).map(|_| AtomicBool::new(false)).collect();
            fiber::scope(|scope| {
                scope.spawn(|| {
                    let flags = flags.par_iter().progress(&progress);
                    flags.for_each(|flag| flag.store(true, std::sync::atomic::Ordering::Relaxed));
                });
                let mut seen = 0;
                while seen < 10_000 {
                    seen = progress.changed_evt(seen).sync();
                    let set = flags.iter().filter(|flag| flag.load(std::sync::atomic::Ordering::Relaxed));
                    assert!(set.count() as u64 >= seen);
                }
            });
        });
    }
}
