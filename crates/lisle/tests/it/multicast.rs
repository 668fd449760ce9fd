//! Channels whose messages go to all ports. Each port gets the messages that were sent since its
//! creation, once and in order.

use crate::support::{Cx, Random, block_on, scaled, worlds};
use lisle::channel::{Multicast, RecvError, RecvTimeoutError, SendError, TryRecvError};
use lisle::time::after;
use lisle::{Event, always, channel, choose, never};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

worlds!(
    a_port_that_joins_late_sees_only_what_follows,
    a_clone_begins_where_its_port_is,
    ports_that_wait_all_get_the_message,
    performers_at_one_port_share_its_messages,
    a_message_is_stored_once_and_goes_with_the_slowest_port,
    a_long_backlog_goes_without_much_stack,
    a_port_can_skip,
    a_loser_has_passed_nothing,
    dropped_futures_have_passed_nothing,
    a_clone_that_panics_reaches_its_performer_only,
    every_waiting_port_learns_of_the_end,
    every_port_gets_every_message_in_a_storm,
);

/// Polls a future with a waker that does nothing.
fn polled<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Case 40.
async fn a_port_that_joins_late_sees_only_what_follows(cx: Cx) {
    let multicast = Multicast::new();
    multicast.send(0).unwrap(); // there is no port
    let mut ports = Vec::new();
    for i in 1..6 {
        ports.push(multicast.port());
        multicast.send(i).unwrap();
    }
    for (i, port) in ports.iter().enumerate() {
        assert_eq!(port.lag(), 5 - i as u64);
        for expected in i + 1..6 {
            assert_eq!(cx.sync(port.recv_evt()).await, Ok(expected));
        }
        assert_eq!((port.lag(), port.try_recv()), (0, Err(TryRecvError::Empty)));
        assert_eq!(port.recv_evt().poll(), None);
    }
    let late = multicast.port();
    assert_eq!(late.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    multicast.send(6).unwrap();
    assert_eq!(late.recv_timeout(Duration::from_secs(3_600)), Ok(6));
    drop(multicast);
    assert!(late.is_closed());
    assert_eq!(late.recv_timeout(Duration::from_secs(3_600)), Err(RecvTimeoutError::Closed));
    for port in &ports {
        assert_eq!(port.recv(), Ok(6));
        assert_eq!((port.recv(), port.recv()), (Err(RecvError), Err(RecvError)));
    }
}

async fn a_clone_begins_where_its_port_is(cx: Cx) {
    let multicast = Multicast::new();
    let port = multicast.port();
    (0..4).for_each(|i| multicast.send(i).unwrap());
    assert_eq!(cx.sync(port.recv_evt()).await, Ok(0));
    let clone = port.clone();
    assert_eq!((port.try_recv(), port.try_recv()), (Ok(1), Ok(2)));
    assert!(multicast.close());
    assert_eq!(clone.iter().collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((&port).into_iter().collect::<Vec<_>>(), [3]);
}

async fn ports_that_wait_all_get_the_message(cx: Cx) {
    let multicast = Multicast::new();
    let (begin, begun) = channel::<()>();
    let receivers: Vec<_> = (0..if cx.is_light() { 100 } else { 16 })
        .map(|i| {
            let (port, begin) = (multicast.port(), begin.clone());
            cx.spawn(move |cx| async move {
                cx.sync(begin.send_evt(())).await.unwrap();
                let mut received = Vec::new();
                for _ in 0..10 {
                    received.push(match i % 2 {
                        0 => cx.sync(port.recv_evt()).await.unwrap(),
                        _ => cx.sync(choose((never(), port.recv_evt()))).await.unwrap(),
                    });
                }
                received
            })
        })
        .collect();
    for _ in &receivers {
        cx.sync(begun.recv_evt()).await.unwrap();
    }
    for i in 0..10 {
        cx.yield_now().await;
        multicast.send(i).unwrap();
    }
    for received in cx.join_all(receivers).await {
        assert_eq!(received, (0..10).collect::<Vec<_>>());
    }
}

/// Each message goes to one of the performers that wait at one port. They perform the same event
/// several times.
async fn performers_at_one_port_share_its_messages(cx: Cx) {
    let multicast = Multicast::new();
    let port = Arc::new(multicast.port());
    let other = multicast.port();
    let performers: Vec<_> = (0..4)
        .map(|_| {
            let port = port.clone();
            cx.spawn(move |cx| async move {
                let mut received = Vec::new();
                while let Ok(message) = cx.sync(port.recv_evt()).await {
                    received.push(message);
                }
                assert!(received.is_sorted(), "each sees a part of the sequence, in order");
                received
            })
        })
        .collect();
    let count = scaled(2_000, 300);
    for i in 0..count {
        multicast.send(i).unwrap();
        if i % 5 == 0 {
            cx.yield_now().await;
        }
    }
    drop(multicast);
    let mut all: Vec<_> = cx.join_all(performers).await.concat();
    all.sort_unstable();
    assert_eq!(all, (0..count).collect::<Vec<_>>());
    assert_eq!(other.iter().count(), count);
}

/// Counts its live instances and its clones.
struct Counted {
    there: Arc<AtomicUsize>,
    clones: Arc<AtomicUsize>,
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.clones.fetch_add(1, Ordering::Relaxed);
        self.there.fetch_add(1, Ordering::Relaxed);
        Counted { there: self.there.clone(), clones: self.clones.clone() }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.there.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn a_message_is_stored_once_and_goes_with_the_slowest_port(cx: Cx) {
    let [there, clones] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let multicast = Multicast::new();
    let send = || {
        there.fetch_add(1, Ordering::Relaxed);
        assert!(multicast.send(Counted { there: there.clone(), clones: clones.clone() }).is_ok());
    };
    send();
    assert_eq!(there.load(Ordering::Relaxed), 0, "nobody listens");
    let [fast, slow, dropped] = [(); 3].map(|()| multicast.port());
    (0..10).for_each(|_| send());
    assert_eq!(there.load(Ordering::Relaxed), 10);
    for _ in 0..10 {
        drop(cx.sync(fast.recv_evt()).await.unwrap_or_else(|_| unreachable!("it is open")));
    }
    assert_eq!((there.load(Ordering::Relaxed), clones.load(Ordering::Relaxed)), (10, 10));
    drop(dropped);
    for left in (0..10).rev() {
        drop(cx.sync(slow.recv_evt()).await.unwrap_or_else(|_| unreachable!("it is open")));
        assert_eq!(there.load(Ordering::Relaxed), left, "the slowest port has passed it");
    }
    assert_eq!(clones.load(Ordering::Relaxed), 10, "the last one gets the message itself");
    (0..5).for_each(|_| send());
    drop(slow);
    assert_eq!(there.load(Ordering::Relaxed), 5);
    drop(multicast);
    assert_eq!(there.load(Ordering::Relaxed), 5);
    drop(fast);
    assert_eq!(there.load(Ordering::Relaxed), 0);
}

/// Case 13, for memory: fibers and threads have small stacks here.
async fn a_long_backlog_goes_without_much_stack(_: Cx) {
    let multicast = Multicast::new();
    let ports = [(); 3].map(|()| multicast.port());
    (0..200_000_u32).for_each(|i| multicast.send(i).unwrap());
    let [dropped, skipped, received] = ports;
    drop(dropped);
    assert_eq!(received.try_recv(), Ok(0));
    drop(received);
    assert_eq!(skipped.skip(), 200_000);
    assert_eq!(skipped.try_recv(), Err(TryRecvError::Empty));
}

async fn a_port_can_skip(cx: Cx) {
    let multicast = Multicast::new();
    let port = multicast.port();
    assert_eq!(port.skip(), 0);
    (0..5).for_each(|i| multicast.send(i).unwrap());
    assert_eq!(port.try_recv(), Ok(0));
    assert_eq!((port.lag(), port.skip(), port.skip(), port.lag()), (4, 4, 0, 0));
    multicast.send(5).unwrap();
    assert_eq!(cx.sync(port.recv_evt()).await, Ok(5));
}

async fn a_loser_has_passed_nothing(cx: Cx) {
    let multicast = Multicast::new();
    let port = multicast.port();
    for i in 0..scaled(500, 100) {
        multicast.send(i).unwrap();
        let won = cx.sync(choose((port.recv_evt().wrap(Some), always(None)))).await;
        assert_eq!(won.unwrap_or_else(|| port.recv()), Ok(i));
        let timeout = after(Duration::from_micros(20)).wrap(|()| None);
        assert_eq!(cx.sync(choose((port.recv_evt().wrap(Some), timeout))).await, None);
    }
}

/// This includes futures that were woken for the message and did not get to look.
async fn dropped_futures_have_passed_nothing(cx: Cx) {
    let multicast = Multicast::new();
    let port = multicast.port();
    {
        let mut alone = pin!(port.recv_evt().future());
        let mut chosen = pin!(choose((never(), port.recv_evt())).future());
        assert!(polled(alone.as_mut()).is_pending());
        assert!(polled(chosen.as_mut()).is_pending());
        multicast.send(1).unwrap();
    }
    assert_eq!(cx.sync(port.recv_evt()).await, Ok(1));
    multicast.send(2).unwrap();
    assert_eq!(block_on(async { port.recv_evt().await }), Ok(2));
}

struct Fragile(Arc<AtomicBool>);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(!self.0.load(Ordering::Relaxed), "not to be cloned");
        Fragile(self.0.clone())
    }
}

async fn a_clone_that_panics_reaches_its_performer_only(_: Cx) {
    let broken = Arc::new(AtomicBool::new(true));
    let multicast = Multicast::new();
    let [first, second] = [(); 2].map(|()| multicast.port());
    for _ in 0..2 {
        assert!(multicast.send(Fragile(broken.clone())).is_ok());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| first.recv())).is_err());
    broken.store(false, Ordering::Relaxed);
    assert_eq!((first.lag(), second.lag()), (1, 2));
    assert!(first.recv().is_ok());
    assert!(second.recv().is_ok() && second.recv().is_ok());
}

/// Case 48.
async fn every_waiting_port_learns_of_the_end(cx: Cx) {
    for by_hand in [false, true] {
        let multicast = Multicast::<u32>::new();
        let (begin, begun) = channel::<()>();
        let waiting: Vec<_> = (0..6)
            .map(|i| {
                let (port, begin) = (multicast.port(), begin.clone());
                cx.spawn(move |cx| async move {
                    cx.sync(begin.send_evt(())).await.unwrap();
                    match i % 2 {
                        0 => cx.sync(port.recv_evt()).await,
                        _ => cx.sync(choose((port.recv_evt(), never(), port.recv_evt()))).await,
                    }
                })
            })
            .collect();
        for _ in &waiting {
            cx.sync(begun.recv_evt()).await.unwrap();
        }
        cx.yield_now().await;
        let clone = multicast.clone();
        drop(multicast);
        assert!(!clone.is_closed());
        if by_hand {
            assert!(clone.close());
            assert!(!clone.close());
            assert_eq!(clone.send(1), Err(SendError(1)));
            assert_eq!(clone.port().recv(), Err(RecvError));
        } else {
            drop(clone);
        }
        assert!(cx.join_all(waiting).await.iter().all(|received| *received == Err(RecvError)));
    }
}

/// There are several senders, and ports that read, lag, are cloned and dropped, with choices, polls
/// and timeouts. Each port gets a sequence without gaps, the same as all others.
async fn every_port_gets_every_message_in_a_storm(cx: Cx) {
    let count = scaled(3_000, 400);
    let multicast = Multicast::new();
    let witness = multicast.port();
    let receivers: Vec<_> = (0..6)
        .map(|id| {
            let mut port = multicast.port();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id + 40);
                let mut received = Vec::new();
                loop {
                    let outcome = match random.below(4) {
                        0 => port.recv_evt().poll(),
                        1 => Some(cx.sync(port.recv_evt()).await),
                        2 => {
                            let timeout = after(Duration::from_micros(100)).wrap(|()| None);
                            cx.sync(choose((port.recv_evt().wrap(Some), timeout))).await
                        }
                        _ => {
                            port = port.clone();
                            None
                        }
                    };
                    match outcome {
                        Some(Ok(message)) => received.push(message),
                        Some(Err(RecvError)) => return received,
                        None => cx.yield_now().await,
                    }
                }
            })
        })
        .collect();
    let senders = [0, 1, 2].map(|id| {
        let multicast = multicast.clone();
        cx.spawn(move |cx| async move {
            for i in 0..count {
                multicast.send((id, i)).unwrap();
                if i % 7 == 0 {
                    cx.yield_now().await;
                }
            }
        })
    });
    drop(multicast);
    cx.join_all(senders).await;
    let all: Vec<_> = witness.iter().collect();
    assert_eq!(all.len(), 3 * count);
    for sender in 0..3 {
        let its = all.iter().filter(|(id, _)| *id == sender).map(|(_, i)| *i);
        assert!(its.eq(0..count), "the messages of one sender are in order");
    }
    for received in cx.join_all(receivers).await {
        assert!(received == all);
    }
}
