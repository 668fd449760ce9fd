//! Invariant 9: an idle runtime costs nothing.
//!
//! This is a test binary of its own, because it reads the processor time of its whole process.

use lisle::fiber;
use lisle::net::TcpListener;
use lisle::sync::Condition;
use lisle::time::{after, sleep};
use lisle::{Event, Runtime, channel, choose};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Returns the processor time that this process has used so far.
fn processor_time() -> Duration {
    // SAFETY: all-zero is a valid `rusage`.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live value.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) }, 0);
    let duration = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)
    };
    duration(usage.ru_utime) + duration(usage.ru_stime)
}

/// A thousand fibers wait for messages and for each other, for timers that are far away, and for a
/// listening socket. They use less than one per cent of a core, and all of them still work
/// afterwards.
#[test]
fn a_runtime_whose_fibers_all_wait_costs_nothing() {
    const FIBERS: usize = 1_000;
    const WATCHED: Duration = Duration::from_secs(3);
    let runtime = Runtime::builder().domains(2).start().unwrap();
    let stop = Arc::new(Condition::new());
    let (begin, begun) = channel::<()>();
    let (tx, rx) = channel::<usize>();
    let fibers: Vec<_> = (0..FIBERS)
        .map(|i| {
            let (begin, rx, stop) = (begin.clone(), rx.clone(), stop.clone());
            runtime.spawn(move || {
                begin.send(()).unwrap();
                match i % 3 {
                    0 => rx.recv().ok(),
                    1 => choose((stop.wait_evt().wrap(|()| None), rx.recv_evt().wrap(Result::ok))).sync(),
                    _ => {
                        let hour =
                            after(Duration::from_secs(3_600)).wrap(|()| unreachable!("an hour is long"));
                        choose((hour, rx.recv_evt().wrap(Result::ok))).sync()
                    }
                }
            })
        })
        .collect();
    let sleeper = {
        let begin = begin.clone();
        runtime.spawn(move || {
            begin.send(()).unwrap();
            sleep(Duration::from_secs(3_600));
        })
    };
    let (place, places) = channel();
    let server = {
        let (begin, stop) = (begin.clone(), stop.clone());
        runtime.spawn(move || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            place.send(listener.local_addr().unwrap()).unwrap();
            begin.send(()).unwrap();
            let stopped = stop.wait_evt().wrap(|()| None);
            choose((listener.accept_evt().wrap(Some), stopped)).sync().is_some()
        })
    };
    let address = places.recv().unwrap();
    (0..FIBERS + 2).for_each(|_| begun.recv().unwrap());
    // Each fiber only has to reach its wait now. A fiber that is queued after them runs when they
    // have done so.
    runtime.run(|| (0..10).for_each(|_| fiber::yield_now()));

    let (before, begun) = (processor_time(), Instant::now());
    std::thread::sleep(WATCHED);
    let (used, elapsed) = (processor_time() - before, begun.elapsed());
    println!("{used:?} of processor time in {elapsed:?}");
    assert!(used < elapsed / 100, "{used:?} of processor time in {elapsed:?}");

    let guest = std::net::TcpStream::connect(address).unwrap();
    assert!(server.join().unwrap(), "the guest came in");
    drop(guest);
    let sum = FIBERS * (FIBERS - 1) / 2;
    (0..FIBERS).for_each(|i| tx.send(i).unwrap());
    assert_eq!(fibers.into_iter().filter_map(|fiber| fiber.join().unwrap()).sum::<usize>(), sum);
    assert!(stop.signal());
    assert!(!sleeper.is_finished());
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
}
