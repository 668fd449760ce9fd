//! Sockets, processes, other threads and the system's clock have no place in a check. The report
//! names a substitute.

use crate::support::{explored, failing, outcomes};
use lisle::Event;
use lisle::net::{TcpListener, UdpSocket, pipe};
use lisle::time::now;
use lisle_check::Checker;
use std::future::poll_fn;
use std::io;
use std::process::Command;
use std::task::Poll;
use std::time::{Duration, Instant};

fn refused(what: &str, instead: &str, program: impl Fn() + Send + Sync + 'static) {
    let report = failing(program);
    assert!(report.contains(&format!("{what} cannot be checked")), "{report}");
    assert!(report.contains(instead), "{report}");
    assert!(report.contains(file!()), "{report}");
}

#[test]
fn sockets_and_pipes() {
    refused("a socket or pipe", "Put a channel in its place", || drop(TcpListener::bind("127.0.0.1:0")));
    refused("a socket or pipe", "Put a channel in its place", || drop(UdpSocket::bind("127.0.0.1:0")));
    refused("a socket or pipe", "Put a channel in its place", || drop(pipe()));
}

#[test]
fn a_socket_that_was_there_before() {
    let (reader, _writer) = pipe().unwrap();
    let reader = std::sync::Mutex::new(reader);
    refused_elsewhere("a socket or pipe", move || {
        let mut reader = reader.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        io::Read::read(&mut *reader, &mut [0]).unwrap();
    });
}

fn refused_elsewhere(what: &str, program: impl Fn() + Send + Sync + 'static) {
    let report = failing(program);
    assert!(report.contains(&format!("{what} cannot be checked")), "{report}");
}

#[test]
fn processes_and_signals() {
    refused("a child process", "Put a fiber in its place", || {
        drop(lisle::process::spawn(&mut Command::new("true")))
    });
    refused("a signal", "Put a channel in its place", || drop(lisle::signal::ctrl_c()));
}

#[test]
fn threads_and_runtimes() {
    refused("a thread", "Spawn a fiber instead", || drop(lisle::thread::spawn(|| ())));
    refused("a blocking call", "put a fiber in its place", || lisle::blocking(|| ()));
    refused("a runtime with threads of its own", "Spawn fibers where they are", || {
        drop(lisle::Runtime::builder().start());
    });
    refused("a runtime with threads of its own", "Spawn fibers where they are", || {
        drop(lisle::Runtime::builder().start_on(|_| unreachable!("no thread is asked for")));
    });
    refused("a reader of lines", "a fiber that sends lines", || drop(lisle::io::lines_of(io::empty(), 1)));
    let runtime = lisle::Runtime::builder().domains(1).start().unwrap();
    refused("a fiber of another runtime", "`lisle::spawn`", move || drop(runtime.spawn(|| ())));
    // A runtime that runs its function is the model's.
    explored(|| assert_eq!(lisle::run(|| lisle::spawn(|| 2).join().unwrap()), 2));
}

/// Time is virtual. An instant of the system's clock is none of it, also one from before the check.
#[test]
fn instants_of_the_system() {
    let second = Duration::from_secs(1);
    refused("a point in time of `std::time::Instant::now`", "Ask `lisle::time::now`", move || {
        lisle::time::at(Instant::now() + second).sync();
    });
    refused("a point in time of `std::time::Instant::now`", "Ask `lisle::time::now`", move || {
        drop(lisle::time::ticker_at(Instant::now(), second));
    });
    let before = Instant::now();
    refused("a point in time of `std::time::Instant::now`", "Ask `lisle::time::now`", move || {
        let ticker = lisle::time::ticker(second);
        ticker.reset_at(before + second);
    });
}

/// `Instant::elapsed` asks the system. The checker cannot refuse it, but names it.
#[test]
fn an_instant_that_is_asked_how_long_ago_it_was() {
    let second = Duration::from_secs(1);
    for clock in [Instant::now, now] {
        let report = failing(move || {
            let begun = clock();
            lisle::time::sleep(second);
            assert!(begun.elapsed() >= second, "it was too short");
        });
        assert!(report.contains("it was too short"), "{report}");
        assert!(report.contains("`Instant::now` and `Instant::elapsed` do not know"), "{report}");
    }
    let report = failing(|| panic!("without time"));
    assert!(!report.contains("virtual"), "{report}");
}

#[test]
fn the_clock_of_a_program() {
    let hour = Duration::from_secs(3_600);
    // It passes when nothing else can run, and then by as much as is waited for.
    let verdict = explored(move || {
        let begun = now();
        lisle::time::sleep(hour);
        assert_eq!(now() - begun, hour);
        lisle::time::at(begun + 2 * hour).sync();
        assert_eq!(now() - begun, 2 * hour);
    });
    assert_eq!(verdict.counts().complete, 1);
    // The program asks before or after the time has passed.
    let begun = Instant::now();
    let seen = outcomes(move || {
        let begun = now();
        let asks = lisle::spawn(move || now() - begun);
        lisle::time::sleep(hour);
        asks.join().unwrap()
    });
    assert_eq!(seen, [Duration::ZERO, hour]);
    assert!(begun.elapsed() < hour);
    // Outside of checks it is the system's time.
    assert!(begun <= now() && now() <= Instant::now());
}

#[test]
fn a_thread_that_wakes_a_fiber() {
    // Some schedules of these have the fiber wait before the thread goes on.
    let verdict = Checker::new().random(1).executions(500).explore(|| {
        let (tx, rx) = lisle::channel::<u32>();
        let waits = lisle::spawn(move || rx.recv());
        lisle::fiber::yield_now();
        std::thread::spawn(move || drop(tx)).join().unwrap();
        waits.join().unwrap().unwrap_err();
    });
    let report = verdict.failure().unwrap_or_else(|| panic!("{verdict}")).to_string();
    assert!(report.contains("something outside of the program has woken"), "{report}");
}

#[test]
fn a_future_that_nobody_in_the_program_wakes() {
    let report = failing(|| {
        let waits = lisle::spawn_task(poll_fn(|_| Poll::<()>::Pending));
        waits.join().unwrap();
    });
    assert!(report.contains("outside of the program"), "{report}");
}

#[test]
fn what_is_not_checked_works_as_it_did() {
    lisle::run(|| {
        assert_eq!(lisle::blocking(|| 3), 3);
        assert_eq!(lisle::thread::spawn(|| 4).join().unwrap(), 4);
        assert!(pipe().is_ok());
    });
}
