//! Negative acknowledgements: ready in time, and if and only if the performance did not take the
//! event.

use crate::support::{Cx, Semaphore, scaled, watched, worlds};
use lisle::channel::{Receiver, Sender, bounded};
use lisle::event::{BoxEvent, Nack, guard, with_nack};
use lisle::sync::Condition;
use lisle::time::after;
use lisle::{Event, Runtime, always, channel, choose, never};
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

worlds!(
    the_winners_nack_is_never_ready_a_losers_is,
    two_that_lose_are_both_told,
    a_panicking_guard_tells_those_to_its_left,
    a_cancelled_performer_tells,
    a_hundred_nested_nacks_around_the_winner,
    a_nack_in_every_place_of_a_tree,
    a_cancel_that_is_ignored_is_no_nack,
    losers_are_told_before_the_winners_wrap_runs,
    a_winner_whose_wrap_panics_has_taken,
    every_waiter_for_a_nack_is_woken,
    nacks_are_not_confused_when_their_memory_is_used_again,
    a_server_serves_the_clients_that_stay,
    a_lock_server_passes_over_clients_that_gave_up,
    the_next_in_line_gets_the_lock,
);

/// The nacks of all performances, in the order of their guards.
#[derive(Default)]
struct Nacks(Mutex<Vec<Nack>>);

impl Nacks {
    /// Returns `event` with a nack that is kept here.
    fn keep<'a, T: Send + 'a, E>(&'a self, event: E) -> BoxEvent<'a, T>
    where
        E: Event<Output = T> + Clone + Send + Sync + 'a,
    {
        with_nack(move |nack| {
            self.0.lock().unwrap().push(nack);
            event.clone()
        })
        .boxed()
    }

    fn take(&self) -> Vec<Nack> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Returns `true` if the performance has lost. Checks that several ways of asking agree.
#[track_caller]
fn lost(nack: &Nack) -> bool {
    let ready = nack.poll().is_some();
    assert_eq!(nack.is_lost(), ready);
    assert_eq!(nack.poll().is_some(), ready, "a nack is ready for good, or never");
    assert_eq!(nack.clone().poll().is_some(), ready);
    assert!(!(ready && nack.is_taken()));
    ready
}

/// Case 26: a sync, a failed poll, a timeout.
async fn the_winners_nack_is_never_ready_a_losers_is(cx: Cx) {
    let nacks = Nacks::default();
    for first in [true, false] {
        let ready = |wanted: bool| if wanted { always(1).boxed() } else { never().boxed() };
        let event = choose((
            with_nack(|nack| (nacks.0.lock().unwrap().push(nack), ready(first)).1),
            with_nack(|nack| (nacks.0.lock().unwrap().push(nack), ready(!first)).1),
        ));
        for synced in [true, false] {
            let value = if synced { cx.sync(&event).await } else { event.poll().unwrap() };
            assert_eq!(value, 1);
            let told = nacks.take();
            assert_eq!([lost(&told[0]), lost(&told[1])], [!first, first]);
            assert_eq!([told[0].is_taken(), told[1].is_taken()], [first, !first]);
            for _ in 0..3 {
                cx.sync(&told[usize::from(first)]).await;
            }
        }
    }
    let unready = nacks.keep(never::<()>());
    assert_eq!(unready.poll(), None);
    assert_eq!(choose((&unready, never())).poll(), None);
    cx.sync(choose((&unready, after(Duration::from_millis(1))))).await;
    let told = nacks.take();
    assert!(told.len() == 3 && told.iter().all(lost));
    cx.sync(&told[2]).await;
}

/// Case 27.
async fn two_that_lose_are_both_told(cx: Cx) {
    let nacks = Nacks::default();
    let (_tx, rx) = channel::<u32>();
    let time = after(Duration::from_millis(1)).wrap(|()| 3);
    for winner in [always(3).boxed(), time.boxed()] {
        let receive = nacks.keep(never::<u32>());
        let other = choose(vec![nacks.keep(never::<u32>()), rx.recv_evt().wrap(|_| 0).boxed()]);
        assert_eq!(cx.sync(choose((receive, winner, other))).await, 3);
        let told = nacks.take();
        assert!(told.len() == 2 && told.iter().all(lost));
    }
}

/// Case 28: the panic continues to the performer.
async fn a_panicking_guard_tells_those_to_its_left(cx: Cx) {
    let nacks = Arc::new(Nacks::default());
    let performer = {
        let nacks = nacks.clone();
        cx.spawn(move |cx| async move {
            let broken = guard(|| -> lisle::event::Always<u32> { resume_unwind(Box::new("second")) });
            let broken_too = with_nack(|nack| -> lisle::event::Always<u32> {
                nacks.0.lock().unwrap().push(nack);
                resume_unwind(Box::new("third"))
            });
            let first = choose((nacks.keep(always(1)), nacks.keep(never())));
            let (third, fourth) = (broken_too, nacks.keep(always(4)));
            cx.sync(choose((first, broken, third, fourth))).await
        })
    };
    let panic = cx.join_caught(performer).await.unwrap_err();
    assert_eq!(*panic.downcast::<&str>().unwrap(), "second");
    let told = nacks.take();
    assert!(told.len() == 2 && told.iter().all(lost), "the guards to the right did not run");
    // An event whose own guard panics has lost as well.
    let performer = {
        let nacks = nacks.clone();
        cx.spawn(move |cx| async move {
            let broken = with_nack(|nack| -> lisle::event::Always<u32> {
                nacks.0.lock().unwrap().push(nack);
                resume_unwind(Box::new("itself"))
            });
            cx.sync(broken).await
        })
    };
    assert!(cx.join_caught(performer).await.is_err());
    assert!(nacks.take().iter().all(lost));
}

/// Case 29: cancelled while it waits, here by an event of its own choice.
async fn a_cancelled_performer_tells(cx: Cx) {
    let (request, requests) = channel::<Nack>();
    let (cancel, cancelled) = channel::<()>();
    let performer = cx.spawn(move |cx| async move {
        cx.go_apart().await;
        let asked = with_nack(|nack| {
            request.send(nack).unwrap();
            never::<bool>()
        });
        cx.sync(choose((asked, cancelled.recv_evt().wrap(|_| false)))).await
    });
    let nack = requests.recv().unwrap();
    assert!(!lost(&nack) && !nack.is_taken());
    let waiting = {
        let nack = nack.clone();
        cx.spawn(move |cx| async move { cx.sync(choose((nack, never()))).await })
    };
    cx.sync(cancel.send_evt(())).await.unwrap();
    cx.sync(&nack).await;
    assert!(!cx.join(performer).await);
    cx.join(waiting).await;
}

/// Case 29, for a future that is dropped while it waits, and for one that is dropped after its
/// commit. Neither takes anything.
#[test]
fn a_dropped_future_tells() {
    let _watched = watched();
    let nacks = Nacks::default();
    let (tx, rx) = channel::<u32>();
    let asked = || {
        with_nack(|nack| {
            nacks.0.lock().unwrap().push(nack);
            rx.recv_evt()
        })
    };
    for committed in [false, true] {
        {
            let mut alone = pin!(asked().future());
            let mut chosen = pin!(choose((never(), asked())).future());
            let mut noop = Context::from_waker(Waker::noop());
            assert!(alone.as_mut().poll(&mut noop).is_pending());
            assert!(chosen.as_mut().poll(&mut noop).is_pending());
            assert!(nacks.0.lock().unwrap().iter().all(|nack| !lost(nack) && !nack.is_taken()));
            if committed {
                tx.try_send(1).unwrap();
                tx.try_send(2).unwrap();
                assert!(nacks.0.lock().unwrap().iter().all(|nack| !lost(nack)));
            }
        }
        let told = nacks.take();
        assert!(told.len() == 2 && told.iter().all(lost));
    }
    let mut taken = pin!(asked().future());
    assert!(taken.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    tx.try_send(3).unwrap();
    assert_eq!(taken.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(3)));
    assert!(nacks.take().iter().all(|nack| nack.is_taken() && !lost(nack)));
    // A future that is never polled has not begun.
    drop(asked().future());
    assert!(nacks.take().is_empty());
}

/// Case 29, for fibers that are unwound where they wait when their runtime ends: in the event, or
/// in a guard to its right.
#[test]
fn fibers_that_are_shut_down_tell() {
    let _watched = watched();
    for domains in [1, 2] {
        let runtime = Runtime::builder().domains(domains).start().unwrap();
        let (request, requests) = channel::<Nack>();
        let fibers: Vec<_> = (0..20)
            .map(|i| {
                let request = request.clone();
                runtime.spawn(move || {
                    let asked = || {
                        with_nack(|nack| {
                            request.send(nack).unwrap();
                            never::<()>()
                        })
                    };
                    let (_tx, rx) = channel::<()>();
                    match i % 3 {
                        0 => asked().sync(),
                        1 => choose((asked(), asked())).sync(),
                        _ => choose((asked(), guard(|| (rx.recv(), always(())).1))).sync(),
                    }
                })
            })
            .collect();
        let told: Vec<Nack> = (0..27).map(|_| requests.recv().unwrap()).collect();
        assert!(told.iter().all(|nack| !lost(nack) && !nack.is_taken()));
        assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
        assert!(told.iter().all(lost));
        told.iter().for_each(|nack| nack.sync());
        assert!(fibers.into_iter().all(|fiber| fiber.join().is_err_and(|error| error.is_cancelled())));
    }
}

/// Case 30.
async fn a_hundred_nested_nacks_around_the_winner(cx: Cx) {
    let nacks = Nacks::default();
    fn nested(nacks: &Nacks, depth: usize) -> BoxEvent<'_, u32> {
        with_nack(move |nack| {
            nacks.0.lock().unwrap().push(nack);
            match depth {
                0 => always(30).boxed(),
                _ => nested(nacks, depth - 1),
            }
        })
        .boxed()
    }
    assert_eq!(cx.sync(nested(&nacks, 99)).await, 30);
    let told = nacks.take();
    assert!(told.len() == 100 && told.iter().all(|nack| nack.is_taken() && !lost(nack)));
    // The same nacks around an event that loses: all of them are ready.
    let stops = choose((nested(&nacks, 99).replace(|_| never()), always(31)));
    while cx.sync(&stops).await == 31 && nacks.0.lock().unwrap().iter().any(Nack::is_taken) {
        // The first stage was earlier and has taken its event. The second is never ready.
        assert!(nacks.take().iter().all(|nack| nack.is_taken() && !lost(nack)));
    }
    let told = nacks.take();
    assert!(told.len() == 100 && told.iter().all(lost));
}

/// A tree of choices with a nack at each inner node. The nacks on the path to the winner are taken,
/// and all others are lost.
async fn a_nack_in_every_place_of_a_tree(cx: Cx) {
    let nacks = Arc::new(Mutex::new(vec![None; 13]));
    let leaves: Arc<Vec<Semaphore>> = Arc::new((0..9).map(|_| Semaphore::new(0)).collect());
    let at = |place: usize, nack: Nack| nacks.lock().unwrap()[place] = Some(nack);
    let leaf = |leaf: usize| {
        let leaves = &leaves;
        let at = &at;
        with_nack(move |nack| {
            at(4 + leaf, nack);
            leaves[leaf].take_evt().wrap(move |()| leaf)
        })
    };
    let inner = |inner: usize| {
        let (at, leaf) = (&at, &leaf);
        with_nack(move |nack| {
            at(1 + inner, nack);
            choose([0, 1, 2].map(|i| leaf(inner * 3 + i)))
        })
    };
    let tree = with_nack(|nack| {
        at(0, nack);
        choose((inner(0), choose((inner(1), inner(2)))))
    });
    for winner in 0..9 {
        let poster = {
            let leaves = leaves.clone();
            cx.spawn(move |_| async move { leaves[winner].post() })
        };
        assert_eq!(cx.sync(&tree).await, winner);
        cx.join(poster).await;
        for (place, nack) in std::mem::replace(&mut *nacks.lock().unwrap(), vec![None; 13]).iter().enumerate()
        {
            let nack = nack.as_ref().expect("every guard has run");
            let taken = place == 0 || place == 1 + winner / 3 || place == 4 + winner;
            assert_eq!((nack.is_taken(), lost(nack)), (taken, !taken), "place {place}, winner {winner}");
        }
    }
}

/// Case 31: a client that does not listen continues to wait, and receives a later answer.
async fn a_cancel_that_is_ignored_is_no_nack(cx: Cx) {
    let cancel = Arc::new(Condition::new());
    let (request, requests) = channel::<Nack>();
    let (reply, replies) = channel::<u32>();
    let client = {
        let cancel = cancel.clone();
        cx.spawn(move |cx| async move {
            cx.go_apart().await;
            let asked = with_nack(|nack| (request.send(nack).unwrap(), replies.recv_evt()).1);
            // The cancel is masked: the client looks at the condition after the answer, and not
            // before.
            let answer = cx.sync(asked).await;
            cx.sync(cancel.wait_evt()).await;
            answer
        })
    };
    let nack = requests.recv().unwrap();
    assert!(cancel.signal());
    cx.yield_now().await;
    assert!(!lost(&nack));
    cx.sync(reply.send_evt(31)).await.unwrap();
    assert_eq!(cx.join(client).await, Ok(31));
    assert!(nack.is_taken() && !lost(&nack));
}

async fn losers_are_told_before_the_winners_wrap_runs(cx: Cx) {
    let nacks = Nacks::default();
    let check = |value: u32| {
        let told = nacks.0.lock().unwrap();
        assert_eq!(told.iter().map(lost).collect::<Vec<_>>(), [true, true, false, true, true]);
        assert!(told[2].is_taken());
        // A nack that is ready can be waited for, even here.
        told[0].sync();
        value + 1
    };
    let semaphore = Arc::new(Semaphore::new(0));
    let poster = {
        let semaphore = semaphore.clone();
        cx.spawn(move |cx| async move {
            for _ in 0..10 {
                cx.yield_now().await;
                semaphore.post();
            }
        })
    };
    for _ in 0..10 {
        let left = choose((nacks.keep(never::<u32>()), nacks.keep(never())));
        let wins = with_nack(|nack| {
            nacks.0.lock().unwrap().push(nack);
            semaphore.take_evt().wrap(|()| 1).wrap(check)
        });
        let right = choose(vec![nacks.keep(never()), nacks.keep(never())]);
        assert_eq!(cx.sync(choose((left, wins.wrap(check), right)).wrap(check)).await, 4);
        nacks.take();
    }
    cx.join(poster).await;
}

async fn a_winner_whose_wrap_panics_has_taken(cx: Cx) {
    let nacks = Arc::new(Nacks::default());
    let performer = {
        let nacks = nacks.clone();
        cx.spawn(move |cx| async move {
            let panics = nacks.keep(always(1)).wrap(|_| -> u32 { resume_unwind(Box::new("the wrap")) });
            cx.sync(choose((nacks.keep(never()), panics))).await
        })
    };
    assert!(cx.join_caught(performer).await.is_err());
    let told = nacks.take();
    assert!(lost(&told[0]) && told[1].is_taken() && !lost(&told[1]));
}

async fn every_waiter_for_a_nack_is_woken(cx: Cx) {
    for _ in 0..scaled(50, 5) {
        let (request, requests) = bounded::<Nack>(1);
        let (cancel, cancelled) = bounded::<()>(1);
        let performer = cx.spawn(move |cx| async move {
            let asked = with_nack(|nack| (request.try_send(nack).unwrap(), never::<()>()).1);
            cx.sync(choose((asked, cancelled.recv_evt().wrap(drop)))).await;
        });
        let nack = cx.sync(requests.recv_evt()).await.unwrap();
        let waiters: Vec<_> = (0..7)
            .map(|i| {
                let nack = nack.clone();
                cx.spawn(move |cx| async move {
                    match i % 3 {
                        0 => cx.sync(nack).await,
                        1 => cx.sync(choose((never(), &nack, &nack))).await,
                        _ => cx.sync(choose(vec![nack.boxed(), never().boxed()])).await,
                    }
                })
            })
            .collect();
        cx.yield_now().await;
        cx.sync(cancel.send_evt(())).await.unwrap();
        cx.join_all(waiters).await;
        cx.join(performer).await;
    }
}

/// The states of nacks are reused for later performances, but only after all handles are gone.
async fn nacks_are_not_confused_when_their_memory_is_used_again(cx: Cx) {
    let nacks = Nacks::default();
    let held = Mutex::new(VecDeque::new());
    for round in 0..scaled(2_000, 400) {
        let wins = round % 3 == 0;
        let event = choose((nacks.keep(never::<bool>()).wrap(|_| false), nacks.keep(always(true))));
        let poll = nacks.keep(never::<()>());
        if wins {
            assert!(cx.sync(&event).await);
        } else {
            assert_eq!(poll.poll(), None);
        }
        let mut held = held.lock().unwrap();
        for (place, nack) in nacks.take().into_iter().enumerate() {
            held.push_back((nack, wins && place == 1));
        }
        while held.len() > round % 90 {
            held.pop_front();
        }
        assert!(held.iter().all(|(nack, taken)| (nack.is_taken(), lost(nack)) == (*taken, !taken)));
    }
}

/// The request of a client: its number, the channel for the answer, and a nack that tells that the
/// client has gone. Each performance has its own reply channel, so no answer reaches a later
/// performance.
#[derive(Clone)]
struct Request {
    client: usize,
    reply: Sender<usize>,
    gone: Nack,
}

/// Case 32: a server offers its answer until it is taken or the client has gone. The counts of both
/// sides agree.
async fn a_server_serves_the_clients_that_stay(cx: Cx) {
    let rounds = scaled(40, 8);
    let clients = 6;
    // It has room, because a guard that waits would block a thread of an executor.
    let (request, requests) = bounded::<Request>(rounds * clients);
    let server = cx.spawn(move |cx| async move {
        let mut served = [0; 6];
        let mut left = 0;
        while let Ok(Request { client, reply, gone }) = cx.sync(requests.recv_evt()).await {
            // The reply channel of a client that has gone may be closed by now. That means the
            // same.
            let reply = reply.send_evt(client * 10).wrap(|sent| sent.is_ok());
            let answered = choose((reply, (&gone).wrap(|()| false)));
            if cx.sync(answered).await {
                served[client] += 1;
                assert!(!lost(&gone), "it has gone, and was served");
            } else {
                left += 1;
                assert!(lost(&gone));
            }
        }
        (served, left)
    });
    let performers: Vec<_> = (0..clients)
        .map(|client| {
            let request = request.clone();
            cx.spawn(move |cx| async move {
                let mut served = 0;
                for round in 0..rounds {
                    let (reply, replies) = channel::<usize>();
                    let asked = with_nack(|gone| {
                        request.send(Request { client, reply: reply.clone(), gone }).unwrap();
                        replies.recv_evt().wrap(Result::ok)
                    });
                    // Some clients stay, some leave at once, and some leave at a time when it may
                    // just be their turn.
                    let leave = match (client + round) % 3 {
                        0 => never().boxed(),
                        1 => always(None).boxed(),
                        _ => after(Duration::from_micros(round as u64 * 7)).wrap(|()| None).boxed(),
                    };
                    match cx.sync(choose((asked, leave))).await {
                        Some(answer) => {
                            assert_eq!(answer, client * 10);
                            served += 1;
                        }
                        None => assert_ne!((client + round) % 3, 0, "it has no way to leave"),
                    }
                }
                served
            })
        })
        .collect();
    let counted = cx.join_all(performers).await;
    drop(request);
    let (served, left) = cx.join(server).await;
    assert_eq!(served.to_vec(), counted);
    assert_eq!(served.iter().sum::<usize>() + left, rounds * clients);
}

/// A request for the lock, for its release, or for the end of the server.
#[derive(Clone)]
enum LockRequest {
    Acquire { client: usize, granted: Sender<()>, gone: Nack },
    Release { client: usize },
    Stop,
}

/// Serves a lock in the order of the requests, and skips clients that have gone. Returns the order
/// in which clients held it.
async fn lock_server(cx: Cx, requests: Receiver<LockRequest>) -> Vec<usize> {
    let mut order = Vec::new();
    let mut waiting = VecDeque::new();
    let mut holder = None;
    loop {
        match cx.sync(requests.recv_evt()).await.unwrap() {
            LockRequest::Acquire { client, granted, gone } => waiting.push_back((client, granted, gone)),
            LockRequest::Release { client } => assert_eq!(holder.take(), Some(client)),
            LockRequest::Stop => return order,
        }
        while holder.is_none() && !waiting.is_empty() {
            let (client, granted, gone) = waiting.pop_front().expect("not empty");
            let grant = choose((granted.send_evt(()).wrap(|sent| sent.is_ok()), (&gone).wrap(|()| false)));
            if cx.sync(grant).await {
                order.push(client);
                holder = Some(client);
            }
        }
    }
}

/// Waits for the lock until `leave` is ready. Returns `true` if the client got the lock.
async fn acquire<E>(cx: &Cx, server: &Sender<LockRequest>, client: usize, leave: E) -> bool
where
    E: Event<Output = ()> + Send,
{
    let (granted, grants) = channel::<()>();
    let acquire = with_nack(|gone| {
        server.send(LockRequest::Acquire { client, granted: granted.clone(), gone }).unwrap();
        grants.recv_evt().wrap(|granted| granted.is_ok())
    });
    cx.sync(choose((acquire, leave.wrap(|()| false)))).await
}

/// Case 33.
async fn the_next_in_line_gets_the_lock(cx: Cx) {
    let (server, requests) = bounded(1_000);
    let serving = cx.spawn(|cx| lock_server(cx, requests));
    assert!(acquire(&cx, &server, 0, never()).await);
    // Two clients wait in the queue. The first of them gives up by a timeout.
    assert!(!acquire(&cx, &server, 1, after(Duration::from_millis(1))).await);
    let next = {
        let server = server.clone();
        cx.spawn(move |cx| async move {
            assert!(acquire(&cx, &server, 2, never()).await);
            server.send_evt(LockRequest::Release { client: 2 }).sync().unwrap();
        })
    };
    cx.sync(server.send_evt(LockRequest::Release { client: 0 })).await.unwrap();
    cx.join(next).await;
    cx.sync(server.send_evt(LockRequest::Stop)).await.unwrap();
    assert_eq!(cx.join(serving).await, [0, 2]);
}

/// Case 33, with many clients that give up at any time. One client at a time holds the lock, and
/// never one that has left.
async fn a_lock_server_passes_over_clients_that_gave_up(cx: Cx) {
    let rounds = scaled(40, 8);
    let (server, requests) = bounded(1_000);
    let serving = cx.spawn(|cx| lock_server(cx, requests));
    let inside = Arc::new(Mutex::new(()));
    let clients: Vec<_> = (0..6)
        .map(|client| {
            let (server, inside) = (server.clone(), inside.clone());
            cx.spawn(move |cx| async move {
                let mut held = 0;
                for round in 0..rounds {
                    let patience = Duration::from_micros(((client * round) % 5) as u64 * 40);
                    let leave = if client % 2 == 0 { never().boxed() } else { after(patience).boxed() };
                    if acquire(&cx, &server, client, leave).await {
                        drop(inside.try_lock().expect("one holds the lock at a time"));
                        held += 1;
                        cx.sync(server.send_evt(LockRequest::Release { client })).await.unwrap();
                    } else {
                        assert!(client % 2 == 1, "it would have waited");
                    }
                }
                held
            })
        })
        .collect();
    let held = cx.join_all(clients).await;
    cx.sync(server.send_evt(LockRequest::Stop)).await.unwrap();
    let order = cx.join(serving).await;
    for (client, held) in held.into_iter().enumerate() {
        assert_eq!(order.iter().filter(|had| **had == client).count(), held);
        assert!(client % 2 == 1 || held == rounds);
    }
}
