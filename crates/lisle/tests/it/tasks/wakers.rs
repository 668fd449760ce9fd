//! Wakes of tasks: from everywhere, often, too late; and futures that move from one task to another
//! while they wait.

use super::{Boxed, come_back, everywhere, until};
use crate::support::{Executor, block_on, on_domains, scaled, watched};
use lisle::{Event, Runtime, channel, choose, spawn_task};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;

/// A number of marks to wait for, which others set.
#[derive(Default)]
struct Marks {
    set: AtomicUsize,
    waker: Mutex<Option<Waker>>,
}

impl Marks {
    async fn wait(&self, count: usize) {
        poll_fn(|context| {
            *self.waker.lock().unwrap() = Some(context.waker().clone());
            if self.set.load(Ordering::SeqCst) >= count { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn set(&self) {
        self.set.fetch_add(1, Ordering::SeqCst);
        let waker = self.waker.lock().unwrap().clone();
        waker.into_iter().for_each(Waker::wake);
    }
}

#[test]
fn foreign_threads_wake_it_over_and_over() {
    everywhere(|| {
        let rounds = scaled(10_000, 2_000);
        let marks = Arc::new(Marks::default());
        let waits = marks.clone();
        let task = spawn_task(async move {
            for count in (1..=3 * rounds).step_by(7) {
                waits.wait(count).await;
            }
            waits.wait(3 * rounds).await;
        });
        let threads = [(); 3].map(|()| {
            let marks = marks.clone();
            thread::spawn(move || (0..rounds).for_each(|_| marks.set()))
        });
        until(|| task.is_finished());
        task.join().unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Each turn ends because of one mark at most. No mark is lost during the park.
#[test]
fn no_wake_is_lost_beside_the_park() {
    let _watched = watched();
    Runtime::builder().domains(2).run(|| {
        let marks = Arc::new(Marks::default());
        for round in 1..=scaled(50_000, 5_000) {
            let waits = marks.clone();
            let task = spawn_task(async move { waits.wait(round).await });
            let sets = marks.clone();
            let wakes = lisle::fiber::spawn_on(round % 2, move || sets.set());
            task.join().unwrap();
            wakes.join().unwrap();
        }
    });
}

/// A waiting future moves from a task to another task, to a thread, to a foreign executor, and
/// back.
#[test]
fn a_future_goes_from_one_to_another_while_it_waits() {
    let _watched = watched();
    let executor = Executor::new(2);
    for domains in [1, 2] {
        let runtime = Runtime::builder().domains(domains).start().unwrap();
        for round in 0..scaled(2_000, 200) {
            let (tx, rx) = channel::<usize>();
            let (other, others) = channel::<usize>();
            let receives = async move { choose((rx.recv_evt(), others.recv_evt())).await.unwrap() };
            let mut future: Boxed<usize> = Box::pin(receives);
            let sends = thread::spawn(move || {
                if round % 2 == 0 { tx.send(round).map_err(drop) } else { other.send(round).map_err(drop) }
                    .unwrap();
                drop((tx, other));
            });
            let mut got = None;
            for stage in 0..4 {
                let (back, backs) = lisle::channel::bounded(1);
                // Polls once, and passes the future on.
                let once = async move {
                    let polled = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
                    back.try_send((polled, future)).map_err(drop).unwrap();
                };
                match (stage + round) % 4 {
                    0 => runtime.run(|| spawn_task(once).join().unwrap()),
                    1 => runtime.run(|| {
                        spawn_task(async move {
                            come_back().await;
                            once.await;
                        })
                        .join()
                        .unwrap();
                    }),
                    2 => block_on(once),
                    _ => executor.spawn(once),
                }
                let (polled, handed_back) = backs.recv().unwrap();
                future = handed_back;
                if let Poll::Ready(value) = polled {
                    got = Some(value);
                    break;
                }
            }
            let got = got.unwrap_or_else(|| match round % 3 {
                0 => runtime.run(|| spawn_task(future).join().unwrap()),
                1 => block_on(future),
                _ => spawn_task(future).join().unwrap(),
            });
            assert_eq!(got, round);
            sends.join().unwrap();
        }
        drop(runtime);
    }
}

/// The future is dropped by a performer that was not the last to poll it.
#[test]
fn a_future_is_dropped_by_another_while_it_waits() {
    on_domains(|| {
        for round in 0..scaled(5_000, 1_000) {
            let (tx, rx) = channel::<usize>();
            let receiver = rx.clone();
            let mut future: Boxed<usize> =
                Box::pin(async move { receiver.recv_evt().await.unwrap_or(round) });
            let (back, backs) = lisle::channel::bounded(1);
            drop(spawn_task(async move {
                // It waits, unless this task was queued and begins after the send.
                let _ = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
                back.try_send(future).map_err(drop).unwrap();
            }));
            let sends = lisle::spawn(move || tx.try_send(round));
            let future = backs.recv().unwrap();
            if round % 2 == 0 {
                drop(future)
            } else {
                spawn_task(async { drop(future) }).join().unwrap()
            }
            let sent = sends.join().unwrap();
            assert!(rx.try_recv().is_err(), "{sent:?}");
        }
    });
}

/// A task drives other futures: it is an executor of its own.
#[test]
fn foreign_executors_in_tasks() {
    on_domains(|| {
        let tasks: Vec<_> = (0..20)
            .map(|i| {
                spawn_task(async move {
                    let (tx, rx) = channel::<usize>();
                    // Both in one task, polled in turn.
                    let mut sends: Boxed<()> = Box::pin(async move {
                        for n in 0..10 {
                            tx.send_evt(n + i).await.unwrap();
                        }
                    });
                    let mut receives: Boxed<usize> = Box::pin(async move {
                        let mut sum = 0;
                        while let Ok(n) = rx.recv_evt().await {
                            sum += n;
                        }
                        sum
                    });
                    let mut done = false;
                    let both = poll_fn(|context| {
                        done = done || sends.as_mut().poll(context).is_ready();
                        if done {
                            sends = Box::pin(async {});
                        }
                        receives.as_mut().poll(context)
                    });
                    let first = both.await;
                    // This one blocks in place.
                    let (tx, rx) = channel::<usize>();
                    let inner = spawn_task(async move { tx.send_evt(i).await.unwrap() });
                    let second = lisle::future::block_on(rx.recv_evt().future());
                    inner.await.unwrap();
                    first + second.unwrap()
                })
            })
            .collect();
        for (i, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.join().unwrap(), 45 + 10 * i + i);
        }
    });
}

/// Of many concurrent wakes, some come while the task runs, some while it is queued, and some after
/// it has ended.
#[test]
fn many_wakes_at_once() {
    let _watched = watched();
    let rounds = scaled(3_000, 300);
    let stop = Arc::new(AtomicBool::new(false));
    let place = Arc::new(Mutex::new(None::<Waker>));
    let hammers = [(); 3].map(|()| {
        let (stop, place) = (stop.clone(), place.clone());
        thread::spawn(move || {
            let mut kept = Vec::new();
            while !stop.load(Ordering::SeqCst) {
                kept.extend(place.lock().unwrap().clone());
                kept.drain(..kept.len().saturating_sub(10));
                kept.iter().for_each(Waker::wake_by_ref);
                thread::yield_now();
            }
        })
    });
    let case = || {
        for round in 0..rounds {
            let (tx, rx) = channel();
            let gives = place.clone();
            let task = spawn_task(async move {
                poll_fn(|context| {
                    *gives.lock().unwrap() = Some(context.waker().clone());
                    Poll::Ready(())
                })
                .await;
                let first = rx.recv_evt().await.unwrap();
                come_back().await;
                first + rx.recv_evt().await.unwrap()
            });
            tx.send(round).unwrap();
            if round % 3 == 0 {
                task.cancel();
                let _ = tx.try_send(0);
                assert!(task.join().map_or_else(|error| error.is_cancelled(), |_| true));
            } else {
                tx.send(1).unwrap();
                assert_eq!(task.join().unwrap(), round + 1);
            }
        }
    };
    case();
    Runtime::builder().domains(2).run(case);
    stop.store(true, Ordering::SeqCst);
    hammers.into_iter().for_each(|hammer| hammer.join().unwrap());
}
