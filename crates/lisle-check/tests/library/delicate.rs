//! Tests of the library that once were flaky, or are delicate, with a check around their bodies.
//!
//! Scoped threads have become scoped fibers. Nothing else had to be changed.

use crate::holds;
use lisle::event::Source;
use lisle::sync::{Condition, Semaphore};
use lisle::{Event, channel, choose, fiber, spawn, spawn_task};
use lisle_check::Checker;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A test of `lisle-core`: while the function of the second branch runs, a partner wants to commit
/// the first; then the function panics. Its first form failed in some runs: the partner may also
/// commit after the first branch is published and before the second is. That moment lies within an
/// operation, which is one step here; loom looks into it.
#[test]
fn a_panic_after_the_commit_of_an_earlier_branch() {
    holds(|| {
        let gate = Source::<bool, ()>::new(false);
        let (tokens, calls) = (Source::<usize, usize>::new(0), Cell::new(0));
        let panics = tokens.event(|_| -> Option<usize> {
            calls.set(calls.get() + 1);
            assert!(calls.get() < 2, "the function panics");
            None
        });
        let choice = choose((gate.event(|_| None).wrap(|()| 0), panics));
        fiber::scope(|scope| {
            let partner = scope.spawn(|| gate.update(|_, waiters| waiters.grant(()).is_ok()));
            let chosen = catch_unwind(AssertUnwindSafe(|| choice.sync()));
            let granted = partner.join().unwrap();
            assert!(chosen.is_err() || (granted && matches!(chosen, Ok(0))), "nothing has panicked");
        });
        gate.update(|_, waiters| assert!(waiters.is_empty()));
        // The fiber's next performance is not disturbed.
        assert_eq!(tokens.event(|_| Some(3)).sync(), 3);
    });
}

/// A look, and then a wait: nothing is lost in between.
#[test]
fn a_signal_between_a_look_and_a_wait() {
    holds(|| {
        let ready = Arc::new(Condition::new());
        let of_other = ready.clone();
        let other = spawn(move || {
            if !of_other.is_signalled() {
                of_other.wait();
            }
        });
        ready.signal();
        other.join().unwrap();
    });
}

/// Both ends are dropped at the same time: each message is received, or comes back.
#[test]
fn both_ends_close_at_once() {
    for capacity in [0, 1, 2] {
        holds(move || {
            let (tx, rx) = channel::bounded(capacity);
            let sender = spawn(move || (0..2).map(|n| tx.send(n)).filter(Result::is_ok).count());
            let receiver = spawn(move || rx.recv().is_ok());
            let (sent, received) = (sender.join().unwrap(), receiver.join().unwrap());
            assert!(received && (1..=1 + capacity).contains(&sent), "{sent} were sent");
        });
    }
}

/// Two of three swap with each other by a choice of sending and receiving, and the third is left.
#[test]
fn two_of_three_swap() {
    let verdict = Checker::new().explore(|| {
        let (tx, rx) = channel();
        let fibers = [1, 2, 3].map(|me| {
            let (tx, rx) = (tx.clone(), rx.clone());
            spawn(move || choose((tx.send_evt(me).wrap(|_| 0), rx.recv_evt().wrap(Result::unwrap))).sync())
        });
        drop((tx, rx));
        let _ = fibers.map(|fiber| fiber.join().unwrap());
    });
    let failure = verdict.failure().expect("one is left, and has both ends of the channel itself");
    let graph = failure.blocked().expect("nobody can swap with it");
    assert_eq!(graph.fibers.len(), 2, "it, and who joins it: {failure}");
}

/// Two waiters need different numbers of permits, and the greedy one goes away: the other gets the
/// permit.
#[test]
fn a_waiter_for_many_permits_goes() {
    holds(|| {
        let permits = Arc::new(Semaphore::new(1));
        let (of_task, of_fiber) = (permits.clone(), permits.clone());
        let goes = spawn_task(async move { of_task.wait_many_evt(2).await });
        let one = spawn(move || of_fiber.wait());
        goes.cancel();
        assert!(goes.join().is_err(), "there never were two permits");
        one.join().unwrap();
    });
}
