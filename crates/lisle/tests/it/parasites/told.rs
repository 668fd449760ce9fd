//! Who waits for what, if it is a parasite.

use super::{polled, until};
use crate::support::watched;
use lisle::sync::Mutex;
use lisle::{Event, Performer, Runtime, Waiter, channel, choose, fiber, never, parasite, spawn_parasite};
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::thread;

fn start(domains: usize) -> Runtime {
    Runtime::builder().domains(domains).start().unwrap()
}

fn line(waiter: &Waiter) -> Option<u32> {
    waiter.site.filter(|site| site.file().ends_with("told.rs")).map(|site| site.line())
}

#[test]
fn operation_object_and_site_are_told() {
    let _watched = watched();
    for domains in [1, 2] {
        let runtime = start(domains);
        let (tx, rx) = channel::named::<u32>("orders", 0);
        let receives = rx.clone();
        let (handles, here) = runtime.run(|| {
            let here = line!();
            let first = spawn_parasite(async move { receives.recv_evt().await });
            let second = spawn_parasite(async move { drop(first.await) });
            let third = spawn_parasite(async { choose((never::<()>(), never())).await });
            (vec![second], (here, third))
        });
        let (here, third) = here;
        until(|| runtime.waiting().parasites.iter().filter(|waiter| !waiter.waits.is_empty()).count() == 3);
        let graph = runtime.waiting();
        let mut parasites = graph.parasites.clone();
        parasites.sort_by_key(|waiter| waiter.site.unwrap().line());
        assert_eq!(
            parasites.iter().map(line).collect::<Vec<_>>(),
            [Some(here + 1), Some(here + 2), Some(here + 3)]
        );
        assert!(parasites.iter().all(|waiter| waiter.kind == Performer::Parasite && waiter.domain.is_none()));
        let told = |waiter: &Waiter| {
            waiter.waits.iter().map(|wait| (wait.operation, wait.object.to_string())).collect::<Vec<_>>()
        };
        assert_eq!(told(&parasites[0])[0].0, "receive from");
        assert!(
            told(&parasites[0])[0].1.starts_with("channel 'orders' (made at"),
            "{:?}",
            told(&parasites[0])
        );
        assert_eq!(told(&parasites[1])[0].0, "join");
        assert!(told(&parasites[1])[0].1.starts_with("a parasite (spawned at"), "{:?}", told(&parasites[1]));
        assert_eq!(parasites[1].waits[0].held_by, [parasites[0].id]);
        let here = format!("a parasite (spawned at {}:{}:", file!(), here + 1);
        assert!(graph.to_string().contains(&here), "{graph}");
        tx.send(1).unwrap();
        handles.into_iter().for_each(|parasite| parasite.join().unwrap());
        until(|| runtime.waiting().parasites.len() == 1);
        third.cancel();
        assert!(third.join().is_err());
        until(|| runtime.waiting().parasites.is_empty());
    }
}

/// One that blocks in place is a parasite as well, on a domain.
#[test]
fn one_that_blocks_in_place_is_told() {
    let _watched = watched();
    let runtime = start(2);
    let (tx, rx) = channel::named::<u32>("orders", 0);
    let parasite = runtime.run(|| {
        spawn_parasite(async move {
            parasite::inflate().await;
            rx.recv().unwrap()
        })
    });
    let told = || {
        let graph = runtime.waiting();
        let all: Vec<Waiter> = graph.hosts.iter().chain(&graph.parasites).cloned().collect();
        assert!(all.len() < 2, "{graph}");
        all.into_iter().next().filter(|waiter| !waiter.waits.is_empty())
    };
    until(|| told().is_some());
    let told = told().unwrap();
    assert_eq!((told.kind, told.waits[0].object.name()), (Performer::Parasite, Some("orders")));
    tx.send(1).unwrap();
    assert_eq!(parasite.join().unwrap(), 1);
}

/// Asked again and again while they wait, are woken, cancelled, and end.
#[test]
fn asking_disturbs_nobody() {
    let _watched = watched();
    let runtime = start(2);
    runtime.run(|| {
        let parasites: Vec<_> = (0..20)
            .map(|i| {
                let (tx, rx) = channel::<usize>();
                let gives = spawn_parasite(async move {
                    for i in 0..500 {
                        tx.send_evt(i).await.unwrap();
                        if i % 16 == 0 {
                            parasite::yield_now().await;
                        }
                    }
                });
                let takes = spawn_parasite(async move {
                    for i in 0..500 {
                        assert_eq!(rx.recv_evt().await, Ok(i));
                    }
                });
                [gives, takes].map(|parasite| (i, parasite))
            })
            .collect();
        let mut asked = 0;
        while !parasites.iter().flatten().all(|(_, parasite)| parasite.is_finished()) {
            let graph = lisle::waiting();
            assert!(graph.parasites.len() <= 40);
            asked += 1;
            fiber::yield_now();
        }
        assert!(asked > 0);
        parasites.into_iter().flatten().for_each(|(_, parasite)| parasite.join().unwrap());
    });
}

/// What was noted is forgotten where it has been lent to others, who drop it: to a parasite on the same stack, to a
/// thread. Else whoever asks would look at what is gone.
#[test]
fn what_others_have_dropped_is_not_told() {
    let _watched = watched();
    let runtime = start(1);
    for lent_to_thread in [false, true] {
        for completed in [false, true] {
            let parasite = runtime.run(|| {
                spawn_parasite(async move {
                    let (tx, rx) = channel::named::<Box<u32>>("gone", 0);
                    let mut place =
                        pin!(Some(rx.recv_evt().wrap(move |got| (got, String::from("held"))).future()));
                    assert!(polled(place.as_mut().as_pin_mut().unwrap()).await.is_pending());
                    drop(rx.clone());
                    let lent = |place: &mut Pin<&mut Option<_>>| {
                        if completed {
                            let future: Pin<&mut lisle::event::EventFuture<_>> =
                                place.as_mut().as_pin_mut().unwrap();
                            let sent = tx.try_send(Box::new(1)).is_ok();
                            assert_eq!(crate::support::poll_once(future).is_ready(), sent);
                        }
                        place.set(None);
                    };
                    if lent_to_thread {
                        thread::scope(|scope| scope.spawn(|| lent(&mut place)).join().unwrap());
                    } else {
                        fiber::scope(|scope| {
                            scope.spawn_parasite(async { lent(&mut place) }).join().unwrap()
                        });
                    }
                    pending::<()>().await;
                })
            });
            until(|| runtime.waiting().parasites.len() == 1);
            let graph = runtime.waiting();
            assert!(graph.parasites[0].waits.is_empty(), "{graph}");
            parasite.cancel();
            assert!(parasite.join().is_err());
        }
    }
}

/// A parasite's waker in the hands of a thread, that polls futures with it.
#[test]
fn a_thread_polls_with_a_parasites_waker() {
    let _watched = watched();
    let runtime = start(2);
    let (tx, rx) = channel::<usize>();
    let (wakers, polls) = std::sync::mpsc::channel::<Waker>();
    let thread = thread::spawn({
        let rx = rx.clone();
        move || {
            let mut kept = Vec::new();
            while let Ok(waker) = polls.recv() {
                let mut future = Box::pin(rx.recv_evt().future());
                if let Poll::Ready(got) = future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
                    return got.unwrap();
                }
                kept.push(future);
                kept.truncate(3);
            }
            0
        }
    });
    let parasite = runtime.run(|| {
        spawn_parasite(async move {
            for _ in 0..200 {
                poll_fn(|context| {
                    let _ = wakers.send(context.waker().clone());
                    Poll::Ready(())
                })
                .await;
                parasite::yield_now().await;
                let mut own = pin!(rx.recv_evt().future());
                assert!(polled(own.as_mut()).await.is_pending());
            }
        })
    });
    while !parasite.is_finished() {
        drop(runtime.waiting());
    }
    parasite.join().unwrap();
    assert_eq!(thread.join().unwrap(), 0);
    drop(tx);
}

/// Two parasites that join each other's locks.
#[test]
fn a_cycle_of_parasites_is_found() {
    let _watched = watched();
    let runtime = start(2);
    let locks = [Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0))];
    let parasites = runtime.run(|| {
        let go = Arc::new(lisle::sync::Condition::new());
        let parasites = [0, 1].map(|i| {
            let (first, second, go) = (locks[i].clone(), locks[1 - i].clone(), go.clone());
            spawn_parasite(async move {
                let _first = first.lock_evt().await;
                go.wait_evt().await;
                let _second = second.lock_evt().await;
            })
        });
        until(|| locks.iter().all(|lock| lock.try_lock().is_none()));
        go.signal();
        parasites
    });
    until(|| {
        runtime
            .waiting()
            .parasites
            .iter()
            .filter(|waiter| waiter.waits.iter().any(|wait| wait.operation == "lock"))
            .count()
            == 2
    });
    let graph = runtime.waiting();
    let cycle = graph.cycle().expect("a cycle");
    assert_eq!(cycle.len(), 2, "{graph}");
    parasites[0].cancel();
    for parasite in parasites {
        drop(parasite.join());
    }
}
