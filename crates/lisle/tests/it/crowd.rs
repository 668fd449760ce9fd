//! Very many fibers: at once, one after the other, and with partners that are gone.

use crate::support::{scaled, watched};
use lisle::sync::Condition;
use lisle::time::sleep;
use lisle::{Event, Runtime, channel, fiber, never};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Returns how many of `wanted` fibers this machine has the memory for, at four pages each.
fn affordable(wanted: usize) -> usize {
    let available = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().trim_end_matches(" kB").parse::<usize>().ok()
    });
    let affordable = available.map_or(wanted, |kib| (kib / 16).min(wanted));
    if affordable < wanted {
        eprintln!("there is memory for {affordable} fibers of {wanted}");
    }
    affordable
}

/// All of them have begun and wait. Then all continue.
#[test]
fn a_hundred_thousand_fibers_at_once() {
    let _watched = watched();
    let count = affordable(scaled(100_000, 100_000));
    for domains in [1, 2] {
        Runtime::builder().domains(domains).stall_report(None).run(|| {
            let condition = Arc::new(Condition::new());
            let begun = Arc::new(AtomicUsize::new(0));
            let fibers: Vec<_> = (0..count)
                .map(|i| {
                    let (condition, begun) = (condition.clone(), begun.clone());
                    lisle::spawn(move || {
                        begun.fetch_add(1, Ordering::Relaxed);
                        condition.wait();
                        i
                    })
                })
                .collect();
            while begun.load(Ordering::Relaxed) < count {
                fiber::yield_now();
            }
            assert!(fibers.iter().all(|fiber| !fiber.is_finished()));
            assert!(condition.signal());
            let sum: usize = fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum();
            assert_eq!(sum, count * (count - 1) / 2);
        });
    }
}

/// The same, but each fiber has a channel of its own, so they are released one by one.
#[test]
fn a_hundred_thousand_fibers_each_with_its_own_message() {
    let _watched = watched();
    let count = affordable(scaled(100_000, 20_000));
    Runtime::builder().domains(2).stall_report(None).run(|| {
        let (answer, answers) = channel::<usize>();
        let senders: Vec<_> = (0..count)
            .map(|_| {
                let (tx, rx) = channel::<usize>();
                let answer = answer.clone();
                drop(lisle::spawn(move || answer.send(rx.recv().unwrap()).unwrap()));
                tx
            })
            .collect();
        drop(answer);
        let summer = lisle::spawn(move || answers.iter().sum::<usize>());
        for (i, tx) in senders.into_iter().enumerate() {
            tx.send(i).unwrap();
        }
        assert_eq!(summer.join().unwrap(), count * (count - 1) / 2);
    });
}

/// Case 39.
#[test]
fn a_million_sleepers_of_one_second() {
    let _watched = watched();
    let count = affordable(scaled(1_000_000, 100_000));
    let woken = Arc::new(AtomicUsize::new(0));
    Runtime::builder().domains(2).stall_report(None).drain(true).run(|| {
        for _ in 0..count {
            let woken = woken.clone();
            drop(lisle::spawn(move || {
                let begun = Instant::now();
                sleep(Duration::from_secs(1));
                assert!(begun.elapsed() >= Duration::from_secs(1));
                woken.fetch_add(1, Ordering::Relaxed);
            }));
        }
    });
    assert_eq!(woken.load(Ordering::Relaxed), count);
}

/// Case 39. Each fiber spawns the next and ends. The function that began the chain has returned
/// long before, and a drain waits for the last fiber.
#[test]
fn a_chain_of_five_million_spawns() {
    fn link(left: usize, ended: Arc<AtomicUsize>) {
        if left > 0 {
            let next = ended.clone();
            drop(lisle::spawn(move || link(left - 1, next)));
        }
        ended.fetch_add(1, Ordering::Relaxed);
    }
    let _watched = watched();
    for domains in [1, 2] {
        let count = scaled(5_000_000, 500_000) / domains;
        let ended = Arc::new(AtomicUsize::new(0));
        let first = ended.clone();
        Runtime::builder().domains(domains).drain(true).run(|| link(count, first));
        assert_eq!(ended.load(Ordering::Relaxed), count + 1);
    }
}

/// Counts its live instances.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Alive(count.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Case 41. A fiber that waits for a partner that has gone learns it and ends.
#[test]
fn fibers_whose_partners_have_gone_do_not_pile_up() {
    let _watched = watched();
    let alive = Arc::new(AtomicUsize::new(0));
    let rounds = scaled(1_000, 200);
    for domains in [1, 2] {
        Runtime::builder().domains(domains).run(|| {
            for _ in 0..rounds {
                for i in 0..100 {
                    let alive = Alive::new(&alive);
                    let (tx, rx) = channel::<Alive>();
                    if i % 2 == 0 {
                        drop(lisle::spawn(move || (rx.recv().map(drop).unwrap_err(), alive).0));
                        drop(tx);
                    } else {
                        drop(lisle::spawn(move || tx.send(alive).map(|()| unreachable!("nobody receives"))));
                        drop(rx);
                    }
                }
                while alive.load(Ordering::SeqCst) > 0 {
                    fiber::yield_now();
                }
            }
        });
    }
}

/// Case 41. A fiber that waits for something that can never happen is kept, with all values that it
/// holds, until its runtime ends, and no longer.
#[test]
fn fibers_nobody_can_wake_are_unwound_at_shutdown() {
    let _watched = watched();
    let alive = Arc::new(AtomicUsize::new(0));
    let count = scaled(20_000, 2_000);
    for domains in [1, 2] {
        for round in 0..3 {
            let crowd = || {
                let begun = Arc::new(AtomicUsize::new(0));
                for i in 0..count {
                    let (alive, begun) = (Alive::new(&alive), begun.clone());
                    drop(lisle::spawn(move || {
                        begun.fetch_add(1, Ordering::SeqCst);
                        let boxed = Box::new(alive);
                        match i % 3 {
                            0 => never::<()>().sync(),
                            1 => {
                                // It holds both ends, so no other fiber can close them.
                                let (tx, rx) = channel::<u32>();
                                drop((rx.recv(), tx));
                            }
                            _ => Condition::new().wait(),
                        }
                        drop(boxed);
                    }));
                }
                if round > 0 {
                    while begun.load(Ordering::SeqCst) < count {
                        fiber::yield_now();
                    }
                    assert_eq!(alive.load(Ordering::SeqCst), count);
                }
            };
            Runtime::builder()
                .domains(domains)
                .stall_report(None)
                .shutdown_deadline(Duration::from_secs(300))
                .run(crowd);
            assert_eq!(alive.load(Ordering::SeqCst), 0);
        }
    }
}
