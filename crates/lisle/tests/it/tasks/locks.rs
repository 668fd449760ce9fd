//! The lock-holding waker: a sender that holds a lock sends to a receiver that wants the lock as
//! soon as it has received. If the receiver continued inside the send, on the sender's stack, it
//! would wait for the lock there forever.

use crate::support::{Executor, block_on, scaled, watched};
use lisle::channel::Receiver;
use lisle::fiber::JoinHandle;
use lisle::sync::Mutex as OurMutex;
use lisle::{Runtime, channel, spawn_task, task};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Performer {
    Fiber,
    Task,
    Thread,
    Future,
}

const ALL: [Performer; 4] = [Performer::Fiber, Performer::Task, Performer::Thread, Performer::Future];

/// A counter under a lock, of each tested kind.
#[derive(Clone)]
enum Count {
    Std(Arc<Mutex<usize>>),
    Ours(Arc<OurMutex<usize>>),
}

impl Count {
    fn both() -> [Count; 2] {
        [Count::Std(Arc::default()), Count::Ours(Arc::new(OurMutex::new(0)))]
    }

    fn with<R>(&self, f: impl FnOnce(&mut usize) -> R) -> R {
        match self {
            Count::Std(lock) => f(&mut lock.lock().unwrap()),
            Count::Ours(lock) => f(&mut lock.lock()),
        }
    }

    fn get(&self) -> usize {
        self.with(|count| *count)
    }
}

/// A performer to be joined.
enum Handle {
    Fiber(JoinHandle<()>),
    Task(task::TaskHandle<()>),
    Thread(thread::JoinHandle<()>),
    Future(Receiver<()>),
}

impl Handle {
    fn join(self) {
        match self {
            Handle::Fiber(fiber) => fiber.join().unwrap(),
            Handle::Task(task) => task.join().unwrap(),
            Handle::Thread(thread) => thread.join().unwrap(),
            Handle::Future(ends) => assert!(ends.recv().is_err()),
        }
    }
}

/// The place where performers run: in a runtime or outside.
struct Place {
    runtime: Runtime,
    executor: Executor,
}

impl Place {
    /// Runs `task` concurrently with the others.
    fn run(&self, performer: Performer, task: impl Future<Output = ()> + Send + 'static) -> Handle {
        match performer {
            Performer::Fiber => Handle::Fiber(self.runtime.spawn(|| block_on_here(task))),
            Performer::Task => Handle::Task(self.runtime.run(|| spawn_task(task))),
            Performer::Thread => Handle::Thread(thread::spawn(|| block_on(task))),
            Performer::Future => {
                let (ends, ended) = channel();
                self.executor.spawn(async move {
                    task.await;
                    drop(ends);
                });
                Handle::Future(ended)
            }
        }
    }
}

fn block_on_here<F: Future>(task: F) -> F::Output {
    lisle::future::block_on(task)
}

/// Calls `f` with each pair of a sender and a receiver, on one domain and on two.
fn all_pairs(f: impl Fn(&Place, Performer, Performer)) {
    let _watched = watched();
    for domains in [1, 2] {
        let runtime = Runtime::builder().domains(domains).stall_report(None).start().unwrap();
        let place = Place { runtime, executor: Executor::new(2) };
        for sender in ALL {
            for receiver in ALL {
                f(&place, sender, receiver);
            }
        }
    }
}

/// The receiver waits already when the lock is taken and the message sent.
#[test]
fn a_lock_is_held_across_the_send() {
    all_pairs(|place, sender, receiver| {
        for count in Count::both() {
            holds_the_lock_and_tries(place, (sender, receiver), count);
        }
    });
}

fn holds_the_lock_and_tries(place: &Place, (sender, receiver): (Performer, Performer), count: Count) {
    let rounds = scaled(200, 40);
    let (tx, rx) = channel::<usize>();
    let (back, backs) = channel::<()>();
    let receives = place.run(receiver, {
        let count = count.clone();
        async move {
            for _ in 0..rounds {
                let n = rx.recv_evt().await.unwrap();
                count.with(|count| *count += n);
                back.send_evt(()).await.unwrap();
            }
        }
    });
    let sends = place.run(sender, {
        let count = count.clone();
        async move {
            for _ in 0..rounds {
                let mut sent = false;
                while !sent {
                    // The lock is held while the receiver is woken.
                    sent = count.with(|_| tx.try_send(1).is_ok());
                    if !sent {
                        task::yield_now().await;
                    }
                }
                backs.recv_evt().await.unwrap();
            }
        }
    });
    receives.join();
    sends.join();
    assert_eq!(count.get(), rounds, "{sender:?} to {receiver:?}");
}

/// The same with the event awaited under this library's lock, which may be held across an await.
#[test]
fn a_lock_is_held_across_the_awaited_send() {
    all_pairs(|place, sender, receiver| {
        let rounds = scaled(200, 40);
        let lock = Arc::new(OurMutex::new(0));
        let (tx, rx) = channel::<usize>();
        let (locks, wants) = (lock.clone(), lock.clone());
        let (back, backs) = channel::<()>();
        let receives = place.run(receiver, async move {
            for _ in 0..rounds {
                let n = rx.recv_evt().await.unwrap();
                *wants.lock_evt().await += n;
                back.send_evt(()).await.unwrap();
            }
        });
        let sends = place.run(sender, async move {
            for _ in 0..rounds {
                let mut guard = locks.lock_evt().await;
                tx.send_evt(1).await.unwrap();
                *guard += 1;
                drop(guard);
                // The lock need not be fair.
                backs.recv_evt().await.unwrap();
            }
        });
        receives.join();
        sends.join();
        assert_eq!(*lock.lock(), 2 * rounds, "{sender:?} to {receiver:?}");
    });
}
