//! Behaviours from Go's tests, of its channels and its `select`, in every world and in our own
//! words.
//!
//! Origin: `test/chan/*.go` (fifo, goroutines, nonblock, powser1, select to select7, doubleselect,
//! zerosize), `test/chancap.go` and `src/runtime/chan_test.go` in <https://github.com/golang/go>
//! (BSD-3-Clause). None of their text is here. A `nil` channel is an absent event (`None`), and
//! `default` is a poll. The rules of `perm.go`, for the two ends of a channel, are types here.
//! `sendstmt.go` is about Go's grammar. The memory test of `select2.go` is in `tests/memory.rs`,
//! and the sieves are in `programs.rs`.

use crate::support::{Cx, Random, scaled, worlds};
use lisle::channel::{Receiver, RecvError, SendError, Sender, TryRecvError, TrySendError, bounded};
use lisle::{Event, always, channel, choose, never};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

worlds!(
    fifo_through_a_buffer_and_through_a_chain,
    a_chain_of_many_performers,
    nonblocking_operations,
    which_operations_block,
    one_select_sends_one_message,
    values_out_of_enabled_alternatives,
    a_select_waiting_on_both_ends_is_not_left_behind,
    receives_in_every_way_meet_sends_in_every_way,
    power_series,
    messages_without_size,
    capacities_and_lengths,
    sends_choose_at_random,
    many_consumers_sum_the_primes,
    selects_are_fair,
    a_stress_of_selects_over_four_channels,
    performers_that_select_on_each_others_channels,
    races_of_nonblocking_operations,
    a_deep_stack_that_waits,
);

async fn fifo_through_a_buffer_and_through_a_chain(cx: Cx) {
    let (tx, rx) = bounded::<usize>(10);
    (0..10).for_each(|i| tx.try_send(i).unwrap());
    for i in 0..10 {
        assert_eq!(cx.sync(rx.recv_evt()).await, Ok(i));
    }
    // Each member waits for the one before, takes one message, and lets the next one continue.
    let (tx, rx) = channel::<usize>();
    let (start, mut before) = channel::<()>();
    let members: Vec<_> = (0..10)
        .map(|i| {
            let (after, next) = channel::<()>();
            let before = std::mem::replace(&mut before, next);
            let rx = rx.clone();
            cx.spawn(move |cx| async move {
                cx.sync(before.recv_evt()).await.unwrap();
                assert_eq!(cx.sync(rx.recv_evt()).await, Ok(i));
                cx.sync(after.send_evt(())).await.unwrap();
            })
        })
        .collect();
    cx.sync(start.send_evt(())).await.unwrap();
    for i in 0..10 {
        cx.sync(tx.send_evt(i)).await.unwrap();
    }
    cx.sync(before.recv_evt()).await.unwrap();
    cx.join_all(members).await;
}

async fn a_chain_of_many_performers(cx: Cx) {
    let count = if cx.is_light() { scaled(10_000, 1_000) } else { 50 };
    let (mut left, leftmost) = channel::<usize>();
    let mut performers = Vec::new();
    for _ in 0..count {
        let (tx, rx) = channel();
        let left = std::mem::replace(&mut left, tx);
        performers.push(cx.spawn(move |cx| async move {
            let number = cx.sync(rx.recv_evt()).await.unwrap();
            cx.sync(left.send_evt(number + 1)).await.unwrap();
        }));
    }
    cx.sync(left.send_evt(0)).await.unwrap();
    assert_eq!(cx.sync(leftmost.recv_evt()).await, Ok(count));
    cx.join_all(performers).await;
}

async fn nonblocking_operations(cx: Cx) {
    for capacity in [0, 1] {
        let (tx, rx) = bounded::<u32>(capacity);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        if capacity == 0 {
            assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
        } else {
            tx.try_send(1).unwrap();
            assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
            assert_eq!(rx.try_recv(), Ok(1));
        }
        // A partner that waits is found sooner or later.
        let (waiting, partner_rx) = (tx.clone(), rx.clone());
        let sender = cx.spawn(move |cx| async move { cx.sync(waiting.send_evt(3)).await });
        cx.until(|| rx.try_recv() == Ok(3)).await;
        cx.join(sender).await.unwrap();
        let receiver = cx.spawn(move |cx| async move { cx.sync(partner_rx.recv_evt()).await });
        cx.until(|| tx.try_send(4).is_ok()).await;
        assert_eq!(cx.join(receiver).await, Ok(4));
    }
}

/// Absent channels block, and closed ones do not. Others block if there is neither a partner nor
/// room.
async fn which_operations_block(cx: Cx) {
    let blocks = |event: &dyn Fn() -> Option<()>| event().is_none();
    let (tx, rx) = channel::<u32>();
    assert!(blocks(&|| rx.recv_evt().wrap(drop).poll()) && blocks(&|| tx.send_evt(1).wrap(drop).poll()));
    assert!(blocks(&|| None::<lisle::channel::RecvEvt<'_, u32>>.wrap(drop).poll()));
    assert!(blocks(&|| None::<lisle::channel::SendEvt<'_, u32>>.wrap(drop).poll()));
    let (tx, rx) = bounded::<u32>(1);
    assert!(blocks(&|| rx.recv_evt().wrap(drop).poll()));
    assert!(!blocks(&|| tx.send_evt(1).wrap(drop).poll()));
    assert!(blocks(&|| tx.send_evt(2).wrap(drop).poll()));
    assert!(!blocks(&|| rx.recv_evt().wrap(drop).poll()));
    tx.close();
    assert!(!blocks(&|| rx.recv_evt().wrap(drop).poll()) && !blocks(&|| tx.send_evt(1).wrap(drop).poll()));
    let nil = None::<lisle::event::Never<_>>;
    assert_eq!(cx.sync(choose((rx.recv_evt(), nil))).await, Err(RecvError));
    assert_eq!(cx.sync(choose((never(), tx.send_evt(3)))).await, Err(SendError(3)));
}

/// One of four alternatives that send the same message sends it. The receivers get each message
/// once.
async fn one_select_sends_one_message(cx: Cx) {
    let count = scaled(20_000, 1_000);
    let ends: [_; 4] = std::array::from_fn(|_| channel::<usize>());
    let txs = ends.each_ref().map(|(tx, _)| tx.clone());
    let (merged, merging) = channel::<usize>();
    let sender = cx.spawn(move |cx| async move {
        for i in 0..count {
            let [a, b, c, d] = &txs;
            cx.sync(choose((a.send_evt(i), b.send_evt(i), c.send_evt(i), d.send_evt(i)))).await.unwrap();
        }
    });
    let receivers: Vec<_> = ends
        .into_iter()
        .map(|(_, rx)| {
            let merged = merged.clone();
            cx.spawn(move |cx| async move {
                while let Ok(i) = cx.sync(rx.recv_evt()).await {
                    cx.sync(merged.send_evt(i)).await.unwrap();
                }
            })
        })
        .collect();
    drop(merged);
    let mut seen = vec![false; count];
    while let Ok(i) = cx.sync(merging.recv_evt()).await {
        assert!(!std::mem::replace(&mut seen[i], true), "message {i} came twice");
    }
    assert!(seen.iter().all(|seen| *seen));
    cx.join(sender).await;
    cx.join_all(receivers).await;
}

/// Of two channels, one or the other is switched off in turn.
async fn values_out_of_enabled_alternatives(cx: Cx) {
    let count = scaled(1_000, 100);
    let channels = [0, 1].map(|_| channel::<usize>());
    let txs = channels.each_ref().map(|(tx, _)| tx.clone());
    let sender = cx.spawn(move |cx| async move {
        let mut random = Random::new(3);
        let mut sent = [0; 2];
        for i in 0..count {
            let off = random.below(3);
            let event = choose(
                [0, 1].map(|c| (c != off).then(|| txs[c].send_evt(i).wrap(move |sent| (c, sent.is_ok())))),
            );
            let (channel, ok) = cx.sync(event).await;
            assert!(ok && channel != off);
            sent[channel] += 1;
        }
        sent
    });
    let mut received = [0; 2];
    for i in 0..count {
        let [(_, left), (_, right)] = &channels;
        let event = choose((left.recv_evt().wrap(|got| (0, got)), right.recv_evt().wrap(|got| (1, got))));
        let (channel, got) = cx.sync(event).await;
        assert_eq!(got, Ok(i));
        received[channel] += 1;
    }
    assert_eq!(cx.join(sender).await, received);
}

/// A performer that was served in one queue has left the other, so performers behind it are found.
async fn a_select_waiting_on_both_ends_is_not_left_behind(cx: Cx) {
    for round in 0..scaled(300, 30) {
        let (first, firsts) = channel::<u32>();
        let (second, seconds) = channel::<u32>();
        let behind = seconds.clone();
        let chooser =
            cx.spawn(move |cx| async move { cx.sync(choose((firsts.recv_evt(), seconds.recv_evt()))).await });
        if round % 2 == 0 {
            cx.yield_now().await;
        }
        let behind = cx.spawn(move |cx| async move { cx.sync(choose((behind.recv_evt(), never()))).await });
        cx.sync(first.send_evt(1)).await.unwrap();
        cx.sync(second.send_evt(2)).await.unwrap();
        assert_eq!(cx.join(chooser).await, Ok(1));
        assert_eq!(cx.join(behind).await, Ok(2));
    }
}

/// By an operation alone, in a choice of one, in a choice with others, by a poll in a loop.
async fn receives_in_every_way_meet_sends_in_every_way(cx: Cx) {
    async fn receive(cx: &Cx, rx: &Receiver<usize>, way: usize) -> usize {
        let (_other, others) = channel::<usize>();
        match way {
            0 => cx.sync(rx.recv_evt()).await.unwrap(),
            1 => cx.sync(choose([rx.recv_evt()])).await.unwrap(),
            2 => cx.sync(choose((others.recv_evt(), rx.recv_evt()))).await.unwrap(),
            _ => {
                let mut got = None;
                cx.until(|| (got = rx.try_recv().ok(), got.is_some()).1).await;
                got.unwrap()
            }
        }
    }
    async fn send(cx: &Cx, tx: &Sender<usize>, way: usize, value: usize) {
        let (other, _others) = channel::<usize>();
        match way {
            0 => cx.sync(tx.send_evt(value)).await.unwrap(),
            1 => cx.sync(choose([tx.send_evt(value)])).await.unwrap(),
            2 => cx.sync(choose((other.send_evt(99), tx.send_evt(value)))).await.unwrap(),
            _ => cx.until(|| tx.try_send(value).is_ok()).await,
        }
    }
    for way in 0..15 {
        // Two performers that poll do not meet: one of them has to wait.
        let (receives, sends) = (way / 4, way % 4);
        let (tx, rx) = channel::<usize>();
        let sender = cx.spawn(move |cx| async move {
            for i in 0..10 {
                send(&cx, &tx, sends, i).await;
            }
        });
        for i in 0..10 {
            assert_eq!(receive(&cx, &rx, receives).await, i);
        }
        cx.join(sender).await;
    }
}

/// A power series is a channel of its coefficients.
type Series = Receiver<u64>;

fn series<F, Fut>(cx: &Cx, performer: F) -> Series
where
    F: FnOnce(Cx, Sender<u64>) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let (tx, rx) = channel();
    drop(cx.spawn(move |cx| performer(cx, tx)));
    rx
}

/// Demands the coefficients of `1 / (1 - x)`, its derivative, its square, and a sum of them.
async fn power_series(cx: Cx) {
    fn ones(cx: &Cx) -> Series {
        series(cx, |cx, tx| async move { while cx.sync(tx.send_evt(1)).await.is_ok() {} })
    }
    fn derived(cx: &Cx, of: Series) -> Series {
        series(cx, |cx, tx| async move {
            let _constant = cx.sync(of.recv_evt()).await;
            let mut power = 1;
            while let Ok(coefficient) = cx.sync(of.recv_evt()).await {
                if cx.sync(tx.send_evt(coefficient * power)).await.is_err() {
                    break;
                }
                power += 1;
            }
        })
    }
    /// Receives a coefficient of each series, in the order in which they are ready.
    async fn both(cx: &Cx, a: &Series, b: &Series) -> Option<(u64, u64)> {
        let event =
            choose((a.recv_evt().wrap(|got| (got.ok(), None)), b.recv_evt().wrap(|got| (None, got.ok()))));
        match cx.sync(event).await {
            (Some(a), _) => cx.sync(b.recv_evt()).await.ok().map(|b| (a, b)),
            (_, Some(b)) => cx.sync(a.recv_evt()).await.ok().map(|a| (a, b)),
            _ => None,
        }
    }
    fn product(cx: &Cx, a: Series, b: Series) -> Series {
        series(cx, |cx, tx| async move {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            while let Some((a, b)) = both(&cx, &a, &b).await {
                left.push(a);
                right.push(b);
                let coefficient = left.iter().zip(right.iter().rev()).map(|(a, b)| a * b).sum();
                if cx.sync(tx.send_evt(coefficient)).await.is_err() {
                    break;
                }
            }
        })
    }
    fn sum(cx: &Cx, a: Series, b: Series) -> Series {
        series(cx, |cx, tx| async move {
            while let Some((a, b)) = both(&cx, &a, &b).await {
                if cx.sync(tx.send_evt(a + b)).await.is_err() {
                    break;
                }
            }
        })
    }
    let square = product(&cx, ones(&cx), ones(&cx));
    let derivative = derived(&cx, ones(&cx));
    let total = sum(&cx, square, product(&cx, derivative, ones(&cx)));
    for n in 1..=12 {
        // The square and the derivative are both 1 + 2x + 3x² + ...
        assert_eq!(cx.sync(total.recv_evt()).await, Ok(n + n * (n + 1) / 2));
    }
}

async fn messages_without_size(cx: Cx) {
    for capacity in [0, 1, 5] {
        let (tx, rx) = bounded::<[u64; 0]>(capacity);
        let sender = cx.spawn(move |cx| async move {
            for _ in 0..100 {
                cx.sync(choose((tx.send_evt([]), never()))).await.unwrap();
            }
        });
        let mut count = 0;
        while cx.sync(rx.recv_evt()).await.is_ok() {
            count += 1;
        }
        assert_eq!(count, 100);
        cx.join(sender).await;
    }
}

async fn capacities_and_lengths(_: Cx) {
    for capacity in [0, 1, 10] {
        let (tx, rx) = bounded::<usize>(capacity);
        assert_eq!((tx.capacity(), rx.capacity()), (capacity, capacity));
        for len in 0..capacity {
            assert_eq!((tx.len(), rx.len(), rx.is_empty()), (len, len, len == 0));
            tx.try_send(len).unwrap();
        }
        assert!(tx.try_send(0).is_err());
        drop(tx);
        assert_eq!(rx.iter().count(), capacity);
    }
}

async fn sends_choose_at_random(cx: Cx) {
    let count = 100;
    for capacity in [0, 1, count] {
        let (tx, rx) = bounded::<usize>(capacity);
        let sender = cx.spawn(move |cx| async move {
            for _ in 0..count {
                cx.sync(choose((tx.send_evt(0), tx.send_evt(1)))).await.unwrap();
            }
        });
        let mut seen = [0; 2];
        while let Ok(bit) = cx.sync(rx.recv_evt()).await {
            seen[bit] += 1;
        }
        cx.join(sender).await;
        assert!(
            seen.iter().sum::<usize>() == count && seen.iter().all(|seen| *seen > count / 10),
            "{seen:?}"
        );
    }
}

async fn many_consumers_sum_the_primes(cx: Cx) {
    let primes = [3, 7, 11, 13, 17, 23];
    let count = scaled(10_000, 1_000);
    let (queue, queued) = bounded::<usize>(4 * 9);
    let (result, results) = bounded::<usize>(4 * 9);
    let workers = [(); 4].map(|()| {
        let (queued, result) = (queued.clone(), result.clone());
        cx.spawn(move |cx| async move {
            while let Ok(number) = cx.sync(queued.recv_evt()).await {
                if primes.contains(&number) {
                    cx.yield_now().await;
                }
                cx.sync(result.send_evt(number)).await.unwrap();
            }
        })
    });
    drop(result);
    let feeder = cx.spawn(move |cx| async move {
        let mut expected = 0;
        for i in 0..count {
            let number = primes[i % primes.len()];
            expected += number;
            cx.sync(queue.send_evt(number)).await.unwrap();
        }
        expected
    });
    let mut sum = 0;
    while let Ok(number) = cx.sync(results.recv_evt()).await {
        sum += number;
    }
    assert_eq!(sum, cx.join(feeder).await);
    cx.join_all(workers).await;
}

/// Two senders always have a message. Neither is starved.
async fn selects_are_fair(cx: Cx) {
    // This is enough for a quarter to be far from a half, even if the tests are scaled down.
    let rounds = scaled(10_000, 1_000).max(400);
    let (first, firsts) = bounded::<()>(rounds);
    let (second, seconds) = bounded::<()>(rounds);
    (0..rounds).for_each(|_| (first.try_send(()).unwrap(), second.try_send(()).unwrap()).0);
    let (_never, nevers) = channel::<()>();
    let mut hits = [0; 2];
    for _ in 0..rounds {
        let event = choose((
            firsts.recv_evt().wrap(|_| 0),
            nevers.recv_evt().wrap(|_| 9),
            seconds.recv_evt().wrap(|_| 1),
        ));
        hits[cx.sync(event).await] += 1;
    }
    assert!(hits.iter().all(|hits| *hits > rounds / 4), "{hits:?}");
}

/// Four channels, with senders and receivers for each, and for each one performer that selects over
/// all.
async fn a_stress_of_selects_over_four_channels(cx: Cx) {
    let count = scaled(2_000, 150);
    let ends: Vec<_> = [0, 0, 2, 3].map(bounded::<usize>).into();
    let mut performers = Vec::new();
    for (tx, _) in &ends {
        let tx = tx.clone();
        performers.push(cx.spawn(move |cx| async move {
            for i in 0..count {
                cx.sync(tx.send_evt(i)).await.unwrap();
            }
        }));
    }
    for (_, rx) in &ends {
        let rx = rx.clone();
        performers.push(cx.spawn(move |cx| async move {
            for _ in 0..count {
                cx.sync(rx.recv_evt()).await.unwrap();
            }
        }));
    }
    let all = ends.clone();
    performers.push(cx.spawn(move |cx| async move {
        let mut sent = [0; 4];
        while sent != [count; 4] {
            let open = |i: usize| {
                (sent[i] < count).then(|| all[i].0.send_evt(i).wrap(move |sent| (i, sent.is_ok())))
            };
            let (i, ok) = cx.sync(choose([0, 1, 2, 3].map(open))).await;
            assert!(ok);
            sent[i] += 1;
        }
    }));
    performers.push(cx.spawn(move |cx| async move {
        let mut received = [0; 4];
        while received != [count; 4] {
            let open = |i: usize| {
                (received[i] < count).then(|| ends[i].1.recv_evt().wrap(move |got| (i, got.is_ok())))
            };
            let (i, ok) = cx.sync(choose([0, 1, 2, 3].map(open))).await;
            assert!(ok);
            received[i] += 1;
        }
    }));
    cx.join_all(performers).await;
}

/// Each performer sends to and receives from the same two channels. None meets itself, and none is
/// left.
async fn performers_that_select_on_each_others_channels(cx: Cx) {
    for capacity in [0, 10] {
        let rounds = scaled(2_000, 200);
        let ends = bounded::<usize>(capacity);
        let left = Arc::new(AtomicUsize::new(0));
        let performers = [1, 2].map(|me| {
            let (tx, rx) = ends.clone();
            let left = left.clone();
            cx.spawn(move |cx| async move {
                for i in 0..rounds {
                    let send = || tx.send_evt(me).wrap(|sent| (sent.unwrap(), 0).1);
                    let receive = || rx.recv_evt().wrap(|got| got.unwrap());
                    let event = if i % 2 == 0 {
                        choose((send().boxed(), receive().boxed()))
                    } else {
                        choose((receive().boxed(), send().boxed()))
                    };
                    let got = cx.sync(event).await;
                    assert!(capacity > 0 || got != me, "it has met itself");
                    match got {
                        0 => left.fetch_add(1, Ordering::SeqCst),
                        _ => left.fetch_sub(1, Ordering::SeqCst),
                    };
                }
            })
        });
        cx.join_all(performers).await;
        assert_eq!(left.load(Ordering::SeqCst), ends.1.len());
    }
}

/// One of two performers that poll finds a message in a buffer, and finds the end of a closed
/// channel.
async fn races_of_nonblocking_operations(cx: Cx) {
    for round in 0..scaled(2_000, 200) {
        let (tx, rx) = bounded::<u32>(1);
        let (other, others) = bounded::<u32>(1);
        tx.try_send(1).unwrap();
        let poller = {
            let (rx, others) = (rx.clone(), others.clone());
            cx.spawn(move |_| async move { choose((rx.recv_evt(), others.recv_evt())).poll() })
        };
        // There is a message at any time, but it may be in the channel that the poll has already
        // looked at.
        if round % 2 == 0 {
            other.try_send(2).unwrap();
            let _ = rx.try_recv();
        }
        let got = cx.join(poller).await;
        if round % 2 == 1 {
            assert_eq!(got, Some(Ok(1)));
        }
        let mut found = usize::from(got.is_some());
        while rx.try_recv().is_ok() || others.try_recv().is_ok() {
            found += 1;
        }
        assert!((1..=2).contains(&found), "{found}");
    }
    assert_eq!(cx.sync(always(1)).await, 1);
}

/// Go moves stacks while goroutines wait. Here a deep stack does not move, and pointers into it
/// stay valid.
async fn a_deep_stack_that_waits(cx: Cx) {
    fn deep(rx: &Receiver<usize>, depth: usize) -> usize {
        let place = [depth; 8];
        let below =
            if depth == 0 { choose((rx.recv_evt(), never())).sync().unwrap() } else { deep(rx, depth - 1) };
        assert!(place.iter().all(|word| *word == depth));
        below + std::hint::black_box(place)[depth % 8]
    }
    let (tx, rx) = channel::<usize>();
    let performer = cx.spawn(move |cx| async move {
        cx.go_apart().await;
        deep(&rx, 60)
    });
    cx.yield_now().await;
    tx.send(1_000).unwrap();
    assert_eq!(cx.join(performer).await, 1_000 + 60 * 61 / 2);
}
