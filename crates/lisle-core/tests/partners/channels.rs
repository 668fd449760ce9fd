//! Channels of each kind.

use crate::executor::{block_on, poll_once};
use crate::message::{Message, Messages};
use crate::ways::{WAYS, each_way, perform, until_closed};
use crate::{rounds, start};
use lisle_core::channel::{self, Multicast, Receiver, Sender, bounded, unbounded};
use lisle_core::{Event, choose};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::scope;

/// Two threads send and two receive, each in all ways. Every message that a sender reports as sent
/// has been received, or dropped with a future that had it.
fn meet(first: usize, make: impl Fn() -> (Sender<Message>, Receiver<Message>)) {
    let messages = Messages::default();
    let (tx, rx) = make();
    let (sent, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let count = rounds(500, 3);
    scope(|scope| {
        for offset in [0, WAYS / 2] {
            let (tx, messages, sent) = (tx.clone(), &messages, &sent);
            scope.spawn(move || {
                each_way(
                    count,
                    first + offset,
                    || tx.send_evt(messages.make(offset)),
                    |outcome| {
                        outcome.expect("there are receivers");
                        sent.fetch_add(1, Relaxed);
                    },
                );
            });
        }
        drop(tx);
        for offset in [1, WAYS / 2 + 1] {
            let (rx, received) = (rx.clone(), &received);
            scope.spawn(move || {
                for way in first + offset.. {
                    match perform(way, rx.recv_evt()) {
                        Some(Ok(message)) => {
                            assert!(*message.number < WAYS);
                            received.fetch_add(1, Relaxed);
                        }
                        Some(Err(_)) => return,
                        None => {}
                    }
                }
            });
        }
    });
    drop(rx);
    assert!(sent.load(Relaxed) == 2 * count && received.load(Relaxed) > 0);
    messages.assert_all_dropped();
}

#[test]
fn messages_meet_at_a_rendezvous_in_each_way() {
    for first in start()..start() + rounds(WAYS, 1) {
        meet(first, lisle_core::channel);
    }
}

#[test]
fn messages_pass_through_a_buffer_in_each_way() {
    for first in start()..start() + rounds(WAYS, 1) {
        meet(first + 5, || bounded(2));
    }
}

/// The smallest future, of an awaited receive, is entered and left beside a sender.
#[test]
fn an_awaited_receive_is_left_beside_a_sender() {
    let messages = Messages::default();
    let (tx, rx) = lisle_core::channel();
    scope(|scope| {
        scope.spawn(|| {
            for number in 0..rounds(2_000, 6) {
                tx.send_with_evt(|| messages.make(number)).poll();
                let _ = tx.try_send(messages.make(number));
                poll_once(Box::pin(async { tx.send_evt(messages.make(number)).await }).as_mut());
            }
        });
        scope.spawn(|| {
            for _ in 0..rounds(4_000, 8) {
                poll_once(Box::pin(async { rx.recv_evt().await }).as_mut());
                let _ = rx.try_recv();
            }
        });
    });
    messages.assert_all_dropped();
}

/// Choices that send and receive meet each other, so that performers claim themselves and wait for
/// those that others have claimed.
#[test]
fn choices_meet_choices() {
    let messages = Messages::default();
    let ((to_one, one), (to_other, other)) = (lisle_core::channel(), lisle_core::channel());
    let count = rounds(2_000, 5);
    scope(|scope| {
        for turn in 0..2 {
            let (here, there) = if turn == 0 { (&one, &to_other) } else { (&other, &to_one) };
            let messages = &messages;
            scope.spawn(move || {
                for number in 0..count {
                    let give = || there.send_evt(messages.make(number)).wrap(|sent| sent.is_ok());
                    let get = || here.recv_evt().wrap(|message| message.is_ok());
                    let happened = match number % 3 {
                        0 => choose((give(), get())).sync(),
                        1 => choose((get().boxed(), give().boxed())).sync(),
                        _ => block_on(choose([get().boxed(), give().boxed()]).future()),
                    };
                    assert!(happened);
                }
            });
        }
    });
    messages.assert_all_dropped();
}

/// A message that is made on commit: its receiver is held until the maker has returned, and is told
/// to start over if the maker panics.
#[test]
fn promises_are_kept_broken_and_left() {
    let messages = Messages::default();
    let (tx, rx) = lisle_core::channel();
    scope(|scope| {
        let (tx, messages) = (tx, &messages);
        scope.spawn(move || {
            for number in 0..rounds(2_000, 7) {
                let broken = number % 4 == 3;
                let make =
                    || if broken { resume_unwind(Box::new("made nothing")) } else { messages.make(number) };
                let send = tx.send_with_evt(make).wrap(|sent| sent.is_ok());
                let sends = || match number % 3 {
                    0 => Some(send.sync()),
                    1 => poll_once(Box::pin((&send).wrap(|sent| sent).future()).as_mut()),
                    _ => Some(choose(((&send).wrap(|sent| sent), lisle_core::never())).sync()),
                };
                let sent = catch_unwind(AssertUnwindSafe(sends));
                assert!(sent.is_ok() || broken);
            }
        });
        scope.spawn(move || until_closed(start(), || rx.recv_evt()));
    });
    messages.assert_all_dropped();
}

/// Performers that wait until something could be received or sent, or until the end.
#[test]
fn watchers_are_told_of_changes_and_of_the_end() {
    let messages = Messages::default();
    let (tx, rx) = bounded(1);
    let ended = AtomicBool::new(false);
    scope(|scope| {
        let (messages, ended, watched) = (&messages, &ended, rx.clone());
        scope.spawn(move || {
            for way in start().. {
                // The end counts as readiness.
                perform(way, watched.recv_ready_evt());
                if ended.load(Relaxed) {
                    break;
                }
            }
            perform(6, watched.closed_evt());
        });
        scope.spawn(move || {
            for number in 0..rounds(1_000, 6) {
                perform(number, tx.send_ready_evt());
                poll_once(pin!(tx.closed_evt().future()));
                tx.send(messages.make(number)).expect("there are receivers");
            }
        });
        scope.spawn(move || {
            while rx.recv().is_ok() {}
            ended.store(true, Relaxed);
        });
    });
    messages.assert_all_dropped();
}

#[test]
fn events_that_own_their_ends() {
    let messages = Messages::default();
    for way in start()..start() + rounds(WAYS, 2) {
        let (tx, rx) = lisle_core::channel();
        scope(|scope| {
            let message = messages.make(way);
            scope.spawn(move || perform(way, tx.into_send_evt(message)));
            scope.spawn(move || perform(way + 1, rx.into_recv_evt()));
        });
    }
    messages.assert_all_dropped();
}

#[test]
fn asynchronous_sends_end_are_taken_back_and_are_dropped() {
    let messages = Messages::default();
    let (tx, rx) = lisle_core::channel();
    scope(|scope| {
        let (tx, messages) = (tx, &messages);
        scope.spawn(move || {
            for number in 0..rounds(1_000, 6) {
                let sending = match perform(start() + number, tx.send_async_evt(messages.make(number))) {
                    Some(sending) => sending,
                    None => tx.send_async(messages.make(number)),
                };
                match number % 4 {
                    0 => drop(sending.join()),
                    1 => sending.cancel(),
                    2 => drop(poll_once(pin!(sending.done_evt().future()))),
                    _ => drop(perform(start() + number / 4, sending.done_evt())),
                }
            }
        });
        scope.spawn(move || until_closed(start(), || rx.recv_evt()));
    });
    messages.assert_all_dropped();
}

#[test]
fn a_mailbox_and_its_end() {
    let messages = Messages::default();
    let (tx, rx) = unbounded();
    scope(|scope| {
        for _ in 0..2 {
            let (tx, messages) = (tx.clone(), &messages);
            scope.spawn(move || {
                for number in 0..rounds(1_000, 5) {
                    tx.send(messages.make(number)).unwrap();
                }
            });
        }
        drop(tx);
        scope.spawn(move || {
            for way in start().. {
                perform(way, rx.recv_ready_evt());
                if let Some(Err(_)) = perform(way + 1, rx.recv_evt()) {
                    return;
                }
            }
        });
    });
    messages.assert_all_dropped();
}

#[test]
fn a_multicast_reaches_ports_that_come_and_go() {
    let messages = Messages::default();
    let multicast = Multicast::new();
    let ports = [multicast.port(), multicast.port()];
    scope(|scope| {
        let (sending, messages) = (multicast, &messages);
        for (offset, port) in (start()..).zip(ports) {
            scope.spawn(move || {
                let copy = port.clone();
                for way in offset.. {
                    if let Some(Err(_)) = perform(way, port.recv_evt()) {
                        break;
                    }
                }
                while perform(0, copy.recv_evt()).is_some_and(|message| message.is_ok()) {}
            });
        }
        scope.spawn(move || {
            for number in 0..rounds(300, 3) {
                drop(poll_once(pin!(sending.port().recv_evt().future())));
                sending.send(messages.make(number)).expect("there are ports");
            }
        });
    });
    messages.assert_all_dropped();
}

#[test]
fn the_end_comes_while_performers_wait() {
    for way in start()..start() + rounds(WAYS, 2) {
        let (tx, rx) = channel::bounded::<Box<usize>>(way % 2);
        scope(|scope| {
            scope.spawn(|| perform(way, rx.recv_evt()));
            scope.spawn(move || drop(tx));
        });
        let (tx, rx) = lisle_core::channel::<Box<usize>>();
        scope(|scope| {
            scope.spawn(|| perform(way, tx.send_evt(Box::new(way))));
            scope.spawn(move || drop(rx));
        });
    }
}
