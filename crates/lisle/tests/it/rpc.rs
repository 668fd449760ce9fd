//! Synchronous calls: each one is answered once if its caller stays. A server is not delayed, and a
//! caller does not hang.

use crate::support::poll_once;
use crate::support::{Cx, Random, scaled, worlds};
use lisle::rpc::{CallError, NoCallers, rpc};
use lisle::time::after;
use lisle::{Event, choose, never};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(
    a_call_is_answered,
    all_forms,
    clients_and_a_server,
    several_servers_share_an_entry,
    a_caller_that_has_gone_is_passed_over,
    the_clients_that_stay_are_served,
    a_panic_comes_to_the_caller_and_goes_on_in_the_server,
    a_server_that_goes_is_an_error,
    callers_that_go_end_the_server,
    a_request_that_does_not_arrive_goes_back,
    a_caller_that_is_late_does_not_hold_up_the_server,
);

async fn a_call_is_answered(cx: Cx) {
    let (caller, entry) = rpc::<u32, u32>();
    let server = cx.spawn(move |cx| async move {
        for _ in 0..3 {
            cx.sync(entry.entry_evt(|n| n + 1)).await.unwrap();
        }
        entry
    });
    assert_eq!(cx.sync(caller.call_evt(1)).await, Ok(2));
    let event = choose((never(), caller.call_evt(2)));
    assert_eq!(cx.sync(&event).await, Ok(3));
    assert_eq!(cx.sync(&event).await, Ok(3));
    let entry = cx.join(server).await;
    assert!(entry.request_evt().poll().is_none());
    assert!(!caller.is_closed());
    drop(entry);
    assert!(caller.is_closed());
}

async fn all_forms(cx: Cx) {
    let (caller, entry) = rpc::<u32, u32>();
    let server = cx.spawn(move |cx| async move {
        assert_eq!(cx.sync(entry.entry_evt(|n| n)).await, Ok(()));
        assert_eq!(cx.sync(entry.entry_in_evt(10, |n, ten| n + ten)).await, Ok(()));
        assert_eq!(cx.sync(entry.entry_out_evt(|n| (n, "out"))).await, Ok("out"));
        assert_eq!(cx.sync(entry.entry_in_out_evt(20, |n, more| (n * more, n + more))).await, Ok(21));
        let (arg, reply) = cx.sync(entry.request_evt()).await.unwrap().into_parts();
        assert!(!reply.is_gone());
        reply.answer(arg + 100);
        cx.sync(entry.request_evt()).await.unwrap().serve(|n| n + 200);
        assert_eq!(cx.sync(entry.entry_evt(|n| n)).await, Err(NoCallers));
        assert_eq!(cx.sync(entry.entry_out_evt(|n| (n, n))).await, Err(NoCallers));
    });
    for answer in [1, 11, 1, 20, 101, 201] {
        assert_eq!(cx.sync(caller.call_evt(1)).await, Ok(answer));
    }
    drop(caller);
    cx.join(server).await;
}

/// Case 43, with calls.
async fn clients_and_a_server(cx: Cx) {
    let (caller, entry) = rpc::<usize, usize>();
    let server = cx.spawn(move |cx| async move {
        let mut sum = 0;
        while let Ok(next) = cx.sync(entry.entry_in_out_evt(sum, |n, sum| (sum + n, sum + n))).await {
            sum = next;
        }
        sum
    });
    let calls = scaled(1_000, 100);
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let caller = caller.clone();
            cx.spawn(move |cx| async move {
                let mut last = 0;
                for _ in 0..calls {
                    let sum = cx.sync(caller.call_evt(1)).await.unwrap();
                    assert!(sum > last);
                    last = sum;
                }
            })
        })
        .collect();
    drop(caller);
    cx.join_all(clients).await;
    assert_eq!(cx.join(server).await, 8 * calls);
}

async fn several_servers_share_an_entry(cx: Cx) {
    let (caller, entry) = rpc::<usize, usize>();
    let entry = Arc::new(entry);
    let servers = [0, 1, 2].map(|_| {
        let entry = entry.clone();
        cx.spawn(move |cx| async move {
            let mut served = 0;
            while cx.sync(entry.entry_evt(|n| n + 1)).await.is_ok() {
                served += 1;
            }
            served
        })
    });
    let calls = scaled(1_000, 100);
    for call in 0..calls {
        assert_eq!(cx.sync(caller.call_evt(call)).await, Ok(call + 1));
    }
    drop(caller);
    assert_eq!(cx.join_all(servers).await.iter().sum::<usize>(), calls);
}

async fn a_caller_that_has_gone_is_passed_over(cx: Cx) {
    let (caller, entry) = rpc::<usize, usize>();
    let args = Arc::new(());
    for call in 0..scaled(10_000, 1_000) {
        assert_eq!(caller.call_evt(call).poll(), None);
        assert_eq!(choose((caller.call_evt(call), lisle::always(Ok(7)))).poll(), Some(Ok(7)));
    }
    // Calls that no server has served do not pile up, either.
    let (holder, held) = rpc::<Arc<()>, ()>();
    for _ in 0..1_000 {
        assert_eq!(holder.call_evt(args.clone()).poll(), None);
    }
    assert!(Arc::strong_count(&args) < 50, "{} arguments are kept", Arc::strong_count(&args));
    drop((holder, held));
    assert_eq!(Arc::strong_count(&args), 1);

    let server = cx.spawn(move |cx| async move { cx.sync(entry.entry_out_evt(|n| (n, n))).await });
    assert_eq!(cx.sync(caller.call_evt(3)).await, Ok(3));
    assert_eq!(cx.join(server).await, Ok(3));
}

/// Case 32.
async fn the_clients_that_stay_are_served(cx: Cx) {
    let (caller, entry) = rpc::<usize, usize>();
    let served = Arc::new(AtomicUsize::new(0));
    let server = {
        let served = served.clone();
        cx.spawn(move |cx| async move {
            while let Ok(request) = cx.sync(entry.request_evt()).await {
                let (arg, reply) = request.into_parts();
                cx.yield_now().await;
                if !reply.is_gone() {
                    served.fetch_add(1, Ordering::Relaxed);
                }
                reply.answer(arg);
            }
        })
    };
    let calls = scaled(1_000, 100);
    let clients: Vec<_> = (0..6)
        .map(|id| {
            let caller = caller.clone();
            cx.spawn(move |cx| async move {
                let mut random = Random::new(id);
                let mut answered = 0;
                for call in 0..calls {
                    let answer = if id % 2 == 0 {
                        Some(cx.sync(caller.call_evt(call)).await)
                    } else {
                        let short = after(Duration::from_micros(random.below(200) as u64)).wrap(|()| None);
                        cx.sync(choose((caller.call_evt(call).wrap(Some), short))).await
                    };
                    if let Some(answer) = answer {
                        assert_eq!(answer, Ok(call), "another's answer");
                        answered += 1;
                    }
                }
                assert!(id % 2 == 1 || answered == calls);
                answered
            })
        })
        .collect();
    drop(caller);
    let answered: usize = cx.join_all(clients).await.iter().sum();
    cx.join(server).await;
    assert!(answered <= served.load(Ordering::Relaxed));
}

async fn a_panic_comes_to_the_caller_and_goes_on_in_the_server(cx: Cx) {
    let (caller, entry) = rpc::<u32, u32>();
    let entry = Arc::new(entry);
    let server = {
        let entry = entry.clone();
        cx.spawn(move |cx| async move {
            let quietly = |_| -> u32 { std::panic::resume_unwind(Box::new("no such number")) };
            cx.sync(entry.entry_evt(quietly)).await
        })
    };
    assert_eq!(cx.sync(caller.call_evt(1)).await, Err(CallError::Panicked("no such number".into())));
    assert!(cx.join_caught(server).await.is_err());
    // The entry works as before.
    let server = cx.spawn(move |cx| async move { cx.sync(entry.entry_evt(|n| n)).await });
    assert_eq!(cx.sync(caller.call_evt(1)).await, Ok(1));
    assert_eq!(cx.join(server).await, Ok(()));
}

/// Case 48, for calls that wait, calls whose request was taken, and later calls.
async fn a_server_that_goes_is_an_error(cx: Cx) {
    for round in 0..scaled(200, 30) {
        let (caller, entry) = rpc::<u32, u32>();
        let clients = [0, 1, 2].map(|_| {
            let caller = caller.clone();
            cx.spawn(move |cx| async move { cx.sync(caller.call_evt(1)).await })
        });
        if round % 3 > 0 {
            let request = cx.sync(entry.request_evt()).await.unwrap();
            if round % 3 == 1 {
                drop(request); // one is refused, the others find no server
            } else {
                let (_, reply) = request.into_parts();
                drop(entry);
                reply.answer(5);
                let answers = cx.join_all(clients).await;
                assert_eq!(answers.iter().filter(|answer| **answer == Ok(5)).count(), 1);
                continue;
            }
        }
        drop(entry);
        assert_eq!(cx.join_all(clients).await, [const { Err::<u32, _>(CallError::Closed) }; 3]);
        assert_eq!(cx.sync(caller.call_evt(1)).await, Err(CallError::Closed));
    }
}

async fn callers_that_go_end_the_server(cx: Cx) {
    for _ in 0..scaled(200, 30) {
        let (caller, entry) = rpc::<u32, u32>();
        let entry = Arc::new(entry);
        let servers = [0, 1].map(|_| {
            let entry = entry.clone();
            cx.spawn(move |cx| async move {
                let event = choose((entry.entry_evt(|n| n), never()));
                while cx.sync(&event).await.is_ok() {}
                cx.sync(entry.entry_evt(|n| n)).await
            })
        });
        let client = {
            let caller = caller.clone();
            cx.spawn(move |cx| async move { cx.sync(caller.call_evt(1)).await })
        };
        drop(caller);
        assert_eq!(cx.join(client).await, Ok(1));
        assert_eq!(cx.join_all(servers).await, [Err(NoCallers); 2]);
    }
}

/// The request was granted to a server's future, which was dropped before it was polled again.
async fn a_request_that_does_not_arrive_goes_back(cx: Cx) {
    for _ in 0..scaled(200, 30) {
        let (caller, entry) = rpc::<u32, u32>();
        let mut lost = Box::pin(entry.request_evt().into_future());
        assert!(poll_once(lost.as_mut()).is_pending());
        let clients = [1, 2].map(|arg| {
            let caller = caller.clone();
            cx.spawn(move |cx| async move { cx.sync(caller.call_evt(arg)).await })
        });
        cx.yield_now().await;
        drop(lost);
        for _ in 0..2 {
            cx.sync(entry.entry_evt(|n| 10 * n)).await.unwrap();
        }
        assert_eq!(cx.join_all(clients).await, [Ok(10), Ok(20)]);
    }
}

/// A caller has sent its request and prepares its other alternatives for a long time.
async fn a_caller_that_is_late_does_not_hold_up_the_server(cx: Cx) {
    let (caller, entry) = rpc::<u32, u32>();
    let (late, punctual) = (caller.clone(), caller);
    let (go, wait) = lisle::channel::bounded::<()>(1);
    let (sent, was_sent) = lisle::channel::bounded::<()>(1);
    let late = std::thread::spawn(move || {
        let prepares = lisle::event::guard(|| {
            sent.send(()).unwrap();
            wait.recv().unwrap();
            never()
        });
        choose((late.call_evt(1), prepares)).sync()
    });
    cx.sync(was_sent.recv_evt()).await.unwrap();
    let server = cx.spawn(move |cx| async move {
        for _ in 0..2 {
            cx.sync(entry.entry_evt(|n| n)).await.unwrap();
        }
    });
    assert_eq!(cx.sync(punctual.call_evt(2)).await, Ok(2));
    cx.join(server).await;
    go.send(()).unwrap();
    // Its answer was there before the entry was dropped.
    assert_eq!(late.join().unwrap(), Ok(1));
}
