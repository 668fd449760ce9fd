//! Requests for a dump of a runtime that hangs: by a signal, and by a handle on a plain thread.

use crate::support::child::{Running, block_until_let_go, part};
use crate::support::{scaled, watched};
use lisle::net::{TcpListener, TcpStream};
use lisle::signal::{SIGHUP, SIGUSR2, signal};
use lisle::time::sleep;
use lisle::{Handle, Runtime, channel, fiber};
use std::io::Read;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

fn fiber(name: &str) -> fiber::Builder {
    fiber::Builder::new().name(name)
}

/// Lets a fiber of this domain, the caller's, wait for a timer that is not due yet. The timer will
/// be due if the caller keeps the domain from now on.
fn sleeper(domain: usize) -> lisle::fiber::JoinHandle<()> {
    const LONG: Duration = Duration::from_millis(60);
    loop {
        let (start, begun) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let begins = begun.clone();
        let sleeper = fiber("sleeps").domain(domain).spawn(move || {
            begins.store(true, Ordering::Relaxed);
            sleep(LONG);
        });
        while !begun.load(Ordering::Relaxed) {
            fiber::yield_now();
        }
        if start.elapsed() < LONG / 2 {
            return sleeper;
        }
        // On a slow machine the timer may be due already.
        sleeper.join().unwrap();
    }
}

/// In the last domain a fiber reads from a connection and then one is stuck, next to one that
/// sleeps. Before that, a fiber of the first domain waits for a message and another one for a
/// connection.
fn stuck(domains: usize, is_stuck: mpsc::Sender<Handle>, spins: bool) {
    let last = domains - 1;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tx, rx) = channel::named::<()>("told", 0);
    let (peers, peer) = channel::<TcpStream>();
    drop(fiber("listens").domain(0).spawn(move || {
        loop {
            peers.send(listener.accept().unwrap().0).unwrap();
        }
    }));
    drop(fiber("receives").domain(0).spawn(move || rx.recv()));
    drop(fiber("hangs up").domain(0).spawn(|| signal(SIGHUP).unwrap().recv()));
    drop(fiber("reads").domain(last).spawn(move || {
        TcpStream::connect(address).unwrap().read_exact(&mut [0]).unwrap();
    }));
    let _peer = peer.recv().unwrap();
    let (begun, has_begun) = channel::<()>();
    drop(fiber("begins").domain(last).spawn(move || begun.send(()).unwrap()));
    has_begun.recv().unwrap();
    let stuck = fiber("stuck").domain(last).spawn(move || {
        is_stuck.send(Handle::current()).unwrap();
        drop(sleeper(last));
        if spins {
            let is_over = Arc::new(AtomicBool::new(false));
            let over = is_over.clone();
            thread::spawn(move || {
                block_until_let_go();
                over.store(true, Ordering::Relaxed);
            });
            while !is_over.load(Ordering::Relaxed) {}
        } else {
            block_until_let_go();
        }
    });
    stuck.join().unwrap();
    drop(tx);
}

/// Waits until the wait graph shows that the fiber has been running for long and that another one
/// waits for a timer.
fn until_stuck(handle: &Handle) -> lisle::WaitGraph {
    loop {
        let graph = handle.waiting();
        let is_stuck = |stall: &lisle::Stall| {
            stall.lasted.is_some_and(|lasted| lasted >= Duration::from_millis(30))
                && stall.fiber.as_ref().is_some_and(|fiber| fiber.name.as_deref() == Some("stuck"))
                && stall.delayed.timer.is_some()
        };
        if graph.stuck.iter().any(is_stuck) {
            return graph;
        }
        thread::yield_now();
    }
}

/// The child's part: a plain thread sends the signal once a fiber is stuck.
fn stuck_and_asked(domains: usize, spins: bool) {
    let (is_stuck, has_come) = mpsc::channel();
    let asks = thread::spawn(move || {
        until_stuck(&has_come.recv().unwrap());
        let own = libc::pid_t::try_from(std::process::id()).unwrap();
        // SAFETY: the process catches the signal.
        assert_eq!(unsafe { libc::kill(own, SIGUSR2) }, 0);
    });
    let builder = Runtime::builder().domains(domains).stall_report(None).dump_on(SIGUSR2);
    builder.run(move || stuck(domains, is_stuck, spins));
    asks.join().unwrap();
}

#[test]
fn a_signal_tells_what_is_stuck_and_what_waits() {
    let known = ["fiber 'stuck' (spawned at crates/lisle/tests/it/dumps.rs:"];
    let in_the_stuck_one = ["for ", "ms without blocking", "a timer is overdue by ", "waited for there: fd "];
    let elsewhere = [
        "fiber 'listens' (spawned at crates/lisle/tests/it/dumps.rs:",
        "read from a TcpListener; fd ",
        ", tcp 127.0.0.1:",
        ", listening\n",
        "fiber 'receives' (spawned at crates/lisle/tests/it/dumps.rs:",
        "receive from channel 'told' (made at crates/lisle/tests/it/dumps.rs:",
        "receive signal 'SIGHUP' (made at crates/lisle/tests/it/dumps.rs:",
    ];
    match part().as_deref() {
        None => {
            let _watched = watched();
            for (part, domains) in [("blocks 1", 1), ("blocks 2", 2), ("spins 2", 2)] {
                let mut child = Running::new("dumps::a_signal_tells_what_is_stuck_and_what_waits", part);
                child.until_said(&["lisle: wait graph: ", "has not answered"]);
                child.until_said(&known);
                child.until_said(&in_the_stuck_one);
                child.until_said(&[" -> 127.0.0.1:", " (to read)"]);
                if domains == 2 {
                    child.until_said(&elsewhere);
                }
                let (status, said) = child.ends();
                assert!(status.success(), "{said}");
            }
        }
        Some(part) => stuck_and_asked(if part.ends_with('1') { 1 } else { 2 }, part.starts_with("spins")),
    }
}

/// A signal that cannot be caught is refused, by name.
#[test]
fn what_cannot_be_caught_is_refused() {
    let error = Runtime::builder().domains(1).dump_on(libc::SIGKILL).start().unwrap_err();
    assert_eq!(error.to_string(), "SIGKILL cannot be received");
}

#[test]
fn a_handle_sees_a_stuck_domain_from_a_plain_thread() {
    let _watched = watched();
    let (give, handle) = mpsc::channel::<Handle>();
    let (let_go, is_let_go) = mpsc::channel::<()>();
    let plain = thread::spawn(move || {
        let handle = handle.recv().unwrap();
        let graph = until_stuck(&handle);
        assert_eq!(graph.silent, [0]);
        assert!(graph.to_string().contains("fiber 'stuck' (spawned at"), "{graph}");
        let_go.send(()).unwrap();
        handle
    });
    Runtime::builder().domains(1).stall_report(None).run(|| {
        give.send(Handle::current()).unwrap();
        let stuck = fiber("stuck").spawn(move || {
            let sleeper = sleeper(0);
            is_let_go.recv().unwrap();
            sleeper
        });
        stuck.join().unwrap().join().unwrap();
    });
    let handle = plain.join().unwrap();
    assert!(handle.has_ended());
    let graph = handle.waiting();
    assert!(graph.fibers.is_empty() && graph.silent.is_empty(), "{graph}");
}

#[test]
fn a_handle_is_that_of_the_runtime_it_was_got_in() {
    let _watched = watched();
    assert!(Handle::try_current().is_none());
    let runtime = Runtime::builder().domains(2).thread_name("handled").start().unwrap();
    let handles = runtime.run(|| {
        let task = lisle::spawn_task(async {
            lisle::task::yield_now().await;
            Handle::current()
        });
        [Handle::current(), task.join().unwrap()]
    });
    for handle in handles.into_iter().chain([runtime.handle()]) {
        assert_eq!(handle.domains(), 2);
        let name = || thread::current().name().map(str::to_owned);
        let there = handle.spawn(name).join().unwrap();
        assert!(there.unwrap().starts_with("handled-"));
        // A handle also works in a fiber, of this runtime and of another.
        let inside = handle.clone();
        assert_eq!(runtime.run(move || inside.spawn(|| Handle::current().domains()).join()).unwrap(), 2);
        assert_eq!(lisle::run(|| handle.spawn(|| Handle::current().domains()).join()).unwrap(), 2);
        assert!(handle.statistics().fibers > 0);
    }
}

/// A fiber that is spawned from outside while a runtime ends is run or refused. No joiner waits in
/// vain.
#[test]
fn what_a_handle_spawns_as_the_runtime_ends_is_run_or_refused() {
    let _watched = watched();
    struct Counted(Arc<std::sync::atomic::AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    for domains in [1, 2] {
        for round in 0..scaled(50, 10) {
            let alive = Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let runtime = Runtime::builder().domains(domains).start().unwrap();
            let handle = runtime.handle();
            let (here, begun) = (alive.clone(), Arc::new(std::sync::atomic::AtomicUsize::new(0)));
            let count = begun.clone();
            let spawner = thread::spawn(move || {
                let mut refused = 0;
                while refused < 10 {
                    here.fetch_add(1, Ordering::SeqCst);
                    count.fetch_add(1, Ordering::SeqCst);
                    let counted = Counted(here.clone());
                    let fiber = handle.spawn(move || drop(counted));
                    refused += usize::from(fiber.join().is_err());
                }
            });
            while begun.load(Ordering::SeqCst) < round {
                thread::yield_now();
            }
            assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
            spawner.join().unwrap();
            assert_eq!(alive.load(Ordering::SeqCst), 0);
        }
    }
}

/// If many sockets look the same, the first of them are listed with their addresses.
#[test]
fn sockets_that_look_the_same_are_told_apart() {
    let _watched = watched();
    let runtime = Runtime::builder().domains(1).start().unwrap();
    let (addresses, peers) = runtime.run(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut addresses: Vec<SocketAddr> = Vec::new();
        let mut peers = Vec::new();
        for _ in 0..10 {
            let mut client = TcpStream::connect(address).unwrap();
            addresses.push(client.local_addr().unwrap());
            peers.push(listener.accept().unwrap().0);
            drop(fiber("client").spawn(move || client.read_exact(&mut [0]).unwrap()));
        }
        (addresses, peers)
    });
    let graph = loop {
        let graph = runtime.waiting();
        if graph.fibers.len() == 10 {
            break graph;
        }
    };
    for waiter in &graph.fibers {
        let told = waiter.waits[0].address.as_deref().unwrap();
        assert!(addresses.iter().any(|address| told.starts_with(&format!("tcp {address} -> "))), "{told}");
    }
    let text = graph.to_string();
    let told = addresses.iter().filter(|address| text.contains(&format!("tcp {address} -> ")));
    assert_eq!(told.count(), 8, "{text}");
    assert!(text.contains("10 fibers 'client' (spawned at") && text.contains("; and 2 more\n"), "{text}");
    drop(peers);
}
