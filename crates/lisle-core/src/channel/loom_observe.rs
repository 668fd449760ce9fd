//! Loom models of watchers that wait until a channel can be used or is closed.
//!
//! `loom_tests.rs` tells the assertions of each model.

use super::loom_tests::{Channel, explore_channels, number};
use super::unbounded;
use crate::event::Event;
use crate::event::choose;
use crate::loom_models::{explore, join_all, spawn_with};
use loom::thread;

/// A watcher sees a waiting sender, whenever the sender comes.
#[test]
fn a_sender_makes_a_channel_ready() {
    for capacity in [0, 1] {
        explore_channels(3, [capacity], move |[c]| {
            let sender = spawn_with(c, |c| c.send(1));
            c.rx.recv_ready_evt().sync();
            assert_eq!(c.rx.try_recv().unwrap().0, 1);
            sender.join().unwrap();
        });
    }
}

/// A watcher sees a waiting receiver, and room.
#[test]
fn a_receiver_makes_a_channel_ready() {
    for capacity in [0, 1] {
        explore_channels(3, [capacity], move |[c]| {
            for n in 0..capacity {
                c.tx.try_send(c.make(n as u32)).unwrap();
            }
            let receiver = spawn_with(c, |c| [(); 2].map(|()| c.receive())[1]);
            for _ in capacity..2 {
                c.tx.send_ready_evt().sync();
                c.tx.try_send(c.make(7)).unwrap();
            }
            assert_eq!(receiver.join().unwrap(), Some(7));
        });
    }
}

/// Two receivers are told, and one is faster. The other is told of the next message.
#[test]
fn two_wait_until_it_is_ready() {
    explore_channels(1, [0], |[c]| {
        let receives = |c: &Channel| loop {
            c.rx.recv_ready_evt().sync();
            if let Some(number) = c.try_receive() {
                return number;
            }
        };
        let other = spawn_with(c, receives);
        let sender = spawn_with(c, move |c| [1, 2].map(|n| c.send(n)));
        let mut got = [receives(c), other.join().unwrap()];
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
        sender.join().unwrap();
    });
}

/// Each of two choices would send, or learn that the other sends. Neither sees itself, and at least
/// one sees the other.
#[test]
fn two_choices_see_each_other_and_not_themselves() {
    explore_channels(2, [0], |[c]| {
        let one = |c: &Channel, message| {
            let ready = c.rx.recv_ready_evt().wrap(|()| true);
            let is_ready = choose((c.tx.send_evt(message).wrap(|sent| sent.is_err()), ready)).sync();
            // The sender may have committed its other branch meanwhile; then it no longer sends.
            is_ready && c.rx.try_recv().is_ok()
        };
        let other = spawn_with(c, move |c| one(c, c.make(2)));
        one(c, c.make(1));
        // The partner waits until something is sent, if it saw this one and came too late.
        let _ = c.tx.close();
        other.join().unwrap();
    });
}

/// Readiness and a receive are in one choice: the message is taken once, or left.
#[test]
fn readiness_in_a_choice_takes_nothing() {
    explore_channels(3, [0], |[c]| {
        let sender = spawn_with(c, |c| c.send(1));
        let ready = c.rx.recv_ready_evt().wrap(|()| None);
        let got = choose((ready, c.rx.recv_evt().wrap(number))).sync();
        assert_eq!(got.or_else(|| c.receive()), Some(1));
        sender.join().unwrap();
    });
}

/// Every watcher learns that the channel is closed, for each sign and each way to close it.
#[test]
fn a_close_is_seen_by_all() {
    explore_channels(2, [0], |[c]| {
        let reader = spawn_with(c, |c| {
            c.rx.recv_ready_evt().sync();
            assert!(c.tx.is_closed());
        });
        let writer = spawn_with(c, |c| {
            choose((c.tx.closed_evt(), c.tx.send_ready_evt())).sync();
            assert!(c.tx.is_closed());
        });
        assert!(c.tx.close());
        c.rx.closed_evt().sync();
        join_all([reader, writer]);
    });
}

/// The same for mailboxes, whose watchers are kept beside a source.
#[test]
fn a_mailbox_is_ready_and_closed() {
    explore(3, || {
        let (tx, rx) = unbounded::<u32>();
        let sender = thread::spawn(move || tx.send(1).unwrap());
        rx.recv_ready_evt().sync();
        assert_eq!(rx.try_recv(), Ok(1));
        choose((rx.closed_evt(), rx.recv_ready_evt())).sync();
        assert!(rx.is_closed());
        sender.join().unwrap();
    });
}
