//! Standing choices: their branches stay where partners find them.

use crate::executor::{block_on, poll_once};
use crate::message::Messages;
use crate::rounds;
use lisle_core::event::WaitSet;
use lisle_core::sync::Condition;
use lisle_core::{Event, channel::bounded, choose};
use std::pin::pin;
use std::thread::scope;

#[test]
fn sources_are_committed_while_the_set_is_open_closed_and_performed_elsewhere() {
    let messages = Messages::default();
    let channels: Vec<_> = (0..3).map(|capacity| bounded(capacity)).collect();
    let (ends, count) = (Condition::new(), rounds(500, 4));
    scope(|scope| {
        let (senders, receivers): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
        let (messages, ends) = (&messages, &ends);
        scope.spawn(move || {
            for number in 0..count {
                for sender in &senders {
                    sender.send(messages.make(number)).unwrap();
                }
            }
            ends.signal();
        });
        scope.spawn(move || {
            let mut set = WaitSet::new();
            for receiver in &receivers {
                set.insert(receiver.recv_evt().wrap(|message| message.ok()));
            }
            let mut received = 0;
            for turn in 0.. {
                let next = match turn % 4 {
                    0 => Some(set.sync()),
                    1 => poll_once(pin!(set.evt().future())),
                    2 => set.poll(),
                    _ => Some(block_on(set.evt().future())),
                };
                received += usize::from(next.is_some_and(|(_, message)| message.is_some()));
                if received == 3 * count {
                    break;
                }
                if turn == count {
                    // Another thread performs the set once.
                    std::thread::scope(|scope| drop(scope.spawn(|| set.poll().map(|_| received += 1))));
                    if received == 3 * count {
                        break;
                    }
                }
            }
            set.clear();
            let key = set.insert(ends.wait_evt().wrap(|()| None));
            assert_eq!(set.sync().0, key);
            set.insert(choose((ends.wait_evt(), ends.wait_evt())).wrap(|()| None));
            assert!(set.sync().1.is_none());
        });
    });
    messages.assert_all_dropped();
}

/// Two sets meet: a source of one is the partner of a source of the other.
#[test]
fn sets_meet_sets() {
    let messages = Messages::default();
    let (tx, rx) = lisle_core::channel();
    let count = rounds(500, 4);
    scope(|scope| {
        let messages = &messages;
        scope.spawn(move || {
            for number in 0..count {
                let mut set = WaitSet::new();
                set.insert(tx.send_evt(messages.make(number)));
                set.sync().1.unwrap();
            }
        });
        scope.spawn(move || {
            let mut set = WaitSet::new();
            set.insert(rx.recv_evt());
            for _ in 0..count {
                assert!(set.sync().1.is_ok());
            }
        });
    });
    messages.assert_all_dropped();
}
