//! Servers and locks whose clients go away, at any point: the request to go comes from another
//! fiber, which the explorer lets run at each of them.

use crate::holds;
use lisle::rpc::{CallError, rpc};
use lisle::sync::{Condvar, Mutex};
use lisle::{Event, choose, fiber, kill_safe, spawn, spawn_task};
use lisle_check::Checker;
use std::sync::Arc;

/// Performs an event unless the fiber is to go first.
fn unless_cancelled<E: Event>(event: E) -> Option<E::Output> {
    choose((event.wrap(Some), fiber::cancelled_evt().wrap(|()| None))).sync()
}

/// A manager of numbers gives each to one client. A client that goes has taken one, or none was
/// meant for it.
#[test]
fn no_ticket_is_lost_with_a_client() {
    let verdict = holds(|| {
        let (tickets, requests) = kill_safe::server::<(), u32>();
        let manager = spawn(move || {
            let mut next = 0;
            while let Some(request) = requests.next() {
                if request.reply().offer(next).is_ok() {
                    next += 1;
                }
            }
            next
        });
        let impatient = tickets.clone();
        let impatient = spawn(move || unless_cancelled(impatient.request_evt(())));
        impatient.cancel();
        let first = impatient.join().unwrap().map(Result::unwrap);
        let second = tickets.request(()).unwrap();
        drop(tickets);
        let given = manager.join().unwrap();
        assert_eq!((first, second, given), if first.is_some() { (Some(0), 1, 2) } else { (None, 0, 1) });
    });
    assert!(verdict.counts().complete > 2);
}

/// Two clients wait, and one of them goes: the other is served, and the manager is told of the
/// first. All schedules would take too long for a test; it explores the schedules with one
/// interruption.
#[test]
fn the_client_that_stays_is_served() {
    let verdict = Checker::new().preemptions(1).explore(|| {
        let (server, requests) = kill_safe::server::<u32, u32>();
        let manager = spawn(move || {
            let (mut served, mut gone) = (0, 0);
            while let Some(request) = requests.next() {
                let answer = *request.arg() + 1;
                match request.reply().offer(answer) {
                    Ok(()) => served += 1,
                    Err(_) => gone += 1,
                }
            }
            (served, gone)
        });
        let goes = server.clone();
        let goes = spawn(move || unless_cancelled(goes.request_evt(10)).is_some());
        let stays = spawn(move || server.request(20));
        goes.cancel();
        assert_eq!(stays.join().unwrap(), Ok(21));
        let went_with_answer = goes.join().unwrap();
        let (served, gone) = manager.join().unwrap();
        assert_eq!(served, 1 + u32::from(went_with_answer));
        assert!(gone <= 1 - u32::from(went_with_answer));
    });
    println!("{verdict}");
    assert!(verdict.failure().is_none(), "{verdict}");
}

/// The nack of a request fires if and only if its client has not taken the answer.
#[test]
fn a_server_is_told_of_clients_that_went() {
    holds(|| {
        let (caller, entry) = rpc::<u32, u32>();
        let server = spawn(move || {
            let request = entry.request_evt().sync().ok()?;
            let (arg, reply) = request.into_parts();
            let gone = reply.gone_evt();
            reply.answer(arg + 1);
            drop(entry);
            Some(gone)
        });
        let client = spawn(move || unless_cancelled(caller.call_evt(1)));
        client.cancel();
        let answer = client.join().unwrap();
        let gone = server.join().unwrap().map(|gone| gone.is_lost());
        match answer {
            Some(answer) => assert!(answer == Ok(2) && gone == Some(false), "{answer:?}, {gone:?}"),
            None => assert!(gone != Some(false), "the client has gone, and nobody is told"),
        }
    });
}

/// A server of calls goes on when a client goes, as a fiber and as a task that is dropped.
#[test]
fn a_server_of_calls_outlives_its_clients() {
    let serve = |go: fn(lisle::rpc::Caller<u32, u32>)| {
        holds(move || {
            let (caller, entry) = rpc::<u32, u32>();
            let server = spawn(move || while entry.entry_evt(|n| n + 1).sync().is_ok() {});
            go(caller.clone());
            assert_eq!(caller.call(2), Ok(3));
            drop(caller);
            server.join().unwrap();
        });
    };
    serve(|caller| {
        let client = spawn(move || unless_cancelled(caller.call_evt(1)));
        client.cancel();
        assert!(client.join().unwrap().is_none_or(|answer| answer == Ok(2)));
    });
    serve(|caller| {
        let client = spawn_task(async move { caller.call_evt(1).await });
        client.cancel();
        assert!(client.join().map_or(true, |answer| answer == Ok(2)));
    });
}

/// The caller learns that the server has gone, at whichever point it goes.
#[test]
fn a_server_that_goes_is_told() {
    holds(|| {
        let (caller, entry) = rpc::<u32, u32>();
        let server = spawn(move || unless_cancelled(entry.entry_evt(|n| n + 1)).is_some());
        let client = spawn(move || caller.call(1));
        server.cancel();
        let answer = client.join().unwrap();
        let has_served = server.join().unwrap();
        assert_eq!(answer, if has_served { Ok(2) } else { Err(CallError::Closed) });
    });
}

/// A lock is free when those who wanted it have gone, and the others have had it.
#[test]
fn a_lock_that_clients_give_up_is_free() {
    let verdict = holds(|| {
        let lock = Arc::new(Mutex::new(0));
        let of_impatient = lock.clone();
        let impatient = spawn(move || {
            let locked = of_impatient.lock_evt().wrap(|mut count| *count += 1);
            unless_cancelled(locked).is_some()
        });
        let of_other = lock.clone();
        let other = spawn(move || *of_other.lock() += 1);
        impatient.cancel();
        other.join().unwrap();
        let locked = impatient.join().unwrap();
        assert_eq!(*lock.try_lock().expect("nobody has it any more"), 1 + u32::from(locked));
    });
    assert!(verdict.counts().complete > 2);
}

/// The same with a task whose future is dropped while it waits, is told, or has the lock.
#[test]
fn a_lock_that_futures_leave_is_free() {
    holds(|| {
        let lock = Arc::new(Mutex::new(0));
        let of_impatient = lock.clone();
        let held = lock.lock();
        let impatient = spawn_task(async move { *of_impatient.lock_evt().await += 1 });
        let of_other = lock.clone();
        let other = spawn(move || *of_other.lock() += 1);
        drop(held);
        impatient.cancel();
        other.join().unwrap();
        let locked = impatient.join().is_ok();
        assert_eq!(*lock.try_lock().expect("nobody has it any more"), 1 + u32::from(locked));
    });
}

/// A waiter for a condition that goes away takes no notification along.
#[test]
fn a_notification_is_not_lost_with_who_goes() {
    holds(|| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let of_impatient = pair.clone();
        let impatient = spawn(move || {
            let guard = of_impatient.0.lock();
            let notified = of_impatient.1.notified_evt();
            drop(guard);
            unless_cancelled(notified).is_some()
        });
        let of_other = pair.clone();
        let other = spawn(move || {
            let mut count = of_other.1.wait_while(of_other.0.lock(), |count| *count == 0);
            *count -= 1;
        });
        impatient.cancel();
        *pair.0.lock() = 1;
        pair.1.notify_one();
        if impatient.join().unwrap() {
            // It was notified, and the other may not have been.
            pair.1.notify_one();
        }
        other.join().unwrap();
        assert_eq!(*pair.0.lock(), 0);
    });
}
