//! The library's promises for all programs: its invariants, as far as one thread can break them.
//!
//! That a fiber stays on its thread, that an idle runtime costs nothing, that nothing is allocated
//! and that all goes through the shim are shown elsewhere: an execution of a check runs on one
//! thread.

use crate::holds;
use lisle::channel::{Receiver, bounded};
use lisle::event::{Nack, with_nack};
use lisle::sync::{IVar, Mutex, RwLock, Semaphore};
use lisle::{Event, channel, choose, fiber, never, spawn, spawn_task};
use lisle_check::Checker;
use lisle_check::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::Arc;

/// Receives all that is there, and all that will come.
fn drain(rx: &Receiver<u32>) -> Vec<u32> {
    std::iter::from_fn(|| rx.recv().ok()).collect()
}

/// Invariant 2: a woken thread runs only after the waker has ended its operation.
#[test]
fn nobody_runs_inside_of_a_wake() {
    let woken_by = |wake: fn(&IVar<u32>)| {
        holds(move || {
            let (cell, inside) = (Arc::new(IVar::new()), Arc::new(AtomicBool::new(false)));
            let (of_task, is_inside) = (cell.clone(), inside.clone());
            let task = spawn_task(async move {
                of_task.get_evt().await;
                assert!(!is_inside.load(SeqCst), "it runs within the call that has woken it");
            });
            let (of_fiber, is_inside) = (cell.clone(), inside.clone());
            let fiber = spawn(move || {
                of_fiber.get();
                assert!(!is_inside.load(SeqCst), "it runs within the call that has woken it");
            });
            fiber::no_suspend(|| {
                inside.store(true, SeqCst);
                wake(&cell);
                inside.store(false, SeqCst);
            });
            fiber.join().unwrap();
            task.join().unwrap();
        });
    };
    woken_by(|cell| cell.put(1).unwrap());
}

/// Invariant 3: one event is performed by several at once, each for itself.
#[test]
fn an_event_belongs_to_nobody() {
    holds(|| {
        let (tx, rx) = bounded(2);
        let event = rx.recv_evt().wrap(Result::unwrap);
        let got = fiber::scope(|scope| {
            let fibers = [(); 2].map(|()| scope.spawn(|| event.sync()));
            tx.send(1).unwrap();
            tx.send(2).unwrap();
            fibers.map(|fiber| fiber.join().unwrap())
        });
        assert_eq!(got[0] + got[1], 3);
    });
}

/// Invariant 4: one arm commits. The nack of each other one fires, before the winner's function is
/// called; its own never does.
#[test]
fn one_arm_commits_and_the_others_are_told() {
    holds(|| {
        let channels = [bounded(1), bounded(1)];
        let senders = channels.each_ref().map(|(tx, _)| {
            let tx = tx.clone();
            spawn(move || tx.send(1).unwrap())
        });
        let nacks: [Mutex<Option<Nack>>; 2] = [Mutex::new(None), Mutex::new(None)];
        let is_lost = |arm: usize| nacks[arm].lock().as_ref().is_some_and(Nack::is_lost);
        let arm = |arm: usize| {
            let event = with_nack({
                let (nacks, channels) = (&nacks, &channels);
                move |nack| {
                    *nacks[arm].lock() = Some(nack);
                    channels[arm].1.recv_evt()
                }
            });
            event.wrap(move |got| {
                assert_eq!(got, Ok(1));
                assert!(is_lost(1 - arm), "a function runs before the others are told");
                arm
            })
        };
        let winner = choose((arm(0), arm(1))).sync();
        assert!(!is_lost(winner) && is_lost(1 - winner));
        let _ = senders.map(|sender| sender.join().unwrap());
        let left = channels.each_ref().map(|(_, rx)| rx.try_recv().is_ok());
        assert_eq!(left, [winner == 1, winner == 0], "the winner has taken one message, and the loser none");
    });
}

/// Invariant 4: when a choice is over, nothing of it is left in a queue.
#[test]
fn a_choice_that_is_over_has_left_no_trace() {
    holds(|| {
        let (tx, rx) = channel::<u32>();
        let (other_tx, other_rx) = bounded(1);
        let other = spawn(move || other_tx.send(7).unwrap());
        let chosen = choose((rx.recv_evt().wrap(Result::unwrap), other_rx.recv_evt().wrap(Result::unwrap)));
        assert_eq!(chosen.sync(), 7);
        assert!(tx.try_send(1).is_err(), "a receiver that has gone is sent to");
        other.join().unwrap();
    });
}

/// Invariant 5: no message is lost, none comes twice, and the messages of one sender come in its
/// order, through a rendezvous and through buffers.
#[test]
fn messages_arrive_once_and_in_order() {
    for capacity in [0, 1, 2] {
        holds(move || {
            let (tx, rx) = bounded(capacity);
            let senders = [10, 20].map(|first| {
                let tx = tx.clone();
                spawn(move || (first..first + 2).for_each(|message| tx.send(message).unwrap()))
            });
            drop(tx);
            let got = drain(&rx);
            let of = |first| got.iter().copied().filter(move |n| (first..first + 2).contains(n));
            assert!(of(10).eq([10, 11]) && of(20).eq([20, 21]) && got.len() == 4, "{got:?}");
            let _ = senders.map(|sender| sender.join().unwrap());
        });
    }
}

/// Invariant 5: a performance that is given up has done nothing, or all.
#[test]
fn who_gives_up_has_sent_or_has_not() {
    for capacity in [0, 1] {
        holds(move || {
            let (tx, rx) = bounded(capacity);
            let sender = spawn(move || {
                let send = tx.send_evt(1).wrap(|sent| sent.is_ok());
                choose((send, fiber::cancelled_evt().wrap(|()| false))).sync()
            });
            let receiver = spawn(move || drain(&rx));
            sender.cancel();
            let (sent, got) = (sender.join().unwrap(), receiver.join().unwrap());
            assert_eq!(got, if sent { vec![1] } else { vec![] });
        });
        // A future that is dropped.
        holds(move || {
            let (tx, rx) = bounded(capacity);
            let sent = Arc::new(AtomicBool::new(false));
            let has_sent = sent.clone();
            let sender = spawn_task(async move {
                let is_sent = tx.send_evt(1).await.is_ok();
                has_sent.store(is_sent, SeqCst);
            });
            let receiver = spawn(move || drain(&rx));
            sender.cancel();
            drop(sender);
            let got = receiver.join().unwrap();
            // Between the commit and the note of it, the task may be dropped.
            assert!(got == [1] || (got.is_empty() && !sent.load(SeqCst)), "{got:?}");
        });
    }
}

/// Invariant 5: a send that loses a choice has sent nothing.
#[test]
fn who_chooses_something_else_has_not_sent() {
    holds(|| {
        let (a, from_a) = channel();
        let (b, from_b) = channel();
        let receivers = [from_a, from_b].map(|rx| spawn(move || drain(&rx)));
        let sent = choose((a.send_evt(1).wrap(|_| 0), b.send_evt(1).wrap(|_| 1))).sync();
        drop((a, b));
        let got = receivers.map(|receiver| receiver.join().unwrap().len());
        assert_eq!(got, [1 - sent, sent]);
    });
}

/// Invariant 6: a thread that unwinds releases its locks and permits, and leaves all queues.
#[test]
fn who_unwinds_goes() {
    holds(|| {
        let lock = Arc::new(Mutex::new(0));
        let of_other = lock.clone();
        let other = spawn(move || {
            let mut guard = of_other.lock();
            *guard += 1;
            panic!("with a lock");
        });
        assert!(*lock.lock() <= 1);
        assert!(other.join().is_err());
        assert_eq!(*lock.lock(), 1);
    });
}

/// Invariant 10: a report names all waiters, with the operations that they wait in.
#[test]
fn all_that_wait_are_named() {
    let verdict = Checker::new().explore(|| {
        let (_tx, rx) = channel::<u32>();
        let lock = Arc::new(Mutex::new(0).named("the lock"));
        let of_fiber = lock.clone();
        let _held = lock.lock();
        drop(spawn(move || *of_fiber.lock() += 1));
        let permits = Semaphore::new(0);
        drop(spawn_task(async move { permits.wait_evt().await }));
        let _ = rx.recv();
    });
    let failure = verdict.failure().expect("they wait for ever");
    let graph = failure.blocked().expect("and nothing can wake them");
    assert_eq!((graph.fibers.len(), graph.tasks.len()), (2, 1), "{failure}");
    let text = failure.to_string();
    for wait in ["receive from", "lock mutex 'the lock'", "semaphore"] {
        assert!(text.contains(wait), "`{wait}` is not in: {text}");
    }
}

/// A scope ends after all that was spawned in it.
#[test]
fn a_scope_ends_last() {
    holds(|| {
        let ended = AtomicU32::new(0);
        fiber::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    scope.spawn(|| ended.fetch_add(1, SeqCst));
                    ended.fetch_add(1, SeqCst);
                });
            }
        });
        assert_eq!(ended.load(SeqCst), 4);
    });
}

/// A request to cancel reaches the fiber that waits for it, whether it comes before the wait or
/// during it.
#[test]
fn a_request_to_cancel_arrives() {
    holds(|| {
        let fiber = spawn(|| choose((fiber::cancelled_evt(), never())).sync());
        fiber.cancel();
        fiber.join().unwrap();
    });
}

/// A writer is alone, and readers see all of its writes.
#[test]
fn a_writer_is_alone() {
    holds(|| {
        let lock = Arc::new(RwLock::new([0, 0]));
        let writers = [(); 2].map(|()| {
            let lock = lock.clone();
            spawn(move || lock.write().iter_mut().for_each(|n| *n += 1))
        });
        let seen = *lock.read();
        assert_eq!(seen[0], seen[1]);
        let _ = writers.map(|writer| writer.join().unwrap());
        assert_eq!(*lock.read(), [2, 2]);
    });
}
