//! Mutexes: exclusion, turns, time limits, choices, and holders and waiters that go away.

use crate::support::{Cx, Random, poll_once, scaled, watched, worlds};
use lisle::sync::{Mutex, MutexGuard};
use lisle::time::after;
use lisle::{Event, Runtime, choose, fiber};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

worlds!(
    one_at_a_time_has_it,
    a_waiter_wins_against_one_that_does_not_let_go,
    trying_and_waiting_for_a_while,
    a_waiter_that_gives_up_lets_the_next_in,
    a_choice_gets_one_of_two,
    futures_that_are_dropped_keep_nothing,
    a_panic_of_the_holder_lets_the_next_in,
    a_guard_is_dropped_elsewhere,
    philosophers_eat,
);

/// Longer than any test takes.
const AGES: Duration = Duration::from_secs(3_600);

/// The mutex is locked in every possible way. Some performers hold it while they wait for something
/// else.
async fn one_at_a_time_has_it(cx: Cx) {
    let (performers, rounds) = (8, scaled(4_000, 500));
    let mutex = Arc::new(Mutex::new(0_usize));
    let all = (0..performers).map(|id| {
        let mutex = mutex.clone();
        cx.spawn(move |cx| async move {
            let mut random = Random::new(id as u64 + 1);
            for _ in 0..rounds {
                let mut guard = match random.below(4) {
                    0 => cx.sync(mutex.lock_evt()).await,
                    1 => cx.sync(choose((mutex.lock_evt(), lisle::never()))).await,
                    2 => match mutex.try_lock() {
                        Some(guard) => guard,
                        None => cx.sync(mutex.lock_evt()).await,
                    },
                    _ if cx.is_future() => cx.sync(mutex.lock_evt()).await,
                    _ => mutex.lock(),
                };
                let before = *guard;
                if random.below(8) == 0 {
                    cx.yield_now().await;
                }
                *guard = before + 1;
            }
        })
    });
    let all: Vec<_> = all.collect();
    cx.join_all(all).await;
    assert_eq!(*mutex.try_lock().expect("all have gone"), performers * rounds);
}

/// Case 15. The mutex is never free for longer than from one line to the next, and its holder lets
/// other performers run only while it holds it. Without a hand-off the other performer would never
/// find it free.
async fn a_waiter_wins_against_one_that_does_not_let_go(cx: Cx) {
    let mutex = Arc::new(Mutex::new(()));
    let stop = Arc::new(AtomicBool::new(false));
    let hammer = {
        let (mutex, stop) = (mutex.clone(), stop.clone());
        cx.spawn(move |cx| async move {
            while !stop.load(Ordering::Relaxed) {
                let _guard = cx.sync(mutex.lock_evt()).await;
                cx.yield_now().await;
            }
        })
    };
    for _ in 0..scaled(200, 50) {
        drop(cx.sync(mutex.lock_evt()).await);
        let starved = after(AGES).wrap(|()| panic!("starved"));
        drop(cx.sync(choose((mutex.lock_evt(), starved))).await);
    }
    stop.store(true, Ordering::Relaxed);
    cx.join(hammer).await;
}

async fn trying_and_waiting_for_a_while(cx: Cx) {
    let mutex = Mutex::new(1);
    let short = Duration::from_millis(2);
    let guard = mutex.try_lock().expect("nobody has it");
    assert!(mutex.try_lock().is_none());
    assert!(mutex.lock_evt().poll().is_none());
    let gave_up = || after(short).wrap(|()| None);
    let start = Instant::now();
    assert!(cx.sync(choose((mutex.lock_evt().wrap(Some), gave_up()))).await.is_none());
    assert!(start.elapsed() >= short);
    if !cx.is_future() {
        assert!(mutex.lock_timeout(short).is_none());
        assert!(mutex.lock_timeout(Duration::ZERO).is_none());
    }
    drop(guard);
    *mutex.lock_evt().poll().expect("it is free") += 1;
    assert_eq!(mutex.lock_timeout(Duration::ZERO).map(|value| *value), Some(2));
    let locked = cx.sync(choose((mutex.lock_evt().wrap(Some), after(AGES).wrap(|()| None)))).await;
    assert_eq!(locked.map(|value| *value), Some(2));
    assert_eq!(mutex.into_inner(), 2);
}

/// Case 33: the first waiter gives up, and the second gets the mutex.
async fn a_waiter_that_gives_up_lets_the_next_in(cx: Cx) {
    for _ in 0..scaled(100, 20) {
        let mutex = Arc::new(Mutex::new(Vec::new()));
        let guard = mutex.try_lock().expect("nobody has it");
        let (waiting, waits) = lisle::channel::bounded::<()>(2);
        let impatient = {
            let (mutex, waiting) = (mutex.clone(), waiting.clone());
            cx.spawn(move |cx| async move {
                cx.sync(waiting.send_evt(())).await.unwrap();
                let limit = after(Duration::from_micros(200)).wrap(|()| None);
                if let Some(mut list) = cx.sync(choose((mutex.lock_evt().wrap(Some), limit))).await {
                    list.push("impatient");
                }
            })
        };
        cx.sync(waits.recv_evt()).await.unwrap();
        let next = {
            let (mutex, waiting) = (mutex.clone(), waiting.clone());
            cx.spawn(move |cx| async move {
                cx.sync(waiting.send_evt(())).await.unwrap();
                cx.sync(mutex.lock_evt()).await.push("next");
            })
        };
        cx.sync(waits.recv_evt()).await.unwrap();
        cx.join(impatient).await;
        drop(guard);
        cx.join(next).await;
        assert_eq!(*mutex.try_lock().unwrap(), ["next"]);
    }
}

/// A performance that has lost has locked nothing. In the end both are free, and every round was
/// counted once.
async fn a_choice_gets_one_of_two(cx: Cx) {
    let rounds = scaled(3_000, 400);
    let mutexes = Arc::new([Mutex::new(0), Mutex::new(0)]);
    let all: Vec<_> = (0..6)
        .map(|id| {
            let mutexes = mutexes.clone();
            cx.spawn(move |cx| async move {
                for round in 0..rounds {
                    let [one, other] = &*mutexes;
                    let mut guard = match (id + round) % 3 {
                        0 => cx.sync(choose((one.lock_evt(), other.lock_evt()))).await,
                        1 => cx.sync(choose((other.lock_evt(), one.lock_evt()))).await,
                        _ => cx.sync(one.lock_evt()).await,
                    };
                    let before = *guard;
                    if round % 16 == 0 {
                        cx.yield_now().await;
                    }
                    *guard = before + 1;
                }
            })
        })
        .collect();
    cx.join_all(all).await;
    let counts = mutexes.each_ref().map(|mutex| *mutex.try_lock().expect("all have gone"));
    assert_eq!(counts[0] + counts[1], 6 * rounds);
    assert!(counts[1] > 0, "the choices have never taken the other");
}

/// The futures are polled once and dropped at the moment when others unlock.
async fn futures_that_are_dropped_keep_nothing(cx: Cx) {
    let rounds = scaled(5_000, 500);
    let mutex = Arc::new(Mutex::new(0));
    let all: Vec<_> = (0..4)
        .map(|id| {
            let mutex = mutex.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id + 1);
                for _ in 0..rounds {
                    let mut single = Box::pin(mutex.lock_evt().future());
                    let mut choice = Box::pin(choose((mutex.lock_evt(), mutex.lock_evt())).future());
                    let polled = match random.below(2) {
                        0 => poll_once(single.as_mut()),
                        _ => poll_once(choice.as_mut()),
                    };
                    if random.below(4) == 0 {
                        cx.yield_now().await;
                    }
                    drop((polled, single, choice));
                    *cx.sync(mutex.lock_evt()).await += 1;
                }
            })
        })
        .collect();
    cx.join_all(all).await;
    assert_eq!(*mutex.try_lock().expect("all have gone"), 4 * rounds);
}

async fn a_panic_of_the_holder_lets_the_next_in(cx: Cx) {
    let mutex = Arc::new(Mutex::new(0));
    let held = Arc::new(lisle::sync::Condition::new());
    let holder = {
        let (mutex, held) = (mutex.clone(), held.clone());
        cx.spawn(move |cx| async move {
            let mut guard = cx.sync(mutex.lock_evt()).await;
            *guard = 1;
            held.signal();
            cx.yield_now().await;
            panic!("while it has the mutex");
        })
    };
    let waiters: Vec<_> = (0..4)
        .map(|_| {
            let (mutex, held) = (mutex.clone(), held.clone());
            cx.spawn(move |cx| async move {
                cx.sync(held.wait_evt()).await;
                *cx.sync(mutex.lock_evt()).await += 1;
            })
        })
        .collect();
    assert!(cx.join_caught::<()>(holder).await.is_err());
    cx.join_all(waiters).await;
    assert_eq!(*mutex.try_lock().expect("all have gone"), 5);
}

async fn a_guard_is_dropped_elsewhere(cx: Cx) {
    let mutex: &'static Mutex<u32> = Box::leak(Box::new(Mutex::new(0)));
    for round in 0..scaled(200, 50) as u32 {
        let guard = cx.sync(mutex.lock_evt()).await;
        let other = cx.spawn(move |_| async move {
            let mut guard: MutexGuard<'static, u32> = guard;
            *guard += 1;
        });
        assert!(*cx.sync(mutex.lock_evt()).await > round);
        cx.join(other).await;
    }
}

/// Case 23. Each philosopher takes any free fork and then tries the other for a while.
async fn philosophers_eat(cx: Cx) {
    const TABLE: usize = 10;
    let forks: Arc<[Mutex<()>; TABLE]> = Arc::new(std::array::from_fn(|_| Mutex::new(())));
    let meals = scaled(50, 10);
    let all: Vec<_> = (0..TABLE)
        .map(|seat| {
            let forks = forks.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(seat as u64 + 23);
                let (left, right) = (&forks[seat], &forks[(seat + 1) % TABLE]);
                let mut eaten = 0;
                while eaten < meals {
                    let either = (
                        left.lock_evt().wrap(|fork| (fork, right)),
                        right.lock_evt().wrap(|fork| (fork, left)),
                    );
                    let (_first, other) = cx.sync(choose(either)).await;
                    let limit = after(Duration::from_micros(random.below(200) as u64)).wrap(|()| None);
                    let second = cx.sync(choose((other.lock_evt().wrap(Some), limit))).await;
                    eaten += usize::from(second.is_some());
                    cx.yield_now().await;
                }
            })
        })
        .collect();
    cx.join_all(all).await;
    assert!(forks.iter().all(|fork| fork.try_lock().is_some()), "a fork is still in use");
}

/// Fibers are unwound at shutdown: some while they hold the mutex, some while they wait for it, and
/// some when it is just being handed to them.
#[test]
fn interrupted_fibers_keep_nothing() {
    let _watched = watched();
    for round in 0..scaled(50, 10) {
        let mutex = Arc::new(Mutex::new(()));
        let runtime = Runtime::builder().domains(2).start().unwrap();
        let begun = Arc::new(AtomicUsize::new(0));
        for fiber in 0..20 {
            let (mutex, begun) = (mutex.clone(), begun.clone());
            drop(runtime.spawn(move || {
                begun.fetch_add(1, Ordering::Relaxed);
                loop {
                    let _guard = match (fiber + round) % 3 {
                        0 => mutex.lock(),
                        1 => choose((mutex.lock_evt(), lisle::never())).sync(),
                        _ => match mutex.lock_timeout(Duration::from_micros(300)) {
                            Some(guard) => guard,
                            None => continue,
                        },
                    };
                    lisle::time::sleep(Duration::from_micros(50));
                    fiber::yield_now();
                }
            }));
        }
        while begun.load(Ordering::Relaxed) < 20 {
            drop(mutex.lock());
            std::thread::yield_now();
        }
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
        assert!(mutex.try_lock().is_some(), "a fiber took the mutex with it");
    }
}

/// Returns a name that nothing else has. The lists of waits tell of all plain threads.
fn unique_name() -> String {
    static NAMES: AtomicUsize = AtomicUsize::new(0);
    format!("mutex no {} of this test", NAMES.fetch_add(1, Ordering::Relaxed))
}

/// Until one that was told that the mutex is free has tried, nobody else is told by who unlocks. Where
/// it does not try, and nobody unlocks either, its turn goes to a thread that sleeps.
#[test]
fn a_thread_has_a_free_mutex_though_the_one_that_was_told_does_not_try() {
    let _watched = watched();
    for _ in 0..1000 {
        let name = unique_name();
        let mutex = Arc::new(Mutex::new(()).named(&name));
        let guard = mutex.lock();
        let [mut first, mut told] = [(); 2].map(|()| Box::pin(mutex.lock_evt().into_future()));
        assert!(poll_once(first.as_mut()).is_pending() && poll_once(told.as_mut()).is_pending());
        let thread = std::thread::spawn({
            let mutex = mutex.clone();
            move || drop(mutex.lock())
        });
        while !lisle::waiting().to_string().contains(&name) {
            std::thread::yield_now();
        }
        // The first that waits is always handed it. If half a millisecond passes before that one
        // leaves, so is the second.
        drop(guard);
        drop(first);
        let was_told = mutex.try_lock().is_some();
        if was_told {
            thread.join().unwrap();
            return;
        }
        drop(told);
        thread.join().unwrap();
    }
    panic!("the second has never been told");
}

/// A fiber or a task that was told that the mutex is free runs on the same domain as something that
/// locks it again and again, by `lock` until it holds `true`, and never waits.
#[track_caller]
fn a_waiter_of_its_domain_has_it_soon(lock: impl Fn(&Arc<Mutex<bool>>, &mut dyn FnMut()) + Send + 'static) {
    let _watched = watched();
    Runtime::builder().domains(1).run(move || {
        let name = unique_name();
        let mutex = Arc::new(Mutex::new(false).named(&name));
        // At first, and then each half millisecond, the waiter is handed the mutex. Else it is
        // told.
        for round in 0..20 {
            let mut guard = mutex.lock();
            *guard = false;
            let waited_for = mutex.clone();
            let waiter: Box<dyn FnOnce()> = if round % 2 == 0 {
                let fiber = lisle::spawn(move || *waited_for.lock() = true);
                Box::new(|| fiber.join().unwrap())
            } else {
                let task = lisle::spawn_task(async move { *waited_for.lock_evt().await = true });
                Box::new(|| task.join().unwrap())
            };
            while !lisle::waiting().to_string().contains(&name) {
                fiber::yield_now();
            }
            drop(guard);
            let mut times = 0;
            lock(&mutex, &mut || times += 1);
            // By its turn alone it would stop after 10 or 20 ms.
            assert!(times < 1000, "it has locked {times} times before the waiter, round {round}");
            waiter();
        }
    });
}

/// The waiter has a turn, and loses it since nobody lets it run.
#[test]
fn a_fiber_that_takes_a_late_turn_lets_a_waiter_of_its_domain_have_it() {
    a_waiter_of_its_domain_has_it_soon(|mutex, locked| {
        let computes = Instant::now();
        while computes.elapsed() < Duration::from_millis(6) {}
        while !*mutex.lock() {
            locked();
        }
    });
}

#[test]
fn a_fiber_that_locks_again_and_again_lets_a_waiter_of_its_domain_have_it() {
    a_waiter_of_its_domain_has_it_soon(|mutex, locked| {
        while !*mutex.lock() {
            locked();
        }
    });
    a_waiter_of_its_domain_has_it_soon(|mutex, locked| {
        while !*mutex.lock_evt().sync() {
            locked();
        }
    });
    a_waiter_of_its_domain_has_it_soon(|mutex, locked| {
        while !*mutex.lock_timeout(Duration::MAX).unwrap() {
            locked();
        }
    });
}

#[test]
fn a_task_that_locks_again_and_again_lets_a_waiter_of_its_domain_have_it() {
    fn times(again: impl Future<Output = usize> + Send + 'static, locked: &mut dyn FnMut()) {
        (0..lisle::spawn_task(again).join().unwrap()).for_each(|_| locked());
    }
    a_waiter_of_its_domain_has_it_soon(|mutex, locked| {
        let mutex = mutex.clone();
        let again = async move {
            let mut times = 0;
            while !*mutex.lock_evt().await {
                times += 1;
            }
            times
        };
        times(again, locked);
    });
    a_waiter_of_its_domain_has_it_soon(|mutex, locked| {
        let mutex = mutex.clone();
        let in_place = async move {
            let mut times = 0;
            while !*mutex.lock() {
                times += 1;
            }
            times
        };
        times(in_place, locked);
    });
}

#[test]
fn a_mutex_may_be_static_named_and_shown() {
    static MUTEX: Mutex<u32> = Mutex::new(3);
    let guard = MUTEX.lock();
    let shown = format!("{MUTEX:?}");
    assert!(shown.starts_with("Mutex { held_by: 0x") && !shown.contains("0x0,"), "{shown}");
    assert_eq!(format!("{guard:?} {guard}"), "3 3");
    assert!(std::ptr::eq(MutexGuard::mutex(&guard), &MUTEX));
    drop(guard);
    assert_eq!(format!("{MUTEX:?}"), "Mutex { value: 3, .. }");
    let unsized_value: Box<Mutex<[u8]>> = Box::new(Mutex::new([1, 2, 3]).named("bytes"));
    unsized_value.lock()[1] = 5;
    assert_eq!(*unsized_value.lock(), [1, 5, 3]);
}

#[test]
fn no_poison() {
    let mutex = Mutex::new(1);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        *mutex.lock() = 2;
        let _guard = mutex.lock();
        panic!("while it has the mutex");
    }));
    assert!(panic.is_err());
    assert_eq!(*mutex.lock(), 2);
}
