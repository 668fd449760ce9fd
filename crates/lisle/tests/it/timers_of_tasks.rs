//! The places of tasks' timers, and their fate when their domain does not look at them, or ends.

use crate::support::{Random, block_on, poll_once, scaled, watched};
use lisle::event::Source;
use lisle::fiber::spawn_on;
use lisle::time::{After, after};
use lisle::{Event, Runtime, channel, choose, spawn, spawn_task};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

type Sleep = Pin<Box<<After as IntoFuture>::IntoFuture>>;

/// Arms a timer as a task does, and returns the future that waits for it.
fn armed_by_a_task(wait: Duration) -> Sleep {
    let armed = spawn_task(async move {
        let mut sleep: Sleep = Box::pin(after(wait).into_future());
        let polled = poll_fn(|context| Poll::Ready(sleep.as_mut().poll(context))).await;
        assert!(polled.is_pending());
        (sleep,)
    });
    armed.join().unwrap().0
}

fn spin_until(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        std::hint::spin_loop();
    }
}

/// A fiber keeps its domain until a task goes on that was armed there.
#[test]
fn a_task_whose_domain_is_kept_goes_on_elsewhere() {
    let _watched = watched();
    Runtime::builder().domains(2).run(|| {
        for micros in [0, 300, 5_000] {
            let gone_on = Arc::new(AtomicBool::new(false));
            let (flag, wait) = (gone_on.clone(), Duration::from_micros(micros));
            let task = spawn_task(async move {
                after(wait).await;
                flag.store(true, Ordering::Release);
            });
            spin_until(&gone_on);
            task.join().unwrap();
        }
    });
}

/// The waker of a future that a task has armed may have nothing to do with the task.
#[test]
fn a_future_armed_by_a_task_wakes_whoever_polls_it_next() {
    let _watched = watched();
    Runtime::builder().domains(1).run(|| {
        let begun = Instant::now();
        let wait = Duration::from_millis(20);
        let sleep = armed_by_a_task(wait);
        let waiter = std::thread::spawn(move || block_on(sleep));
        lisle::blocking(move || waiter.join().unwrap());
        assert!(begun.elapsed() >= wait);
    });
}

/// It fires after its domain has gone, at its time.
#[test]
fn a_timer_outlives_the_runtime_of_its_domain() {
    let _watched = watched();
    let (begun, wait) = (Instant::now(), Duration::from_millis(30));
    let sleeps: Vec<_> =
        (0..10).map(|i| Runtime::builder().domains(1 + i % 3).run(move || armed_by_a_task(wait))).collect();
    let dropped = Runtime::builder().domains(1).run(|| armed_by_a_task(Duration::from_secs(3_600)));
    sleeps.into_iter().for_each(block_on);
    assert!(begun.elapsed() >= wait);
    drop(dropped);
}

/// A runtime that was given up has domains that do not return. The timers that they have armed fire
/// elsewhere.
#[test]
fn a_timer_outlives_a_runtime_that_was_given_up() {
    let _watched = watched();
    let (goes_on, is_kept) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (tx, rx) = std::sync::mpsc::channel();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let (flag, kept) = (goes_on.clone(), is_kept.clone());
    drop(runtime.spawn(move || {
        tx.send(armed_by_a_task(Duration::from_millis(5))).unwrap();
        kept.store(true, Ordering::Release);
        spin_until(&flag);
        tx.send(armed_by_a_task(Duration::from_millis(5))).unwrap();
    }));
    spin_until(&is_kept);
    assert!(!runtime.shutdown(Duration::ZERO).is_clean());
    block_on(rx.recv().unwrap());
    // Timers from now on are armed with the clock thread.
    goes_on.store(true, Ordering::Release);
    block_on(rx.recv().unwrap());
}

/// Timers are armed on some domains, and disarmed on others while they fire.
#[test]
fn timers_fire_while_others_disarm_them() {
    let _watched = watched();
    Runtime::builder().domains(4).run(|| {
        let rounds = scaled(3_000, 100);
        let pairs: Vec<_> = (0..4)
            .map(|id| {
                let (tx, rx) = channel::<Sleep>();
                let arms = spawn_on(id, move || {
                    let mut random = Random::new(id as u64);
                    for _ in 0..rounds {
                        let sleep = armed_by_a_task(Duration::from_micros(random.below(200) as u64 + 1));
                        tx.send(sleep).unwrap();
                    }
                });
                let disarms = spawn_on((id + 1) % 4, move || {
                    let mut random = Random::new(7 + id as u64);
                    for (count, mut sleep) in rx.iter().enumerate() {
                        match random.below(3) {
                            0 => drop(sleep),
                            1 if poll_once(sleep.as_mut()) == Poll::Ready(()) => {}
                            _ if count % 16 == 0 => spawn_task(sleep).join().unwrap(),
                            _ => drop(sleep),
                        }
                    }
                });
                (arms, disarms)
            })
            .collect();
        for (arms, disarms) in pairs {
            arms.join().unwrap();
            disarms.join().unwrap();
        }
    });
}

/// A loop, or a checkpoint, lets others pass while the step of an event keeps the record for which a
/// timer is due.
#[test]
fn a_timer_that_is_due_in_a_step_waits_for_its_end() {
    let _watched = watched();
    fn joins() {
        lisle::par::join(|| std::hint::black_box(1), || std::hint::black_box(2));
    }
    fn checks() {
        lisle::fiber::no_suspend(lisle::fiber::checkpoint);
    }
    fn twice_or(late: Duration, passes: fn()) -> impl Event<Output = bool> {
        let asked = AtomicUsize::new(0);
        let compute = move |_: &mut ()| {
            let begun = Instant::now();
            // The first time it has not been published.
            while asked.load(Ordering::Relaxed) > 0 && begun.elapsed() < 2 * late {
                passes();
            }
            asked.fetch_add(1, Ordering::Relaxed);
            None::<()>
        };
        let source = Box::leak(Box::new(Source::new(())));
        choose((after(late).wrap(|()| true), source.event(compute).wrap(|()| false)))
    }
    Runtime::builder().domains(1).run(|| {
        let late = Duration::from_millis(15);
        for passes in [joins, checks, joins, checks] {
            assert!(twice_or(late, passes).sync());
            assert!(spawn_task(async move { twice_or(late, passes).future().await }).join().unwrap());
        }
    });
}

/// Runtimes come and go. Their wheels are lent again.
#[test]
fn wheels_are_lent_again() {
    let _watched = watched();
    for round in 0..scaled(100, 20) {
        let domains = 1 + round % 3;
        Runtime::builder().domains(domains).run(move || {
            let sleepers: Vec<_> = (0..20)
                .map(|i| spawn_task(async move { after(Duration::from_micros(i * 50)).await }))
                .collect();
            // Some are left when the runtime ends.
            drop(spawn_task(async { after(Duration::from_secs(3_600)).await }));
            let fiber = spawn(|| lisle::time::sleep(Duration::from_micros(100)));
            sleepers.into_iter().for_each(|sleeper| sleeper.join().unwrap());
            fiber.join().unwrap();
        });
    }
}
