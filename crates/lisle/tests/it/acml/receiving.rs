//! Receives that have begun: they are served in order, and cancelling them loses no message.

use crate::support::{Cx, scaled, worlds};
use lisle::channel;
use lisle::channel::AsyncRecvError;
use lisle::task::RecvAsync;

worlds!(
    receives_that_one_begins_are_served_in_order,
    a_dropped_receive_loses_no_later_message,
    a_receive_is_cancelled_or_has_its_message,
    a_receive_of_a_closed_channel_ends,
    both_ends_may_be_asynchronous,
);

async fn receives_that_one_begins_are_served_in_order(cx: Cx) {
    let count = scaled(500, 100);
    let (tx, rx) = channel();
    let receives: Vec<_> = (0..count).map(|_| rx.recv_async()).collect();
    let sender = cx.spawn(move |cx| async move {
        for i in 0..count {
            cx.sync(tx.send_evt(i)).await.unwrap();
        }
    });
    for (i, receive) in receives.iter().enumerate() {
        assert_eq!(cx.sync(receive).await, Ok(i));
    }
    cx.join(sender).await;
}

async fn a_dropped_receive_loses_no_later_message(cx: Cx) {
    let (tx, rx) = channel();
    for i in 0..scaled(1_000, 100) {
        drop(rx.recv_async());
        assert!(tx.try_send(i).is_err(), "nobody receives");
        let [one, other] = [(); 2].map(|()| rx.recv_async());
        drop(one);
        tx.try_send(i).unwrap();
        assert_eq!(cx.sync(&other).await, Ok(i));
    }
}

async fn a_receive_is_cancelled_or_has_its_message(cx: Cx) {
    let (tx, rx) = channel();
    for i in 0..scaled(3_000, 300) {
        let receive = rx.recv_async();
        let sender = {
            let tx = tx.clone();
            cx.spawn(move |cx| async move {
                cx.yield_now().await;
                tx.try_send(i).is_ok()
            })
        };
        if i % 2 == 0 {
            cx.yield_now().await;
        }
        receive.cancel();
        let received = cx.sync(&receive).await;
        match cx.join(sender).await {
            true => assert_eq!(received, Ok(i)),
            false => assert_eq!(received, Err(AsyncRecvError::Cancelled)),
        }
    }
}

async fn a_receive_of_a_closed_channel_ends(cx: Cx) {
    let (tx, rx) = channel::<u32>();
    let receive = rx.recv_async();
    drop(tx);
    assert_eq!(cx.sync(&receive).await, Err(AsyncRecvError::Closed));
    assert_eq!(cx.sync(&receive).await, Err(AsyncRecvError::Closed));
    assert_eq!(cx.sync(&rx.recv_async()).await, Err(AsyncRecvError::Closed));
}

async fn both_ends_may_be_asynchronous(cx: Cx) {
    let count = scaled(3_000, 300);
    let (tx, rx) = channel();
    let sender = cx.spawn(move |cx| async move {
        for i in 0..count {
            drop(cx.sync(tx.send_async_evt(i)).await);
        }
    });
    for i in 0..count {
        let receive = cx.sync(rx.recv_async_evt()).await;
        assert_eq!(cx.sync(&receive).await, Ok(i));
    }
    cx.join(sender).await;
}
