//! `fiber::checkpoint` and polls that fail: other fibers of the domain get a turn although the
//! current fiber does not wait.

use crate::support::watched;
use lisle::event::{Source, WaitSet};
use lisle::net::{TcpListener, TcpStream};
use lisle::par::{self, prelude::*};
use lisle::rpc::rpc;
use lisle::sync::{Condition, IVar, Latch, MVar, Mutex, RwLock, Semaphore, Watch};
use lisle::task::RecvAsync;
use lisle::task::race;
use lisle::time::sleep;
use lisle::{Event, Runtime, channel, choose, fiber, never, select, spawn, spawn_task};
use std::future::pending;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A flag that says whether the work is over.
#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
    /// Computes, with checkpoints, until the flag is set.
    fn compute(&self) {
        while !self.is_set() {
            fiber::checkpoint();
        }
    }
}

/// Runs `f` on a single domain.
fn on_one<R>(f: impl FnOnce() -> R) -> R {
    let _watched = watched();
    Runtime::builder().domains(1).stall_report(None).run(f)
}

#[test]
fn fibers_of_all_kinds_pass_at_a_checkpoint() {
    on_one(|| {
        let spawned = Flag::default();
        let flag = spawned.clone();
        spawn(move || flag.set());
        spawned.compute();

        // The fiber is woken from another thread.
        let (tx, rx) = channel::<()>();
        let woken = Flag::default();
        let flag = woken.clone();
        spawn(move || {
            rx.recv().unwrap();
            flag.set();
        });
        let thread = std::thread::spawn(move || tx.send(()));
        woken.compute();
        thread.join().unwrap().unwrap();

        let slept = Flag::default();
        let flag = slept.clone();
        spawn(move || {
            sleep(Duration::from_millis(1));
            flag.set();
        });
        slept.compute();

        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Flag::default();
        let flag = accepted.clone();
        spawn(move || {
            listener.accept().unwrap();
            flag.set();
        });
        let thread = std::thread::spawn(move || std::net::TcpStream::connect(address));
        accepted.compute();
        thread.join().unwrap().unwrap();

        let (tx, rx) = channel::<()>();
        let received = Flag::default();
        let flag = received.clone();
        spawn_task(async move {
            rx.recv_evt().await.unwrap();
            flag.set();
        });
        // The clock may tick in the task's first turn. It then waits only in its second.
        while tx.try_send(()).is_err() {
            fiber::checkpoint();
        }
        received.compute();
    });
}

#[test]
fn those_that_are_to_unwind_pass_at_a_checkpoint() {
    struct Tells(Flag);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.set();
        }
    }
    let _watched = watched();
    let runtime = Runtime::builder().domains(1).stall_report(None).start().unwrap();
    let (begun, unwound) = (Flag::default(), Flag::default());
    let tells = Tells(unwound.clone());
    let waits = runtime.spawn(move || {
        let _tells = tells;
        never::<()>().sync();
    });
    let flag = begun.clone();
    let computes = runtime.spawn(move || {
        fiber::yield_now();
        flag.set();
        unwound.compute();
    });
    while !begun.is_set() {
        std::thread::yield_now();
    }
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    assert!(waits.join().unwrap_err().is_cancelled());
    computes.join().unwrap();
}

/// The task runs in place: first on its spawner's stack, and later on one of the domain's.
#[test]
fn a_task_lets_others_pass_at_a_checkpoint() {
    on_one(|| {
        let flag = || {
            let flag = Flag::default();
            let sets = flag.clone();
            spawn(move || sets.set());
            flag
        };
        let first = flag();
        let task = spawn_task(async move {
            first.compute();
            lisle::task::yield_now().await;
            flag().compute();
        });
        task.join().unwrap();
    });
}

#[test]
fn loops_joins_and_tasks_let_others_pass_at_a_checkpoint() {
    on_one(|| {
        let flag = Flag::default();
        let sets = flag.clone();
        spawn(move || sets.set());
        (0..1).into_par_iter().for_each(|_| flag.compute());

        let flag = Flag::default();
        let sets = flag.clone();
        spawn(move || sets.set());
        par::join(|| flag.compute(), || flag.compute());

        let flag = Flag::default();
        let sets = flag.clone();
        spawn(move || sets.set());
        par::scope(|s| s.spawn(|| flag.compute()).wait());
    });
}

/// There is no other fiber to run, so the caller continues.
#[test]
fn outside_of_fibers_a_checkpoint_does_nothing() {
    (0..1_000_000).for_each(|_| fiber::checkpoint());
    fiber::no_suspend(|| (0..1_000_000).for_each(|_| fiber::checkpoint()));
}

#[test]
fn in_no_suspend_a_checkpoint_panics_if_somebody_is_to_pass() {
    on_one(|| {
        // No other fiber is queued.
        let end = Instant::now() + Duration::from_millis(50);
        fiber::no_suspend(|| {
            while Instant::now() < end {
                fiber::checkpoint()
            }
        });
        let flag = Flag::default();
        let sets = flag.clone();
        let other = spawn(move || sets.set());
        let panic = catch_unwind(AssertUnwindSafe(|| fiber::no_suspend(|| flag.compute()))).unwrap_err();
        let text = panic.downcast::<String>().unwrap();
        assert!(text.contains("`no_suspend`, called at crates/lisle/tests/it/checkpoints.rs:"), "{text}");
        assert!(
            text.contains("let others pass at a checkpoint (at crates/lisle/tests/it/checkpoints.rs:"),
            "{text}"
        );
        assert!(!flag.is_set());
        other.join().unwrap();
    });
}

/// A destructor computes, or polls in vain, while its fiber unwinds. The condition that it polls
/// may depend on other fibers.
#[test]
fn an_unwinding_fiber_lets_others_pass() {
    for asks in [false, true] {
        on_one(|| {
            let flag = Flag::default();
            let sets = flag.clone();
            let other = spawn(move || sets.set());
            struct Computes(Flag, bool);
            impl Drop for Computes {
                fn drop(&mut self) {
                    let (_tx, rx) = channel::<()>();
                    while !self.0.is_set() {
                        if self.1 {
                            assert!(rx.try_recv().is_err());
                        } else {
                            fiber::checkpoint();
                        }
                    }
                }
            }
            let unwinds = catch_unwind(AssertUnwindSafe(|| {
                let _computes = Computes(flag, asks);
                panic!("to unwind");
            }));
            assert!(unwinds.is_err());
            other.join().unwrap();
        });
    }
}

/// The name of a kind of poll, and a function that builds it. Its argument makes another fiber of
/// the same domain do the step that the poll waits for.
type Case = (&'static str, fn(Sets) -> Box<dyn FnMut() -> bool + Send>);

/// Lets another fiber of the domain do something.
struct Sets;

impl Sets {
    fn by(self, f: impl FnOnce() + Send + 'static) {
        drop(spawn(f));
    }
}

const WAYS: &[Case] = &[
    ("poll", |sets| {
        let (tx, rx) = channel();
        sets.by(move || tx.send(()).unwrap());
        Box::new(move || rx.recv_evt().poll().is_some())
    }),
    ("try_recv", |sets| {
        let (tx, rx) = channel();
        sets.by(move || tx.send(()).unwrap());
        Box::new(move || rx.try_recv().is_ok())
    }),
    ("try_send", |sets| {
        let (tx, rx) = channel();
        sets.by(move || rx.recv().unwrap());
        Box::new(move || tx.try_send(()).is_ok())
    }),
    ("select! with a default", |sets| {
        let (tx, rx) = channel::<()>();
        sets.by(move || tx.send(()).unwrap());
        Box::new(move || {
            select! {
                _ = rx.recv_evt() => true,
                default => false,
            }
        })
    }),
    ("WaitSet::poll", |sets| {
        let (tx, rx) = channel::<()>();
        sets.by(move || tx.send(()).unwrap());
        let mut set = WaitSet::new();
        set.insert(rx.into_recv_evt());
        Box::new(move || set.poll().is_some())
    }),
    ("a mailbox", |sets| {
        let (tx, rx) = channel::unbounded();
        sets.by(move || tx.send(()).unwrap());
        Box::new(move || rx.try_recv().is_ok())
    }),
    ("try_lock", |sets| {
        let mutex = Arc::new(Mutex::new(()));
        let owner = mutex.clone();
        let held = Flag::default();
        let holds = held.clone();
        sets.by(move || {
            let _guard = owner.lock();
            holds.set();
            sleep(Duration::from_millis(1));
        });
        while !held.is_set() {
            fiber::yield_now();
        }
        Box::new(move || mutex.try_lock().is_some())
    }),
    ("try_read", |sets| {
        let lock = Arc::new(RwLock::new(()));
        let owner = lock.clone();
        let held = Flag::default();
        let holds = held.clone();
        sets.by(move || {
            let _guard = owner.write();
            holds.set();
            sleep(Duration::from_millis(1));
        });
        while !held.is_set() {
            fiber::yield_now();
        }
        Box::new(move || lock.try_read().is_some() && lock.try_write().is_some())
    }),
    ("try_acquire", |sets| {
        let semaphore = Arc::new(Semaphore::new(0));
        let posts = semaphore.clone();
        sets.by(move || posts.post());
        Box::new(move || semaphore.try_acquire().is_some())
    }),
    ("is_signalled", |sets| {
        let condition = Arc::new(Condition::new());
        let signals = condition.clone();
        sets.by(move || assert!(signals.signal()));
        Box::new(move || condition.is_signalled())
    }),
    ("IVar::try_get", |sets| {
        let cell = Arc::new(IVar::new());
        let fills = cell.clone();
        sets.by(move || fills.put(()).unwrap());
        Box::new(move || cell.try_get().is_some())
    }),
    ("MVar::try_read", |sets| {
        let cell = Arc::new(MVar::new());
        let fills = cell.clone();
        sets.by(move || fills.put(()));
        Box::new(move || cell.try_read().is_some())
    }),
    ("MVar::try_put", |sets| {
        let cell = Arc::new(MVar::full(()));
        let empties = cell.clone();
        sets.by(move || empties.take());
        Box::new(move || cell.try_put(()).is_ok())
    }),
    ("JoinHandle::is_finished", |_| {
        let fiber = spawn(|| ());
        Box::new(move || fiber.is_finished())
    }),
    ("TaskHandle::is_finished", |sets| {
        let (tx, rx) = channel::<()>();
        sets.by(move || tx.send(()).unwrap());
        let task = spawn_task(async move { rx.recv_evt().await });
        Box::new(move || task.is_finished())
    }),
    ("is_finished of a thread", |sets| {
        let (tx, rx) = channel::<()>();
        let thread = lisle::thread::spawn(move || rx.recv());
        sets.by(move || tx.send(()).unwrap());
        Box::new(move || thread.is_finished())
    }),
    ("a socket", |sets| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut writer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (reader, _) = listener.accept().unwrap();
        sets.by(move || writer.write_all(b"!").unwrap());
        Box::new(move || reader.try_read(&mut [0]).is_ok())
    }),
    ("a socket, with a file", |sets| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let writer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut reader, _) = listener.accept().unwrap();
        while writer.try_write(&[0; 1 << 16]).is_ok() {}
        sets.by(move || drop(std::io::copy(&mut reader, &mut std::io::sink())));
        let file = std::fs::File::open("Cargo.toml").unwrap();
        Box::new(move || writer.try_send_file(&file, 0, 1).is_ok())
    }),
    ("Latch::is_open", |sets| {
        let latch = Arc::new(Latch::new(1));
        let opens = latch.clone();
        sets.by(move || assert!(opens.count_down()));
        Box::new(move || latch.is_open())
    }),
    ("Watcher::has_changed", |sets| {
        let watch = Watch::new(0);
        let watcher = watch.watcher();
        sets.by(move || drop(watch.set(1)));
        Box::new(move || watcher.has_changed())
    }),
    ("Race::is_decided", |sets| {
        let (tx, rx) = channel();
        let race = race((async move { rx.recv_evt().await.unwrap() }, pending()));
        sets.by(move || tx.send(()).unwrap());
        Box::new(move || race.is_decided())
    }),
    ("AsyncRecv::has_ended", |sets| {
        let (tx, rx) = channel();
        let received = rx.recv_async();
        sets.by(move || tx.send(()).unwrap());
        Box::new(move || received.has_ended())
    }),
    ("AsyncSend::has_ended", |sets| {
        let (tx, rx) = channel();
        let sent = tx.send_async(());
        sets.by(move || rx.recv().unwrap());
        Box::new(move || sent.has_ended())
    }),
    ("Reply::is_gone", |sets| {
        let (caller, entry) = rpc::<(), ()>();
        let taken = Arc::new(Latch::new(1));
        let gives_up = taken.clone();
        spawn(move || choose((caller.call_evt(()).wrap(drop), gives_up.wait_evt())).sync());
        let ((), reply) = entry.request_evt().sync().unwrap().into_parts();
        sets.by(move || assert!(taken.count_down()));
        Box::new(move || reply.is_gone())
    }),
    ("a clock, by another's sleep", |sets| {
        let cell = Arc::new(IVar::new());
        let fills = cell.clone();
        sets.by(move || {
            sleep(Duration::from_millis(1));
            fills.put(()).unwrap();
        });
        Box::new(move || cell.try_get().is_some())
    }),
];

#[test]
fn a_fiber_that_asks_in_vain_lets_others_have_their_turn() {
    for (way, begin) in WAYS {
        eprintln!("{way}");
        on_one(|| {
            let mut ask = begin(Sets);
            while !ask() {}
        });
    }
}

#[test]
fn a_task_that_asks_in_vain_lets_others_have_their_turn() {
    for (way, begin) in WAYS {
        eprintln!("{way}");
        on_one(|| {
            let task = spawn_task(async {
                let mut ask = begin(Sets);
                while !ask() {}
                lisle::task::yield_now().await;
                let mut ask = begin(Sets);
                while !ask() {}
            });
            task.join().unwrap();
        });
    }
}

#[test]
fn a_fiber_that_looks_whether_it_is_cancelled_lets_others_have_their_turn() {
    on_one(|| {
        let fiber = spawn(|| while !fiber::is_cancelled() {});
        fiber::yield_now();
        fiber.cancel();
        fiber.join().unwrap();
    });
}

/// Two fibers that poll each other and never wait both make progress.
#[test]
fn fibers_that_only_ask_come_on_together() {
    on_one(|| {
        let (tx, rx) = channel::bounded::<u32>(1);
        let sender = spawn(move || (0..1_000).for_each(|i| while tx.try_send(i).is_err() {}));
        for i in 0..1_000 {
            let message = loop {
                if let Ok(message) = rx.try_recv() {
                    break message;
                }
            };
            assert_eq!(message, i);
        }
        sender.join().unwrap();
    });
}

/// The function given to a source runs in a step of the event, in which no fiber may be suspended.
#[test]
fn to_ask_in_vain_or_to_compute_within_a_step_suspends_nobody() {
    on_one(|| {
        let (_tx, rx) = channel::<()>();
        let other = spawn(|| ());
        let source = Source::<u32, ()>::new(0);
        let event = source.event(|looks| {
            *looks += 1;
            (0..10_000).for_each(|_| assert!(rx.try_recv().is_err()));
            let end = Instant::now() + Duration::from_millis(30);
            while Instant::now() < end {
                fiber::checkpoint();
            }
            (*looks > 1).then_some(())
        });
        assert!(event.poll().is_none());
        event.sync();
        other.join().unwrap();
    });
}
