//! Each primitive that a fiber can wait for orders the accesses before it with the accesses after
//! the wait.

use lisle::sync::{
    Barrier, Condition, Condvar, IVar, Latch, MVar, Mutex, OnceCell, RwLock, Semaphore, WaitGroup, Watch,
};
use lisle::{Event, channel, choose, fiber, spawn, spawn_task};
use lisle_check::Checker;
use lisle_check::cell::Cell;
use std::sync::Arc;

struct Shared(Cell<u32>);

// SAFETY: the checker checks each access before it is made.
unsafe impl Sync for Shared {}

/// `make` returns two functions: the writer calls the first when it has written; the reader calls
/// the second before it reads. The second returns `true` if it has come after the first.
#[track_caller]
fn orders<S, W>(make: impl Fn() -> (S, W) + Send + Sync + 'static)
where
    S: FnOnce() + Send + 'static,
    W: FnOnce() -> bool + Send + 'static,
{
    let verdict = Checker::new().explore(move || {
        let shared = Arc::new(Shared(Cell::new(0)));
        let (signal, wait) = make();
        let of_other = shared.clone();
        let other = spawn(move || {
            of_other.0.set(1);
            signal();
        });
        if wait() {
            assert_eq!(shared.0.get(), 1);
        }
        other.join().unwrap();
    });
    let caller = std::panic::Location::caller();
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{caller}: {verdict}");
}

/// Two handles of something that is shared.
fn two<T>(shared: T) -> (Arc<T>, Arc<T>) {
    let shared = Arc::new(shared);
    (shared.clone(), shared)
}

#[test]
fn channels() {
    orders(|| {
        let (tx, rx) = channel();
        (move || tx.send(()).unwrap(), move || rx.recv().is_ok())
    });
    orders(|| {
        let (tx, rx) = channel::bounded(1);
        (move || tx.send(()).unwrap(), move || rx.recv().is_ok())
    });
    orders(|| {
        let (tx, rx) = channel::bounded(1);
        (
            move || {
                let _ = tx.send(());
            },
            move || rx.try_recv().is_ok(),
        )
    });
    orders(|| {
        let (tx, rx) = channel::unbounded();
        (move || tx.send(()).unwrap(), move || rx.recv().is_ok())
    });
    orders(|| {
        let (tx, rx) = channel::<()>();
        (move || drop(tx), move || rx.recv().is_err())
    });
    orders(|| {
        let news = channel::Multicast::new();
        let port = news.port();
        (move || news.send(()).unwrap(), move || port.recv().is_ok())
    });
    // The sender of a rendezvous comes after the receiver as well.
    orders(|| {
        let (tx, rx) = channel();
        (move || assert!(rx.recv().is_ok()), move || tx.send(()).is_ok())
    });
    // The place in a full channel is free after the message was taken.
    orders(|| {
        let (tx, rx) = channel::bounded(1);
        tx.send(()).unwrap();
        (move || assert!(rx.recv().is_ok()), move || tx.send(()).is_ok())
    });
    orders(|| {
        let ((a, from_a), (b, from_b)) = (channel(), channel::<()>());
        (
            move || a.send(()).unwrap(),
            move || {
                let is_a =
                    choose((from_a.recv_evt().wrap(|_| true), from_b.recv_evt().wrap(|_| false))).sync();
                drop(b);
                is_a
            },
        )
    });
}

#[test]
fn cells_and_signals() {
    orders(|| {
        let (one, other) = two(IVar::new());
        (move || assert!(one.put(1).is_ok()), move || *other.get() == 1)
    });
    orders(|| {
        let (one, other) = two(MVar::new());
        (move || one.put(1), move || other.take() == 1)
    });
    orders(|| {
        let (one, other) = two(Condition::new());
        (
            move || {
                one.signal();
            },
            move || {
                other.wait();
                true
            },
        )
    });
    orders(|| {
        let (one, other) = two(Latch::new(1));
        (
            move || {
                one.count_down();
            },
            move || {
                other.wait();
                true
            },
        )
    });
    orders(|| {
        let (one, other) = two(Semaphore::new(0));
        (
            move || one.post(),
            move || {
                other.wait();
                true
            },
        )
    });
    orders(|| {
        let group = WaitGroup::new();
        let member = group.enter();
        (
            move || drop(member),
            move || {
                group.wait();
                true
            },
        )
    });
    orders(|| {
        let barrier = Barrier::new();
        let (one, other) = (barrier.enrol(), barrier.enrol());
        (
            move || {
                one.wait();
            },
            move || {
                other.wait();
                true
            },
        )
    });
    orders(|| {
        let level = Watch::new(0);
        let watcher = level.watcher();
        (
            move || {
                level.set(1);
            },
            move || watcher.wait_for(|level| *level == 1).is_ok(),
        )
    });
    orders(|| {
        let (one, other) = two(OnceCell::new());
        (move || assert_eq!(*one.get_or_init(|| 1), 1), move || other.get().is_some())
    });
}

#[test]
fn locks() {
    orders(|| {
        let (one, other) = two(Mutex::new(false));
        (move || *one.lock() = true, move || *other.lock())
    });
    orders(|| {
        let (one, other) = two(Mutex::new(false));
        (move || *one.lock() = true, move || other.try_lock().is_some_and(|is_set| *is_set))
    });
    orders(|| {
        let (one, other) = two(RwLock::new(false));
        (move || *one.write() = true, move || *other.read())
    });
    orders(|| {
        let (one, other) = two((Mutex::new(false), Condvar::new()));
        (
            move || {
                *one.0.lock() = true;
                one.1.notify_one();
            },
            move || *other.1.wait_while(other.0.lock(), |is_set| !*is_set),
        )
    });
}

#[test]
fn fibers_tasks_and_calls() {
    orders(|| {
        let fiber = spawn(|| fiber::cancelled_evt().sync());
        let (cancel, joined) = two(fiber);
        (move || cancel.cancel(), move || joined.join_evt().sync().is_ok())
    });
    orders(|| {
        let (tx, rx) = channel();
        let task = spawn_task(async move { rx.recv_evt().await.is_ok() });
        (move || tx.send(()).unwrap(), move || task.join().unwrap())
    });
    orders(|| {
        let (caller, entry) = lisle::rpc::rpc();
        (
            move || {
                let _ = entry.entry_evt(|n: u32| n + 1).sync();
            },
            move || caller.call(1) == Ok(2),
        )
    });
    orders(|| {
        let (caller, entry) = lisle::rpc::rpc();
        (move || assert_eq!(caller.call(1), Ok(2)), move || entry.entry_evt(|n: u32| n + 1).sync().is_ok())
    });
}

#[test]
fn scopes_and_loops() {
    let verdict = Checker::new().explore(|| {
        let shared = Shared(Cell::new(0));
        let shared = &shared;
        shared.0.set(1);
        fiber::scope(|scope| {
            scope.spawn(move || shared.0.set(shared.0.get() + 1));
        });
        shared.0.set(shared.0.get() + 1);
        lisle::par::join(|| shared.0.get(), || shared.0.get());
        assert_eq!(shared.0.get(), 3);
    });
    assert!(verdict.is_exhaustive() && verdict.failure().is_none(), "{verdict}");
}
