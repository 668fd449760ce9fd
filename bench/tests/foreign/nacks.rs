//! Negative acknowledgements that tasks wait for and cause.

use crate::support::{Cx, executors, scaled, vary};
use futures::FutureExt;
use lisle::channel::{Receiver, Sender, bounded};
use lisle::event::{BoxEvent, Nack, guard, with_nack};
use lisle::time::after;
use lisle::{Event, always, channel, choose, never};
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::time::Duration;

executors!(
    only_losers_are_told,
    two_losers_are_both_told,
    a_guard_that_panics_tells_those_before_it,
    a_cancelled_task_tells,
    none_of_a_hundred_around_the_winner_is_told,
    a_server_serves_exactly_those_that_stayed,
    a_waiter_that_gives_up_a_lock_is_passed_over,
);

/// The event that `make` gives, its nack left in `nacks`.
fn nacked<'a, E: Event + Send + 'a>(
    nacks: &'a Mutex<Vec<Nack>>,
    make: impl Fn() -> E + Send + Sync + 'a,
) -> impl Event<Output = E::Output> + Send + Sync + 'a {
    with_nack(move |nack| {
        nacks.lock().unwrap().push(nack);
        make()
    })
}

fn taken(nacks: &Mutex<Vec<Nack>>) -> Vec<Nack> {
    std::mem::take(&mut *nacks.lock().unwrap())
}

/// Case 26.
async fn only_losers_are_told(_: Cx) {
    let nacks = Mutex::new(Vec::new());
    let event = choose((nacked(&nacks, || always(1)), nacked(&nacks, never)));
    assert_eq!((&event).future().await, 1);
    let [winner, loser] = taken(&nacks).try_into().unwrap();
    assert!(winner.poll().is_none() && winner.is_taken());
    for _ in 0..3 {
        loser.clone().await;
    }

    assert_eq!(nacked(&nacks, never::<()>).poll(), None);
    taken(&nacks).remove(0).await;

    let timeout = after(Duration::from_millis(1)).wrap(|()| 2);
    assert_eq!(choose((nacked(&nacks, never), timeout)).await, 2);
    taken(&nacks).remove(0).await;
}

/// Case 27.
async fn two_losers_are_both_told(_: Cx) {
    let nacks = Mutex::new(Vec::new());
    assert_eq!(choose((nacked(&nacks, never), always(3), nacked(&nacks, never))).await, 3);
    let nacks = taken(&nacks);
    assert_eq!(nacks.len(), 2);
    for nack in nacks {
        nack.await;
    }
}

/// Case 28.
async fn a_guard_that_panics_tells_those_before_it(_: Cx) {
    let nacks = Mutex::new(Vec::new());
    let event =
        choose((nacked(&nacks, never), guard(|| -> lisle::event::Always<()> { panic!("not today") })));
    let panic = AssertUnwindSafe(event.future()).catch_unwind().await.unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"not today"));
    taken(&nacks).remove(0).await;
}

/// Case 29: tokio's `abort`, smol's `cancel`.
async fn a_cancelled_task_tells(cx: Cx) {
    for _ in 0..scaled(1_000, 100) {
        let (nacks, nack) = bounded::<Nack>(1);
        let task = cx.spawn(async move {
            let request = with_nack(|nack| {
                nacks.try_send(nack).unwrap();
                never::<()>()
            });
            choose((request, never())).await;
        });
        let nack = nack.recv_evt().await.unwrap();
        for _ in 0..vary(3) {
            cx.yield_now().await;
        }
        assert!(!nack.is_lost());
        // Somebody may wait for it already.
        let waiter = cx.spawn(nack.clone().into_future());
        assert!(task.cancel().await.is_none());
        assert!(nack.is_lost());
        waiter.join().await;
    }
}

/// Case 30.
async fn none_of_a_hundred_around_the_winner_is_told(cx: Cx) {
    fn nested<'a>(depth: usize, nacks: &'a Mutex<Vec<Nack>>) -> BoxEvent<'a, usize> {
        match depth {
            0 => always(7).boxed(),
            _ => nacked(nacks, move || nested(depth - 1, nacks)).boxed(),
        }
    }
    let nacks = Mutex::new(Vec::new());
    assert_eq!(choose((nested(100, &nacks), never())).await, 7);
    cx.yield_now().await;
    let nacks = taken(&nacks);
    assert_eq!(nacks.len(), 100);
    assert!(nacks.iter().all(|nack| nack.poll().is_none() && nack.is_taken()));
}

/// Case 32.
async fn a_server_serves_exactly_those_that_stayed(cx: Cx) {
    let clients = scaled(1_000, 200);
    let (requests, requested) = bounded::<(Sender<usize>, Nack)>(clients);
    let tasks: Vec<_> = (0..clients)
        .map(|id| {
            let requests = requests.clone();
            cx.spawn(async move {
                let (reply, replies) = channel::<usize>();
                let request = with_nack(|nack| {
                    requests.try_send((reply.clone(), nack)).expect("there is room for all");
                    replies.recv_evt()
                });
                lisle::select! {
                    await;
                    answer = request => {
                        answer.unwrap();
                        true
                    }
                    () = after(Duration::from_micros(vary(3_000) as u64)), if id % 2 == 0 => false,
                }
            })
        })
        .collect();
    drop(requests);
    let (mut served, mut left) = (0, 0);
    while let Ok((reply, nack)) = requested.recv_evt().await {
        if vary(4) == 0 {
            cx.sleep(Duration::from_micros(100)).await;
        }
        lisle::select! {
            await;
            // A client that has left has closed its channel, too.
            sent = reply.send_evt(served) => match sent {
                Ok(()) => served += 1,
                Err(_) => left += 1,
            },
            () = nack => left += 1,
        }
    }
    let stayed = cx.join_all(tasks).await.into_iter().filter(|&stayed| stayed).count();
    assert_eq!((served, left), (stayed, clients - stayed));
    assert!(served >= clients / 2, "every second one is patient");
}

/// A request to a lock server: the channel that tells the client that it has the lock, and the
/// event that the client has given up.
type Request = (Sender<()>, Nack);

/// Serves one lock: to one client at a time, in the order of asking, and only to clients that still
/// wait.
async fn lock_server(requests: Receiver<Request>, releases: Receiver<()>) {
    let mut queue = VecDeque::<Request>::new();
    let mut held = false;
    loop {
        let next = queue.front().filter(|_| !held);
        lisle::select! {
            await;
            request = requests.recv_evt() => match request {
                Ok(request) => queue.push_back(request),
                Err(_) => return,
            },
            _ = releases.recv_evt(), if held => held = false,
            granted = next.unwrap().0.send_evt(()), if next.is_some() => {
                held = granted.is_ok();
                queue.pop_front();
            }
            () = &next.unwrap().1, if next.is_some() => drop(queue.pop_front()),
        }
    }
}

/// Case 33.
async fn a_waiter_that_gives_up_a_lock_is_passed_over(cx: Cx) {
    let (requests, requested) = bounded::<Request>(8);
    let (release, released) = bounded::<()>(1);
    let server = cx.spawn(lock_server(requested, released));
    let lock = |patience: Duration| {
        let requests = requests.clone();
        async move {
            let (grant, granted) = channel::<()>();
            let lock = with_nack(|nack| {
                requests.try_send((grant.clone(), nack)).expect("there is room");
                granted.recv_evt()
            });
            choose((lock.wrap(|granted| granted.is_ok()), after(patience).wrap(|()| false))).await
        }
    };
    let hour = Duration::from_secs(3_600);
    for _ in 0..scaled(100, 20) {
        assert!(lock(hour).await);
        let impatient = cx.spawn(lock(Duration::from_millis(1)));
        assert!(!impatient.join().await, "the lock is held");
        let next = cx.spawn(lock(hour));
        cx.yield_now().await;
        release.send_evt(()).await.unwrap();
        assert!(next.join().await, "the next in line gets it");
        release.send_evt(()).await.unwrap();
    }
    drop(requests);
    server.join().await;
}
