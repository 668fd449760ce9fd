//! Behaviour that only futures have: they are dropped while they wait, polled from different
//! threads, and moved before they start.

use crate::support::{Executor, Semaphore, block_on, poll_once, scaled, watched};
use lisle::channel::{SendWithError, TryRecvError, TrySendError, bounded};
use lisle::event::{EventFuture, SINGLE_WORDS, Source};
use lisle::time::{after, at};
use lisle::{Event, always, channel, choose, never};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Count {
    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Every event of the library can be awaited directly.
#[test]
fn events_are_awaitable() {
    let _watched = watched();
    block_on(async {
        let (tx, rx) = bounded::<u32>(2);
        assert_eq!(always(1).await, 1);
        assert_eq!(tx.send_evt(2).await, Ok(()));
        assert_eq!(tx.send_with_evt(|| 3).await, Ok(()));
        assert_eq!(rx.recv_evt().await, Ok(2));
        assert_eq!(rx.recv_evt().wrap(|received| received.unwrap() + 1).await, 4);
        after(Duration::from_millis(1)).await;
        at(Instant::now()).await;
        assert_eq!(choose((never(), always(5))).await, 5);
        assert_eq!(choose(vec![always(6)]).boxed().await, 6);
        assert_eq!(Source::new(7).event(|seven: &mut i32| Some(*seven)).await, 7);
    });
}

/// Cases 3 and 29: a future that is dropped while it waits is withdrawn.
#[test]
fn a_dropped_future_leaves_nothing_behind() {
    let _watched = watched();
    let (tx, rx) = channel::<u32>();
    {
        let mut receive = pin!(rx.recv_evt().future());
        assert!(poll_once(receive.as_mut()).is_pending());
        let mut choice =
            pin!(choose((never(), rx.recv_evt(), after(Duration::from_secs(9)).wrap(|()| Ok(0)))).future());
        assert!(poll_once(choice.as_mut()).is_pending());
    }
    assert_eq!(tx.try_send(1), Err(TrySendError::Full(1)));
    {
        let mut send = pin!(tx.send_evt(2).future());
        assert!(poll_once(send.as_mut()).is_pending());
        let mut make = pin!(tx.send_with_evt(|| unreachable!("nobody receives")).future());
        assert!(poll_once(make.as_mut()).is_pending());
    }
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    let semaphore = Semaphore::new(0);
    {
        let mut take = pin!(semaphore.take_evt().future());
        assert!(poll_once(take.as_mut()).is_pending());
    }
    semaphore.post();
    assert_eq!(semaphore.take_evt().poll(), Some(()));
}

/// A future that has never been polled has published nothing, and may be moved.
#[test]
fn a_future_starts_when_it_is_polled() {
    let _watched = watched();
    let (tx, rx) = bounded::<u32>(1);
    let send = tx.send_evt(1).future();
    let sends = vec![send, tx.send_evt(2).future()];
    assert!(rx.is_empty());
    drop(sends);
    assert!(rx.is_empty());
}

#[test]
fn the_latest_waker_is_woken_once() {
    let _watched = watched();
    let (tx, rx) = channel::<u32>();
    let (first, second) = (Arc::new(Count::default()), Arc::new(Count::default()));
    let mut receive = pin!(rx.recv_evt().future());
    for waker in [Waker::from(first.clone()), Waker::from(second.clone())] {
        assert!(receive.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    tx.try_send(1).unwrap();
    assert_eq!((first.get(), second.get()), (0, 1));
    assert_eq!(poll_once(receive), Poll::Ready(Ok(1)));
    assert_eq!((first.get(), second.get()), (0, 1));
}

/// Polling too often is allowed and changes nothing.
#[test]
fn idle_polls_keep_the_place_in_the_queue() {
    let _watched = watched();
    let (tx, rx) = channel::<u32>();
    let mut first = pin!(rx.recv_evt().future());
    let mut second = pin!(choose((rx.recv_evt(), never())).future());
    assert!(poll_once(first.as_mut()).is_pending());
    assert!(poll_once(second.as_mut()).is_pending());
    for _ in 0..10 {
        assert!(poll_once(first.as_mut()).is_pending());
    }
    tx.try_send(1).unwrap();
    tx.try_send(2).unwrap();
    assert_eq!(poll_once(first), Poll::Ready(Ok(1)));
    assert_eq!(poll_once(second), Poll::Ready(Ok(2)));
}

#[test]
#[should_panic(expected = "polled after it had given its value")]
fn polling_a_finished_future_panics() {
    let mut future = pin!(always(1).future());
    assert_eq!(poll_once(future.as_mut()), Poll::Ready(1));
    let _ = poll_once(future);
}

/// A value that was given to a future is dropped once if the future is dropped before it returns
/// the value.
#[test]
fn a_future_dropped_after_its_commit_drops_its_value() {
    let _watched = watched();
    let (tx, rx) = channel::<Arc<()>>();
    let token = Arc::new(());
    {
        let mut receive = pin!(rx.recv_evt().future());
        assert!(poll_once(receive.as_mut()).is_pending());
        tx.try_send(token.clone()).unwrap();
        assert_eq!(Arc::strong_count(&token), 2);
    }
    assert_eq!(Arc::strong_count(&token), 1);
}

/// A receiver may be dropped when a message was promised to it that is still being made. The
/// message then goes to another waiter, or comes back.
#[test]
fn a_promised_receiver_that_is_dropped_loses_no_message() {
    let _watched = watched();
    let (tx, rx) = channel::<u32>();
    let (leave, left) = channel::<()>();
    let (promise, promised) = channel::<()>();
    let mut receive = Box::pin(rx.recv_evt().future());
    assert!(poll_once(receive.as_mut()).is_pending());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let make = || {
                promise.send(()).unwrap();
                left.recv().unwrap();
                8
            };
            if let Err(refused) = tx.send_with_evt(make).sync() {
                assert_eq!(refused, SendWithError::Left(8));
                tx.send(8).unwrap();
            }
        });
        promised.recv().unwrap();
        drop(receive);
        leave.send(()).unwrap();
        assert_eq!(rx.recv(), Ok(8));
    });
}

/// Futures are dropped on one thread while another commits them.
#[test]
fn drops_that_race_with_commits_conserve_messages() {
    let _watched = watched();
    let (tx, rx) = bounded::<u32>(1);
    let (other, others) = channel::<u32>();
    let count = scaled(100_000, 10_000);
    let received = std::thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let mut received = 0;
            while !rx.is_closed() || !rx.is_empty() {
                let mut choice = pin!(choose((rx.recv_evt(), others.recv_evt())).future());
                for _ in 0..3 {
                    match poll_once(choice.as_mut()) {
                        Poll::Ready(Ok(_)) => {
                            received += 1;
                            break;
                        }
                        Poll::Ready(Err(_)) => return received,
                        Poll::Pending => std::hint::spin_loop(),
                    }
                }
            }
            received
        });
        for i in 0..count {
            // A message that was granted to a future that is being dropped is dropped with it, as
            // documented. In a buffer or with its sender it stays. So here every granted message is
            // received or dropped, and nothing hangs.
            let _ = if i % 2 == 0 { tx.send(1).is_ok() } else { other.try_send(1).is_ok() };
        }
        tx.close();
        receiver.join().unwrap()
    });
    assert!(received <= count);
    assert_eq!(others.try_recv(), Err(TryRecvError::Empty));
}

/// A future that never ends is dropped with its executor, wherever it waits.
#[test]
fn an_executor_that_goes_takes_its_futures_with_it() {
    let _watched = watched();
    let executor = Executor::new(2);
    let (tx, rx) = channel::<u32>();
    let begun = Arc::new(AtomicUsize::new(0));
    for _ in 0..8 {
        let (rx, begun) = (rx.clone(), begun.clone());
        executor.spawn(async move {
            begun.fetch_add(1, Ordering::SeqCst);
            let hour = after(Duration::from_secs(3_600)).wrap(|()| Ok(0));
            let _ = choose((rx.recv_evt(), hour)).await;
        });
    }
    drop(rx);
    while begun.load(Ordering::SeqCst) < 8 {
        std::thread::yield_now();
    }
    drop(executor);
    assert_eq!(tx.try_send(1), Err(TrySendError::Closed(1)), "a future is still there, with its receiver");
}

/// The future of an awaited event that waits in one place keeps all its state within itself.
#[test]
fn a_single_event_waits_within_its_future() {
    fn fits<E: Event + IntoFuture + 'static>() {
        let (branch, name) = (size_of::<E::Branch<'static>>(), std::any::type_name::<E>());
        assert!(branch <= SINGLE_WORDS * size_of::<usize>(), "{name} needs {branch} bytes");
        assert!(size_of::<E::IntoFuture>() < size_of::<EventFuture<E>>(), "{name} has the large future");
    }
    macro_rules! fit {
        ($($event:ty),* $(,)?) => { $( fits::<$event>(); )* };
    }
    fit!(
        lisle::time::After,
        lisle::time::At,
        lisle::channel::RecvEvt<'static, u64>,
        lisle::channel::OwnedRecvEvt<u64>,
        lisle::channel::MailEvt<'static, u64>,
        lisle::channel::PortEvt<'static, u64>,
        lisle::sync::LockEvt<'static, u64>,
        lisle::sync::NotifiedEvt<'static>,
        lisle::sync::BarrierEvt<'static>,
        lisle::sync::ZeroEvt<'static>,
        lisle::sync::GetEvt<'static, u64>,
        lisle::sync::ChangedEvt<'static, u64>,
        lisle::sync::PutEvt<'static, u64>,
        lisle::sync::TakeEvt<'static, u64>,
        lisle::sync::LeaseEvt<'static, u64>,
        lisle::sync::ReadEvt<'static, u64>,
        lisle::event::Nack,
        lisle::task::TaskHandle<u64>,
        lisle::fiber::JoinEvt<'static, u64>,
        lisle::fiber::CancelledEvt,
        lisle::future::FutureEvt<'static, u64>,
        lisle::thread::JoinEvt<'static, u64>,
        lisle::net::ReadyEvt<'static, lisle::net::TcpListener>,
    );
}
