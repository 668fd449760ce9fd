//! The forms that a choice among futures takes.
//!
//! Few arms: `select!`, which polls all of them. Many arms: that takes time in proportion to their
//! number, each time. `FuturesUnordered` polls only futures that have been woken, and keeps the
//! others from choice to choice. (`stream::select_all` is that inside; tokio's `StreamMap` polls
//! all.)

use super::{deadline::Deadline, timed_out};
use crate::peers::Channel;
use futures::stream::{FuturesUnordered, StreamExt};
use std::{future::Future, pin::pin};

/// How a system of futures chooses.
pub(super) trait Form: 'static {
    /// Makes `n` choices, and adds up the received numbers.
    fn choose<E: Deadline, C: Channel>(
        n: u64,
        timeout: bool,
        receivers: &mut [C::Receiver],
        senders: &[(C::Sender, u64)],
    ) -> impl Future<Output = u64> + Send;
}

/// tokio's `select!` as its documentation has it: it polls in random order, and drops the futures
/// that lose. A message of a send that loses is dropped, but not sent, and these messages can be
/// made again.
pub(super) struct Select;

/// `select!` over futures that are kept from choice to choice; the macro needs no runtime of
/// tokio's.
///
/// kanal and flume want that: the partner may complete their futures before they are polled again.
/// One that loses and is dropped then has sent a message that no choice has taken, or, with kanal,
/// loses one that it has received. For async-channel it is the faster form, since each new future
/// has to enlist with the channel.
pub(super) struct Kept;

/// The sum of `n` choices among futures that are made for each.
macro_rules! sum {
    ($n:ident, recv $($receiver:ident)+ $(, send $($sender:ident)+)? $(, by $timer:ident)?) => {{
        let mut sum = 0;
        for _ in 0..$n {
            $(E::restart($timer.as_mut());)?
            sum += tokio::select! {
                $(message = receive::<C>($receiver) => message,)+
                $($(none = send::<C>($sender) => none,)+)?
                $(_ = &mut $timer => timed_out(),)?
            };
        }
        sum
    }};
}

impl Form for Select {
    async fn choose<E: Deadline, C: Channel>(
        n: u64,
        timeout: bool,
        receivers: &mut [C::Receiver],
        senders: &[(C::Sender, u64)],
    ) -> u64 {
        let mut timer = pin!(E::timer());
        match (&mut *receivers, senders, timeout) {
            ([a, b], [], false) => sum!(n, recv a b),
            ([a, b], [], true) => sum!(n, recv a b, by timer),
            ([a], [b], _) => sum!(n, recv a, send b),
            ([a, b, c, d, e, f, g, h], [], false) => sum!(n, recv a b c d e f g h),
            ([a, b, c, d, e, f, g, h], [], true) => sum!(n, recv a b c d e f g h, by timer),
            ([a, c, e, g], [b, d, f, h], _) => sum!(n, recv a c e g, send b d f h),
            _ => many::<E, C>(n, timeout, receivers, senders).await,
        }
    }
}

async fn receive<C: Channel>(receiver: &mut C::Receiver) -> u64 {
    C::receive(receiver).await.expect("the partner is there")
}

async fn send<C: Channel>((sender, message): &(C::Sender, u64)) -> u64 {
    C::send(sender, *message).await;
    0
}

/// An arm that outlives a choice.
enum Arm<'a, C: Channel> {
    Receive(&'a mut C::Receiver),
    Send(&'a (C::Sender, u64)),
}

impl<'a, C: Channel> Arm<'a, C> {
    fn all(receivers: &'a mut [C::Receiver], senders: &'a [(C::Sender, u64)]) -> impl Iterator<Item = Self> {
        receivers.iter_mut().map(Arm::Receive).chain(senders.iter().map(Arm::Send))
    }

    /// Gives itself back, to be performed again.
    async fn perform(mut self) -> (Self, u64) {
        let message = match &mut self {
            Arm::Receive(receiver) => receive::<C>(receiver).await,
            Arm::Send(sender) => send::<C>(sender).await,
        };
        (self, message)
    }
}

/// The sum of `n` choices among futures that are replaced when they are done.
macro_rules! sum_kept {
    ($n:ident, $arms:ident: $($arm:ident)+ $(, by $timer:ident)?) => {{
        $(let mut $arm = pin!($arms.next().expect("an arm each").perform());)+
        let mut sum = 0;
        for _ in 0..$n {
            $(E::restart($timer.as_mut());)?
            sum += tokio::select! {
                $((arm, message) = &mut $arm => {
                    $arm.set(arm.perform());
                    message
                })+
                $(_ = &mut $timer => timed_out())?
            };
        }
        sum
    }};
}

impl Form for Kept {
    async fn choose<E: Deadline, C: Channel>(
        n: u64,
        timeout: bool,
        receivers: &mut [C::Receiver],
        senders: &[(C::Sender, u64)],
    ) -> u64 {
        let mut timer = pin!(E::timer());
        let count = receivers.len() + senders.len();
        if count > 8 {
            return many::<E, C>(n, timeout, receivers, senders).await;
        }
        let mut arms = Arm::<C>::all(receivers, senders);
        match (count, timeout) {
            (2, false) => sum_kept!(n, arms: a b),
            (2, true) => sum_kept!(n, arms: a b, by timer),
            (8, false) => sum_kept!(n, arms: a b c d e f g h),
            (8, true) => sum_kept!(n, arms: a b c d e f g h, by timer),
            _ => panic!("select! has as many arms as are written out"),
        }
    }
}

/// For more arms than one would write out.
async fn many<E: Deadline, C: Channel>(
    n: u64,
    timeout: bool,
    receivers: &mut [C::Receiver],
    senders: &[(C::Sender, u64)],
) -> u64 {
    let mut timer = pin!(E::timer());
    let mut arms: FuturesUnordered<_> = Arm::<C>::all(receivers, senders).map(Arm::perform).collect();
    let mut sum = 0;
    for _ in 0..n {
        let done = if timeout {
            E::restart(timer.as_mut());
            tokio::select! {
                done = arms.next() => done,
                _ = &mut timer => None,
            }
        } else {
            arms.next().await
        };
        let (arm, message) = done.expect("one of the arms");
        arms.push(arm.perform());
        sum += message;
    }
    sum
}
