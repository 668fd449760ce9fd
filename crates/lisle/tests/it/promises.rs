//! Sends that make their message after they have won, while the receiver goes away. A performance
//! that has committed waits for nothing.

use crate::support::{Cx, poll_once, watched, worlds};
use lisle::channel::{Receiver, SendWithError, bounded};
use lisle::event::WaitSet;
use lisle::task::RecvAsync;
use lisle::time::after;
use lisle::{Event, Runtime, always, channel, choose, never, spawn_task};
use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;

worlds!(
    the_message_of_a_receiver_that_left_comes_back,
    a_poll_and_a_choice_with_a_timeout_end_without_a_receiver,
    another_that_waits_gets_it,
    a_buffer_with_room_gets_it,
    a_channel_closed_meanwhile_is_told_from_a_receiver_that_left,
    a_wait_set_that_leaves,
    a_choice_that_leaves,
    an_asynchronous_receive_that_is_cancelled,
);

const LONG: Duration = Duration::from_secs(3_600);

type Receiving<'a, T> = Pin<Box<<lisle::channel::RecvEvt<'a, T> as IntoFuture>::IntoFuture>>;

/// Returns a receiver that waits until it is dropped.
fn waits<T: Send>(rx: &Receiver<T>) -> Receiving<'_, T> {
    let mut future = Box::pin(rx.recv_evt().into_future());
    assert!(poll_once(future.as_mut()).is_pending());
    future
}

async fn the_message_of_a_receiver_that_left_comes_back(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let receiver = Mutex::new(Some(waits(&rx)));
    let made = tx.send_with_evt(|| {
        drop(receiver.lock().unwrap().take());
        7
    });
    assert_eq!(cx.sync(made).await, Err(SendWithError::Left(7)));
    // The channel is as before.
    let mut next = waits(&rx);
    assert_eq!(cx.sync(tx.send_with_evt(|| 8)).await, Ok(()));
    assert_eq!(poll_once(next.as_mut()), std::task::Poll::Ready(Ok(8)));
}

async fn a_poll_and_a_choice_with_a_timeout_end_without_a_receiver(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let receiver = Mutex::new(None);
    let made = tx.send_with_evt(|| {
        drop(receiver.lock().unwrap().take());
        7
    });
    *receiver.lock().unwrap() = Some(waits(&rx));
    assert_eq!(made.poll(), Some(Err(SendWithError::Left(7))));
    *receiver.lock().unwrap() = Some(waits(&rx));
    let in_time = choose(((&made).wrap(Some), after(LONG).wrap(|()| None)));
    assert_eq!(cx.sync(in_time).await, Some(Err(SendWithError::Left(7))));
}

async fn another_that_waits_gets_it(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let first = Mutex::new(Some(waits(&rx)));
    let mut second = waits(&rx);
    let made = tx.send_with_evt(|| {
        drop(first.lock().unwrap().take());
        7
    });
    assert_eq!(cx.sync(made).await, Ok(()));
    assert_eq!(poll_once(second.as_mut()), std::task::Poll::Ready(Ok(7)));
}

async fn a_buffer_with_room_gets_it(cx: Cx) {
    for others in [0, 1] {
        let (tx, rx) = bounded::<u32>(1);
        let receiver = Mutex::new(Some(waits(&rx)));
        let made = tx.send_with_evt(|| {
            drop(receiver.lock().unwrap().take());
            (0..others).for_each(|_| tx.try_send(1).unwrap());
            7
        });
        let sent = cx.sync(made).await;
        if others == 0 {
            assert_eq!((sent, rx.try_recv()), (Ok(()), Ok(7)));
        } else {
            assert_eq!((sent, rx.try_recv()), (Err(SendWithError::Left(7)), Ok(1)));
        }
        assert!(rx.try_recv().is_err());
    }
}

async fn a_channel_closed_meanwhile_is_told_from_a_receiver_that_left(cx: Cx) {
    for capacity in [0, 1] {
        let (tx, rx) = bounded::<u32>(capacity);
        let receiver = Mutex::new(Some(waits(&rx)));
        let made = tx.send_with_evt(|| {
            drop(receiver.lock().unwrap().take());
            rx.close();
            7
        });
        assert_eq!(cx.sync(&made).await, Err(SendWithError::Closed(Some(7))));
        assert_eq!(cx.sync(made).await, Err(SendWithError::Closed(None)));
        // A receiver that was won before the end, and stays, has its message.
        let (tx, rx) = bounded::<u32>(capacity);
        let mut receiver = waits(&rx);
        let made = tx.send_with_evt(|| {
            tx.close();
            7
        });
        assert_eq!(cx.sync(made).await, Ok(()));
        assert_eq!(poll_once(receiver.as_mut()), std::task::Poll::Ready(Ok(7)));
    }
}

async fn a_wait_set_that_leaves(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let mut set = WaitSet::new();
    set.insert(rx.recv_evt());
    set.insert(never());
    for _ in 0..2 {
        let mut future = Box::pin(set.evt().into_future());
        assert!(poll_once(future.as_mut()).is_pending());
        let future = Mutex::new(Some(future));
        let made = tx.send_with_evt(|| {
            drop(future.lock().unwrap().take());
            7
        });
        assert_eq!(cx.sync(made).await, Err(SendWithError::Left(7)));
    }
    // The receive is still in its set, and nothing has been taken.
    assert!(set.poll().is_none());
    let sender = cx.spawn(move |cx| async move {
        while cx.sync(tx.send_with_evt(|| 8)).await.is_err() {
            cx.yield_now().await;
        }
    });
    assert_eq!(cx.sync(set.evt()).await.1, Ok(8));
    cx.join(sender).await;
}

async fn a_choice_that_leaves(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let (other, others) = channel::<u32>();
    let mut future = Box::pin(choose((rx.recv_evt(), others.recv_evt())).into_future());
    assert!(poll_once(future.as_mut()).is_pending());
    let future = Mutex::new(Some(future));
    let made = tx.send_with_evt(|| {
        drop(future.lock().unwrap().take());
        7
    });
    assert_eq!(cx.sync(choose((made, never()))).await, Err(SendWithError::Left(7)));
    assert!(other.try_send(1).is_err(), "nobody is left behind");
}

async fn an_asynchronous_receive_that_is_cancelled(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let receive = rx.recv_async();
    let made = tx.send_with_evt(|| {
        receive.cancel();
        7
    });
    // The receiver may be on another domain, and may have the message before it learns of the
    // interruption.
    let sent = cx.sync(made).await;
    match receive.join() {
        Ok(got) => assert_eq!((got, sent), (7, Ok(()))),
        Err(_) => assert!(matches!(sent, Ok(()) | Err(SendWithError::Left(7)))),
    }
}

/// A fiber is interrupted by a shutdown while its message is made, and a task is cancelled.
#[test]
fn fibers_and_tasks_that_are_told_to_leave() {
    let _watched = watched();
    let (tx, rx) = channel::<u32>();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    drop(runtime.spawn({
        let rx = rx.clone();
        move || rx.recv()
    }));
    let runtime = Mutex::new(Some(runtime));
    let made = tx.send_with_evt(|| {
        let runtime = runtime.lock().unwrap().take().unwrap();
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
        7
    });
    assert_eq!(made.sync(), Err(SendWithError::Left(7)));

    lisle::run(|| {
        let waiting = spawn_task({
            let rx = rx.clone();
            async move { rx.recv_evt().await }
        });
        let task = Mutex::new(Some(waiting));
        let made = tx.send_with_evt(|| {
            let task = task.lock().unwrap().take().unwrap();
            task.cancel();
            assert!(task.join().is_err());
            7
        });
        assert_eq!(made.sync(), Err(SendWithError::Left(7)));
    });
}

/// In a future the send ends in the poll in which it has won: the executor's thread is not blocked.
#[test]
fn a_future_is_ready_in_the_poll_in_which_it_has_won() {
    let _watched = watched();
    let (tx, rx) = channel::<u32>();
    let receiver = Mutex::new(Some(waits(&rx)));
    let made = tx.send_with_evt(|| {
        drop(receiver.lock().unwrap().take());
        7
    });
    let mut future = Box::pin(choose((made, always(()).replace(|()| never()))).into_future());
    let ready = loop {
        // The first stage of the other alternative may come first.
        if let std::task::Poll::Ready(sent) = poll_once(future.as_mut()) {
            break sent;
        }
    };
    assert_eq!(ready, Err(SendWithError::Left(7)));
}
