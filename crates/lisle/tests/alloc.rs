//! Invariant 8: once warm, nothing allocates. This holds for messages, choices, timers, futures,
//! spawns and scopes, on the threads of the runtime, and on a plain thread for the operations that
//! work there.
//!
//! Every operation is done some times to warm up, and then ten thousand times while the allocations
//! of the threads in question are counted. Allocations of other threads (a monitor, the test
//! harness) are not counted. The tests run one at a time, because another runtime may take memory
//! that one runtime keeps for reuse.

#[path = "alloc/effects.rs"]
mod effects;
#[path = "it/support/watch.rs"]
mod watch;

use lisle::channel::{Receiver, Sender, bounded};
use lisle::fiber::{self, scope};
use lisle::sync::{Condition, IVar};
use lisle::time::{after, at, sleep};
use lisle::{Event, Runtime, channel, choose, future, never, spawn_task, task};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};
use watch::{Watched, watched};

/// The system's allocator, with a count of the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Returns the number of allocations of this thread so far.
fn allocations() -> usize {
    ALLOCATIONS.get()
}

// SAFETY: all calls are passed on to the system's allocator unchanged. The count is a plain number
// in a thread-local without a destructor, so counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(allocations() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(allocations() + 1);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TIMES: usize = 10_000;

/// Waits until the other tests have ended, and starts the watchdog.
fn my_turn() -> (Watched, MutexGuard<'static, ()>) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    (watched(), turn)
}

/// Runs `f` on a domain that is this thread. This thread counts the allocations of its fibers.
fn on_one_domain(f: impl FnOnce()) {
    let _turn = my_turn();
    Runtime::builder().domains(1).stall_report(None).run(f);
}

/// Asserts that `operation`, whose argument is the number of repetitions, does not allocate on this
/// thread once warm.
#[track_caller]
fn allocates_nothing(what: &str, operation: impl Fn(usize)) {
    operation(TIMES / 10);
    let before = allocations();
    operation(TIMES);
    assert_eq!(allocations() - before, 0, "allocations in {TIMES} times: {what}");
}

/// Spawns a fiber that sends as long as there are receivers.
fn sends_for_ever(tx: Sender<usize>) {
    drop(lisle::spawn(move || (0..).try_for_each(|i| tx.send(i))));
}

/// Returns a receiver whose sender never ends.
fn source() -> Receiver<usize> {
    let (tx, rx) = channel();
    sends_for_ever(tx);
    rx
}

/// Driving a future costs one allocation. Its polls cost none, whether it is woken during a poll or
/// later.
#[test]
fn a_future_that_a_fiber_drives() {
    on_one_domain(|| {
        let (tx, rx) = bounded(1);
        let sender = lisle::spawn(move || while tx.send(()).is_ok() {});
        let allocated = future::block_on(async move {
            let rounds = async |times| {
                for _ in 0..times {
                    rx.recv_evt().await.unwrap();
                    let mut woken = false;
                    let yielded = std::future::poll_fn(|context| {
                        context.waker().wake_by_ref();
                        if std::mem::replace(&mut woken, true) { Poll::Ready(()) } else { Poll::Pending }
                    });
                    yielded.await;
                }
            };
            rounds(100).await;
            let before = allocations();
            rounds(TIMES).await;
            allocations() - before
        });
        assert_eq!(allocated, 0, "polling a future allocates");
        sender.join().unwrap();
    });
}

#[test]
fn messages() {
    on_one_domain(|| {
        let rx = source();
        allocates_nothing("recv, rendezvous", |times| {
            (0..times).for_each(|_| assert!(rx.recv().is_ok()));
        });
        let (tx, rx) = bounded(64);
        sends_for_ever(tx);
        allocates_nothing("recv, bounded", |times| {
            (0..times).for_each(|_| assert!(rx.recv().is_ok()));
        });
        let (tx, rx) = channel::<[u64; 100]>();
        drop(lisle::spawn(move || rx.iter().for_each(|message| assert_eq!(message[0], message[99]))));
        allocates_nothing("send, of a large message", |times| {
            (0..times).for_each(|i| tx.send([i as u64; 100]).unwrap());
        });
        let (ping, pings) = channel();
        let (pong, pongs) = channel();
        drop(lisle::spawn(move || pings.iter().try_for_each(|i: usize| pong.send(i))));
        allocates_nothing("ping-pong", |times| {
            for i in 0..times {
                ping.send_evt(i).sync().unwrap();
                assert_eq!(pongs.recv_evt().sync(), Ok(i));
            }
        });
        let rx = source();
        allocates_nothing("try_recv and recv_timeout", |times| {
            for _ in 0..times {
                black_box(rx.try_recv()).ok();
                assert!(rx.recv_timeout(Duration::from_secs(3_600)).is_ok());
                fiber::yield_now();
            }
        });
        let (tx, rx) = channel::<usize>();
        drop(lisle::spawn(move || while rx.recv().is_ok() {}));
        allocates_nothing("send_timeout, try_send and send_with_evt", |times| {
            for i in 0..times {
                black_box(tx.try_send(i)).ok();
                assert!(tx.send_timeout(i, Duration::from_secs(3_600)).is_ok());
                tx.send_with_evt(|| i).sync().unwrap();
            }
        });
    });
}

#[test]
fn signs_of_channels() {
    on_one_domain(|| {
        let (tx, rx) = channel::<usize>();
        drop(lisle::spawn(move || (0..).try_for_each(|i| tx.send(i))));
        let (_silent, silence) = channel::<usize>();
        allocates_nothing("readiness that is waited for", |times| {
            for _ in 0..times {
                choose((rx.recv_ready_evt(), silence.recv_ready_evt(), silence.closed_evt())).sync();
                assert!(rx.try_recv().is_ok());
            }
        });
    });
}

#[test]
fn choices() {
    on_one_domain(|| {
        let (one, other) = (source(), source());
        let (_silent, silence) = channel::<usize>();
        allocates_nothing("a choice of two", |times| {
            (0..times).for_each(|_| assert!(choose((one.recv_evt(), other.recv_evt())).sync().is_ok()));
        });
        allocates_nothing("a choice that is never ready at once", |times| {
            for _ in 0..times {
                assert!(choose((silence.recv_evt(), one.recv_evt(), never())).sync().is_ok());
                fiber::yield_now();
            }
        });
        allocates_nothing("an array of four, wrapped", |times| {
            for _ in 0..times {
                let events = [&one, &other, &one, &silence].map(|rx| rx.recv_evt().wrap(Result::unwrap));
                black_box(choose(events).sync());
            }
        });
        let nested = choose((
            choose([one.recv_evt(), silence.recv_evt()]).wrap(|got| got),
            choose((other.recv_evt(), never())),
        ));
        allocates_nothing("a choice of choices, kept", |times| {
            (0..times).for_each(|_| assert!(nested.sync().is_ok()));
        });
        let (tx, rx) = channel();
        drop(lisle::spawn(move || while rx.recv().is_ok() {}));
        allocates_nothing("a choice between sending and receiving", |times| {
            let sent = |sent: Result<(), _>| sent.map(|()| 0).map_err(drop);
            for i in 0..times {
                let event =
                    choose((tx.send_evt(i).wrap(sent), silence.recv_evt().wrap(|got| got.map_err(drop))));
                event.sync().unwrap();
            }
        });
    });
}

#[test]
fn choices_of_many_and_of_boxed_events() {
    on_one_domain(|| {
        let receivers: Vec<Receiver<usize>> = (0..64).map(|_| source()).collect();
        let listed = choose(receivers.iter().map(Receiver::recv_evt).collect::<Vec<_>>());
        allocates_nothing("a vector of 64", |times| {
            (0..times).for_each(|_| assert!(listed.sync().is_ok()));
        });
        let (silent, silence): (Vec<_>, Vec<_>) = (0..63).map(|_| channel::<usize>()).unzip();
        let mostly_silent =
            choose(silence.iter().chain([&receivers[0]]).map(Receiver::recv_evt).collect::<Vec<_>>());
        allocates_nothing("a vector of 64 of which one sends", |times| {
            for _ in 0..times {
                assert!(mostly_silent.sync().is_ok());
                fiber::yield_now();
            }
        });
        drop(silent);
        let boxed = choose(vec![
            receivers[0].recv_evt().wrap(Result::ok).boxed(),
            receivers[1].recv_evt().wrap(Result::ok).boxed(),
            after(Duration::from_secs(3_600)).wrap(|()| None).boxed(),
        ]);
        allocates_nothing("a vector of boxed events", |times| {
            (0..times).for_each(|_| assert!(boxed.sync().is_some()));
        });
        let alone = receivers[0].recv_evt().wrap(Result::ok).boxed();
        allocates_nothing("one boxed event", |times| {
            (0..times).for_each(|_| assert!(alone.sync().is_some()));
        });
    });
}

/// A choice is a large event, and may be boxed nevertheless.
#[test]
fn boxed_choices() {
    on_one_domain(|| {
        let (one, other) = (source(), source());
        let hour = after(Duration::from_secs(3_600));
        let boxed = choose([
            choose((one.recv_evt(), other.recv_evt())).wrap(Result::ok).boxed(),
            choose((hour.wrap(|()| None), one.recv_evt().wrap(Result::ok), never())).boxed(),
        ]);
        allocates_nothing("boxed choices", |times| {
            (0..times).for_each(|_| assert!(boxed.sync().is_some()));
        });
    });
}

/// Many fibers are in the middle of a choice over a vector at the same time.
#[test]
fn choices_of_many_by_many() {
    on_one_domain(|| {
        const FIBERS: usize = 50;
        let (go, gone) = channel::<usize>();
        let (done, dones) = channel::<()>();
        let (_silent, silence) = channel::<usize>();
        for _ in 0..FIBERS {
            let (gone, silence, done) = (gone.clone(), silence.clone(), done.clone());
            drop(lisle::spawn(move || {
                let event = choose(vec![gone.recv_evt(), silence.recv_evt(), silence.recv_evt()]);
                while event.sync().is_ok() {
                    // By now all others are between two choices as well.
                    fiber::yield_now();
                    done.send(()).unwrap();
                }
            }));
        }
        allocates_nothing("fifty fibers that choose from vectors", |times| {
            for i in 0..times / FIBERS {
                (0..FIBERS).for_each(|_| fiber::yield_now());
                (0..FIBERS).for_each(|j| go.send(i + j).unwrap());
                (0..FIBERS).for_each(|_| dones.recv().unwrap());
            }
        });
    });
}

#[test]
fn timers() {
    on_one_domain(|| {
        const SLEEPERS: usize = 500;
        let rx = source();
        allocates_nothing("a timeout that loses", |times| {
            for i in 0..times {
                let timeout = after(Duration::from_micros(1 << (i % 40))).wrap(|()| None);
                black_box(choose((timeout, rx.recv_evt().wrap(Result::ok))).sync());
            }
        });
        let past = Instant::now();
        allocates_nothing("times that have come", |times| {
            for _ in 0..times {
                at(past).sync();
                sleep(Duration::ZERO);
            }
        });
        let ticker = lisle::time::ticker(Duration::from_nanos(1));
        allocates_nothing("ticks", |times| {
            for _ in 0..times {
                black_box(ticker.tick());
            }
        });
        // Many sleep at the same time, because a tick is long.
        let (go, gone) = channel::<usize>();
        let (done, dones) = channel::<()>();
        for _ in 0..SLEEPERS {
            let (gone, done) = (gone.clone(), done.clone());
            drop(lisle::spawn(move || {
                while let Ok(i) = gone.recv() {
                    let wait = Duration::from_micros(i as u64 % 3_000);
                    if i % 2 == 0 {
                        sleep(wait)
                    } else {
                        choose((never(), after(wait))).sync()
                    }
                    if done.send(()).is_err() {
                        break;
                    }
                }
            }));
        }
        allocates_nothing("sleeps", |times| {
            for _ in 0..times / SLEEPERS {
                (0..SLEEPERS).for_each(|i| go.send(i * 7).unwrap());
                (0..SLEEPERS).for_each(|_| dones.recv().unwrap());
            }
        });
    });
}

#[test]
fn cells_and_conditions() {
    on_one_domain(|| {
        allocates_nothing("an IVar and a condition that are filled and read", |times| {
            for i in 0..times {
                let (cell, condition) = (IVar::new(), Condition::new());
                cell.put(i).unwrap();
                assert!(condition.signal());
                assert_eq!(*choose((cell.get_evt(), condition.wait_evt().wrap(|()| &i))).sync(), i);
            }
        });
    });
}

#[test]
fn spawns() {
    on_one_domain(|| {
        allocates_nothing("spawn and join", |times| {
            (0..times).for_each(|i| assert_eq!(lisle::spawn(move || i).join().unwrap(), i));
        });
        allocates_nothing("spawn, join_evt in a choice", |times| {
            for i in 0..times {
                let fiber = lisle::spawn(move || [i; 20]);
                let timeout = after(Duration::from_secs(3_600)).wrap(|()| None);
                let joined = choose((timeout, fiber.join_evt().wrap(Result::ok))).sync();
                assert_eq!(joined.unwrap()[19], i);
            }
        });
        let ended = Arc::new(AtomicUsize::new(0));
        allocates_nothing("spawn detached", |times| {
            let before = ended.load(Ordering::Relaxed);
            for i in 1..=times {
                let ends = ended.clone();
                drop(lisle::spawn(move || ends.fetch_add(1, Ordering::Relaxed)));
                while i % 100 == 0 && ended.load(Ordering::Relaxed) < before + i {
                    fiber::yield_now();
                }
            }
        });
        allocates_nothing("a closure and a result of 600 bytes", |times| {
            for i in 0..times {
                let large = [i; 75];
                assert_eq!(lisle::spawn(move || large.map(|i| i + 1)).join().unwrap()[74], i + 1);
            }
        });
        allocates_nothing("spawn on a domain, and cancel", |times| {
            for _ in 0..times {
                let fiber = lisle::fiber::spawn_on(0, || fiber::cancelled_evt().sync());
                fiber::yield_now();
                fiber.cancel();
                fiber.join().unwrap();
            }
        });
        allocates_nothing("a scope with two fibers", |times| {
            for i in 0..times {
                let (left, right) = (i, i + 1);
                let sum = scope(|scope| {
                    let left = scope.spawn(|| left);
                    let right = scope.spawn(|| right);
                    left.join().unwrap() + right.join().unwrap()
                });
                assert_eq!(sum, 2 * i + 1);
            }
        });
    });
}

/// Tasks that begin and end at once, and tasks that are reified and joined, by a fiber and by each
/// other.
#[test]
fn tasks() {
    on_one_domain(|| {
        let (tx, rx) = channel::<usize>();
        allocates_nothing("a task that waits, and is joined", |times| {
            for i in 0..times {
                let rx = rx.clone();
                let task = spawn_task(async move { rx.recv_evt().await.unwrap() + 1 });
                tx.send(i).unwrap();
                assert_eq!(task.join().unwrap(), i + 1);
            }
        });
        let ended = Arc::new(AtomicUsize::new(0));
        allocates_nothing("tasks that wait, detached", |times| {
            let before = ended.load(Ordering::Relaxed);
            for i in 1..=times {
                let (tx, ends) = (tx.clone(), ended.clone());
                drop(spawn_task(async move {
                    tx.send_evt(i).await.unwrap();
                    ends.fetch_add(1, Ordering::Relaxed);
                }));
                assert_eq!(rx.recv(), Ok(i));
                // The tasks end when it is their turn.
                while i % 100 == 0 && ended.load(Ordering::Relaxed) < before + i {
                    fiber::yield_now();
                }
            }
        });
        allocates_nothing("a task that awaits another, inflates and yields", |times| {
            for i in 0..times {
                let inner = spawn_task(async move {
                    task::inflate().await;
                    i
                });
                let outer = spawn_task(async move {
                    task::yield_now().await;
                    inner.await.unwrap()
                });
                assert_eq!(outer.join().unwrap(), i);
            }
        });
        allocates_nothing("a task that is cancelled", |times| {
            for _ in 0..times {
                let task = spawn_task(std::future::pending::<()>());
                task.cancel();
                // It is not joined, because the error would contain a text that names it.
                while !task.is_finished() {
                    fiber::yield_now();
                }
            }
        });
        // Of a million tasks some are queued, because the clock ticks. That path is warm by now.
        allocates_nothing("a task that does not wait", |times| {
            (0..100 * times).for_each(|i| assert_eq!(spawn_task(async move { i }).join().unwrap(), i));
        });
        allocates_nothing("a scope with two tasks that borrow", |times| {
            for i in 0..times {
                let sum = scope(|scope| {
                    let left = scope.spawn_task(async { i });
                    let right = scope.spawn_task(async {
                        task::yield_now().await;
                        i + 1
                    });
                    left.join().unwrap() + right.join().unwrap()
                });
                assert_eq!(sum, 2 * i + 1);
            }
        });
    });
}

/// There are more fibers at a time than a thread keeps control blocks for.
#[test]
fn spawns_in_bursts() {
    on_one_domain(|| {
        let fibers = std::cell::RefCell::new(Vec::with_capacity(TIMES));
        allocates_nothing("bursts of 10,000 spawns", |_| {
            let mut fibers = fibers.borrow_mut();
            fibers.extend((0..TIMES).map(|i| lisle::spawn(move || i)));
            (0..).zip(fibers.drain(..)).for_each(|(i, fiber)| assert_eq!(fiber.join().unwrap(), i));
        });
    });
}

/// Two domains that communicate. Each counts for itself.
#[test]
fn across_domains() {
    let _turn = my_turn();
    Runtime::builder().domains(2).stall_report(None).run(|| {
        let (ask, asked) = channel::<()>();
        let (answer, answers) = channel::<usize>();
        drop(lisle::fiber::spawn_on(1, move || asked.iter().try_for_each(|()| answer.send(allocations()))));
        let there = || {
            ask.send(()).unwrap();
            answers.recv().unwrap()
        };
        let operation = |times| {
            let (ping, pings) = channel::<usize>();
            let (pong, pongs) = channel::<usize>();
            let (_silent, silence) = channel::<usize>();
            let echo = lisle::fiber::spawn_on(1, move || {
                let next = choose((silence.recv_evt(), pings.recv_evt()));
                while next.sync().is_ok_and(|i| pong.send(i).is_ok()) {}
            });
            let before = (allocations(), there());
            for i in 0..times {
                ping.send(i).unwrap();
                assert_eq!(pongs.recv(), Ok(i));
            }
            let counts = (allocations() - before.0, there() - before.1);
            drop(ping);
            echo.join().unwrap();
            counts
        };
        // Asking the other domain makes it keep another control block, now and then in a longer
        // list.
        let counts: Vec<_> = (0..50).map(|_| operation(TIMES)).take_while(|count| *count != (0, 0)).collect();
        assert!(counts.len() < 50, "messages between domains: {counts:?}");
        // The side that ends last recycles the control block: the joiner or, now and then, the
        // other domain, which keeps some before it returns them. Therefore it takes a while until
        // there are enough of them.
        let spawn_there = || {
            let before = (allocations(), there());
            (0..TIMES).for_each(|i| assert_eq!(lisle::fiber::spawn_on(1, move || i).join().unwrap(), i));
            (allocations() - before.0, there() - before.1)
        };
        let counts: Vec<_> = (0..50).map(|_| spawn_there()).take_while(|count| *count != (0, 0)).collect();
        assert!(counts.len() < 50, "spawns onto another domain: {counts:?}");
    });
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

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// This plain thread syncs and awaits. The fibers that it communicates with run on another thread.
#[test]
fn plain_threads_and_futures() {
    let _turn = my_turn();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let (tx, rx) = channel::<usize>();
    drop(runtime.spawn(move || (0..).try_for_each(|i| tx.send(i))));
    let (_silent, silence) = channel::<usize>();
    let hour = || after(Duration::from_secs(3_600)).wrap(|()| unreachable!("an hour is long"));
    allocates_nothing("recv", |times| {
        (0..times).for_each(|_| assert!(rx.recv().is_ok()));
    });
    allocates_nothing("a choice with a timeout", |times| {
        for _ in 0..times {
            assert!(choose((silence.recv_evt(), rx.recv_evt(), hour())).sync().is_ok());
        }
    });
    allocates_nothing("one event, awaited", |times| {
        (0..times).for_each(|_| assert!(block_on(rx.recv_evt().future(), &waker).is_ok()));
    });
    allocates_nothing("a choice of three with a timeout, awaited", |times| {
        for _ in 0..times {
            let choice = choose((silence.recv_evt(), rx.recv_evt(), hour()));
            assert!(block_on(choice.future(), &waker).is_ok());
        }
    });
    drop(rx);
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
}

/// A named fiber costs one allocation, for the name.
#[test]
fn a_name_is_one_allocation() {
    on_one_domain(|| {
        let spawn = || fiber::Builder::new().name("carol").spawn(|| ()).join().unwrap();
        spawn();
        let before = allocations();
        spawn();
        assert_eq!(allocations() - before, 1);
    });
}

/// The counter counts.
#[test]
fn allocations_are_seen() {
    let before = allocations();
    drop(black_box(Box::new(AtomicUsize::new(0).load(Ordering::Relaxed))));
    assert_eq!(allocations() - before, 1);
}

#[test]
fn tasks_and_promises() {
    on_one_domain(|| {
        allocates_nothing("jobs waited for, dropped, and left to the end of the scope", |times| {
            for i in 0..times {
                lisle::par::scope(|s| {
                    let first = s.spawn(move || black_box([i; 10]));
                    drop(s.spawn(move || black_box(i)));
                    assert_eq!(first.wait()[9], i);
                });
            }
        });
    });
}
