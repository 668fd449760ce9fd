//! Small programs that use many features together.

use crate::support::{Cx, Semaphore, scaled, worlds};
use lisle::channel::{Receiver, RecvError, SendError, Sender, bounded};
use lisle::{Event, channel, choose};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;

worlds!(
    ten_philosophers_all_eat,
    a_swap_channel_exchanges_both_values,
    a_bounded_buffer_built_from_choice_keeps_order,
    the_first_fifty_primes,
    clients_and_their_servers,
    fibonacci_by_a_performer_a_call,
    a_token_round_a_ring,
);

/// Case 23: each philosopher takes any free fork first, and puts it back if the other is not free.
async fn ten_philosophers_all_eat(cx: Cx) {
    const COUNT: usize = 10;
    let meals = scaled(500, 50);
    let forks: Arc<[Semaphore; COUNT]> = Arc::new(std::array::from_fn(|_| Semaphore::new(1)));
    let philosophers: Vec<_> = (0..COUNT)
        .map(|seat| {
            let forks = forks.clone();
            cx.spawn(move |cx| async move {
                let pair = [&forks[seat], &forks[(seat + 1) % COUNT]];
                let mut eaten = 0;
                while eaten < meals {
                    let first = choose((pair[0].take_evt().wrap(|()| 0), pair[1].take_evt().wrap(|()| 1)));
                    let held = cx.sync(first).await;
                    let (held, other) = (pair[held], pair[1 - held]);
                    if other.take_evt().poll().is_some() {
                        eaten += 1;
                        other.post();
                    }
                    held.post();
                    cx.yield_now().await;
                }
            })
        })
        .collect();
    cx.join_all(philosophers).await;
    for fork in &*forks {
        assert_eq!((fork.take_evt().poll(), fork.take_evt().poll()), (Some(()), None));
    }
}

/// A message of a swap channel: a value, and the sender for the other performer's value.
type Offer = (u32, Sender<u32>);

/// Swaps `value` with another performer that does the same.
async fn swap(cx: &Cx, (tx, rx): &(Sender<Offer>, Receiver<Offer>), value: u32) -> u32 {
    let (reply, replies) = bounded(1);
    let event = choose((
        rx.recv_evt().wrap(|offer: Result<Offer, RecvError>| {
            let (theirs, reply) = offer.expect("the channel stays open");
            reply.try_send(value).expect("there is room for one");
            Some(theirs)
        }),
        tx.send_evt((value, reply)).wrap(|sent: Result<(), SendError<Offer>>| {
            sent.expect("the channel stays open");
            None
        }),
    ));
    match cx.sync(&event).await {
        Some(theirs) => theirs,
        None => cx.sync(replies.recv_evt()).await.unwrap(),
    }
}

/// Case 24, with the reply channel created beforehand instead of by a guard.
async fn a_swap_channel_exchanges_both_values(cx: Cx) {
    for _ in 0..scaled(100, 10) {
        let ends = channel::<Offer>();
        let performers: Vec<_> = (0..10)
            .map(|value| {
                let ends = ends.clone();
                cx.spawn(move |cx| async move { swap(&cx, &ends, value).await })
            })
            .collect();
        let got = cx.join_all(performers).await;
        for (value, theirs) in got.iter().enumerate() {
            assert_ne!(*theirs as usize, value);
            assert_eq!(got[*theirs as usize] as usize, value, "{got:?}");
        }
    }
}

/// Case 25.
async fn a_bounded_buffer_built_from_choice_keeps_order(cx: Cx) {
    const ROOM: usize = 4;
    let count = scaled(20_000, 2_000);
    let (put, puts) = channel::<usize>();
    let (get, gets) = channel::<usize>();
    let buffer = cx.spawn(move |cx| async move {
        let mut held = VecDeque::new();
        let mut open = true;
        while open || !held.is_empty() {
            let mut events = Vec::new();
            if open && held.len() < ROOM {
                events.push(puts.recv_evt().wrap(|put| Some(put.ok())).boxed());
            }
            if let Some(&front) = held.front() {
                events.push(get.send_evt(front).wrap(|sent| sent.map_or(Some(None), |()| None)).boxed());
            }
            match cx.sync(choose(events)).await {
                Some(Some(value)) => held.push_back(value),
                Some(None) => open = false,
                None => drop(held.pop_front()),
            }
            assert!(held.len() <= ROOM);
        }
    });
    let producer = cx.spawn(move |cx| async move {
        for i in 0..count {
            cx.sync(put.send_evt(i)).await.unwrap();
        }
    });
    for i in 0..count {
        assert_eq!(cx.sync(gets.recv_evt()).await, Ok(i));
    }
    cx.join(producer).await;
    cx.join(buffer).await;
    assert_eq!(cx.sync(gets.recv_evt()).await, Err(RecvError));
}

/// Case 25: the sieve of Eratosthenes, with one performer for each prime.
async fn the_first_fifty_primes(cx: Cx) {
    let (tx, mut numbers) = channel::<u32>();
    let mut performers = vec![cx.spawn(move |cx| async move {
        let mut next = 2;
        while cx.sync(tx.send_evt(next)).await.is_ok() {
            next += 1;
        }
    })];
    let mut primes = Vec::new();
    for _ in 0..50 {
        let prime = cx.sync(numbers.recv_evt()).await.unwrap();
        primes.push(prime);
        let (tx, filtered) = channel();
        let unfiltered = std::mem::replace(&mut numbers, filtered);
        performers.push(cx.spawn(move |cx| async move {
            while let Ok(number) = cx.sync(unfiltered.recv_evt()).await {
                if number % prime != 0 && cx.sync(tx.send_evt(number)).await.is_err() {
                    break;
                }
            }
        }));
    }
    assert_eq!(primes[..10], [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
    assert_eq!(primes[49], 229);
    // The end of the last channel is dropped, and from there the closing propagates up to the
    // source.
    drop(numbers);
    cx.join_all(performers).await;
}

/// Case 43.
async fn clients_and_their_servers(cx: Cx) {
    let requests = scaled(1_000, 100);
    let clients = if cx.is_light() { 100 } else { 10 };
    let (ask, asked) = channel::<(u64, Sender<u64>)>();
    let servers: Vec<_> = (0..4)
        .map(|_| {
            let asked = asked.clone();
            cx.spawn(move |cx| async move {
                let mut served = 0;
                while let Ok((number, reply)) = cx.sync(asked.recv_evt()).await {
                    cx.sync(reply.send_evt(number * number)).await.unwrap();
                    served += 1;
                }
                served
            })
        })
        .collect();
    let performers: Vec<_> = (0..clients)
        .map(|id| {
            let ask = ask.clone();
            cx.spawn(move |cx| async move {
                let (reply, replies) = channel();
                for i in 0..requests as u64 {
                    let number = id as u64 * 1_000 + i;
                    cx.sync(ask.send_evt((number, reply.clone()))).await.unwrap();
                    assert_eq!(cx.sync(replies.recv_evt()).await, Ok(number * number));
                }
            })
        })
        .collect();
    cx.join_all(performers).await;
    drop(ask);
    assert_eq!(cx.join_all(servers).await.iter().sum::<usize>(), clients * requests);
}

fn fibonacci(cx: Cx, n: u32, result: Sender<u64>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let value = if n < 2 {
            u64::from(n)
        } else {
            let (tx, rx) = channel();
            for smaller in [n - 1, n - 2] {
                let tx = tx.clone();
                // A panic there closes its end, which is noticed here.
                drop(cx.spawn(move |cx| fibonacci(cx, smaller, tx)));
            }
            drop(tx);
            cx.sync(rx.recv_evt()).await.unwrap() + cx.sync(rx.recv_evt()).await.unwrap()
        };
        cx.sync(result.send_evt(value)).await.unwrap();
    })
}

/// Case 44, with fib(0) = 0.
async fn fibonacci_by_a_performer_a_call(cx: Cx) {
    let (n, expected) = match cx.is_light() {
        true if scaled(24, 16) == 24 => (24, 46_368),
        true => (16, 987),
        false => (9, 34),
    };
    let (tx, rx) = channel();
    drop(cx.spawn(move |cx| fibonacci(cx, n, tx)));
    assert_eq!(cx.sync(rx.recv_evt()).await, Ok(expected));
}

async fn a_token_round_a_ring(cx: Cx) {
    let size = if cx.is_light() { scaled(1_000, 200) } else { 20 };
    let laps = scaled(100, 20);
    let (start, mut last) = channel::<usize>();
    let members: Vec<_> = (0..size)
        .map(|_| {
            let (tx, rx) = channel();
            let previous = std::mem::replace(&mut last, rx);
            cx.spawn(move |cx| async move {
                while let Ok(hops) = cx.sync(previous.recv_evt()).await {
                    cx.sync(tx.send_evt(hops + 1)).await.unwrap();
                }
            })
        })
        .collect();
    let mut hops = 0;
    for _ in 0..laps {
        cx.sync(start.send_evt(hops)).await.unwrap();
        hops = cx.sync(last.recv_evt()).await.unwrap();
    }
    assert_eq!(hops, size * laps);
    drop(start);
    cx.join_all(members).await;
}
