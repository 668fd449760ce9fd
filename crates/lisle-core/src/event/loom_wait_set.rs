//! Loom models of wait sets and of negative acknowledgements.

use crate::channel::create::channel;
use crate::channel::{Receiver, Sender, bounded};
use crate::event::choose;
use crate::event::{Event, Nack, WaitSet, choose_biased, with_nack};
use crate::loom_models::{explore, join_all, spawn_with_both};
use crate::shim::sync::Arc;
use loom::thread;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

fn send(tx: Sender<u32>, message: u32) -> thread::JoinHandle<()> {
    thread::spawn(move || tx.send(message).unwrap())
}

#[test]
fn a_message_comes_to_a_set_that_waits_or_looks() {
    for capacity in [0, 1] {
        explore(3, move || {
            let (tx, rx) = bounded(capacity);
            let sender = send(tx.clone(), 1);
            let mut set = WaitSet::new();
            set.insert(rx.recv_evt());
            assert_eq!(set.sync().1, Ok(1));
            sender.join().unwrap();
            assert!(set.poll().is_none());
            drop(tx);
        });
    }
}

/// The second message may come while the set is closed between two performances.
#[test]
fn a_message_between_two_performances_is_noticed() {
    explore(2, || {
        let (tx, rx) = channel();
        let (other_tx, other) = channel();
        let senders = [send(tx.clone(), 1), send(other_tx.clone(), 2)];
        let mut set = WaitSet::new();
        set.insert(rx.recv_evt());
        set.insert(other.recv_evt());
        let sum = set.sync().1.unwrap() + set.sync().1.unwrap();
        assert_eq!(sum, 3);
        join_all(senders);
        drop((tx, other_tx));
    });
}

#[test]
fn two_sets_meet() {
    explore(2, || {
        let (tx, rx): (Sender<u32>, Receiver<u32>) = channel();
        let keep = tx.clone();
        let sender = thread::spawn(move || {
            let mut set = WaitSet::new();
            set.insert(tx.send_evt(7));
            set.sync().1.unwrap();
        });
        let mut set = WaitSet::new();
        set.insert(rx.recv_evt());
        assert_eq!(set.sync().1, Ok(7));
        sender.join().unwrap();
        drop(keep);
    });
}

/// A set and another alternative, each with a partner: one commits, and the other's message stays.
#[test]
fn a_set_in_a_choice_is_committed_once() {
    explore(2, || {
        let (tx, rx) = bounded(1);
        let (other_tx, other) = bounded(1);
        let senders = [send(tx.clone(), 1), send(other_tx.clone(), 2)];
        let mut set = WaitSet::new();
        set.insert(rx.recv_evt());
        let got = choose((set.evt().wrap(|(_, got)| got), other.recv_evt())).sync().unwrap();
        join_all(senders);
        let left = if got == 1 { other.try_recv().ok() } else { set.poll().unwrap().1.ok() };
        assert_eq!(left, Some(3 - got));
        assert!(set.poll().is_none() && other.try_recv().is_err());
    });
}

/// A choice with a set and the choice of its partner both have two published branches.
#[test]
fn a_set_meets_a_choice_that_claims() {
    explore(2, || {
        let (tx, rx) = channel();
        let (other_tx, other) = channel();
        let chooser = thread::spawn({
            let (tx, other_tx) = (tx.clone(), other_tx.clone());
            move || choose((tx.send_evt(1), other_tx.send_evt(2))).sync().unwrap()
        });
        let mut set = WaitSet::new();
        set.insert(rx.recv_evt());
        let got = choose((set.evt().wrap(|(_, got)| got), other.recv_evt())).sync().unwrap();
        chooser.join().unwrap();
        assert!(got == 1 || got == 2);
        assert!(set.poll().is_none() && other.try_recv().is_err());
    });
}

/// The future is dropped while a partner commits it: the value stays with the set.
#[test]
fn a_dropped_future_of_a_set_keeps_what_it_was_given() {
    explore(3, || {
        let (tx, rx) = channel();
        let sender = send(tx.clone(), 1);
        let mut set = WaitSet::new();
        set.insert(rx.recv_evt());
        let mut context = Context::from_waker(Waker::noop());
        let first = {
            let future = pin!(set.evt().future());
            future.poll(&mut context)
        };
        if first.is_pending() {
            assert_eq!(set.sync().1, Ok(1));
        } else {
            assert!(matches!(first, Poll::Ready((_, Ok(1)))));
        }
        sender.join().unwrap();
        drop(tx);
    });
}

/// A message that is made on commit, for a set whose future is dropped meanwhile: the next
/// performance receives it.
#[test]
fn a_promise_to_a_set_is_kept_or_offered_again() {
    explore(2, || {
        let (tx, rx) = channel();
        let keep = tx.clone();
        // A message that was lost with its future comes back as an error, and is sent again.
        let sender = thread::spawn(move || while tx.send_with_evt(|| 1).sync().is_err() {});
        let mut set = WaitSet::new();
        set.insert(rx.recv_evt());
        let mut context = Context::from_waker(Waker::noop());
        let first = {
            let future = pin!(set.evt().future());
            future.poll(&mut context)
        };
        if first.is_pending() {
            assert_eq!(set.sync().1, Ok(1));
        }
        sender.join().unwrap();
        drop(keep);
    });
}

/// Each of two performers puts a message into a channel and then polls a choice of a set and the
/// other channel; each finds a message.
#[test]
fn a_poll_of_a_choice_with_a_set_finds_what_is_there() {
    explore(2, || {
        let (a, b) = (Arc::new(bounded(1)), Arc::new(bounded(1)));
        let look = |a: &(Sender<u32>, Receiver<u32>), b: &(Sender<u32>, Receiver<u32>)| {
            let mut set = WaitSet::new();
            set.insert(a.1.recv_evt());
            choose_biased((set.evt().wrap(|(_, got)| got), b.1.recv_evt())).poll().is_some()
        };
        let other = spawn_with_both(&a, &b, move |a, b| {
            b.0.send(2).unwrap();
            look(a, b)
        });
        a.0.send(1).unwrap();
        assert!(look(&b, &a));
        assert!(other.join().unwrap());
    });
}

/// The nack is sent if and only if its branch has lost, and before the choice returns.
#[test]
fn a_nack_tells_which_source_lost() {
    explore(2, || {
        let (tx, rx) = bounded(1);
        let (other_tx, other) = bounded(1);
        let senders = [send(tx.clone(), 1), send(other_tx.clone(), 2)];
        let kept = std::sync::Mutex::new(None::<Nack>);
        let nacked = with_nack(|nack| {
            *kept.lock().unwrap() = Some(nack);
            rx.recv_evt()
        });
        let got = choose((nacked, other.recv_evt())).sync().unwrap();
        let nack = kept.lock().unwrap().take().unwrap();
        assert_eq!(nack.is_lost(), got == 2);
        assert_eq!(nack.is_taken(), got == 1);
        join_all(senders);
    });
}

/// A server waits for its client to take the answer or to go; the client goes at any moment.
#[test]
fn a_server_learns_that_its_client_has_gone() {
    explore(2, || {
        let (ask, requests) = channel::<(Sender<u32>, Nack)>();
        let (reply, answer) = channel::<u32>();
        let answer = Arc::new(answer);
        let server = thread::spawn(move || {
            let Ok((reply, nack)) = requests.recv() else { return true };
            choose((reply.send_evt(1).wrap(|sent| sent.is_ok()), nack.wrap(|()| false))).sync()
        });
        let mut context = Context::from_waker(Waker::noop());
        let got = {
            let call = with_nack(|nack| {
                ask.send((reply.clone(), nack)).unwrap();
                answer.recv_evt()
            });
            let future = pin!(call.future());
            future.poll(&mut context).is_ready()
        };
        let served = server.join().unwrap();
        assert!(served || !got, "an answer that was not given cannot be taken");
    });
}
