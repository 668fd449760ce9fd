//! Servers whose clients go away at random points. They neither hang nor lose data of a client that
//! stayed.

#[allow(dead_code)] // its `main`
#[path = "../../examples/kill_safe_queue.rs"]
mod kill_safe_queue;
#[allow(dead_code)] // its `main`
#[path = "../../examples/swap_channel.rs"]
mod swap_channel;

use crate::support::poll_once;
use crate::support::{Cx, Random, scaled, worlds};
use kill_safe_queue::KillSafeQueue;
use lisle::kill_safe::{self, ClientGone, Requests, Server, ServerGone, server};
use lisle::time::after;
use lisle::{Event, Runtime, choose, never};
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use swap_channel::SwapChannel;

worlds!(
    a_request_is_answered,
    a_manager_ends_with_its_last_handle,
    a_manager_that_ends_is_an_error,
    an_offer_happens_or_has_not,
    two_that_meet_swap,
    a_queue_keeps_order_and_items,
    a_swap_channel_survives_its_clients,
    a_queue_survives_its_clients,
);

/// The fate of a client.
enum Fate<T> {
    Happened(T),
    /// The client has given up or panicked before the event happened.
    Gone,
    /// The client was a future and was dropped before the event happened, or at the moment when it
    /// did.
    Dropped,
}

impl<T> From<Option<T>> for Fate<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Fate::Gone, Fate::Happened)
    }
}

/// Performs `event` in one of several ways: some in which the client fails, and one in which it
/// does not.
async fn perform_somehow<E: Event + Send>(cx: &Cx, event: E, random: &mut Random) -> Fate<E::Output>
where
    E::Output: Send,
{
    let short = after(Duration::from_micros(random.below(300) as u64));
    match random.below(6) {
        0 => cx.sync(choose((event.wrap(Some), short.wrap(|()| None)))).await.into(),
        1 => event.poll().into(),
        2 => {
            let mut future = Box::pin(event.future());
            for _ in 0..random.below(3) {
                if let std::task::Poll::Ready(value) = poll_once(future.as_mut()) {
                    return Fate::Happened(value);
                }
                cx.yield_now().await;
            }
            Fate::Dropped
        }
        3 => {
            // A guard to its right panics. The request is in the queue by then.
            let panics =
                lisle::event::guard(|| -> lisle::event::Never<E::Output> { resume_unwind(Box::new("gone")) });
            let performing = AssertUnwindSafe(|| choose((event, panics)).poll());
            assert!(catch_unwind(performing).is_err());
            Fate::Gone
        }
        _ => Fate::Happened(cx.sync(event).await),
    }
}

async fn a_request_is_answered(cx: Cx) {
    let doubling: Server<u32, u32> = kill_safe::start(|requests| {
        while let Some(request) = requests.next() {
            let _ = request.reply().offer(2 * request.arg());
        }
    });
    assert_eq!(cx.sync(doubling.request_evt(4)).await, Ok(8));
    assert_eq!(cx.sync(choose((never(), doubling.request_evt(5)))).await, Ok(10));
    assert!(!doubling.is_gone());

    let on_thread: Server<String, usize> = Server::start_on_thread(|requests: Requests<String, usize>| {
        while let Some(request) = requests.next() {
            let _ = request.reply().offer(request.arg().len());
        }
    })
    .unwrap();
    assert_eq!(cx.sync(on_thread.request_evt("four".into())).await, Ok(4));
}

async fn a_manager_ends_with_its_last_handle(cx: Cx) {
    for _ in 0..scaled(100, 20) {
        let (ended, end) = lisle::channel::bounded(1);
        let server: Server<u32, u32> = kill_safe::start(move |requests| {
            let mut served = 0;
            while let Some(request) = requests.next() {
                served += u32::from(request.reply().offer(*request.arg()).is_ok());
            }
            ended.send(served).unwrap();
        });
        let clients = [0, 1, 2].map(|_| {
            let server = server.clone();
            cx.spawn(move |cx| async move { cx.sync(server.request_evt(9)).await })
        });
        drop(server);
        assert_eq!(cx.join_all(clients).await, [Ok(9); 3]);
        assert_eq!(cx.sync(end.recv_evt()).await, Ok(3));
    }
}

/// The manager returns, refuses or panics. Clients that wait get an error, and so do later ones.
async fn a_manager_that_ends_is_an_error(cx: Cx) {
    for round in 0..scaled(100, 20) {
        let (server, requests) = server::<u32, u32>();
        let manager = cx.spawn(move |cx| async move {
            let first = cx.sync(requests.next_evt()).await.unwrap();
            match round % 3 {
                0 => drop(requests),
                1 => resume_unwind(Box::new("the manager panics")),
                _ => {
                    drop(first);
                    let second = cx.sync(requests.next_evt()).await.unwrap();
                    assert_eq!(second.reply().gone_evt().poll(), None);
                }
            }
        });
        let clients = [0, 1, 2].map(|_| {
            let server = server.clone();
            cx.spawn(move |cx| async move { cx.sync(choose((server.request_evt(9), never()))).await })
        });
        assert_eq!(cx.join_all(clients).await, [Err(ServerGone); 3]);
        assert_eq!(cx.join_caught(manager).await.is_err(), round % 3 == 1);
        assert!(server.is_gone());
        assert_eq!(cx.sync(server.request_evt(9)).await, Err(ServerGone));
    }
}

/// The result of the manager's offer agrees with the fate of the client.
async fn an_offer_happens_or_has_not(cx: Cx) {
    let (server, requests) = server::<usize, usize>();
    let manager = cx.spawn(move |cx| async move {
        let mut taken = Vec::new();
        let mut random = Random::new(3);
        while let Some(request) = cx.sync(requests.next_evt()).await {
            let (id, reply) = request.into_parts();
            for _ in 0..random.below(3) {
                cx.yield_now().await;
            }
            let offered = match random.below(2) {
                0 => cx.sync(reply.offer_evt(id)).await,
                _ => cx.sync(reply.offer_with_evt(|| id)).await,
            };
            match offered {
                Ok(()) => taken.push(id),
                Err(ClientGone(None)) => assert!(reply.is_gone()),
                Err(ClientGone(Some(answer))) => assert_eq!(answer, id),
            }
        }
        taken
    });
    let clients: Vec<_> = (0..6)
        .map(|client| {
            let server = server.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(client as u64);
                let mut taken = Vec::new();
                for round in 0..scaled(500, 60) {
                    let id = round * 6 + client;
                    let short = after(Duration::from_micros(random.below(100) as u64)).wrap(|()| None);
                    let event = choose((server.request_evt(id).wrap(Some), short));
                    if let Some(answer) = cx.sync(event).await {
                        assert_eq!(answer, Ok(id));
                        taken.push(id);
                    }
                }
                taken
            })
        })
        .collect();
    drop(server);
    let mut taken: Vec<_> = cx.join_all(clients).await.concat();
    let mut given = cx.join(manager).await;
    taken.sort_unstable();
    given.sort_unstable();
    assert_eq!(taken, given);
}

/// Case 24, with a manager.
async fn two_that_meet_swap(cx: Cx) {
    for _ in 0..scaled(50, 10) {
        let channel = SwapChannel::new();
        let clients: Vec<_> = (0..10)
            .map(|id| {
                let channel = channel.clone();
                cx.spawn(move |cx| async move { cx.sync(channel.swap_evt(id)).await.unwrap() })
            })
            .collect();
        let partners: Vec<usize> = cx.join_all(clients).await;
        for (id, partner) in partners.iter().enumerate() {
            assert_ne!(id, *partner);
            assert_eq!(partners[*partner], id);
        }
    }
}

/// Case 25, with a manager.
async fn a_queue_keeps_order_and_items(cx: Cx) {
    let count = scaled(2_000, 200);
    let queue = KillSafeQueue::new(3);
    let producer = {
        let queue = queue.clone();
        cx.spawn(move |cx| async move {
            for item in 0..count {
                cx.sync(queue.put_evt(item)).await.unwrap();
            }
        })
    };
    for item in 0..count {
        assert_eq!(cx.sync(queue.take_evt()).await, Ok(item));
    }
    cx.join(producer).await;
}

/// No client gets its own value or one that was given away before, and two clients that swapped
/// with each other agree.
async fn a_swap_channel_survives_its_clients(cx: Cx) {
    const CLIENTS: usize = 8;
    let channel = SwapChannel::<usize>::new();
    let rounds = scaled(300, 60);
    // Maps each client to the value that it got. A client that gave up at the moment of its swap
    // does not appear.
    let swaps = Arc::new(Mutex::new(HashMap::new()));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (channel, swaps) = (channel.clone(), swaps.clone());
            cx.spawn(move |cx| async move {
                let mut random = Random::new(client as u64 + 7);
                for round in 0..rounds {
                    let id = round * CLIENTS + client;
                    // If all of them waited without a limit, the last would wait forever.
                    let patience = after(Duration::from_millis(2)).wrap(|()| None);
                    let event = choose((channel.swap_evt(id).wrap(Some), patience));
                    if let Fate::Happened(Some(other)) = perform_somehow(&cx, event, &mut random).await {
                        swaps.lock().unwrap().insert(id, other.unwrap());
                    }
                }
            })
        })
        .collect();
    cx.join_all(clients).await;
    let swaps = std::mem::take(&mut *swaps.lock().unwrap());
    let mut given = HashSet::new();
    for (id, other) in &swaps {
        assert_ne!(id, other);
        assert!(given.insert(*other), "{other} was given to two");
        if let Some(back) = swaps.get(other) {
            assert_eq!(back, id, "three have swapped");
        }
    }
    // It still works.
    let other = channel.clone();
    let one = cx.spawn(move |cx| async move { cx.sync(other.swap_evt(1)).await });
    assert_eq!(cx.sync(channel.swap_evt(2)).await, Ok(1));
    assert_eq!(cx.join(one).await, Ok(2));
}

/// An item that was put for certain is taken once, or was taken by a client that was dropped at
/// that moment. An item that was not put for certain is taken at most once. Each taker sees the
/// items of each putter in order.
async fn a_queue_survives_its_clients(cx: Cx) {
    const CLIENTS: usize = 4;
    let queue = KillSafeQueue::<(usize, usize)>::new(4);
    let rounds = scaled(300, 60);
    let putters: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let queue = queue.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(client as u64 + 70);
                let mut put = Vec::new();
                for round in 0..rounds {
                    if let Fate::Happened(outcome) =
                        perform_somehow(&cx, queue.put_evt((client, round)), &mut random).await
                    {
                        outcome.unwrap();
                        put.push((client, round));
                    }
                }
                put
            })
        })
        .collect();
    let (stop, stopped) = lisle::channel::bounded::<()>(1);
    let takers: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (queue, stopped) = (queue.clone(), stopped.clone());
            cx.spawn(move |cx| async move {
                let mut random = Random::new(client as u64 + 700);
                let (mut taken, mut dropped) = (Vec::new(), 0);
                loop {
                    let event = choose((
                        queue.take_evt().wrap(|item| Some(item.unwrap())),
                        stopped.recv_evt().wrap(|_| None),
                    ));
                    // The clients that wait without a limit take the rest after the others have
                    // gone.
                    let outcome = match client {
                        0 => Fate::Happened(cx.sync(event).await),
                        1 => {
                            let patience = after(Duration::from_micros(random.below(300) as u64));
                            let outcome = choose((event.wrap(Some), patience.wrap(|()| None)));
                            cx.sync(outcome).await.into()
                        }
                        _ => perform_somehow(&cx, event, &mut random).await,
                    };
                    match outcome {
                        Fate::Happened(Some(item)) => taken.push(item),
                        Fate::Happened(None) => return (taken, dropped),
                        Fate::Gone => cx.yield_now().await,
                        Fate::Dropped => dropped += 1,
                    }
                }
            })
        })
        .collect();
    let put: Vec<_> = cx.join_all(putters).await.concat();
    drop(stop);
    let (mut lists, dropped): (Vec<_>, Vec<usize>) = cx.join_all(takers).await.into_iter().unzip();
    // The queue hands out in order. Therefore the mark comes after all that was left.
    let mark = (CLIENTS, 0);
    let marker = queue.clone();
    let marks = cx.spawn(move |cx| async move { cx.sync(marker.put_evt(mark)).await.unwrap() });
    let mut left = Vec::new();
    loop {
        let item = cx.sync(queue.take_evt()).await.unwrap();
        if item == mark {
            break;
        }
        left.push(item);
    }
    cx.join(marks).await;
    lists.push(left);
    for list in &lists {
        for client in 0..CLIENTS {
            let of_client: Vec<_> = list.iter().filter(|item| item.0 == client).collect();
            assert!(of_client.is_sorted(), "items have overtaken each other");
        }
    }
    let taken = lists.concat();
    let once: HashSet<_> = taken.iter().copied().collect();
    assert_eq!(once.len(), taken.len(), "an item was taken twice");
    let lost = put.iter().filter(|item| !once.contains(item)).count();
    assert!(lost <= dropped.iter().sum(), "{lost} items were lost, and not with a client");
}

/// No futures are dropped here, so no item may be lost.
#[test]
fn a_queue_loses_nothing_to_clients_that_give_up() {
    crate::support::on_domains(|| {
        let queue = KillSafeQueue::<usize>::new(2);
        let count = scaled(2_000, 200);
        let producer = {
            let queue = queue.clone();
            lisle::spawn(move || {
                for item in 0..count {
                    let short = || after(Duration::from_micros(50)).wrap(|()| None);
                    while choose((queue.put_evt(item).wrap(Some), short())).sync().is_none() {}
                }
            })
        };
        let mut random = Random::new(9);
        let mut taken = Vec::new();
        while taken.len() < count {
            let short = after(Duration::from_micros(random.below(100) as u64)).wrap(|()| None);
            taken.extend(choose((queue.take_evt().wrap(Result::ok), short)).sync());
        }
        producer.join().unwrap();
        assert!(taken.into_iter().eq(0..count));
    });
}

/// A fiber that waits for its answer is unwound with its runtime. The manager is elsewhere and
/// continues.
#[test]
fn clients_that_are_unwound_with_their_runtime_do_not_wedge_it() {
    let queue = KillSafeQueue::<u32>::new(1);
    for _ in 0..scaled(20, 5) {
        let runtime = Runtime::builder().domains(2).start().unwrap();
        let clients = [0, 1, 2].map(|_| {
            let queue = queue.clone();
            runtime.spawn(move || while queue.take_evt().sync().is_ok() {})
        });
        queue.put_evt(1).sync().unwrap();
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
        assert!(clients.into_iter().all(|client| client.join().is_err()));
        while choose((queue.take_evt().wrap(drop), after(Duration::from_millis(2)).wrap(drop)))
            .poll()
            .is_some()
        {}
    }
    let marker = queue.clone();
    let marks = std::thread::spawn(move || marker.put_evt(2).sync().unwrap());
    while queue.take_evt().sync().unwrap() != 2 {}
    marks.join().unwrap();
}

/// A manager is unwound with its runtime. Its clients are elsewhere and get an error.
#[test]
fn a_manager_that_is_unwound_with_its_runtime_is_an_error() {
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let server: Server<u32, u32> = runtime.run(|| {
        kill_safe::start(|requests| {
            let held = requests.next();
            never::<()>().sync();
            drop(held);
        })
    });
    let clients = [0, 1].map(|_| {
        let server = server.clone();
        std::thread::spawn(move || server.request(1))
    });
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    for client in clients {
        assert_eq!(client.join().unwrap(), Err(ServerGone));
    }
    assert_eq!(server.request(1), Err(ServerGone));
}
