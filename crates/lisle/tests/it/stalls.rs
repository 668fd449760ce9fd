//! Fibers and tasks that keep their domain while others of it wait, for any reason. All of them are
//! reported, together with the waiters. A fiber that keeps its domain while there are no waiters is
//! not reported.

use crate::support::child::{Ended, Running, block_until_let_go, part};
use crate::support::watched;
use lisle::net::TcpListener;
use lisle::time::{after, sleep};
use lisle::{Event, Runtime, channel, choose, fiber, spawn};
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Calls `stuck`, which blocks the thread, in a fiber or a task. The name or the place is in this
/// file.
fn stick(who: &str, stuck: impl FnOnce() + Send + 'static) {
    match who {
        "fiber" => fiber::Builder::new().name("stuck").spawn(stuck).join().unwrap(),
        "task" => lisle::spawn_task(async move {
            // From here on the domain runs the task, and not its spawner.
            lisle::task::yield_now().await;
            stuck();
        })
        .join()
        .unwrap(),
        other => unreachable!("{other}"),
    }
}

fn runtime() -> lisle::Builder {
    Runtime::builder().domains(1).stall_report(Some(Duration::from_millis(50)))
}

/// Runs the child's part, or checks that there is one report and that it contains all these texts.
#[track_caller]
fn reports(test: &str, child: impl Fn(&'static str), says: &[&str]) {
    for who in ["fiber", "task"] {
        if let Some(part) = part() {
            if part == who {
                child(who);
            }
            continue;
        }
        let _watched = watched();
        let mut running = Running::new(&format!("stalls::{test}"), who);
        let line = running.until_said(&["lisle: "]);
        let name = if who == "fiber" { "fiber 'stuck' (spawned" } else { "a task (spawned" };
        for text in says.iter().chain(&[name, " at crates/lisle/tests/it/stalls.rs:", "without blocking"]) {
            assert!(line.contains(text), "no {text:?} in: {line}");
        }
        let (status, all) = running.ends();
        assert!(status.success(), "{all}");
        assert_eq!(all.matches("lisle: ").count(), 1, "once is enough: {all}");
    }
}

#[test]
fn a_timer_that_is_overdue_is_noticed() {
    let child = |who| {
        runtime().run(|| {
            let sleeper = spawn(|| sleep(Duration::from_millis(20)));
            fiber::yield_now();
            stick(who, block_until_let_go);
            sleeper.join().unwrap();
        });
    };
    reports("a_timer_that_is_overdue_is_noticed", child, &["a timer is overdue by"]);
}

/// The timer was not the next one when the turn began, and is not the first of its slot.
#[test]
fn a_timer_behind_one_that_was_given_up_is_noticed() {
    let child = |who| {
        runtime().run(|| {
            let sleeper = spawn(|| sleep(Duration::from_millis(300)));
            fiber::yield_now();
            stick(who, || {
                let (tx, rx) = channel::bounded(1);
                tx.send(()).unwrap();
                choose((rx.recv_evt().wrap(drop), after(Duration::from_millis(20)))).sync();
                block_until_let_go();
            });
            sleeper.join().unwrap();
        });
    };
    reports("a_timer_behind_one_that_was_given_up_is_noticed", child, &["a timer is overdue by"]);
}

/// A client blocks its thread, and its server is a fiber of the same domain.
#[test]
fn a_descriptor_that_is_ready_is_noticed() {
    let child = |who| {
        runtime().run(|| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let server = spawn(move || drop(listener.accept().unwrap()));
            fiber::yield_now();
            stick(who, move || {
                let _client = std::net::TcpStream::connect(address).unwrap();
                block_until_let_go();
            });
            server.join().unwrap();
        });
    };
    reports(
        "a_descriptor_that_is_ready_is_noticed",
        child,
        &["a descriptor is ready: fd ", "tcp 127.0.0.1:"],
    );
}

/// Another fiber of the domain holds a lock of the standard library while it waits for a message
/// from outside.
#[test]
fn a_wake_from_outside_is_noticed() {
    let child = |who| {
        runtime().run(|| {
            let lock = Arc::new(Mutex::new(()));
            let (tx, rx) = channel::<()>();
            let holder = spawn({
                let lock = lock.clone();
                move || {
                    let _held = lock.lock().unwrap();
                    rx.recv().unwrap();
                }
            });
            fiber::yield_now();
            // Not before the long turn has begun.
            let (stuck, is_stuck) = std::sync::mpsc::channel();
            let outside = thread::spawn(move || {
                is_stuck.recv().unwrap();
                tx.send(()).unwrap();
            });
            stick(who, move || {
                stuck.send(()).unwrap();
                block_until_let_go();
                drop(lock);
            });
            holder.join().unwrap();
            outside.join().unwrap();
        });
    };
    reports("a_wake_from_outside_is_noticed", child, &["wakes from other threads"]);
}

/// A lock of the standard library is held: the thread sleeps, and the report names the system call.
#[test]
fn a_fiber_that_sleeps_in_a_futex_is_told_from_one_that_computes() {
    let test = "a_fiber_that_sleeps_in_a_futex_is_told_from_one_that_computes";
    let child = |who| {
        // Long enough for the thread to come to the lock, whatever else the machine does.
        Runtime::builder().domains(1).stall_report(Some(Duration::from_millis(500))).run(|| {
            let lock = Arc::new(Mutex::new(()));
            let (held, is_held) = std::sync::mpsc::channel();
            let outside = thread::spawn({
                let lock = lock.clone();
                move || {
                    let _held = lock.lock().unwrap();
                    held.send(()).unwrap();
                    block_until_let_go();
                }
            });
            is_held.recv().unwrap();
            stick(who, move || {
                let waits = spawn(|| ());
                drop(lock.lock().unwrap());
                waits.join().unwrap();
            });
            outside.join().unwrap();
        });
    };
    let is_told = std::fs::read_to_string("/proc/thread-self/syscall").is_ok();
    let says = if is_told { "sleeps in the kernel, in a futex" } else { "it could call yield_now" };
    reports(test, child, &[says, "`blocking`"][..if is_told { 2 } else { 1 }]);
}

/// One that waits in another system call.
#[test]
fn a_fiber_that_sleeps_in_a_system_call_is_told_with_it() {
    let test = "a_fiber_that_sleeps_in_a_system_call_is_told_with_it";
    let child = |who| {
        Runtime::builder().domains(1).stall_report(Some(Duration::from_millis(500))).run(|| {
            stick(who, || {
                let waits = spawn(|| ());
                block_until_let_go();
                waits.join().unwrap();
            });
        });
    };
    let call = format!("in the system call {}:", libc::SYS_read);
    let is_told = std::fs::read_to_string("/proc/thread-self/syscall").is_ok();
    reports(test, child, &[if is_told { &call } else { "it could call yield_now" }]);
}

/// The same, but the fiber that wants the lock next wakes it.
#[test]
fn a_wake_within_the_turn_is_noticed() {
    let child = |who| {
        runtime().run(|| {
            let (tx, rx) = channel::<()>();
            let woken = spawn(move || rx.recv().unwrap());
            fiber::yield_now();
            stick(who, move || {
                tx.try_send(()).unwrap();
                block_until_let_go();
            });
            woken.join().unwrap();
        });
    };
    reports("a_wake_within_the_turn_is_noticed", child, &["others are ready"]);
}

#[test]
fn what_has_not_begun_is_noticed() {
    let child = |who| {
        runtime().run(|| {
            stick(who, || {
                let waiting: Vec<_> = (0..3).map(|_| spawn(|| ())).collect();
                block_until_let_go();
                waiting.into_iter().for_each(|fiber| fiber.join().unwrap());
            });
        });
    };
    reports("what_has_not_begun_is_noticed", child, &["3 have not begun"]);
}

/// A fiber comes from outside for any domain that has time, while none has.
#[test]
fn what_no_domain_takes_is_noticed() {
    let child = |who: &'static str| {
        let runtime = runtime().start().unwrap();
        let (at_work, is_at_work) = std::sync::mpsc::channel();
        let stuck = runtime.spawn(move || {
            stick(who, move || {
                at_work.send(()).unwrap();
                block_until_let_go();
            });
        });
        is_at_work.recv().unwrap();
        runtime.spawn(|| ()).join().unwrap();
        stuck.join().unwrap();
    };
    reports("what_no_domain_takes_is_noticed", child, &["1 has not begun"]);
}

/// No fiber waits: not for a timer that is far away or given up, nor for a descriptor that was
/// waited for before.
#[test]
fn without_waiters_there_is_no_report() {
    let test = "stalls::without_waiters_there_is_no_report";
    if part().is_none() {
        let _watched = watched();
        Ended::of(test, "child").succeeded().says_not("lisle: ");
        return;
    }
    Runtime::builder().domains(1).stall_report(Some(Duration::from_millis(10))).run(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let far = spawn(|| sleep(Duration::from_secs(3600)));
        let served = spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            client.read_exact(&mut [0]).unwrap();
            client
        });
        fiber::yield_now();
        let peer = lisle::blocking(move || {
            use std::io::Write;
            let mut peer = std::net::TcpStream::connect(address).unwrap();
            peer.write_all(b"x").unwrap();
            peer
        });
        let client = served.join().unwrap();
        let (tx, rx) = channel::bounded(1);
        tx.send(()).unwrap();
        let next = rx.recv_evt().wrap(drop);
        choose((next, after(Duration::from_millis(20)))).sync();
        // The connection becomes readable, and its fiber no longer waits for it.
        drop(peer);
        // This turn takes thirty times the limit.
        thread::sleep(Duration::from_millis(300));
        drop(client);
        far.cancel();
    });
}
