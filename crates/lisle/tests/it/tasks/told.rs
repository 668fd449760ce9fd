//! The wait graph with tasks.

use super::{polled, until};
use crate::support::watched;
use lisle::sync::Mutex;
use lisle::{Blocked, Event, Performer, Runtime, channel, choose, fiber, never, spawn_task, task};
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::thread;

fn start(domains: usize) -> Runtime {
    Runtime::builder().domains(domains).start().unwrap()
}

fn line(waiter: &Blocked) -> Option<u32> {
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
            let first = spawn_task(async move { receives.recv_evt().await });
            let second = spawn_task(async move { drop(first.await) });
            let third = spawn_task(async { choose((never::<()>(), never())).await });
            (vec![second], (here, third))
        });
        let (here, third) = here;
        until(|| runtime.waiting().tasks.iter().filter(|waiter| !waiter.waits.is_empty()).count() == 3);
        let graph = runtime.waiting();
        let mut tasks = graph.tasks.clone();
        tasks.sort_by_key(|waiter| waiter.site.unwrap().line());
        assert_eq!(
            tasks.iter().map(line).collect::<Vec<_>>(),
            [Some(here + 1), Some(here + 2), Some(here + 3)]
        );
        assert!(tasks.iter().all(|waiter| waiter.kind == Performer::Task && waiter.domain.is_none()));
        let told = |waiter: &Blocked| {
            waiter.waits.iter().map(|wait| (wait.operation, wait.object.to_string())).collect::<Vec<_>>()
        };
        assert_eq!(told(&tasks[0])[0].0, "receive from");
        assert!(told(&tasks[0])[0].1.starts_with("channel 'orders' (made at"), "{:?}", told(&tasks[0]));
        assert_eq!(told(&tasks[1])[0].0, "join");
        assert!(told(&tasks[1])[0].1.starts_with("a task (spawned at"), "{:?}", told(&tasks[1]));
        assert_eq!(tasks[1].waits[0].held_by, [tasks[0].id]);
        let here = format!("a task (spawned at {}:{}:", file!(), here + 1);
        assert!(graph.to_string().contains(&here), "{graph}");
        tx.send(1).unwrap();
        handles.into_iter().for_each(|task| task.join().unwrap());
        until(|| runtime.waiting().tasks.len() == 1);
        third.cancel();
        assert!(third.join().is_err());
        until(|| runtime.waiting().tasks.is_empty());
    }
}

/// A task that blocks in place is listed as a task, too, with its domain.
#[test]
fn one_that_blocks_in_place_is_told() {
    let _watched = watched();
    let runtime = start(2);
    let (tx, rx) = channel::named::<u32>("orders", 0);
    let task = runtime.run(|| {
        spawn_task(async move {
            task::inflate().await;
            rx.recv().unwrap()
        })
    });
    let told = || {
        let graph = runtime.waiting();
        let all: Vec<Blocked> = graph.fibers.iter().chain(&graph.tasks).cloned().collect();
        assert!(all.len() < 2, "{graph}");
        all.into_iter().next().filter(|waiter| !waiter.waits.is_empty())
    };
    until(|| told().is_some());
    let told = told().unwrap();
    assert_eq!((told.kind, told.waits[0].object.name()), (Performer::Task, Some("orders")));
    tx.send(1).unwrap();
    assert_eq!(task.join().unwrap(), 1);
}

/// The graph is requested again and again while tasks wait, are woken, are cancelled, and end.
#[test]
fn asking_disturbs_nobody() {
    let _watched = watched();
    let runtime = start(2);
    runtime.run(|| {
        let tasks: Vec<_> = (0..20)
            .map(|i| {
                let (tx, rx) = channel::<usize>();
                let gives = spawn_task(async move {
                    for i in 0..500 {
                        tx.send_evt(i).await.unwrap();
                        if i % 16 == 0 {
                            task::yield_now().await;
                        }
                    }
                });
                let takes = spawn_task(async move {
                    for i in 0..500 {
                        assert_eq!(rx.recv_evt().await, Ok(i));
                    }
                });
                [gives, takes].map(|task| (i, task))
            })
            .collect();
        let mut asked = 0;
        while !tasks.iter().flatten().all(|(_, task)| task.is_finished()) {
            let graph = lisle::waiting();
            assert!(graph.tasks.len() <= 40);
            asked += 1;
            fiber::yield_now();
        }
        assert!(asked > 0);
        tasks.into_iter().flatten().for_each(|(_, task)| task.join().unwrap());
    });
}

/// The record of a wait is removed after the future was lent to others that drop it: to a task on
/// the same stack, to a thread. Otherwise the graph would read memory that is gone.
#[test]
fn what_others_have_dropped_is_not_told() {
    let _watched = watched();
    let runtime = start(1);
    for lent_to_thread in [false, true] {
        for completed in [false, true] {
            let task = runtime.run(|| {
                spawn_task(async move {
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
                        fiber::scope(|scope| scope.spawn_task(async { lent(&mut place) }).join().unwrap());
                    }
                    pending::<()>().await;
                })
            });
            until(|| runtime.waiting().tasks.len() == 1);
            let graph = runtime.waiting();
            assert!(graph.tasks[0].waits.is_empty(), "{graph}");
            task.cancel();
            assert!(task.join().is_err());
        }
    }
}

/// A thread owns a task's waker and polls futures with it.
#[test]
fn a_thread_polls_with_a_tasks_waker() {
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
    let task = runtime.run(|| {
        spawn_task(async move {
            for _ in 0..200 {
                poll_fn(|context| {
                    let _ = wakers.send(context.waker().clone());
                    Poll::Ready(())
                })
                .await;
                task::yield_now().await;
                let mut own = pin!(rx.recv_evt().future());
                assert!(polled(own.as_mut()).await.is_pending());
            }
        })
    });
    while !task.is_finished() {
        drop(runtime.waiting());
    }
    task.join().unwrap();
    assert_eq!(thread.join().unwrap(), 0);
    drop(tx);
}

/// Two tasks wait for each other's locks.
#[test]
fn a_cycle_of_tasks_is_found() {
    let _watched = watched();
    let runtime = start(2);
    let locks = [Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0))];
    let tasks = runtime.run(|| {
        let go = Arc::new(lisle::sync::Condition::new());
        let tasks = [0, 1].map(|i| {
            let (first, second, go) = (locks[i].clone(), locks[1 - i].clone(), go.clone());
            spawn_task(async move {
                let _first = first.lock_evt().await;
                go.wait_evt().await;
                let _second = second.lock_evt().await;
            })
        });
        until(|| locks.iter().all(|lock| lock.try_lock().is_none()));
        go.signal();
        tasks
    });
    until(|| {
        runtime
            .waiting()
            .tasks
            .iter()
            .filter(|waiter| waiter.waits.iter().any(|wait| wait.operation == "lock"))
            .count()
            == 2
    });
    let graph = runtime.waiting();
    let cycle = graph.cycle().expect("a cycle");
    assert_eq!(cycle.len(), 2, "{graph}");
    tasks[0].cancel();
    for task in tasks {
        drop(task.join());
    }
}
