//! Waiting costs little memory, and no memory after the wait.
//!
//! This is a test binary of its own, because it counts the bytes of its whole process.

#[path = "it/support/watch.rs"]
mod watch;

use lisle::channel::{Receiver, Sender};
use lisle::sync::Condition;
use lisle::time::{after, sleep};
use lisle::{Event, Runtime, channel, choose, fiber, never};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;
use watch::watched;

/// The system's allocator, with a count of the bytes in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

fn heap() -> usize {
    IN_USE.load(Ordering::Relaxed)
}

// SAFETY: all calls are passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The tests run one after the other, because each would see the heap of another one.
#[test]
fn memory_is_given_back() {
    let _watched = watched();
    a_parked_fiber_takes_two_pages_at_most();
    timeouts_that_lose_leave_nothing();
    timeouts_that_lose_to_a_plain_thread_leave_nothing();
    timeouts_of_threads_and_futures_that_lose_leave_nothing();
    choices_over_a_silent_channel_leave_nothing();
    dropped_futures_leave_nothing();
    fibers_that_have_ended_leave_nothing();
    runtimes_that_have_ended_leave_nothing();
    what_has_ended_leaves_little();
}

/// Returns the number of repetitions: fewer without optimization, and fewer still by the divisor
/// `LISLE_TEST_SCALE`.
fn scaled(optimized: usize, debug: usize) -> usize {
    let count = if cfg!(debug_assertions) { debug } else { optimized };
    let divisor = std::env::var("LISLE_TEST_SCALE").ok().and_then(|divisor| divisor.parse().ok());
    (count / divisor.unwrap_or(1_usize).max(1)).max(1)
}

/// Returns the resident bytes of this process, if the system tells.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: usize = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib * 1024)
}

/// A waiting fiber takes at most two pages, its control block and its stack together. It takes one
/// more without optimization, which makes frames larger.
fn a_parked_fiber_takes_two_pages_at_most() {
    let count = scaled(50_000, 50_000);
    let limit = if cfg!(debug_assertions) { 12 * 1024 } else { 8 * 1024 };
    for kind in ["recv", "choice"] {
        Runtime::builder().domains(1).stall_report(None).run(|| {
            let condition = Arc::new(Condition::new());
            let (tx, rx) = channel::<u64>();
            let mut fibers = Vec::with_capacity(count);
            let Some(before) = resident() else { return };
            for _ in 0..count {
                let (rx, condition) = (rx.clone(), condition.clone());
                fibers.push(lisle::spawn(move || match kind {
                    "recv" => rx.recv().ok(),
                    _ => {
                        choose((rx.recv_evt().wrap(Result::ok), condition.wait_evt().wrap(|()| None))).sync()
                    }
                }));
            }
            // It is queued behind them, and they run until they wait.
            lisle::spawn(|| ()).join().unwrap();
            let each = (resident().unwrap() - before) / count;
            println!("a fiber parked in a {kind}: {each} bytes resident");
            assert!(each <= limit, "{each} bytes resident for each of {count} fibers parked in a {kind}");
            condition.signal();
            drop(tx);
            fibers.into_iter().for_each(|fiber| assert_eq!(fiber.join().unwrap(), None));
        });
    }
}

/// Runs `operation` with `times` repetitions, after a tenth of them to warm up. Checks that the
/// heap has not grown.
#[track_caller]
fn leaves_the_heap_flat(what: &str, times: usize, operation: impl Fn(usize)) {
    operation(times / 10 + 1);
    let before = heap();
    operation(times);
    let after = heap();
    println!("{what}, {times} times: {before} bytes in use before, {after} after");
    // A leak of a few bytes per repetition would exceed this bound.
    assert!(after <= before + times / 16 + 16 * 1024, "{what}: {before} bytes in use before, {after} after");
    assert!(after <= 2 * before, "{what}: {before} bytes in use before, {after} after");
}

fn long() -> Duration {
    Duration::from_secs(500)
}

/// Case 38. The receive wins every time, at once or after a wait.
fn timeouts_that_lose_leave_nothing() {
    let times = scaled(200_000, 200_000);
    for domains in [1, 2] {
        Runtime::builder().domains(domains).stall_report(None).run(|| {
            let (tx, rx) = channel::<usize>();
            drop(lisle::fiber::spawn_on(domains - 1, move || (0..).try_for_each(|i| tx.send(i))));
            // A thread has to be woken each time.
            let times = if domains == 1 { times } else { times / 10 };
            let where_ = format!("on {domains} domains");
            leaves_the_heap_flat(&format!("sleep against recv {where_}"), times, |times| {
                for _ in 0..times {
                    let received = rx.recv_evt().wrap(Result::ok);
                    assert!(choose((after(long()).wrap(|()| None), received)).sync().is_some());
                }
            });
            leaves_the_heap_flat(&format!("wrapped sleep against recv {where_}"), times, |times| {
                for _ in 0..times {
                    let sleep = after(long()).wrap(|()| 1).wrap(|_| "slept").wrap(|_| Err(()));
                    let received = rx.recv_evt().wrap(|got| got.map_err(drop)).wrap(|got| got.map(|i| i + 1));
                    assert!(choose((received, sleep)).wrap(|got| got).sync().is_ok());
                }
            });
        });
    }
}

/// Case 38, with a plain thread as the one that wakes.
fn timeouts_that_lose_to_a_plain_thread_leave_nothing() {
    let (tx, rx) = channel::<usize>();
    let waker = std::thread::spawn(move || (0..).try_for_each(|i| tx.send(i)));
    Runtime::builder().domains(1).run(|| {
        let rx = rx;
        leaves_the_heap_flat("sleep against recv from a thread", scaled(200_000, 20_000), |times| {
            for _ in 0..times {
                let received = rx.recv_evt().wrap(Result::ok);
                assert!(choose((after(long()).wrap(|()| None), received)).sync().is_some());
            }
        });
    });
    assert!(waker.join().unwrap().is_err());
}

/// Case 38, with a plain thread and a future as sleepers. A separate thread keeps their timers.
fn timeouts_of_threads_and_futures_that_lose_leave_nothing() {
    let (tx, rx) = channel::<usize>();
    let sender = std::thread::spawn(move || (0..).try_for_each(|i| tx.send(i)));
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    for awaited in [false, true] {
        let who = if awaited { "of a future" } else { "of a thread" };
        leaves_the_heap_flat(&format!("sleep against recv {who}"), scaled(100_000, 10_000), |times| {
            for _ in 0..times {
                let received = rx.recv_evt().wrap(Result::ok);
                let event = choose((after(long()).wrap(|()| None), received));
                let got = if awaited { block_on(event.future(), &waker) } else { event.sync() };
                assert!(got.is_some());
            }
        });
    }
    drop(rx);
    assert!(sender.join().unwrap().is_err());
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls `future` until it is ready, and parks in between.
fn block_on<F: Future>(future: F, waker: &Waker) -> F::Output {
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Asserts that there is no waiter at `tx`'s channel: it would take a message.
#[track_caller]
fn nobody_waits(tx: &Sender<usize>, rx: &Receiver<usize>) {
    assert!(tx.try_send(1).is_err(), "a receiver was left behind");
    assert!(rx.try_recv().is_err(), "a sender was left behind");
}

/// Invariant 4: ten million choices over a channel that never answers do not increase memory.
fn choices_over_a_silent_channel_leave_nothing() {
    let times = scaled(1_000_000, 100_000);
    Runtime::builder().domains(1).stall_report(None).run(|| {
        let (silent, silence) = channel::<usize>();
        let (tx, rx) = channel::<usize>();
        drop(lisle::spawn(move || (0..).try_for_each(|i| tx.send(i))));
        leaves_the_heap_flat("a choice with a receive that is never answered", times, |times| {
            for _ in 0..times {
                assert!(choose((silence.recv_evt(), rx.recv_evt())).sync().is_ok());
                // Every other time nothing is ready, so the choice has to wait.
                assert!(rx.recv().is_ok());
            }
        });
        nobody_waits(&silent, &silence);
        leaves_the_heap_flat("a choice with a send that is never taken", times, |times| {
            for i in 0..times {
                let sent = silent.send_evt(i).wrap(|_| unreachable!("nobody receives"));
                assert!(choose((rx.recv_evt(), sent)).sync().is_ok());
            }
        });
        nobody_waits(&silent, &silence);
        let boxed = || choose(vec![silence.recv_evt().boxed(), never().boxed(), rx.recv_evt().boxed()]);
        leaves_the_heap_flat("a vector of boxed events", times / 10, |times| {
            (0..times).for_each(|_| assert!(boxed().sync().is_ok()));
        });
        leaves_the_heap_flat("polls", times, |times| {
            for i in 0..times {
                assert!(silence.recv_evt().poll().is_none());
                assert!(
                    choose((silent.send_evt(i).wrap(drop), silence.recv_evt().wrap(drop))).poll().is_none()
                );
            }
        });
        nobody_waits(&silent, &silence);
    });
}

/// Futures that are dropped while they wait leave nothing, either.
fn dropped_futures_leave_nothing() {
    let (silent, silence) = channel::<usize>();
    let mut noop = Context::from_waker(Waker::noop());
    let noop = std::cell::RefCell::new(&mut noop);
    leaves_the_heap_flat("a future that is dropped while it waits", scaled(1_000_000, 50_000), |times| {
        for _ in 0..times {
            let choice = choose((silence.recv_evt().wrap(Result::ok), after(long()).wrap(|()| None)));
            assert!(pin!(choice.future()).poll(&mut noop.borrow_mut()).is_pending());
        }
    });
    nobody_waits(&silent, &silence);
}

/// Fibers come and go, in crowds and one by one, and leave no more than the first crowd did.
fn fibers_that_have_ended_leave_nothing() {
    let crowd = scaled(20_000, 5_000);
    Runtime::builder().domains(1).stall_report(None).run(|| {
        // The largest number of concurrent fibers in this test, each with a stack.
        let condition = Arc::new(Condition::new());
        let waiters: Vec<_> = (0..crowd)
            .map(|_| {
                let condition = condition.clone();
                lisle::spawn(move || condition.wait())
            })
            .collect();
        lisle::spawn(|| ()).join().unwrap();
        condition.signal();
        waiters.into_iter().for_each(|fiber| fiber.join().unwrap());
        leaves_the_heap_flat("crowds of fibers", 20, |times| {
            for _ in 0..times {
                let fibers: Vec<_> = (0..crowd).map(|i| lisle::spawn(move || i)).collect();
                assert_eq!(fibers.into_iter().map(|fiber| fiber.join().unwrap()).max(), Some(crowd - 1));
            }
        });
        leaves_the_heap_flat("fibers that borrow", scaled(200_000, 20_000), |times| {
            let mut sum = 0;
            for i in 0..times {
                sum += fiber::scope(|scope| scope.spawn(|| i + sum % 2).join().unwrap());
            }
            assert!(sum >= times * (times - 1) / 2);
        });
        let all_sleep = |time: fn(u64) -> Duration| {
            let sleepers: Vec<_> =
                (0..crowd as u64 / 10).map(|i| lisle::spawn(move || sleep(time(i)))).collect();
            sleepers.into_iter().for_each(|fiber| fiber.join().unwrap());
        };
        // The largest number of concurrent and of simultaneously due sleepers in this test.
        all_sleep(|_| Duration::from_millis(50));
        leaves_the_heap_flat("fibers that sleep", 10, |times| {
            (0..times).for_each(|_| all_sleep(|i| Duration::from_micros(i % 999)));
        });
    });
}

/// Case 41. Runtimes that end free everything, including waiters that would wait forever: heap,
/// stacks and threads.
fn runtimes_that_have_ended_leave_nothing() {
    let fibers = scaled(5_000, 1_000);
    let round = |_| {
        Runtime::builder().domains(2).stall_report(None).shutdown_deadline(Duration::from_secs(300)).run(
            || {
                for i in 0..fibers {
                    drop(lisle::spawn(move || {
                        let (tx, rx) = channel::<Vec<usize>>();
                        let held = vec![i; 10];
                        drop((choose((rx.recv_evt(), never())).sync(), tx, held));
                    }));
                }
                // Some are unwound where they wait, and others before they have begun.
                (0..100).for_each(|_| fiber::yield_now());
            },
        );
    };
    leaves_the_heap_flat("runtimes full of fibers", 20, |times| (0..times).for_each(round));
    let Some(before) = resident() else { return };
    (0..20).for_each(round);
    let after = resident().unwrap();
    println!("{before} bytes resident before, {after} after");
    assert!(after <= before + before / 2, "{before} bytes resident before, {after} after");
}

/// Many tasks wait, or many fibers have not begun, and then there are none. Their memory goes back
/// to the system while their runtime continues.
#[cfg(target_os = "linux")]
fn what_has_ended_leaves_little() {
    let count = scaled(400_000, 100_000);
    let tasks = move |while_they_exist: &dyn Fn()| {
        let gate = Arc::new(Condition::new());
        let wait = || {
            let gate = gate.clone();
            lisle::spawn_task(async move { gate.wait_evt().await })
        };
        let tasks: Vec<_> = (0..count).map(|_| wait()).collect();
        while_they_exist();
        gate.signal();
        tasks.into_iter().for_each(|task| task.join().unwrap());
    };
    let fibers = move |while_they_exist: &dyn Fn()| {
        let fibers: Vec<_> = (0..count).map(|_| lisle::spawn(|| ())).collect();
        while_they_exist();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    };
    gives_back(count * 256, tasks);
    gives_back(count * 256, fibers);
}

/// Calls `take` twice, which takes more than `least` bytes while it calls its argument.
#[cfg(target_os = "linux")]
fn gives_back(least: usize, take: impl Fn(&dyn Fn()) + Send) {
    Runtime::builder().domains(1).run(move || {
        for _ in 0..2 {
            let before = resident().unwrap();
            let taken = Cell::new(0);
            take(&|| taken.set(resident().unwrap() - before));
            assert!(taken.get() > least, "{} bytes are taken", taken.get());
            // The runtime looks for unused memory every second, or when it has nothing to do.
            while resident().unwrap() > before + taken.get() / 4 {
                sleep(Duration::from_millis(10));
            }
        }
    });
}

#[cfg(not(target_os = "linux"))]
fn what_has_ended_leaves_little() {}
