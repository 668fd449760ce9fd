//! Loom models of channels.
//!
//! Each model asserts the received messages and the returned values, that every message was dropped
//! once, and that the queues of the channel are empty at the end. Loom reports lost wakes as
//! deadlocks, and accesses to slots or links without a happens-before edge as races. Timers are not
//! modelled.
//!
//! Run them with `RUSTFLAGS="--cfg lisle_loom" cargo test -p lisle --lib --release loom`.

use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::Shared;
use super::{RecvError, SendError, SendWithError, TryRecvError, TrySendError};
use crate::event::choose;
use crate::event::{Attempt, Event, Step, choose_biased};
use crate::loom_models::{explore, join_all, poll_once, spawn_with, spawn_with_both};
use crate::shim::sync::Arc;
use crate::sync::Condition;
use loom::thread;
use std::pin::Pin;
use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicIsize, Ordering};

/// A message that counts how many messages exist.
pub(super) struct Message(pub(super) u32, StdArc<AtomicIsize>);

impl Clone for Message {
    fn clone(&self) -> Self {
        self.1.fetch_add(1, Ordering::Relaxed);
        Message(self.0, self.1.clone())
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Message({})", self.0)
    }
}

/// The messages of one run.
#[derive(Clone, Default)]
pub(super) struct Messages(StdArc<AtomicIsize>);

impl Messages {
    pub(super) fn make(&self, number: u32) -> Message {
        self.0.fetch_add(1, Ordering::Relaxed);
        Message(number, self.0.clone())
    }

    pub(super) fn assert_all_dropped(&self) {
        assert_eq!(self.0.load(Ordering::Relaxed), 0, "every message is dropped once");
    }
}

/// A channel whose queues can be inspected, and the messages that models send over it.
pub(super) struct Channel {
    pub(super) tx: Sender<Message>,
    pub(super) rx: Receiver<Message>,
    pub(super) shared: Arc<Shared<Message>>,
    pub(super) messages: Messages,
}

impl Channel {
    pub(super) fn new(capacity: usize) -> Self {
        let shared = Arc::new(Shared::new(capacity, crate::event::Label::new("channel")));
        let (tx, rx) = (Sender::new(shared.clone()), Receiver::new(shared.clone()));
        Channel { tx, rx, shared, messages: Messages::default() }
    }

    pub(super) fn make(&self, number: u32) -> Message {
        self.messages.make(number)
    }

    /// Sends message `number` while nobody closes the channel.
    pub(super) fn send(&self, number: u32) {
        self.tx.send(self.make(number)).unwrap();
    }

    /// Sends message `number`, made on commit, while nobody closes the channel.
    fn send_made(&self, number: u32) {
        assert!(self.tx.send_with_evt(|| self.make(number)).sync().is_ok());
    }

    /// Receives the number of a message, or `None` if the channel is closed.
    pub(super) fn receive(&self) -> Option<u32> {
        number(self.rx.recv())
    }

    /// Receives the number of a message that is there.
    pub(super) fn try_receive(&self) -> Option<u32> {
        self.rx.try_recv().ok().map(|message| message.0)
    }

    /// Receives messages 1 and 2, in either order.
    fn receive_both(&self) {
        let mut got = [self.receive(), self.receive()];
        got.sort_unstable();
        assert_eq!(got, [Some(1), Some(2)]);
    }

    /// Asserts that no waiter is in a queue and no message is buffered.
    pub(super) fn assert_clean(&self) {
        self.shared.locked(|inner| {
            assert!(inner.receiving.is_empty(), "a receiver is left behind");
            assert!(inner.sending.is_empty(), "a sender is left behind");
            assert!(inner.deferred.is_empty(), "a sender with a maker is left behind");
            assert!(!inner.watchers.want_readiness(), "a waiter for readiness is left behind");
            assert!(inner.watchers.closed.is_empty(), "a waiter for the end is left behind");
        });
        assert_eq!(self.shared.len(), 0, "a message is left behind");
    }
}

/// Explores a model that has a channel for each of `capacities`, and asserts at its end that they
/// are clean and that all their messages have been dropped.
pub(super) fn explore_channels<const N: usize>(
    preemptions: usize,
    capacities: [usize; N],
    model: impl Fn(&[Arc<Channel>; N]) + Sync + Send + 'static,
) {
    explore(preemptions, move || {
        let channels = capacities.map(|capacity| Arc::new(Channel::new(capacity)));
        model(&channels);
        channels.iter().for_each(|c| c.assert_clean());
        channels.iter().for_each(|c| c.messages.assert_all_dropped());
    });
}

type Received = Result<Message, RecvError>;
type Sent = Result<(), SendError<Message>>;

pub(super) fn number(received: Received) -> Option<u32> {
    received.ok().map(|message| message.0)
}

/// The result of a two-sided choice.
#[derive(Debug, PartialEq)]
enum Came {
    Received(Option<u32>),
    Sent,
    Refused(u32),
}

fn received(received: Received) -> Came {
    Came::Received(number(received))
}

fn sent(sent: Sent) -> Came {
    sent.map_or_else(|SendError(message)| Came::Refused(message.0), |()| Came::Sent)
}

// Plain partners.

#[test]
fn rendezvous() {
    explore_channels(3, [0], |[c]| {
        let sender = spawn_with(c, |c| c.send(1));
        assert_eq!(c.receive(), Some(1));
        sender.join().unwrap();
    });
}

#[test]
fn two_senders_meet_two_receives() {
    explore_channels(2, [0], |[c]| {
        let senders = [1, 2].map(|n| spawn_with(c, move |c| c.send(n)));
        c.receive_both();
        join_all(senders);
    });
}

#[test]
fn try_recv_takes_from_a_sender_that_waits_or_leaves_it() {
    explore_channels(3, [0], |[c]| {
        let sender = spawn_with(c, |c| c.send(1));
        match c.rx.try_recv() {
            Ok(message) => assert_eq!(message.0, 1),
            Err(TryRecvError::Empty) => assert_eq!(c.receive(), Some(1)),
            Err(TryRecvError::Closed) => unreachable!("nobody closes"),
        }
        sender.join().unwrap();
        assert!(matches!(c.rx.try_recv(), Err(TryRecvError::Empty)));
    });
}

#[test]
fn try_send_gives_to_a_receiver_that_waits_or_keeps_the_message() {
    explore_channels(3, [0], |[c]| {
        let receiver = spawn_with(c, Channel::receive);
        match c.tx.try_send(c.make(1)) {
            Ok(()) => {}
            Err(TrySendError::Full(message)) => c.tx.send(message).unwrap(),
            Err(TrySendError::Closed(_)) => unreachable!("nobody closes"),
        }
        assert_eq!(receiver.join().unwrap(), Some(1));
    });
}

#[test]
fn a_full_buffer_lets_senders_in_one_by_one() {
    explore_channels(2, [1], |[c]| {
        let senders = [1, 2].map(|n| spawn_with(c, move |c| c.send(n)));
        c.receive_both();
        join_all(senders);
    });
}

/// Taking one message lets the sender finish that waits for room, without a second receive.
#[test]
fn a_receive_makes_room() {
    explore_channels(3, [1], |[c]| {
        let sender = spawn_with(c, move |c| [1, 2].map(|n| c.send(n)));
        assert_eq!(c.receive(), Some(1));
        sender.join().unwrap();
        assert_eq!(c.receive(), Some(2));
    });
}

#[test]
fn a_buffer_keeps_one_senders_order() {
    explore_channels(2, [1], |[c]| {
        let sender = spawn_with(c, move |c| [1, 2, 3].map(|n| c.send(n)));
        assert_eq!([(); 3].map(|()| c.receive()), [Some(1), Some(2), Some(3)]);
        sender.join().unwrap();
    });
}

// Choices.

/// Performs a choice between receiving and sending on one channel. Two of these can meet either
/// way.
fn swap(c: &Channel, message: Message) -> Came {
    choose((c.rx.recv_evt().wrap(received), c.tx.send_evt(message).wrap(sent))).sync()
}

#[test]
fn of_two_two_sided_choices_one_receives_and_one_sends() {
    explore_channels(3, [0], |[c]| {
        let other = spawn_with(c, |c| swap(c, c.make(2)));
        let ours = swap(c, c.make(1));
        match (ours, other.join().unwrap()) {
            (Came::Received(n), Came::Sent) => assert_eq!(n, Some(2)),
            (Came::Sent, Came::Received(n)) => assert_eq!(n, Some(1)),
            outcome => panic!("{outcome:?}"),
        }
    });
}

/// Both choices have published one branch when they look at the other's, so both claim themselves
/// first. If both have, the one at the higher address has to step back.
#[test]
fn choices_that_claim_themselves_and_want_each_other_meet_once() {
    explore_channels(3, [0, 0], |[a, b]| {
        let other = spawn_with_both(a, b, |a, b| {
            choose((b.tx.send_evt(b.make(2)).wrap(sent), a.rx.recv_evt().wrap(received))).sync()
        });
        let ours = choose((a.tx.send_evt(a.make(1)).wrap(sent), b.rx.recv_evt().wrap(received))).sync();
        match (ours, other.join().unwrap()) {
            (Came::Received(n), Came::Sent) => assert_eq!(n, Some(2)),
            (Came::Sent, Came::Received(n)) => assert_eq!(n, Some(1)),
            outcome => panic!("{outcome:?}"),
        }
    });
}

/// A claims itself and wants B, B wants C, C wants A. The choice that is left without a partner
/// learns that the channels close, which commits records from outside while they may be claimed.
#[test]
fn a_ring_of_three_choices_comes_apart() {
    explore_channels(1, [0; 3], |ring| {
        let play = |i: usize| {
            let (out, back) = (ring[i].clone(), ring[(i + 1) % 3].clone());
            let message = out.make(u32::try_from(i).unwrap());
            move || {
                let came =
                    choose((out.tx.send_evt(message).wrap(sent), back.rx.recv_evt().wrap(received))).sync();
                out.tx.close();
                back.tx.close();
                came
            }
        };
        let others = [1, 2].map(|i| thread::spawn(play(i)));
        let mut came = vec![play(0)()];
        came.extend(others.map(|other| other.join().unwrap()));
        for i in 0..3 {
            let taken = came[(i + 2) % 3] == Came::Received(Some(u32::try_from(i).unwrap()));
            assert_eq!(came[i] == Came::Sent, taken, "what one has sent the other has: {came:?}");
        }
        assert!(came.contains(&Came::Sent), "somebody meets somebody: {came:?}");
    });
}

#[test]
fn a_choice_of_receives_takes_one_and_leaves_the_other() {
    explore_channels(2, [0, 0], |[a, b]| {
        let senders = [(a, 1), (b, 2)].map(|(c, n)| spawn_with(c, move |c| c.send(n)));
        let first = number(choose((a.rx.recv_evt(), b.rx.recv_evt())).sync());
        let second = match first {
            Some(1) => b.receive(),
            Some(2) => a.receive(),
            outcome => panic!("{outcome:?}"),
        };
        assert_eq!(first.unwrap() + second.unwrap(), 3);
        join_all(senders);
    });
}

#[test]
fn a_choice_of_sends_gives_one_and_keeps_the_other() {
    explore_channels(2, [0, 1], |[a, b]| {
        let receivers = [a, b].map(|c| spawn_with(c, Channel::receive));
        let to = choose((
            a.tx.send_evt(a.make(1)).wrap(|sent| sent.map(|()| "a")),
            b.tx.send_evt(b.make(2)).wrap(|sent| sent.map(|()| "b")),
        ))
        .sync()
        .unwrap();
        if to == "a" { b } else { a }.tx.close();
        let got = receivers.map(|receiver| receiver.join().unwrap());
        assert_eq!(got, if to == "a" { [Some(1), None] } else { [None, Some(2)] });
    });
}

/// The choice has published its receive when it looks at the buffer. It commits by itself, unless
/// the sender on the other channel is faster.
#[test]
fn a_published_choice_takes_from_a_buffer_or_is_taken() {
    explore_channels(3, [0, 1], |[a, b]| {
        let sender = spawn_with_both(a, b, |a, b| {
            b.send(2);
            a.tx.try_send(a.make(1)).is_ok()
        });
        let got = number(choose((a.rx.recv_evt(), b.rx.recv_evt())).sync());
        let given = sender.join().unwrap();
        assert_eq!(got, Some(if given { 1 } else { 2 }));
        assert_eq!(b.try_receive(), given.then_some(2));
    });
}

// Leaving while being committed.

#[test]
fn a_dropped_receive_has_taken_the_message_or_not() {
    explore_channels(3, [0], |[c]| {
        let sender = spawn_with(c, |c| sent(c.tx.send(c.make(1))));
        let got = poll_once(c.rx.recv_evt()).and_then(number);
        c.rx.close();
        let outcome = sender.join().unwrap();
        if got.is_some() {
            assert_eq!((got, outcome), (Some(1), Came::Sent));
        } else {
            // The message was refused, or given to a future that was dropped with it.
            assert!(matches!(outcome, Came::Sent | Came::Refused(1)));
        }
    });
}

#[test]
fn a_dropped_choice_is_in_no_queue() {
    explore_channels(3, [0, 0], |[a, b]| {
        let partner = spawn_with_both(a, b, |a, b| {
            let sent = a.tx.try_send(a.make(1)).is_ok();
            (sent, b.try_receive())
        });
        let event = choose((a.rx.recv_evt().wrap(received), b.tx.send_evt(b.make(2)).wrap(sent)));
        let ours = poll_once(event);
        let (gave, took) = partner.join().unwrap();
        assert!(!(gave && took.is_some()), "one of two");
        match ours {
            Some(came) if gave => assert_eq!(came, Came::Received(Some(1))),
            Some(came) => assert_eq!((came, took), (Came::Sent, Some(2))),
            None => assert!(took.is_none_or(|n| n == 2)),
        }
    });
}

#[test]
fn a_dropped_send_has_given_its_message_or_not() {
    explore_channels(3, [0], |[c]| {
        let receiver = spawn_with(c, Channel::receive);
        let outcome = poll_once(c.tx.send_evt(c.make(1)));
        c.tx.close();
        let got = receiver.join().unwrap();
        assert!(outcome.is_none() || got == Some(1));
        assert!(got.is_none() || got == Some(1));
    });
}

/// A future waits, is woken by its partner, and gives the value at its next poll.
#[test]
fn a_future_is_woken_once_its_value_is_there() {
    explore_channels(3, [0], |[c]| {
        let sender = spawn_with(c, |c| c.send(1));
        assert_eq!(number(loom::future::block_on(c.rx.recv_evt().future())), Some(1));
        sender.join().unwrap();
    });
}

// Closing.

#[test]
fn closing_a_rendezvous_meets_both_sides_or_neither() {
    explore_channels(2, [0], |[c]| {
        let sender = spawn_with(c, |c| sent(c.tx.send(c.make(1))));
        let closer = spawn_with(c, |c| assert!(c.tx.close()));
        let got = c.receive();
        closer.join().unwrap();
        let outcome = sender.join().unwrap();
        match got {
            Some(n) => assert_eq!((n, outcome), (1, Came::Sent)),
            None => assert_eq!(outcome, Came::Refused(1)),
        }
    });
}

#[test]
fn closing_a_buffer_loses_nothing_that_was_sent() {
    explore_channels(2, [1], |[c]| {
        let sender = spawn_with(c, move |c| [1, 2].map(|n| sent(c.tx.send(c.make(n))) == Came::Sent));
        let closer = spawn_with(c, |c| c.rx.close());
        let mut got = Vec::new();
        while let Some(n) = c.receive() {
            got.push(n);
        }
        closer.join().unwrap();
        let sent = sender.join().unwrap();
        assert_eq!(
            got,
            [1, 2].into_iter().zip(sent).filter(|sent| sent.1).map(|sent| sent.0).collect::<Vec<_>>()
        );
    });
}

#[test]
fn closing_reaches_a_choice_once() {
    explore_channels(2, [0, 0], |[a, b]| {
        let closers = [a, b].map(|c| spawn_with(c, |c| assert!(c.rx.close())));
        let came = choose((a.rx.recv_evt().wrap(received), b.tx.send_evt(b.make(1)).wrap(sent))).sync();
        assert!(matches!(came, Came::Received(None) | Came::Refused(1)));
        join_all(closers);
    });
}

/// The last sender is dropped while a receiver comes.
#[test]
fn the_last_sender_closes_behind_itself() {
    explore(3, || {
        let messages = Messages::default();
        let (tx, rx) = super::create::channel();
        let message = messages.make(1);
        let sender = thread::spawn(move || tx.send(message).unwrap());
        assert_eq!(number(rx.recv()), Some(1));
        assert_eq!(number(rx.recv()), None);
        sender.join().unwrap();
        messages.assert_all_dropped();
    });
}

/// The last receiver is dropped while a sender fills the buffer: the buffered messages are dropped.
#[test]
fn the_last_receiver_drops_what_is_buffered() {
    explore(3, || {
        let messages = Messages::default();
        let (tx, rx) = super::bounded(1);
        let receiver = thread::spawn(move || drop(rx));
        let outcomes = [1, 2].map(|n| sent(tx.send(messages.make(n))));
        assert_eq!(outcomes[1], Came::Refused(2), "there is room for one only");
        receiver.join().unwrap();
        messages.assert_all_dropped();
    });
}

// Polls of choices.

/// An event that is not ready before it is published, and does not record its looks.
struct Blind<E>(E);

impl<E: Event> Event for Blind<E> {
    type Output = E::Output;
    type Branch<'e>
        = E::Branch<'e>
    where
        Self: 'e;

    fn branch(&self) -> Self::Branch<'_> {
        self.0.branch()
    }
    fn try_commit<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>, _: &Attempt<'_>) -> Step {
        Step::Waiting
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.0.publish(branch, attempt)
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        self.0.withdraw(branch, attempt)
    }
    fn complete<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>) -> Self::Output {
        self.0.complete(branch)
    }
}

/// Each of two performers puts a message into a channel and then polls both channels. There is one
/// message for each, so each finds one, although the other may take its own while it looks at the
/// other's first.
fn each_poll_finds_one(preemptions: usize, poll: fn(other: &Channel, own: &Channel) -> Option<Received>) {
    explore_channels(preemptions, [1, 1], move |[a, b]| {
        let other = spawn_with_both(a, b, move |a, b| {
            b.send(2);
            poll(a, b).and_then(number)
        });
        a.send(1);
        let mut got = [poll(b, a).and_then(number), other.join().unwrap()];
        got.sort_unstable();
        assert_eq!(got, [Some(1), Some(2)]);
    });
}

#[test]
fn a_poll_of_a_choice_finds_what_is_in_one_channel_or_another() {
    each_poll_finds_one(3, |other, own| choose_biased((other.rx.recv_evt(), own.rx.recv_evt())).poll());
}

#[test]
fn a_poll_that_publishes_finds_what_is_in_one_channel_or_another() {
    each_poll_finds_one(2, |other, own| {
        choose_biased((Blind(other.rx.recv_evt()), Blind(own.rx.recv_evt()))).poll()
    });
}

/// A poll that publishes may be committed before it withdraws. It then has the value that it was
/// given.
#[test]
fn a_poll_that_publishes_is_met_or_leaves_nothing() {
    explore_channels(3, [0, 0], |[a, b]| {
        let sender = spawn_with(a, |a| a.tx.try_send(a.make(1)).is_ok());
        let got = choose((Blind(a.rx.recv_evt()), Blind(b.rx.recv_evt()))).poll().and_then(number);
        assert_eq!(sender.join().unwrap(), got == Some(1));
    });
}

/// A poll would not wait for a message that is still to be made. It does not meet a sender that
/// would make one, nor is that sender told to try again.
#[test]
fn a_poll_that_publishes_is_promised_nothing() {
    explore_channels(3, [0, 0], |[a, b]| {
        let sender = spawn_with(a, |a| {
            assert!(a.tx.send_with_evt(|| unreachable!("nobody waits for it")).poll().is_none())
        });
        assert!(choose((Blind(a.rx.recv_evt()), Blind(b.rx.recv_evt()))).poll().is_none());
        sender.join().unwrap();
    });
}

// Messages made on commit.

#[test]
fn a_promise_is_kept() {
    explore_channels(3, [0], |[c]| {
        let sender = spawn_with(c, |c| c.send_made(1));
        assert_eq!(c.receive(), Some(1));
        sender.join().unwrap();
    });
}

#[test]
fn a_promise_into_a_buffer_is_kept() {
    explore_channels(2, [1], |[c]| {
        let senders = [spawn_with(c, |c| c.send_made(1)), spawn_with(c, |c| c.send(2))];
        c.receive_both();
        join_all(senders);
    });
}

/// There are two makers and room for one: the second learns that room is free again.
#[test]
fn makers_wait_for_room() {
    explore_channels(2, [1], |[c]| {
        let senders = [1, 2].map(|n| spawn_with(c, move |c| c.send_made(n)));
        c.receive_both();
        join_all(senders);
    });
}

/// Sends a message that is not made. A panic of the maker results in dropping the branch that has
/// committed. This does that without unwinding, which loom cannot follow: its threads share one
/// panic count.
struct Break<E>(E);

impl<E: Event> Event for Break<E> {
    type Output = ();
    type Branch<'e>
        = E::Branch<'e>
    where
        Self: 'e;

    fn is_single(&self) -> bool {
        self.0.is_single()
    }
    fn branch(&self) -> Self::Branch<'_> {
        self.0.branch()
    }
    fn try_commit<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.0.try_commit(branch, attempt)
    }
    fn publish<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> Step {
        self.0.publish(branch, attempt)
    }
    fn withdraw<'e>(&'e self, branch: Pin<&mut Self::Branch<'e>>, attempt: &Attempt<'_>) -> bool {
        self.0.withdraw(branch, attempt)
    }
    fn complete<'e>(&'e self, _: Pin<&mut Self::Branch<'e>>) {}
}

fn breaks_its_promise(c: &Channel) -> Break<impl Event> {
    Break(c.tx.send_with_evt(|| unreachable!("it is not made")))
}

#[test]
fn a_receiver_whose_promise_is_broken_starts_over() {
    explore_channels(2, [0], |[c]| {
        let sender = spawn_with(c, |c| {
            breaks_its_promise(c).sync();
            c.send(2);
        });
        assert_eq!(c.receive(), Some(2));
        sender.join().unwrap();
    });
}

#[test]
fn a_choice_whose_promise_is_broken_starts_over_with_every_branch() {
    explore_channels(2, [0, 0], |[a, b]| {
        let sender = spawn_with_both(a, b, |a, b| {
            breaks_its_promise(a).sync();
            b.send(2);
        });
        assert_eq!(number(choose((a.rx.recv_evt(), b.rx.recv_evt())).sync()), Some(2));
        sender.join().unwrap();
    });
}

/// Room that was reserved for a message that does not come is free for others.
#[test]
fn a_broken_promise_gives_room_back() {
    explore_channels(2, [1], |[c]| {
        let other = spawn_with(c, |c| c.send(1));
        let maker = spawn_with(c, |c| c.send_made(2));
        // Without a waiting receiver this commits to room in the buffer, if there is any.
        let _committed_or_not: Option<()> = breaks_its_promise(c).poll();
        c.receive_both();
        join_all([other, maker]);
    });
}

/// As above, with no other sender to admit them.
#[test]
fn room_that_is_given_back_lets_in_a_waiting_sender() {
    for maker_waits in [false, true] {
        explore_channels(3, [1], move |[c]| {
            let other = spawn_with(c, move |c| {
                if maker_waits {
                    c.send_made(1);
                } else {
                    c.send(1);
                }
            });
            let _committed_or_not: Option<()> = breaks_its_promise(c).poll();
            other.join().unwrap();
            assert_eq!(c.receive(), Some(1));
        });
    }
}

#[test]
fn reserved_room_is_nobody_elses() {
    explore_channels(3, [1], |[c]| {
        let maker = spawn_with(c, |c| c.tx.send_with_evt(|| c.make(1)).poll().is_some());
        let sent = c.tx.try_send(c.make(2)).is_ok();
        assert!(maker.join().unwrap() != sent, "one of two");
        assert_eq!(c.shared.len(), 1);
        assert_eq!(c.rx.try_recv().unwrap().0, if sent { 2 } else { 1 });
    });
}

/// Room was reserved before the channel was closed, and the message comes after: it is returned.
#[test]
fn nothing_comes_after_the_end() {
    explore_channels(3, [1], |[c]| {
        let maker =
            spawn_with(c, |c| c.tx.send_with_evt(|| c.make(1)).poll().is_some_and(|sent| sent.is_ok()));
        c.rx.close();
        let got = c.receive();
        assert!(got.is_none() || c.receive().is_none());
        assert_eq!(maker.join().unwrap(), got.is_some());
        assert!(matches!(c.rx.try_recv(), Err(TryRecvError::Closed)));
    });
}

/// The receiver leaves while its message is being made. The message stays with the sender, or was
/// dropped with the future that got it.
#[test]
fn a_promised_receiver_may_leave() {
    explore_channels(3, [0], |[c]| {
        let sender = spawn_with(c, |c| {
            let event = c.tx.send_with_evt(|| {
                thread::yield_now(); // making takes a while
                c.make(1)
            });
            event.sync().map_err(|refused| refused.into_inner().map(|message| message.0))
        });
        let got = poll_once(c.rx.recv_evt()).and_then(number);
        c.rx.close();
        let outcome = sender.join().unwrap();
        match got {
            Some(n) => assert_eq!((n, outcome), (1, Ok(()))),
            None => assert!(matches!(outcome, Ok(()) | Err(None | Some(1)))),
        }
    });
}

/// Sends message `n`, made on commit, again and again until a receiver has stayed for it.
fn send_until_received(c: &Channel, n: u32) {
    while let Err(refused) = c.tx.send_with_evt(|| c.make(n)).sync() {
        assert!(
            matches!(refused, SendWithError::Left(Message(back, _)) if back == n),
            "nobody closes the channel"
        );
    }
}

/// As above, with another receiver, which gets the message that the first has left, or the one that
/// is sent again.
#[test]
fn what_a_promised_receiver_leaves_goes_to_the_next() {
    explore_channels(2, [0], |[c]| {
        let sender = spawn_with(c, |c| {
            for n in [1, 2] {
                send_until_received(c, n);
            }
        });
        let first = poll_once(choose((c.rx.recv_evt(), crate::never()))).and_then(number);
        let second = c.receive();
        // The future has returned the first message, or was dropped with it, or has not got it.
        match (first, second) {
            (Some(1), Some(2)) => {}
            (None, Some(1)) => assert_eq!(c.receive(), Some(2)),
            (None, Some(2)) => {}
            outcome => panic!("{outcome:?}"),
        }
        sender.join().unwrap();
    });
}

/// The maker waits until the receiver has left, so leaving must not wait for the message. No other
/// receiver comes before the sender has ended, so the sender must not wait for one.
#[test]
fn neither_leaving_nor_what_was_left_waits() {
    for capacity in [0, 1] {
        explore_channels(3, [capacity], move |[c]| {
            let conditions = Arc::new([Condition::new(), Condition::new()]);
            let [left, made] = &*conditions;
            let sender = spawn_with_both(c, &conditions, |c, [left, made]| {
                let event = c.tx.send_with_evt(|| {
                    left.wait();
                    c.make(1)
                });
                let sent = event.poll();
                made.signal();
                sent.map(|sent| sent.map_err(|refused| matches!(refused, SendWithError::Left(Message(1, _)))))
            });
            assert!(poll_once(c.rx.recv_evt()).is_none());
            left.signal();
            made.wait();
            let got = c.try_receive();
            match sender.join().unwrap() {
                // There was room, whether or not the receiver was won.
                Some(Ok(())) => assert!(capacity == 1 && got == Some(1)),
                Some(Err(is_left)) => assert!(is_left && capacity == 0 && got.is_none()),
                None => assert!(capacity == 0 && got.is_none()),
            }
        });
    }
}

/// The receiver that was won leaves while another waits. The other gets the message.
#[test]
fn what_was_left_goes_to_a_waiting_receiver() {
    explore_channels(2, [0], |[c]| {
        let left = Arc::new(Condition::new());
        let sender = spawn_with_both(c, &left, |c, left| {
            let event = c.tx.send_with_evt(|| {
                left.wait();
                c.make(1)
            });
            event.sync().map_err(|refused| matches!(refused, SendWithError::Left(_)))
        });
        let receiver = spawn_with(c, Channel::receive);
        let first = poll_once(c.rx.recv_evt());
        left.signal();
        if sender.join().unwrap() == Err(true) {
            // The other receiver had not come by then.
            c.send(1);
        }
        assert!(first.is_none() && receiver.join().unwrap() == Some(1));
    });
}

/// A choice of two makers withdraws the other when one is admitted.
#[test]
fn a_choice_of_makers_makes_one_message() {
    explore_channels(3, [0, 0], |[a, b]| {
        let receiver = spawn_with(b, Channel::receive);
        let event = choose((a.tx.send_with_evt(|| a.make(1)), b.tx.send_with_evt(|| b.make(2))));
        assert!(event.sync().is_ok());
        assert_eq!(receiver.join().unwrap(), Some(2));
    });
}

/// Closing wakes a maker that waits.
#[test]
fn closing_reaches_makers() {
    explore_channels(3, [0], |[c]| {
        let closer = spawn_with(c, |c| assert!(c.rx.close()));
        let refused = c.tx.send_with_evt(|| unreachable!("it is never let in")).sync();
        assert!(matches!(refused, Err(SendWithError::Closed(None))));
        closer.join().unwrap();
    });
}
