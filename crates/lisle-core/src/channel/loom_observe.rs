//! Loom models of watchers that wait until a channel can be used or is closed.
//!
//! See `loom_tests.rs` for what each model asserts.

use super::loom_tests::{Channel, Messages, explore, number};
use super::unbounded_mailbox;
use crate::event::{Event, choose};
use crate::shim::sync::Arc;
use loom::thread;

/// A watcher sees a waiting sender, whenever the sender comes.
#[test]
fn a_sender_makes_a_channel_ready() {
    for capacity in [0, 1] {
        explore(3, move || {
            let messages = Messages::default();
            let c = Arc::new(Channel::new(capacity));
            let sender = thread::spawn({
                let (c, message) = (c.clone(), messages.make(1));
                move || c.tx.send(message).unwrap()
            });
            c.rx.recv_ready_evt().sync();
            assert_eq!(c.rx.try_recv().unwrap().0, 1);
            sender.join().unwrap();
            c.assert_clean();
            messages.assert_all_dropped();
        });
    }
}

/// A watcher sees a waiting receiver, and room.
#[test]
fn a_receiver_makes_a_channel_ready() {
    for capacity in [0, 1] {
        explore(3, move || {
            let messages = Messages::default();
            let c = Arc::new(Channel::new(capacity));
            for n in 0..capacity {
                c.tx.try_send(messages.make(n as u32)).unwrap();
            }
            let receiver = thread::spawn({
                let c = c.clone();
                move || [(); 2].map(|()| number(c.rx.recv()))[1]
            });
            for _ in capacity..2 {
                c.tx.send_ready_evt().sync();
                c.tx.try_send(messages.make(7)).unwrap();
            }
            assert_eq!(receiver.join().unwrap(), Some(7));
            c.assert_clean();
            messages.assert_all_dropped();
        });
    }
}

/// Two receivers are told, and one is faster. The other is told of the next message.
#[test]
fn two_wait_until_it_is_ready() {
    explore(1, || {
        let messages = Messages::default();
        let c = Arc::new(Channel::new(0));
        let receives = |c: &Channel| loop {
            c.rx.recv_ready_evt().sync();
            if let Ok(message) = c.rx.try_recv() {
                return message.0;
            }
        };
        let other = thread::spawn({
            let c = c.clone();
            move || receives(&c)
        });
        let sender = thread::spawn({
            let (c, batch) = (c.clone(), [1, 2].map(|n| messages.make(n)));
            move || batch.map(|message| c.tx.send(message).unwrap())
        });
        let mut got = [receives(&c), other.join().unwrap()];
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
        sender.join().unwrap();
        c.assert_clean();
        messages.assert_all_dropped();
    });
}

/// Each of two choices would send, or learn that the other sends. Neither sees itself, and at least
/// one sees the other.
#[test]
fn two_choices_see_each_other_and_not_themselves() {
    explore(2, || {
        let messages = Messages::default();
        let c = Arc::new(Channel::new(0));
        let one = |c: &Channel, message| {
            let ready = c.rx.recv_ready_evt().wrap(|()| true);
            let is_ready = choose((c.tx.send_evt(message).wrap(|sent| sent.is_err()), ready)).sync();
            // The sender may have committed its other branch meanwhile; then it no longer sends.
            is_ready && c.rx.try_recv().is_ok()
        };
        let other = thread::spawn({
            let (c, message) = (c.clone(), messages.make(2));
            move || one(&c, message)
        });
        one(&c, messages.make(1));
        // The partner waits until something is sent, if it saw this one and came too late.
        let _ = c.tx.close();
        other.join().unwrap();
        c.assert_clean();
        messages.assert_all_dropped();
    });
}

/// Readiness and a receive are in one choice: the message is taken once, or left.
#[test]
fn readiness_in_a_choice_takes_nothing() {
    explore(3, || {
        let messages = Messages::default();
        let c = Arc::new(Channel::new(0));
        let sender = thread::spawn({
            let (c, message) = (c.clone(), messages.make(1));
            move || c.tx.send(message).unwrap()
        });
        let ready = c.rx.recv_ready_evt().wrap(|()| None);
        let got = choose((ready, c.rx.recv_evt().wrap(number))).sync();
        assert_eq!(got.or_else(|| number(c.rx.recv())), Some(1));
        sender.join().unwrap();
        c.assert_clean();
        messages.assert_all_dropped();
    });
}

/// Every watcher learns that the channel is closed, for each sign and each way to close it.
#[test]
fn a_close_is_seen_by_all() {
    explore(2, || {
        let c = Arc::new(Channel::new(0));
        let others = [0, 1].map(|which| {
            let c = c.clone();
            thread::spawn(move || {
                if which == 0 {
                    c.rx.recv_ready_evt().sync();
                } else {
                    choose((c.tx.closed_evt(), c.tx.send_ready_evt())).sync();
                }
                assert!(c.tx.is_closed());
            })
        });
        assert!(c.tx.close());
        c.rx.closed_evt().sync();
        others.into_iter().for_each(|other| other.join().unwrap());
        c.assert_clean();
    });
}

/// The same for mailboxes, whose watchers are kept beside a source.
#[test]
fn a_mailbox_is_ready_and_closed() {
    explore(3, || {
        let (tx, rx) = unbounded_mailbox::<u32>();
        let sender = thread::spawn(move || {
            tx.send(1).unwrap();
        });
        rx.recv_ready_evt().sync();
        assert_eq!(rx.try_recv(), Ok(1));
        choose((rx.closed_evt(), rx.recv_ready_evt())).sync();
        assert!(rx.is_closed());
        sender.join().unwrap();
    });
}
