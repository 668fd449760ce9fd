//! The outcomes of programs: exploring finds all that chance does.

use crate::found::outcomes;
use lisle::sync::{Condvar, IVar, MVar, Mutex, MutexGuard, RwLock, RwLockWriteGuard, Semaphore};
use lisle::time::after;
use lisle::{Event, channel, choose, event::choose_biased, spawn, spawn_task};
use lisle_check::Checker;
use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[track_caller]
fn all_are_found(least: usize, program: fn() -> String) {
    let (all, _) = outcomes(Checker::new(), program);
    let (by_chance, _) = outcomes(Checker::new().random(1).executions(300), program);
    assert!(all.len() >= least && by_chance.is_subset(&all), "{by_chance:?} are not all of {all:?}");
}

/// Spawns `other` with a clone of the value that it shares with the program, and returns both
/// results.
fn beside<T, A, B>(
    shared: T,
    here: impl FnOnce(&T) -> A,
    other: impl FnOnce(&T) -> B + Send + 'static,
) -> String
where
    T: Send + Sync + 'static,
    A: std::fmt::Debug,
    B: std::fmt::Debug + Send + 'static,
{
    let shared = Arc::new(shared);
    let of_other = shared.clone();
    let other = spawn(move || other(&of_other));
    let here = here(&shared);
    format!("{here:?} {:?}", other.join().unwrap())
}

#[test]
fn a_try_comes_while_the_lock_is_held() {
    all_are_found(2, || beside(Mutex::new(0), |m| m.try_lock().is_some(), |m| drop(m.lock())));
    all_are_found(3, || beside(Mutex::new(0), |m| m.try_lock().is_some(), |m| m.try_lock().is_some()));
    all_are_found(2, || beside(Mutex::new(0), |m| m.lock_timeout(SECOND).is_some(), |m| drop(m.lock())));
    all_are_found(2, || {
        beside(
            Mutex::new(0),
            |m| choose_biased((m.lock_evt().wrap(|_| true), lisle::always(false))).sync(),
            |m| drop(m.lock()),
        )
    });
}

/// Two that count down are both able to be the last one.
#[test]
fn any_of_the_senders_is_the_last_to_go() {
    for is_first in [true, false] {
        let program = move || {
            let (tx, rx) = channel::<u32>();
            let other = tx.clone();
            let drops = move || drop(tx);
            let looks = move || {
                drop(other);
                rx.try_recv().unwrap_err()
            };
            let (drops, looks) = if is_first {
                (spawn(drops), spawn(looks))
            } else {
                let looks = spawn(looks);
                (spawn(drops), looks)
            };
            drops.join().unwrap();
            format!("{:?}", looks.join().unwrap())
        };
        assert_eq!(outcomes(Checker::new(), program).0, ["Closed", "Empty"].map(String::from).into());
    }
}

#[test]
fn readers_and_writers() {
    all_are_found(2, || beside(RwLock::new(0), |l| l.try_read().is_some(), |l| drop(l.write())));
    all_are_found(2, || beside(RwLock::new(0), |l| l.try_write().is_some(), |l| drop(l.read())));
    all_are_found(2, || {
        beside(
            RwLock::new(0),
            |l| choose_biased((l.write_evt().wrap(|_| true), lisle::always(false))).sync(),
            |l| drop(l.read()),
        )
    });
    all_are_found(2, || {
        beside(RwLock::new(0), |l| drop(RwLockWriteGuard::downgrade(l.write())), |l| l.try_read().is_some())
    });
}

#[test]
fn a_look_comes_before_or_after() {
    all_are_found(2, || beside(IVar::new(), |cell| cell.try_get().copied(), |cell| cell.put(1).is_ok()));
    all_are_found(2, || beside(MVar::new(), |cell| cell.try_take(), |cell| cell.put(1)));
    all_are_found(2, || beside(Semaphore::new(0), |s| s.try_wait(), |s| s.post()));
    all_are_found(2, || beside(AtomicU32::new(0), |a| a.load(SeqCst), |a| a.store(1, SeqCst)));
    all_are_found(2, || {
        let (tx, rx) = channel::bounded(1);
        let sender = spawn(move || tx.send(1));
        let got = rx.try_recv().is_ok();
        sender.join().unwrap().ok();
        got.to_string()
    });
}

#[test]
fn a_time_out_wins_or_loses() {
    all_are_found(2, || {
        let (tx, rx) = channel::bounded(1);
        let sender = spawn(move || tx.send(1).is_ok());
        let got = choose((rx.recv_evt().wrap(|got| got.is_ok()), after(SECOND).wrap(|()| false))).sync();
        format!("{got} {}", sender.join().is_ok())
    });
    all_are_found(2, || {
        beside(
            (Mutex::new(0), Condvar::new()),
            |(m, c)| {
                let (guard, _) = c.wait_timeout(m.lock(), SECOND);
                *guard
            },
            |(m, c)| {
                *m.lock() = 1;
                c.notify_one();
            },
        )
    });
}

#[test]
fn a_task_is_cancelled_before_or_after() {
    all_are_found(2, || {
        let value = Arc::new(AtomicU32::new(0));
        let of_task = value.clone();
        let task = spawn_task(async move {
            of_task.store(1, SeqCst);
            lisle::task::yield_now().await;
            of_task.store(2, SeqCst);
        });
        task.cancel();
        format!("{} {}", task.join().is_ok(), value.load(SeqCst))
    });
    // It has been woken, and not gone on yet.
    all_are_found(2, || {
        let (tx, rx) = channel::bounded(1);
        let (sent, is_sent) = channel::bounded(1);
        let task = spawn_task(async move { rx.recv_evt().await.is_ok() });
        let sender = spawn(move || {
            tx.send(1).unwrap();
            sent.send(()).unwrap();
        });
        is_sent.recv().unwrap();
        task.cancel();
        sender.join().unwrap();
        format!("{:?}", task.join().is_ok())
    });
}

/// Memory is used again by other objects, in some executions and not in others.
#[test]
fn what_is_gone_is_not_taken_for_what_comes_to_its_place() {
    all_are_found(2, || {
        let value = Arc::new(AtomicU32::new(0));
        let of_other = value.clone();
        let other = spawn(move || of_other.store(1, SeqCst));
        for capacity in 1..=20 {
            let (tx, rx) = channel::bounded(capacity);
            tx.send(capacity).unwrap();
            rx.recv().unwrap();
        }
        let seen = value.load(SeqCst);
        other.join().unwrap();
        seen.to_string()
    });
}

fn incremented(mut count: MutexGuard<'_, u32>) -> u32 {
    *count += 1;
    *count
}

/// An event behind a pointer, too, names its object before it is tried.
#[test]
fn boxed_events_come_in_any_order() {
    all_are_found(6, || {
        let add = |count: &Mutex<u32>| {
            let add = || count.lock_evt().wrap(incremented).boxed();
            [add().sync(), add().sync()]
        };
        beside(Mutex::new(0), add, add)
    });
}

/// Each await of a task is a step of its own.
#[test]
fn tasks_are_interrupted_where_they_await() {
    all_are_found(6, || {
        let count = Arc::new(Mutex::new(0));
        let adders = [(); 2].map(|()| {
            let count = count.clone();
            spawn_task(async move {
                lisle::task::inflate().await;
                let add = || count.lock_evt().wrap(incremented);
                [add().await, add().await]
            })
        });
        format!("{:?}", adders.map(|adder| adder.join().unwrap()))
    });
}

/// The future of an event may lie anywhere, and the choice in it is the checker's.
#[test]
fn futures_on_the_heap_meet_each_other() {
    all_are_found(2, || {
        let (tx, rx) = channel::bounded(1);
        let (other_tx, other_rx) = channel::bounded(1);
        let (receiver, other_receiver) = (rx.clone(), other_rx.clone());
        let chooser = spawn_task(async move {
            lisle::task::inflate().await;
            let either = choose((receiver.recv_evt(), other_receiver.recv_evt()));
            Box::pin(either.into_future()).await.ok()
        });
        let senders = [(tx, 1), (other_tx, 2)].map(|(tx, n)| spawn(move || tx.send(n).unwrap()));
        let _ = senders.map(|sender| sender.join().unwrap());
        let got = chooser.join().unwrap();
        format!("{got:?} {:?} {:?}", rx.try_recv(), other_rx.try_recv())
    });
}

/// The time of tasks and of limits is virtual, too.
#[test]
fn limits_end_by_themselves() {
    all_are_found(2, || {
        let (tx, rx) = channel::bounded(1);
        let waits = spawn_task(async move {
            choose((rx.recv_evt().wrap(|got| got.is_ok()), after(SECOND).wrap(|()| false))).await
        });
        let sent = tx.send(1).is_ok();
        format!("{sent} {}", waits.join().unwrap())
    });
    all_are_found(2, || {
        beside(
            (Mutex::new(0), Condvar::new()),
            |(m, c)| c.wait_timeout_while(m.lock(), SECOND, |level| *level == 0).1,
            |(m, c)| {
                *m.lock() = 1;
                c.notify_all();
            },
        )
    });
    all_are_found(2, || {
        let (tx, rx) = channel::bounded(1);
        let limited = lisle::task::timeout(SECOND, async move { rx.recv_evt().await.is_ok() });
        let sent = tx.send(1).is_ok();
        format!("{sent} {:?}", limited.join().is_ok())
    });
}

/// However often a fiber asks in vain, it gives way where the checker wants it to.
#[test]
fn asking_in_vain_is_counted_in_no_execution() {
    all_are_found(4, || {
        let (tx, rx) = channel::bounded(1);
        let sender = spawn(move || tx.send(1).unwrap());
        let vain = (0..3).take_while(|_| rx.try_recv().is_err()).count();
        sender.join().unwrap();
        vain.to_string()
    });
    for _ in 0..50 {
        let (asked, _) = outcomes(Checker::new(), || {
            let (_tx, rx) = channel::bounded::<u32>(1);
            let other = spawn(|| ());
            let vain = (0..20).filter(|_| rx.try_recv().is_err()).count();
            other.join().unwrap();
            vain.to_string()
        });
        assert_eq!(asked.len(), 1);
    }
}

/// A lock that is taken and, since its holder panics, released in one step.
#[test]
fn a_lock_is_taken_and_released_in_one_step() {
    all_are_found(2, || {
        let lock = Arc::new(Mutex::new(0));
        let of_other = lock.clone();
        let other = spawn(move || {
            let mut guard = of_other.lock();
            *guard += 1;
            panic!("with a lock");
        });
        let seen = *lock.lock();
        format!("{seen} {}", other.join().is_err())
    });
}
