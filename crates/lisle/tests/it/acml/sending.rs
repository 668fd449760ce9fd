//! Sends that have begun: they are in order, and are held back, taken or given back.

use super::soon;
use crate::support::{Cx, scaled, watched, worlds};
use lisle::channel::bounded;
use lisle::channel::{AsyncRecvError, AsyncSendError};
use lisle::task::RecvAsync;
use lisle::{Event, always, channel, choose, spawn_task};

worlds!(
    sends_that_one_begins_arrive_in_order,
    a_fast_sender_is_held_back,
    a_send_that_was_not_chosen_has_not_begun,
    a_send_goes_on_without_its_handle,
    a_send_is_taken_back_or_taken,
    a_closed_channel_gives_all_sends_back,
    a_send_at_once_has_ended,
);

async fn sends_that_one_begins_arrive_in_order(cx: Cx) {
    let (count, producers) = (scaled(5_000, 500), 3);
    for capacity in [0, 2] {
        let (tx, rx) = bounded(capacity);
        let performers: Vec<_> = (0..producers)
            .map(|id| {
                let tx = tx.clone();
                cx.spawn(move |cx| async move {
                    for i in 0..count {
                        drop(cx.sync(tx.send_async_evt((id, i))).await);
                    }
                })
            })
            .collect();
        drop(tx);
        let mut next = [0; 3];
        while let Ok((id, i)) = cx.sync(rx.recv_evt()).await {
            assert_eq!(i, next[id], "of sender {id}");
            next[id] += 1;
        }
        assert_eq!(next, [count; 3]);
        cx.join_all(performers).await;
    }
}

async fn a_fast_sender_is_held_back(cx: Cx) {
    let (tx, rx) = channel();
    let sends: Vec<_> = (0..64).map(|i| tx.send_async_evt(i).poll().expect("64 may be under way")).collect();
    assert!(tx.send_async_evt(64).poll().is_none());
    assert!(sends.iter().all(|send| !send.has_ended()));
    let last = {
        let tx = tx.clone();
        cx.spawn(move |cx| async move {
            let send = cx.sync(tx.send_async_evt(64)).await;
            drop(tx);
            cx.sync(&send).await
        })
    };
    for i in 0..65 {
        assert_eq!(cx.sync(rx.recv_evt()).await, Ok(i));
    }
    assert_eq!(cx.join(last).await, Ok(()));
    for send in sends {
        assert_eq!(cx.sync(&send).await, Ok(()));
        assert_eq!(cx.sync(&send).await, Ok(()), "again");
    }
    // All permits have been returned.
    let sends: Vec<_> = (0..64).map(|i| tx.send_async_evt(i).poll().expect("64 may be under way")).collect();
    assert!(tx.send_async_evt(64).poll().is_none());
    drop((tx, rx));
    for (i, send) in sends.iter().enumerate() {
        assert_eq!(cx.sync(send).await, Err(AsyncSendError::Closed(i)));
    }
}

async fn a_send_that_was_not_chosen_has_not_begun(cx: Cx) {
    let (tx, rx) = channel();
    let full: Vec<_> = (0..64).map(|i| tx.send_async(i)).collect();
    let event = choose((tx.send_async_evt(99).wrap(Some), soon().wrap(|()| None)));
    assert!(cx.sync(event).await.is_none());
    for i in 0..64 {
        assert_eq!(cx.sync(rx.recv_evt()).await, Ok(i));
    }
    for send in &full {
        assert_eq!(cx.sync(send).await, Ok(()));
    }
    // A receive that begins in a losing choice does not exist.
    for _ in 0..20 {
        match cx.sync(choose((rx.recv_async_evt().wrap(Some), always(()).wrap(|()| None)))).await {
            Some(receive) => receive.cancel(),
            None => assert!(tx.try_send(1).is_err()),
        }
    }
}

async fn a_send_goes_on_without_its_handle(cx: Cx) {
    let (tx, rx) = channel();
    drop(tx.send_async("alone"));
    drop(tx);
    assert_eq!(cx.sync(rx.recv_evt()).await, Ok("alone"));
    assert!(cx.sync(rx.recv_evt()).await.is_err());
}

async fn a_send_is_taken_back_or_taken(cx: Cx) {
    let (tx, rx) = channel();
    for i in 0..scaled(3_000, 300) {
        let send = tx.send_async(i);
        let receiver = {
            let rx = rx.clone();
            cx.spawn(move |cx| async move {
                cx.yield_now().await;
                rx.try_recv().ok()
            })
        };
        if i % 2 == 0 {
            cx.yield_now().await;
        }
        send.cancel();
        let sent = cx.sync(&send).await;
        let received = cx.join(receiver).await;
        match sent {
            Ok(()) => assert_eq!(received, Some(i)),
            Err(AsyncSendError::Cancelled(message)) => {
                assert_eq!((message, received), (i, None));
                assert_eq!(cx.sync(&send).await, Err(AsyncSendError::Taken));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

async fn a_closed_channel_gives_all_sends_back(cx: Cx) {
    let (tx, rx) = channel();
    let sends: Vec<_> = (0..10).map(|i| tx.send_async(i.to_string())).collect();
    drop(rx);
    for (i, send) in sends.into_iter().enumerate() {
        let error = cx.sync(&send).await.unwrap_err();
        assert_eq!(error, AsyncSendError::Closed(i.to_string()));
        assert_eq!(error.into_inner(), Some(i.to_string()));
        assert_eq!(cx.sync(&send).await.unwrap_err().into_inner(), None);
    }
    let late = tx.send_async("late".into());
    assert_eq!(cx.sync(&late).await, Err(AsyncSendError::Closed("late".into())));
}

async fn a_send_at_once_has_ended(cx: Cx) {
    let (tx, rx) = bounded(1);
    let sent = tx.send_async(1);
    assert!(sent.has_ended());
    sent.cancel();
    assert_eq!(cx.sync(&sent).await, Ok(()));
    let receive = rx.recv_async();
    assert!(receive.has_ended());
    assert_eq!(cx.sync(&receive).await, Ok(1));
    assert_eq!(cx.sync(&receive).await, Err(AsyncRecvError::Taken));
}

/// The messages are `'static` references, a case that the compiler's analysis handles badly.
#[test]
fn what_has_begun_may_be_held_in_a_task() {
    let _watched = watched();
    lisle::run(|| {
        let (tx, rx) = channel::<&str>();
        let sends = spawn_task(async move {
            let first = tx.send_async("a");
            tx.send_async_evt("b").await.await.unwrap();
            let third = tx.send_async_evt("c").await;
            first.await.unwrap();
            third.done_evt().await.unwrap();
            tx.send_evt("d").await.unwrap();
        });
        let receives = spawn_task(async move {
            let first = rx.recv_async();
            let second = rx.recv_async_evt().await;
            let mut all = vec![first.await.unwrap(), second.await.unwrap()];
            while let Ok(message) = rx.recv_evt().await {
                all.push(message);
            }
            all
        });
        sends.join().unwrap();
        assert_eq!(receives.join().unwrap(), ["a", "b", "c", "d"]);
    });
}
