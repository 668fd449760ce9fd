//! The meaning of a poll of a choice: if it finds nothing, there was a moment during the poll at
//! which nothing was there.
//!
//! Each performer puts a token into one of several places, and then takes one from any place. There
//! are at least as many tokens as performers that look for one, so each must find one, although
//! another performer may take the token that it has put while it looks elsewhere. (This is
//! crossbeam-channel's `linearizable_default`, with more than two places.)

use crate::support::{Cx, Random, Semaphore, scaled, worlds};
use lisle::channel::{MailReceiver, MailSender, Receiver, Sender, bounded, unbounded};
use lisle::event::{BoxEvent, WaitSet, choose_biased, guard};
use lisle::sync::{MVar, Mutex};
use lisle::time::after;
use lisle::{Event, always, choose, never, select};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

worlds!(
    of_two_channels,
    of_channels_in_choices_of_every_form,
    by_select_with_a_default,
    of_two_channels_before_a_time_that_has_come,
    what_comes_last_comes_before_what_stands_after_it,
    of_two_channels_by_a_wait_set,
    of_places_of_every_kind,
    room_in_one_of_two_channels,
    one_of_two_mutexes,
);

const PERFORMERS: usize = 3;

type Found<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// Lets performers put a token with `put` and look for one with `find`, again and again.
async fn always_found<P: Send + Sync + 'static>(
    cx: &Cx,
    places: P,
    put: fn(&P, &mut Random),
    find: for<'a> fn(&'a Cx, &'a P, usize) -> Found<'a>,
) {
    let places = Arc::new(places);
    let rounds = scaled(20_000, 3_000);
    let performers: Vec<_> = (0..PERFORMERS)
        .map(|id| {
            let places = places.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id as u64 + 1);
                let mut missed = 0;
                for i in 0..rounds {
                    put(&places, &mut random);
                    if !find(&cx, &places, i).await {
                        missed += 1;
                        // Takes a token as if it had been found. Otherwise there would be more
                        // tokens from now on.
                        while !find(&cx, &places, i).await {}
                    }
                    if random.below(32) == 0 {
                        cx.yield_now().await;
                    }
                }
                missed
            })
        })
        .collect();
    let missed = cx.join_all(performers).await;
    assert_eq!(missed, [0; PERFORMERS], "of {rounds} each");
}

/// Polls the event and returns whether it was ready.
fn polled<'a, T>(event: &impl Event<Output = T>) -> Found<'a> {
    let found = event.poll().is_some();
    Box::pin(async move { found })
}

type Channels = [(Sender<()>, Receiver<()>); 2];

fn channels() -> Channels {
    [bounded(PERFORMERS), bounded(PERFORMERS)]
}

fn put(channels: &Channels, random: &mut Random) {
    channels[random.below(2)].0.try_send(()).expect("there is room for all");
}

async fn of_two_channels(cx: Cx) {
    always_found(&cx, channels(), put, |_, [(_, a), (_, b)], _| {
        polled(&choose((a.recv_evt(), b.recv_evt())))
    })
    .await;
}

async fn of_channels_in_choices_of_every_form(cx: Cx) {
    always_found(&cx, channels(), put, |_, [(_, a), (_, b)], i| match i % 6 {
        0 => polled(&choose([a.recv_evt(), b.recv_evt()])),
        1 => polled(&choose(vec![guard(|| b.recv_evt()).boxed(), a.recv_evt().boxed()])),
        2 => polled(&choose((
            choose((never(), a.recv_evt())).wrap(|got| got.is_ok()).boxed(),
            b.recv_evt().wrap(|_| true).boxed(),
        ))),
        3 => polled(&choose_biased((a.recv_evt(), (i == 0).then(never), Some(b.recv_evt())))),
        4 => polled(&choose((a.recv_evt(), after(Duration::from_secs(60)).wrap(|()| Ok(())), b.recv_evt()))),
        _ => polled(&choose((always(()).replace(|()| a.recv_evt()), b.recv_evt()))),
    })
    .await;
}

async fn by_select_with_a_default(cx: Cx) {
    always_found(&cx, channels(), put, |_, [(_, a), (_, b)], i| {
        let found = if i % 2 == 0 {
            select! {
                _ = a.recv_evt() => true,
                _ = b.recv_evt() => true,
                default => false,
            }
        } else {
            select! {
                biased;
                _ = a.recv_evt() => true,
                _ = b.recv_evt() => true,
                default => false,
            }
        };
        Box::pin(async move { found })
    })
    .await;
}

/// The last alternative of a biased choice is ready, and is taken only if none before it was.
async fn of_two_channels_before_a_time_that_has_come(cx: Cx) {
    always_found(&cx, channels(), put, |cx, [(_, a), (_, b)], i| {
        let (a, b) = (a.recv_evt().wrap(|_| true), b.recv_evt().wrap(|_| true));
        let zero = after(Duration::ZERO).wrap(|()| false);
        match i % 4 {
            0 => cx.sync(choose_biased((a, b, zero))),
            1 => cx.sync(choose_biased((choose((a, b)), never(), zero))),
            2 => cx.sync(choose_biased((a, b, always(false)))),
            _ => {
                let found = choose_biased((a, b, zero)).poll();
                Box::pin(async move { found == Some(true) })
            }
        }
    })
    .await;
}

async fn what_comes_last_comes_before_what_stands_after_it(cx: Cx) {
    let [(_a, a), (_b, b), (c, full)] = [bounded(1), bounded(1), bounded(1)];
    c.try_send(9).unwrap();
    let nothing = || (a.recv_evt().wrap(|_| 1), b.recv_evt().wrap(|_| 2));
    let last = || full.recv_evt().wrap(|_| 4);
    let ((a, b), zero) = (nothing(), after(Duration::ZERO).wrap(|()| 3));
    let event = choose_biased((a, b, zero, last()));
    assert_eq!((cx.sync(&event).await, event.poll()), (3, Some(3)));
    let event = choose_biased((choose(nothing()), always(3), last()));
    assert_eq!((cx.sync(&event).await, event.poll()), (3, Some(3)));
}

async fn of_two_channels_by_a_wait_set(cx: Cx) {
    always_found(&cx, channels(), put, |_, [(_, a), (_, b)], i| {
        let mut set = WaitSet::new();
        set.insert(a.recv_evt());
        if i % 2 == 0 {
            set.insert(b.recv_evt());
            let found = set.poll().is_some();
            return Box::pin(async move { found });
        }
        polled(&choose((set.evt().wrap(|(_, got)| got), b.recv_evt())))
    })
    .await;
}

struct Places {
    channel: (Sender<()>, Receiver<()>),
    mailbox: (MailSender<()>, MailReceiver<()>),
    source: Semaphore,
    tokens: lisle::sync::Semaphore,
    cells: [MVar<()>; PERFORMERS],
}

async fn of_places_of_every_kind(cx: Cx) {
    let places = Places {
        channel: bounded(PERFORMERS),
        mailbox: unbounded(),
        source: Semaphore::new(0),
        tokens: lisle::sync::Semaphore::new(0),
        cells: [(); PERFORMERS].map(|()| MVar::new()),
    };
    let put = |places: &Places, random: &mut Random| match random.below(5) {
        0 => places.channel.0.try_send(()).unwrap(),
        1 => places.mailbox.0.send(()).unwrap(),
        2 => places.source.post(),
        3 => places.tokens.post(),
        // There is one for each performer, but the poll does not look at all of them at once.
        _ => while !places.cells.iter().any(|cell| cell.try_put(()).is_ok()) {},
    };
    always_found(&cx, places, put, |_, places, _| {
        let mut all: Vec<BoxEvent<'_, ()>> = vec![
            places.channel.1.recv_evt().wrap(|_| ()).boxed(),
            places.mailbox.1.recv_evt().wrap(|_| ()).boxed(),
            places.source.take_evt().boxed(),
            places.tokens.wait_evt().boxed(),
        ];
        all.extend(places.cells.iter().map(|cell| cell.take_evt().boxed()));
        polled(&choose(all))
    })
    .await;
}

async fn room_in_one_of_two_channels(cx: Cx) {
    // Both are full, and a performer that takes a message makes room for one.
    let channels = channels();
    for (tx, _) in &channels {
        (0..PERFORMERS).for_each(|_| tx.try_send(()).unwrap());
    }
    let make_room = |channels: &Channels, random: &mut Random| {
        let first = random.below(2);
        let taken = channels[first].1.try_recv().or_else(|_| channels[1 - first].1.try_recv());
        taken.expect("there are more messages than performers");
    };
    always_found(&cx, channels, make_room, |_, [(a, _), (b, _)], i| match i % 2 {
        0 => polled(&choose((a.send_evt(()), b.send_evt(())))),
        _ => polled(&choose((
            a.send_with_evt(|| ()).wrap(|sent| sent.is_ok()),
            b.send_evt(()).wrap(|sent| sent.is_ok()),
        ))),
    })
    .await;
}

/// There are two performers, and each has at most one mutex, so one of the two is always free.
async fn one_of_two_mutexes(cx: Cx) {
    let mutexes = Arc::new([Mutex::new(()), Mutex::new(())]);
    let performers = [0, 1].map(|_| {
        let mutexes = mutexes.clone();
        cx.spawn(move |cx| async move {
            let mut missed = 0;
            for i in 0..scaled(20_000, 3_000) {
                let found = choose((mutexes[0].lock_evt(), mutexes[1].lock_evt())).poll();
                missed += usize::from(found.is_none());
                drop(found);
                if i % 32 == 0 {
                    cx.yield_now().await;
                }
            }
            missed
        })
    });
    assert_eq!(cx.join_all(performers).await, [0, 0]);
}
