//! Features that only tokio has: `select!`, `timeout`, tasks that stay on their thread, threads for
//! blocking work.

use crate::support::{runtime, scaled};
use crate::watch::watched;
use lisle::channel::bounded;
use lisle::event::{Nack, with_nack};
use lisle::time::after;
use lisle::{Event, channel, choose, never};
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::{LocalSet, block_in_place, spawn_blocking, spawn_local};

/// Futures that are kept by `&mut` instead of dropped, as one does there, keep their places in the
/// queues.
#[test]
fn tokios_select_over_pinned_events_loses_nothing() {
    let _watched = watched();
    let count = scaled(50_000, 2_000);
    runtime(2).block_on(async {
        let (numbers, number) = channel::<usize>();
        let (texts, strings) = bounded::<String>(2);
        let senders = [
            tokio::spawn(async move {
                for n in 0..count {
                    numbers.send_evt(n).await.unwrap();
                }
            }),
            tokio::spawn(async move {
                for n in 0..count {
                    texts.send_evt(n.to_string()).await.unwrap();
                }
            }),
        ];
        let mut next_number = pin!(number.recv_evt().future());
        let mut next_text = pin!(strings.recv_evt().future());
        let (mut numbers, mut texts, mut pauses) = (0, 0, 0);
        while numbers < count || texts < count {
            tokio::select! {
                n = &mut next_number, if numbers < count => {
                    assert_eq!(n, Ok(numbers));
                    numbers += 1;
                    next_number.set(number.recv_evt().future());
                }
                text = &mut next_text, if texts < count => {
                    assert_eq!(text, Ok(texts.to_string()));
                    texts += 1;
                    next_text.set(strings.recv_evt().future());
                }
                () = tokio::task::yield_now() => pauses += 1,
            }
        }
        for sender in senders {
            sender.await.unwrap();
        }
        assert!(pauses > 0, "nobody ever waited");
    });
}

/// The use of a choice: futures are offered to partners one by one, so two of them may be taken
/// before the task is polled. `tokio::select!` drops one of these, and its message is lost. A
/// choice is taken once.
#[test]
fn a_choice_takes_one_where_tokios_select_takes_both() {
    let _watched = watched();
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        for choice in [false, true] {
            let (left, lefts) = channel::<u32>();
            let (right, rights) = channel::<u32>();
            let task = tokio::spawn(async move {
                if choice {
                    lisle::select! { await; n = lefts.recv_evt() => n, n = rights.recv_evt() => n }
                } else {
                    tokio::select! { n = lefts.recv_evt().future() => n, n = rights.recv_evt().future() => n }
                }
            });
            tokio::task::yield_now().await;
            assert_eq!(left.try_send(1), Ok(()));
            assert_eq!(right.try_send(2).is_ok(), !choice);
            let got = task.await.unwrap();
            assert!(got == Ok(1) || !choice && got == Ok(2));
        }
    });
}

/// Case 29: a request whose task is aborted, or whose `timeout` is over, is told to its server.
#[test]
fn abort_and_timeout_send_nacks() {
    let _watched = watched();
    runtime(2).block_on(async {
        let (requests, requested) = bounded::<Nack>(1);
        let request = || {
            let requests = requests.clone();
            async move {
                let request = with_nack(|nack| {
                    requests.try_send(nack).unwrap();
                    never::<()>()
                });
                request.await;
            }
        };
        let task = tokio::spawn(request());
        let nack = requested.recv_evt().await.unwrap();
        assert!(!nack.is_lost());
        task.abort();
        nack.await;
        assert!(task.await.unwrap_err().is_cancelled());

        assert!(tokio::time::timeout(Duration::from_millis(1), request()).await.is_err());
        requested.recv_evt().await.unwrap().await;
    });
}

/// Events and futures that may not leave their thread.
#[test]
fn events_in_a_local_set_need_not_be_send() {
    let _watched = watched();
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
        let (tx, rx) = channel::<u32>();
        let seen = Rc::new(RefCell::new(Vec::new()));
        let set = LocalSet::new();
        for _ in 0..3 {
            let (rx, seen) = (rx.clone(), seen.clone());
            set.spawn_local(async move {
                // The function of the wrap holds the `Rc`, and so does the future.
                let note = rx.recv_evt().wrap(|got| got.map(|n| seen.borrow_mut().push(n)));
                while choose((&note, never())).await.is_ok() {}
            });
        }
        drop(rx);
        set.run_until(async {
            let done = Rc::new(Cell::new(0));
            let sender = spawn_local({
                let done = done.clone();
                async move {
                    for n in 0..100 {
                        tx.send_evt(n).await.unwrap();
                        done.set(done.get() + 1);
                    }
                }
            });
            sender.await.unwrap();
            assert_eq!(done.get(), 100);
        })
        .await;
        set.await;
        let mut seen = Rc::into_inner(seen).unwrap().into_inner();
        seen.sort_unstable();
        assert_eq!(seen, (0..100).collect::<Vec<_>>());
    });
}

/// `sync` waits in place, which tokio allows where it is told so; the thread is then as any plain
/// thread.
#[test]
fn events_are_synced_where_blocking_is_allowed() {
    let _watched = watched();
    let rounds = scaled(10_000, 1_000);
    runtime(2).block_on(async {
        let (ping, pings) = channel::<usize>();
        let (pong, pongs) = channel::<usize>();
        let echo = tokio::spawn(async move {
            block_in_place(|| pings.iter().try_for_each(|n| pong.send(n + 1)).unwrap());
        });
        let asker = spawn_blocking(move || {
            for n in 0..rounds {
                ping.send(n).unwrap();
                let answer = lisle::select! {
                    answer = pongs.recv_evt() => answer.unwrap(),
                    () = after(Duration::from_secs(3_600)) => unreachable!(),
                };
                assert_eq!(answer, n + 1);
            }
        });
        asker.await.unwrap();
        echo.await.unwrap();
    });
}

/// An event's future goes from thread to thread with its task.
#[test]
fn many_tasks_meet_on_few_workers() {
    let _watched = watched();
    let (tasks, rounds) = (100, scaled(1_000, 50));
    runtime(2).block_on(async {
        let (tx, rx) = channel::<usize>();
        let handles: Vec<_> = (0..2 * tasks)
            .map(|task| {
                let (tx, rx) = (tx.clone(), rx.clone());
                tokio::spawn(async move {
                    let mut sum = 0;
                    for n in 0..rounds {
                        if task % 2 == 0 {
                            tx.send_evt(n).await.unwrap();
                        } else {
                            sum += rx.recv_evt().await.unwrap();
                        }
                    }
                    sum
                })
            })
            .collect();
        let mut sum = 0;
        for handle in handles {
            sum += handle.await.unwrap();
        }
        assert_eq!(sum, tasks * rounds * (rounds - 1) / 2);
    });
}
