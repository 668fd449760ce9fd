//! The turns of fibers on a domain that always has work. Each test ends when the fiber that could
//! starve has had its turn.

use crate::support::{compute, poll_once, watched};
use lisle::{
    Event, Runtime, channel, choose,
    event::{choose_biased, guard},
    fiber, spawn,
    sync::{IVar, Latch, MVar, Mutex, RwLock, Semaphore},
};
use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::Poll,
    time::{Duration, Instant},
};

const ENOUGH: usize = 100;

/// Spawns its successor and runs `beside`, until told to stop.
fn chain(stop: Arc<AtomicBool>, beside: fn()) {
    if !stop.load(Ordering::Relaxed) {
        drop(spawn(move || chain(stop, beside)));
        beside();
    }
}

/// If the queues did not take turns, the youngest fibers and the oldest of the ring would take
/// every turn.
#[test]
fn fibers_that_spawn_without_end_do_not_keep_others_from_going_on() {
    let _watched = watched();
    Runtime::builder().domains(1).run(|| {
        for beside in [(|| ()) as fn(), || drop(spawn(|| ())), || (0..3).for_each(|_| drop(spawn(|| ())))] {
            let stop = Arc::new(AtomicBool::new(false));
            let stopped = stop.clone();
            drop(spawn(move || chain(stopped, beside)));
            let yields = spawn(|| (0..ENOUGH).for_each(|_| fiber::yield_now()));
            let sleeps = spawn(|| (0..3).for_each(|_| lisle::time::sleep(Duration::from_micros(100))));
            yields.join().unwrap();
            sleeps.join().unwrap();
            stop.store(true, Ordering::Relaxed);
        }
    });
}

/// One fiber yields, and the other is woken by it: every other turn belongs to the ready queue.
#[test]
fn fibers_that_go_on_without_end_do_not_keep_others_from_beginning() {
    let _watched = watched();
    Runtime::builder().domains(1).run(|| {
        let (tx, rx) = channel::<()>();
        let begun = Arc::new(AtomicUsize::new(0));
        let seen = begun.clone();
        let sends = spawn(move || {
            while seen.load(Ordering::Relaxed) < ENOUGH {
                tx.send(()).unwrap();
                fiber::yield_now();
            }
        });
        let receives = spawn(move || rx.iter().for_each(drop));
        fiber::yield_now();
        for _ in 0..ENOUGH {
            let begun = begun.clone();
            drop(spawn(move || {
                begun.fetch_add(1, Ordering::Relaxed);
            }));
        }
        sends.join().unwrap();
        receives.join().unwrap();
    });
}

/// Fibers from outside get their turn, however many fibers wait to begin on the domain.
#[test]
fn fibers_from_outside_begin_on_a_domain_with_many_of_its_own() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let chains = stop.clone();
    runtime.run(move || {
        (0..300).for_each(|_| {
            drop(spawn({
                let stop = chains.clone();
                move || chain(stop, || ())
            }))
        })
    });
    for _ in 0..ENOUGH {
        runtime.spawn(|| ()).join().unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    assert!(runtime.shutdown(Duration::from_secs(30)).is_clean());
}

/// There are more fibers than a domain's ring holds, so the youngest go first.
#[test]
fn fibers_that_spawn_without_end_do_not_keep_the_oldest_from_beginning() {
    let _watched = watched();
    Runtime::builder().domains(1).run(|| {
        let (begun, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        for _ in 0..400 {
            let (begun, stop) = (begun.clone(), stop.clone());
            drop(spawn(move || {
                if begun.fetch_add(1, Ordering::Relaxed) == 200 {
                    stop.store(true, Ordering::Relaxed);
                }
            }));
        }
        let stopped = stop.clone();
        // 144 of them are surplus, and so are those that are spawned in the chain.
        spawn(move || chain(stopped, || drop(spawn(|| ())))).join().unwrap();
        while !stop.load(Ordering::Relaxed) {
            fiber::yield_now();
        }
    });
}

/// The fibers that one fiber spawns are done before others begin to spawn, so few fibers of a tree
/// are alive at the same time.
#[test]
fn a_tree_of_fibers_is_not_alive_all_at_once() {
    fn grow(depth: usize, alive: &Arc<AtomicUsize>, most: &Arc<AtomicUsize>) {
        most.fetch_max(alive.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        if depth > 0 {
            let halves = [(); 2].map(|()| {
                let (alive, most) = (alive.clone(), most.clone());
                spawn(move || grow(depth - 1, &alive, &most))
            });
            halves.into_iter().for_each(|half| half.join().unwrap());
        }
        alive.fetch_sub(1, Ordering::Relaxed);
    }

    let _watched = watched();
    for domains in [1, 2] {
        Runtime::builder().domains(domains).run(|| {
            let (alive, most) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
            grow(14, &alive, &most);
            let most = most.load(Ordering::Relaxed);
            assert!(most < 32_767 / 4, "{most} of 32,767 fibers were alive at once");
        });
    }
}

/// Runs fibers that take long and wait to begin, and one that is due while the first of them
/// computes. Returns the number of fibers that begin before the due one continues.
fn begun_before_a_due_timer(sleep: fn(Arc<AtomicUsize>, Arc<AtomicUsize>)) -> usize {
    const PAUSE: Duration = Duration::from_millis(30);
    let _watched = watched();
    let (begun, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    Runtime::builder().domains(1).stall_report(None).drain(true).run(|| {
        sleep(begun.clone(), seen.clone());
        fiber::yield_now();
        let due = Instant::now() + SLEEP;
        for _ in 0..40 {
            let (begun, seen) = (begun.clone(), seen.clone());
            drop(spawn(move || {
                begun.fetch_add(1, Ordering::Relaxed);
                // The test need not wait any longer.
                let end = Instant::now().max(due) + PAUSE;
                while seen.load(Ordering::Relaxed) == 0 && Instant::now() < end {
                    std::hint::spin_loop();
                }
            }));
        }
    });
    seen.load(Ordering::Relaxed)
}

const SLEEP: Duration = Duration::from_millis(20);
/// The coarse clock moves every 10 ms, if its thread gets a processor.
const FEW: usize = 10;

#[test]
fn a_fiber_that_is_due_goes_before_those_that_have_not_begun() {
    let begun = begun_before_a_due_timer(|begun, seen| {
        drop(spawn(move || {
            lisle::time::sleep(SLEEP);
            seen.store(begun.load(Ordering::Relaxed), Ordering::Relaxed);
        }));
    });
    assert!((1..=FEW).contains(&begun), "{begun} fibers have begun before");
}

#[test]
fn a_task_that_is_due_goes_before_fibers_that_have_not_begun() {
    let begun = begun_before_a_due_timer(|begun, seen| {
        drop(lisle::spawn_task(async move {
            lisle::time::after(SLEEP).await;
            seen.store(begun.load(Ordering::Relaxed), Ordering::Relaxed);
        }));
    });
    assert!((1..=FEW).contains(&begun), "{begun} fibers have begun before");
}

/// Fibers that are due again and again do not keep others from beginning.
#[test]
fn fibers_that_are_always_due_do_not_keep_others_from_beginning() {
    let _watched = watched();
    Runtime::builder().domains(1).stall_report(None).run(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let sleepers: Vec<_> = (0..4)
            .map(|_| {
                let stop = stop.clone();
                spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        lisle::time::sleep(Duration::from_micros(1));
                        // The others are due when it has done this.
                        compute(Duration::from_millis(1));
                    }
                })
            })
            .collect();
        fiber::yield_now();
        (0..10).for_each(|_| spawn(|| ()).join().unwrap());
        stop.store(true, Ordering::Relaxed);
        sleepers.into_iter().for_each(|sleeper| sleeper.join().unwrap());
    });
}

/// Both are due when a fiber reaches its checkpoint, which has not woken either of them.
#[test]
fn those_that_are_due_at_a_checkpoint_go_in_the_order_of_their_deadlines() {
    let _watched = watched();
    Runtime::builder().domains(1).stall_report(None).run(|| {
        let order = Arc::new(std::sync::Mutex::new(Vec::new()));
        let begun = Arc::new(AtomicUsize::new(0));
        let sleepers = [1, 5, 9].map(|millis| {
            let (order, begun) = (order.clone(), begun.clone());
            spawn(move || {
                begun.fetch_add(1, Ordering::Relaxed);
                lisle::time::sleep(Duration::from_millis(millis));
                order.lock().unwrap().push(millis);
            })
        });
        while begun.load(Ordering::Relaxed) < sleepers.len() {
            fiber::yield_now();
        }
        compute(Duration::from_millis(20));
        while order.lock().unwrap().len() < sleepers.len() {
            fiber::checkpoint();
        }
        assert_eq!(*order.lock().unwrap(), [1, 5, 9]);
        sleepers.into_iter().for_each(|sleeper| sleeper.join().unwrap());
    });
}

/// The ring of a domain has no room for all, and the domain stays in the turn that has spawned them.
#[test]
fn what_had_no_room_begins_elsewhere_if_its_domain_stays_in_one_turn() {
    const COUNT: usize = 320;
    let _watched = watched();
    Runtime::builder().domains(2).stall_report(None).run(|| {
        let (busy, done) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
        let begun = Arc::new(AtomicBool::new(false));
        let (keeps, has_begun) = (busy.clone(), begun.clone());
        // Nobody is idle when they are spawned.
        let kept = fiber::spawn_on(1, move || {
            has_begun.store(true, Ordering::Relaxed);
            while keeps.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        });
        while !begun.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        for _ in 0..COUNT {
            let done = done.clone();
            drop(spawn(move || {
                done.fetch_add(1, Ordering::Relaxed);
            }));
        }
        busy.store(false, Ordering::Relaxed);
        while done.load(Ordering::Relaxed) < COUNT {
            std::thread::yield_now();
        }
        kept.join().unwrap();
    });
}

/// Each turn takes so long that the oldest of the ring begins next, until the ring is empty. The
/// surplus is still there then.
#[test]
fn a_surplus_begins_also_when_the_ring_has_run_empty() {
    const RING: usize = 256;
    let _watched = watched();
    Runtime::builder().domains(1).stall_report(None).run(|| {
        let begun = Arc::new(AtomicUsize::new(0));
        let fibers: Vec<_> = (0..RING + 50)
            .map(|_| {
                let begun = begun.clone();
                spawn(move || {
                    if begun.fetch_add(1, Ordering::Relaxed) < RING {
                        compute(Duration::from_millis(11));
                    }
                })
            })
            .collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}

/// A fiber that has locks again and again, which are free each time, need not ever wait.
#[test]
fn a_fiber_that_never_waits_for_its_locks_lets_others_begin() {
    let _watched = watched();
    let (mutex, rwlock) = (lisle::sync::Mutex::new(0), lisle::sync::RwLock::new(0));
    let locks: [&(dyn Fn() + Sync); 3] =
        [&|| *mutex.lock() += 1, &|| *rwlock.write() += 1, &|| drop(rwlock.read())];
    for lock in locks {
        Runtime::builder().domains(1).run(|| {
            let begun = Arc::new(AtomicBool::new(false));
            let other = {
                let begun = begun.clone();
                lisle::spawn(move || begun.store(true, Ordering::Relaxed))
            };
            while !begun.load(Ordering::Relaxed) {
                lock();
            }
            other.join().unwrap();
        });
    }
}

/// Runs `code` beside a fiber that has not begun and that sleeps, too. `code` is told when that has
/// ended.
fn beside_one_that_passes(code: impl FnOnce(&AtomicBool) + Send) {
    Runtime::builder().domains(1).stall_report(None).run(move || {
        let passed = Arc::new(AtomicBool::new(false));
        let passes = passed.clone();
        drop(spawn(move || {
            lisle::time::sleep(Duration::from_micros(1));
            passes.store(true, Ordering::Relaxed);
        }));
        code(&passed);
    });
}

/// Runs `operation` again and again until another has passed. Each is to let it.
fn is_let_past(mut operation: impl FnMut() + Send) {
    beside_one_that_passes(|passed| {
        while !passed.load(Ordering::Relaxed) {
            operation();
        }
    });
}

/// Does the same in one future, which awaits `operation` again and again.
fn are_let_past(operation: impl AsyncFn() + Sync) {
    beside_one_that_passes(|passed| {
        lisle::future::block_on(async {
            while !passed.load(Ordering::Relaxed) {
                operation().await;
            }
        });
    });
}

/// None of these ever waits, so no other fiber would ever run.
#[test]
fn a_fiber_whose_operations_are_always_ready_lets_others_pass() {
    let _watched = watched();
    is_let_past(|| lisle::time::sleep(Duration::ZERO));
    is_let_past(|| lisle::time::at(Instant::now()).sync());
    is_let_past(|| lisle::always(()).sync());
    is_let_past(|| choose((lisle::always(()), lisle::never())).sync());
    is_let_past(|| lisle::select! { () = lisle::always(()) => () });

    let (tx, rx) = channel::bounded(1);
    is_let_past(move || {
        tx.send(1).unwrap();
        assert_eq!(rx.recv(), Ok(1));
    });
    let (tx, rx) = channel::bounded(1);
    is_let_past(move || {
        tx.send_evt(1).sync().unwrap();
        assert_eq!(rx.recv_evt().sync(), Ok(1));
    });
    let (tx, rx) = channel::unbounded();
    is_let_past(move || {
        tx.send(1).unwrap();
        assert_eq!(rx.recv(), Ok(1));
    });
    let news = channel::Multicast::new();
    let port = news.port();
    is_let_past(move || {
        news.send(1).unwrap();
        assert_eq!(port.recv(), Ok(1));
    });
    let (tx, rx) = channel::<u8>();
    drop(tx);
    is_let_past(move || assert!(rx.recv().is_err()));
    let (tx, rx) = channel::<u8>();
    drop(rx);
    is_let_past(move || assert!(tx.send(1).is_err()));

    let cell = IVar::new();
    cell.put(1).unwrap();
    is_let_past(move || assert_eq!(*cell.get(), 1));
    let cell = MVar::new();
    is_let_past(move || {
        cell.put(1);
        assert_eq!(cell.take(), 1);
    });
    let semaphore = Semaphore::new(1);
    is_let_past(move || drop(semaphore.acquire()));
    let semaphore = Semaphore::new(2);
    is_let_past(move || drop(semaphore.acquire_many(2)));
    let cell = MVar::full(1);
    is_let_past(move || assert_eq!(cell.update(|one| *one), 1));
    let mutex = Mutex::new(());
    is_let_past(move || drop(mutex.lock()));
    let mutex = Mutex::new(());
    is_let_past(move || drop(mutex.lock_timeout(Duration::MAX)));
    let lock = RwLock::new(());
    is_let_past(move || drop(lock.read_timeout(Duration::MAX)));
    let lock = RwLock::new(());
    is_let_past(move || drop(lock.write_timeout(Duration::MAX)));
    let lock = RwLock::new(());
    is_let_past(move || drop(lock.read()));
    let lock = RwLock::new(());
    is_let_past(move || drop(lock.write()));
    let latch = Latch::new(0);
    is_let_past(move || latch.wait());
}

/// A fiber waits for one future after the other, or for one whose events are always ready.
#[test]
fn a_fiber_that_waits_for_what_is_always_ready_lets_others_pass() {
    let _watched = watched();
    let mutex = Mutex::new(());
    is_let_past(move || lisle::future::block_on(async { drop(mutex.lock_evt().await) }));
    let mutex = Mutex::new(());
    are_let_past(async || drop(mutex.lock_evt().await));
    let (tx, rx) = channel::bounded(1);
    are_let_past(async || {
        tx.send_evt(1).await.unwrap();
        assert_eq!(rx.recv_evt().await, Ok(1));
    });
    are_let_past(async || lisle::always(()).future().await);
    are_let_past(async || choose((lisle::always(()), lisle::never())).future().await);
}

/// Only a fiber that waits for a future lets others run when the future is pending.
#[test]
fn a_ready_future_that_nobody_waits_for_is_ready_in_a_long_turn() {
    let _watched = watched();
    let polls = || {
        while !lisle::event::turn::is_due() {
            std::hint::spin_loop();
        }
        let ready = pin!(lisle::always(1).future());
        assert_eq!(poll_once(ready), Poll::Ready(1));
    };
    Runtime::builder().domains(1).stall_report(None).run(move || {
        polls();
        lisle::future::block_on(async { polls() });
    });
}

/// A plain thread keeps the channel full, or empty: the fiber need never wait for long.
#[test]
fn a_fiber_that_a_thread_keeps_busy_lets_others_pass() {
    let _watched = watched();
    let (tx, rx) = channel::bounded(64);
    let thread = std::thread::spawn(move || while tx.send(1).is_ok() {});
    is_let_past(move || assert_eq!(rx.recv(), Ok(1)));
    thread.join().unwrap();
    let (tx, rx) = channel::bounded(64);
    let thread = std::thread::spawn(move || rx.iter().for_each(|one: i32| assert_eq!(one, 1)));
    is_let_past(move || tx.send(1).unwrap());
    thread.join().unwrap();
}

/// In a task that waits in place, the stack that it runs on is suspended.
#[test]
fn a_task_whose_operations_in_place_are_always_ready_lets_others_pass() {
    let _watched = watched();
    Runtime::builder().domains(1).stall_report(None).run(|| {
        let passed = Arc::new(AtomicBool::new(false));
        let passes = passed.clone();
        drop(spawn(move || passes.store(true, Ordering::Relaxed)));
        let asks = lisle::spawn_task(async move {
            while !passed.load(Ordering::Relaxed) {
                lisle::time::sleep(Duration::ZERO);
            }
        });
        asks.join().unwrap();
    });
}

/// A fiber is not suspended in `no_suspend`, however long that takes.
#[test]
fn a_fiber_that_must_not_be_suspended_goes_on_with_what_is_ready() {
    let _watched = watched();
    Runtime::builder().domains(1).stall_report(None).run(|| {
        let begun = Arc::new(AtomicBool::new(false));
        let begins = begun.clone();
        let other = spawn(move || begins.store(true, Ordering::Relaxed));
        fiber::no_suspend(|| {
            let since = Instant::now();
            // Long enough to be marked at least three times.
            while since.elapsed() < Duration::from_millis(50) {
                lisle::time::sleep(Duration::ZERO);
            }
        });
        assert!(!begun.load(Ordering::Relaxed));
        other.join().unwrap();
    });
}

/// A receiver that has been won waits until the message is made. If the sender gave way before that,
/// a receiver that must not be suspended would keep its whole domain waiting.
#[test]
fn a_fiber_that_has_won_does_not_give_way_before_its_message_is_made() {
    let _watched = watched();
    Runtime::builder().domains(1).stall_report(None).run(|| {
        let (tx, rx) = channel::<()>();
        let (turns, torn) = (Arc::new(AtomicUsize::new(0)), AtomicBool::new(false));
        let stop = Arc::new(AtomicBool::new(false));
        let (counted, stopped) = (turns.clone(), stop.clone());
        let other = spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                counted.fetch_add(1, Ordering::Relaxed);
                fiber::yield_now();
            }
        });
        let receiver = std::thread::spawn(move || rx.iter().for_each(drop));
        // It never waits, so others have their turns only where it is made to give way.
        while turns.load(Ordering::Relaxed) < 5 {
            let sends = guard(|| {
                let before = turns.load(Ordering::Relaxed);
                let (turns, torn) = (&turns, &torn);
                tx.send_with_evt(move || {
                    torn.fetch_or(turns.load(Ordering::Relaxed) != before, Ordering::Relaxed);
                })
            });
            choose_biased((sends.wrap(drop), lisle::always(()))).sync();
            compute(Duration::from_micros(10));
        }
        stop.store(true, Ordering::Relaxed);
        other.join().unwrap();
        drop(tx);
        receiver.join().unwrap();
        assert!(!torn.into_inner(), "others had their turn before a message was made");
    });
}
