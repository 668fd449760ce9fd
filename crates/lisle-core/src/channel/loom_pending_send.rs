//! Loom models of pending sends: a pending send is committed, taken back, dropped by its handle,
//! and refused, in every order.
//!
//! The memory of pending sends is reused, but its locks detect when they are used after they were
//! dropped.

use super::loom_tests::{Channel, Message, explore_channels, number};
use super::pending_send::{Fate, PendingSend, Share};
use super::sender::Sender;
use super::{RecvError, TryRecvError};
use crate::event::Event;
use crate::loom_models::{explore, join_all, spawn_with};
use crate::shim::sync::Arc;
use loom::thread;
use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Begins to send while no receiver waits.
fn begin(tx: &Sender<Message>, message: Message) -> Share<Message> {
    let permit = tx.permits().update(|out, _| tx.take_leave(out)).expect("few are under way");
    match PendingSend::place(permit, message) {
        Ok(pending) => pending,
        Err(fate) => panic!("it is to wait, but has ended: {fate:?}"),
    }
}

/// Waits for the outcome of the message and returns its number if it was not sent.
fn fate(pending: &PendingSend<Message>) -> Option<u32> {
    pending.fate().event(|fate| fate.as_ref().map(drop)).sync();
    let taken = pending.fate().update(|fate, _| fate.replace(Fate::Told));
    match taken.expect("it has just been there") {
        Fate::Sent => None,
        Fate::Closed(message) | Fate::TakenBack(message) => Some(message.0),
        Fate::Told => panic!("it was told twice"),
    }
}

fn nothing_is_under_way(c: &Channel) {
    assert!(c.tx.permits().with(|out| out.is_empty()), "a permit is lost");
    c.assert_clean();
}

#[test]
fn an_order_is_taken_or_taken_back() {
    let (taken, taken_back) = (StdArc::new(AtomicUsize::new(0)), StdArc::new(AtomicUsize::new(0)));
    let counts = [taken.clone(), taken_back.clone()];
    explore_channels(3, [0], move |[c]| {
        let pending = begin(&c.tx, c.make(1));
        let receiver = spawn_with(c, |c| match c.rx.try_recv() {
            Ok(message) => Some(message.0),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Closed) => panic!("it has senders"),
        });
        PendingSend::take_back(&pending);
        let (received, back) = (receiver.join().unwrap(), fate(&pending));
        assert!(matches!((received, back), (Some(1), None) | (None, Some(1))));
        counts[usize::from(back.is_some())].fetch_add(1, Ordering::Relaxed);
        drop(pending);
        nothing_is_under_way(c);
    });
    let [taken, taken_back] = [taken, taken_back].map(|count| count.load(Ordering::Relaxed));
    // Miri runs the model once, and loom in all schedules.
    assert!(cfg!(miri) || taken > 0 && taken_back > 0, "both happen");
}

#[test]
fn an_order_is_taken_while_its_handle_goes() {
    explore_channels(3, [0], |[c]| {
        let pending = begin(&c.tx, c.make(1));
        let receiver = spawn_with(c, Channel::receive);
        drop(pending);
        assert_eq!(receiver.join().unwrap(), Some(1));
        nothing_is_under_way(c);
    });
}

#[test]
fn its_end_is_awaited() {
    explore_channels(2, [0], |[c]| {
        let pending = begin(&c.tx, c.make(1));
        let receiver = spawn_with(c, Channel::receive);
        assert_eq!(fate(&pending), None);
        // The permit has been returned before.
        nothing_is_under_way(c);
        assert_eq!(receiver.join().unwrap(), Some(1));
    });
}

#[test]
fn the_channel_closes_while_an_order_is_taken_back() {
    explore_channels(2, [0], |[c]| {
        let pending = begin(&c.tx, c.make(1));
        let closer = spawn_with(c, |c| c.tx.close());
        PendingSend::take_back(&pending);
        assert!(closer.join().unwrap());
        assert_eq!(fate(&pending), Some(1));
        drop(pending);
        nothing_is_under_way(c);
    });
}

/// The last sender is dropped, but the pending send still counts as one. When the message has been
/// taken the channel closes, and the last owner frees it.
#[test]
fn an_order_is_the_last_sender() {
    explore(2, || {
        let Channel { tx, rx, messages, .. } = Channel::new(0);
        let pending = begin(&tx, messages.make(1));
        let receiver = thread::spawn(move || (rx.recv(), rx.recv()));
        drop(tx);
        let (first, second) = receiver.join().unwrap();
        assert_eq!(number(first), Some(1));
        assert!(matches!(second, Err(RecvError)));
        drop(pending);
        messages.assert_all_dropped();
    });
}

/// Two threads take a send back while a third commits it.
#[test]
fn two_take_it_back() {
    explore_channels(2, [0], |[c]| {
        let pending = Arc::new(begin(&c.tx, c.make(1)));
        let other = spawn_with(&pending, |pending| PendingSend::take_back(pending));
        let receiver = spawn_with(c, Channel::try_receive);
        PendingSend::take_back(&pending);
        other.join().unwrap();
        let (received, back) = (receiver.join().unwrap(), fate(&pending));
        assert!(matches!((received, back), (Some(1), None) | (None, Some(1))));
        drop(pending);
        nothing_is_under_way(c);
    });
}

/// A permit goes directly to the waiter, or comes back if the waiter gives up.
#[test]
fn a_permit_passes_to_a_waiting_sender() {
    explore_channels(2, [0], |[c]| {
        let pending = begin(&c.tx, c.make(1));
        // This simulates room for one send only.
        let waiter = spawn_with(c, |c| {
            drop(c.tx.permits().event(|out| if out.is_empty() { c.tx.take_leave(out) } else { None }).sync())
        });
        assert_eq!(c.receive(), Some(1));
        waiter.join().unwrap();
        drop(pending);
        nothing_is_under_way(c);
    });
}

/// Both ends, and with them the channel, are dropped while the message is taken back.
#[test]
fn the_channel_goes_while_an_order_is_taken_back() {
    explore(3, || {
        let Channel { tx, rx, messages, .. } = Channel::new(0);
        let pending = begin(&tx, messages.make(1));
        drop(tx);
        let receiver = thread::spawn(move || drop(rx));
        PendingSend::take_back(&pending);
        receiver.join().unwrap();
        assert_eq!(fate(&pending), Some(1));
        drop(pending);
        messages.assert_all_dropped();
    });
}

#[test]
fn the_channel_goes_while_a_handle_does() {
    explore(3, || {
        let Channel { tx, rx, messages, .. } = Channel::new(0);
        let pending = begin(&tx, messages.make(1));
        let handle = thread::spawn(move || drop(pending));
        let receiver = thread::spawn(move || drop(rx));
        drop(tx);
        join_all([handle, receiver]);
        messages.assert_all_dropped();
    });
}

#[test]
fn two_orders_end_and_the_channel_goes() {
    explore(2, || {
        let Channel { tx, rx, messages, .. } = Channel::new(0);
        let pending_sends = [1, 2].map(|n| begin(&tx, messages.make(n)));
        drop(tx);
        let [first, second] = pending_sends;
        let other = thread::spawn(move || PendingSend::take_back(&first));
        let receiver = thread::spawn(move || drop(rx.try_recv()));
        PendingSend::take_back(&second);
        drop(second);
        join_all([other, receiver]);
        messages.assert_all_dropped();
    });
}
