//! `reify`, `prepare`, `attach`, `ready`, `inflate`.

use super::{Counted, come_back, everywhere, polled, until};
use crate::support::{on_domains, scaled, watched};
use lisle::task::{Reified, TaskHandle, reify};
use lisle::{Runtime, channel, spawn_task};
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

type Hall<T> = Arc<Mutex<VecDeque<Reified<T>>>>;

fn hall<T>() -> Hall<T> {
    Arc::default()
}

/// Spawns a task that waits in the hall. If there are several, any of them may come first.
fn guest<T: Send + 'static>(hall: &Hall<T>) -> TaskHandle<Option<T>> {
    let hall = hall.clone();
    spawn_task(async move { reify(|me| hall.lock().unwrap().push_back(me)).await.ok() })
}

fn next<T>(hall: &Hall<T>) -> Reified<T> {
    let mut next = None;
    until(|| {
        next = hall.lock().unwrap().pop_front();
        next.is_some()
    });
    next.expect("just seen")
}

#[test]
fn each_way_to_go_on() {
    everywhere(|| {
        for round in 0..10 {
            let halls = [(); 3].map(|()| hall());
            let guests = halls.each_ref().map(guest);
            next(&halls[0]).prepare(round).attach().unwrap();
            next(&halls[1]).prepare(round + 1).ready().unwrap();
            next(&halls[2]).prepare(round + 2).inflate().unwrap();
            assert_eq!(guests.map(|guest| guest.join().unwrap().unwrap()), [round, round + 1, round + 2]);
        }
    });
}

/// A task that is attached by a domain of its runtime continues as a part of the caller.
#[test]
fn one_that_is_attached_goes_on_at_once() {
    let _watched = watched();
    Runtime::builder().domains(1).run(|| {
        let hall = hall();
        let guest = guest(&hall);
        next(&hall).prepare(1).attach().unwrap();
        assert!(guest.is_finished());
        assert_eq!(guest.join().unwrap(), Some(1));
    });
    let halls = [(); 3].map(|()| hall());
    let runtimes = [1, 2].map(|domains| Runtime::builder().domains(domains).start().unwrap());
    let guests = runtimes[0].run(|| halls.each_ref().map(guest));
    // Neither a domain of another runtime nor a plain thread can run it.
    runtimes[1].run(|| next(&halls[0]).prepare(1).attach().unwrap());
    next(&halls[1]).prepare(2).attach().unwrap();
    runtimes[0].run(|| next(&halls[2]).prepare(3).attach().unwrap());
    assert_eq!(guests.map(|guest| guest.join().unwrap()), [Some(1), Some(2), Some(3)]);
}

#[test]
fn a_reference_that_is_dropped_is_told() {
    everywhere(|| {
        let hall = hall();
        let guests = [(); 2].map(|()| guest::<u32>(&hall));
        drop(next(&hall));
        drop(next(&hall).prepare(3));
        assert_eq!(guests.map(|guest| guest.join().unwrap()), [None, None]);
        // At once, in the function itself.
        let error = spawn_task(reify::<u32, _>(drop)).join().unwrap().unwrap_err();
        assert_eq!(error, lisle::task::Unprepared);
    });
}

#[test]
fn the_value_comes_back_from_one_that_is_gone() {
    everywhere(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let hall = hall();
        for way in 0..3 {
            let guest = guest(&hall);
            let place = next(&hall);
            guest.cancel();
            assert!(guest.join().unwrap_err().is_cancelled());
            let prepared = place.prepare(Counted::new(&count));
            let back = match way {
                0 => prepared.attach(),
                1 => prepared.ready(),
                _ => prepared.inflate(),
            };
            assert_eq!(count.load(Ordering::SeqCst), 1);
            drop(back.unwrap_err());
            assert_eq!(count.load(Ordering::SeqCst), 0);
        }
        // A value that was given but not taken is dropped.
        let guest = guest(&hall);
        next(&hall).prepare(Counted::new(&count)).ready().unwrap();
        guest.cancel();
        drop(guest.join());
        assert_eq!(count.load(Ordering::SeqCst), 0);
    });
}

/// The value is given in the same turn, before the task waits: by the task itself, by a task that
/// it has spawned, and from another thread.
#[test]
fn one_that_has_not_come_to_wait() {
    everywhere(|| {
        let itself = spawn_task(reify(|me| me.prepare(1).attach().unwrap()));
        assert_eq!(itself.join().unwrap(), Ok(1));
        let itself = spawn_task(reify(|me| me.prepare(2).inflate().unwrap()));
        assert_eq!(itself.join().unwrap(), Ok(2));
        let spawned = spawn_task(reify(|me| {
            spawn_task(async { me.prepare(3).attach().unwrap() }).join().unwrap();
        }));
        assert_eq!(spawned.join().unwrap(), Ok(3));
        let thread = spawn_task(reify(|me| {
            thread::spawn(|| me.prepare(4).attach().unwrap()).join().unwrap();
        }));
        assert_eq!(thread.join().unwrap(), Ok(4));
        // In a later turn, which began elsewhere.
        let later = spawn_task(async {
            come_back().await;
            let hall = hall();
            let mut waits = pin!(reify(|me| hall.lock().unwrap().push_back(me)));
            assert!(polled(waits.as_mut()).await.is_pending());
            next(&hall).prepare(5).attach().unwrap();
            waits.await
        });
        assert_eq!(later.join().unwrap(), Ok(5));
    });
}

/// Each task that continues makes the next one continue as a part of itself.
#[test]
fn a_hundred_thousand_attached_within_each_other() {
    on_domains(|| {
        let count = 100_000;
        let hall = hall::<usize>();
        let ended = Arc::new(AtomicUsize::new(0));
        for _ in 0..count {
            let (hall, ended) = (hall.clone(), ended.clone());
            drop(spawn_task(async move {
                let n = reify(|me| hall.lock().unwrap().push_back(me)).await.unwrap();
                let next = hall.lock().unwrap().pop_front();
                if let Some(next) = next {
                    next.prepare(n + 1).attach().unwrap();
                }
                ended.fetch_add(1, Ordering::SeqCst);
            }));
        }
        // Some may have been queued instead of begun.
        until(|| hall.lock().unwrap().len() == count);
        next(&hall).prepare(0).attach().unwrap();
        until(|| ended.load(Ordering::SeqCst) == count);
    });
}

/// The reference goes to a thread while the task begins to wait.
#[test]
fn a_value_meets_a_task_that_begins_to_wait() {
    let _watched = watched();
    Runtime::builder().domains(2).run(|| {
        let (tx, rx) = std::sync::mpsc::channel::<(usize, Reified<usize>)>();
        let rx = Arc::new(Mutex::new(rx));
        let threads = [(); 2].map(|()| {
            let rx = rx.clone();
            thread::spawn(move || {
                while let Ok((i, guest)) = { rx.lock().unwrap().recv() } {
                    let prepared = guest.prepare(i);
                    match i % 3 {
                        0 => prepared.attach(),
                        1 => prepared.ready(),
                        _ => prepared.inflate(),
                    }
                    .unwrap();
                }
            })
        });
        for i in 0..scaled(50_000, 5_000) {
            let tx = tx.clone();
            let guest = spawn_task(reify(move |me| tx.send((i, me)).unwrap()));
            assert_eq!(guest.join().unwrap(), Ok(i));
        }
        drop(tx);
        until(|| threads.iter().all(thread::JoinHandle::is_finished));
    });
}

/// A task is attached while others cancel it: it continues, or the value comes back.
#[test]
fn a_value_meets_a_cancellation() {
    on_domains(|| {
        let count = Arc::new(AtomicUsize::new(0));
        for i in 0..scaled(10_000, 2_000) {
            let hall = hall();
            let guest = guest(&hall);
            let prepared = next(&hall).prepare(Counted::new(&count));
            let cancels = lisle::spawn(move || {
                guest.cancel();
                guest
            });
            let gave = match i % 3 {
                0 => prepared.attach(),
                1 => prepared.ready(),
                _ => prepared.inflate(),
            };
            let outcome = cancels.join().unwrap().join();
            assert!(gave.is_ok() || outcome.is_err());
            drop((gave, outcome));
            assert_eq!(count.load(Ordering::SeqCst), 0);
        }
    });
}

/// In a future that does not belong to a task they work as far as possible.
#[test]
fn in_foreign_futures() {
    let _watched = watched();
    let hall = hall();
    let gives = {
        let hall = hall.clone();
        thread::spawn(move || {
            for i in 0..3 {
                until(|| !hall.lock().unwrap().is_empty());
                let prepared = next(&hall).prepare(i);
                match i {
                    0 => prepared.attach(),
                    1 => prepared.ready(),
                    _ => prepared.inflate(),
                }
                .unwrap();
            }
        })
    };
    for i in 0..3 {
        assert_eq!(crate::support::block_on(reify(|me| hall.lock().unwrap().push_back(me))), Ok(i));
    }
    gives.join().unwrap();
    crate::support::block_on(async {
        lisle::task::inflate().await;
        lisle::task::yield_now().await;
    });
}

/// Two tasks attach each other in turn, as coroutines do.
#[test]
fn two_that_hand_each_other_the_stack() {
    on_domains(|| {
        let rounds = scaled(20_000, 5_000);
        let halls = [hall::<usize>(), hall::<usize>()];
        let done = Arc::new(AtomicBool::new(false));
        let (tx, rx) = channel();
        for side in 0..2 {
            let (own, other) = (halls[side].clone(), halls[1 - side].clone());
            let (tx, done) = (tx.clone(), done.clone());
            drop(spawn_task(async move {
                let mut last = 0;
                while !done.load(Ordering::SeqCst) {
                    let next = reify(|me| {
                        own.lock().unwrap().push_back(me);
                        let partner = other.lock().unwrap().pop_front();
                        if let Some(partner) = partner {
                            partner.prepare(last + 1).attach().unwrap();
                        }
                    });
                    let Ok(n) = next.await else { break };
                    last = n;
                    if n >= rounds {
                        done.store(true, Ordering::SeqCst);
                    }
                }
                // The other one waits, if it has got that far.
                other.lock().unwrap().clear();
                tx.send_evt(last).await.unwrap();
            }));
        }
        drop(halls);
        let last = [rx.recv().unwrap(), rx.recv().unwrap()];
        assert!(last.iter().max().unwrap() >= &rounds, "{last:?}");
    });
}
