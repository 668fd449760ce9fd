//! Measurements of the speeds that this library promises: `cargo bench -p lisle`.
//!
//! Each figure is the median of several rounds, printed with the fastest and the slowest round. The
//! rounds of all benchmarks are interleaved. Shared machines are noisy: compare only figures of one
//! run.

use lisle::{Event, choose, never, time::after};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 11;

/// A benchmark: a name, and a function that does something `n` times and returns the time it took.
struct Bench {
    name: &'static str,
    times: u64,
    run: fn(u64) -> Duration,
}

const BENCHES: &[Bench] = &[
    Bench { name: "yield_now, alone", times: 2_000_000, run: yield_alone },
    Bench { name: "checkpoint, in a loop that counts", times: 20_000_000, run: checkpoint },
    Bench { name: "the same loop without", times: 20_000_000, run: no_checkpoint },
    Bench { name: "poll of an empty channel", times: 2_000_000, run: poll_in_vain },
    Bench { name: "ping-pong, a round trip (2 messages)", times: 500_000, run: ping_pong },
    Bench { name: "receive, a message", times: 1_000_000, run: receive },
    Bench { name: "choice over 2 receives, a message", times: 1_000_000, run: choose_two },
    Bench { name: "choice of receive and timeout, a message", times: 1_000_000, run: choose_timeout },
    Bench { name: "bounded(64), a message", times: 1_000_000, run: bounded },
    Bench { name: "lock and unlock a mutex, alone", times: 5_000_000, run: lock_alone },
    Bench { name: "spawn and join a fiber", times: 500_000, run: spawn_join },
    Bench { name: "spawn 1,000 fibers, join them; a fiber", times: 500_000, run: spawn_burst },
    Bench { name: "spawn a job of a scope and wait for it", times: 2_000_000, run: job },
    Bench { name: "spawn 1,000 jobs, end their scope; a job", times: 1_000_000, run: task_burst },
];

fn main() {
    // `cargo test --benches` runs this without measuring.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { ROUNDS } else { 1 };
    let mut samples = vec![Vec::new(); BENCHES.len()];
    lisle::Runtime::builder().domains(1).pin(true).run(|| {
        for bench in BENCHES {
            (bench.run)(bench.times / 10);
        }
        for _ in 0..rounds {
            for (bench, samples) in BENCHES.iter().zip(&mut samples) {
                samples.push((bench.run)(bench.times).as_nanos() as f64 / bench.times as f64);
            }
        }
    });
    println!("{:<44} {:>9} {:>9} {:>9}", "one domain", "median", "fastest", "slowest");
    for (bench, samples) in BENCHES.iter().zip(&mut samples) {
        samples.sort_by(f64::total_cmp);
        let [fastest, median, slowest] = [samples[0], samples[samples.len() / 2], samples[samples.len() - 1]];
        println!("{:<44} {median:>6.1} ns {fastest:>6.1} ns {slowest:>6.1} ns", bench.name);
    }
    println!("{:<44} {:>6.0} bytes", "a parked fiber, resident", parked_bytes(20_000));
}

fn yield_alone(n: u64) -> Duration {
    let start = Instant::now();
    (0..n).for_each(|_| lisle::fiber::yield_now());
    start.elapsed()
}

fn lock_alone(n: u64) -> Duration {
    let count = lisle::sync::Mutex::new(0_u64);
    let start = Instant::now();
    (0..n).for_each(|_| *black_box(&count).lock() += 1);
    start.elapsed()
}

fn checkpoint(n: u64) -> Duration {
    let start = Instant::now();
    for i in 0..n {
        lisle::fiber::checkpoint();
        black_box(i);
    }
    start.elapsed()
}

fn no_checkpoint(n: u64) -> Duration {
    let start = Instant::now();
    for i in 0..n {
        black_box(i);
    }
    start.elapsed()
}

/// No other fiber can run, so this includes the cost of looking for one.
fn poll_in_vain(n: u64) -> Duration {
    let (_tx, rx) = lisle::channel::<u64>();
    let start = Instant::now();
    for _ in 0..n {
        assert!(rx.try_recv().is_err());
    }
    start.elapsed()
}

fn ping_pong(n: u64) -> Duration {
    let (ping, pinged) = lisle::channel::<u64>();
    let (pong, ponged) = lisle::channel::<u64>();
    let echo = lisle::spawn(move || {
        for message in pinged {
            pong.send(message).unwrap();
        }
    });
    let start = Instant::now();
    for i in 0..n {
        ping.send(i).unwrap();
        assert_eq!(ponged.recv(), Ok(i));
    }
    let elapsed = start.elapsed();
    drop(ping);
    echo.join().unwrap();
    elapsed
}

/// Times `n` messages through `channel`, received by `take`.
fn messages(
    channel: (lisle::channel::Sender<u64>, lisle::channel::Receiver<u64>),
    n: u64,
    take: impl Fn(&lisle::channel::Receiver<u64>) -> u64,
) -> Duration {
    let (tx, rx) = channel;
    let sender = lisle::spawn(move || (0..n).for_each(|i| tx.send(i).unwrap()));
    let start = Instant::now();
    for i in 0..n {
        assert_eq!(take(&rx), i);
    }
    let elapsed = start.elapsed();
    sender.join().unwrap();
    elapsed
}

fn receive(n: u64) -> Duration {
    messages(lisle::channel(), n, |rx| rx.recv().unwrap())
}

fn choose_two(n: u64) -> Duration {
    let (_silent, never_sent) = lisle::channel::<u64>();
    messages(lisle::channel(), n, |rx| choose((rx.recv_evt(), never_sent.recv_evt())).sync().unwrap())
}

fn choose_timeout(n: u64) -> Duration {
    messages(lisle::channel(), n, |rx| {
        choose((rx.recv_evt().wrap(Result::unwrap), after(Duration::from_secs(100)).wrap(|()| u64::MAX)))
            .sync()
    })
}

fn bounded(n: u64) -> Duration {
    messages(lisle::channel::bounded(64), n, |rx| rx.recv().unwrap())
}

fn spawn_join(n: u64) -> Duration {
    let start = Instant::now();
    for i in 0..n {
        assert_eq!(lisle::spawn(move || black_box(i)).join().unwrap(), i);
    }
    start.elapsed()
}

fn job(n: u64) -> Duration {
    let start = Instant::now();
    lisle::par::scope(|s| {
        for i in 0..n {
            assert_eq!(s.spawn(move || black_box(i)).wait(), i);
        }
    });
    start.elapsed()
}

fn task_burst(n: u64) -> Duration {
    let start = Instant::now();
    for _ in 0..n / 1_000 {
        lisle::par::scope(|s| {
            for i in 0..1_000 {
                let _ = s.spawn(move || black_box(i));
            }
        });
    }
    start.elapsed()
}

fn spawn_burst(n: u64) -> Duration {
    let mut fibers = Vec::with_capacity(1_000);
    let start = Instant::now();
    for _ in 0..n / 1_000 {
        fibers.extend((0..1_000).map(|i| lisle::spawn(move || black_box(i))));
        for fiber in fibers.drain(..) {
            black_box(fiber.join().unwrap());
        }
    }
    start.elapsed()
}

/// Returns the resident bytes of each of `n` waiting fibers.
fn parked_bytes(n: usize) -> f64 {
    let resident = || {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or(f64::NAN);
        pages * 4096.0
    };
    lisle::Runtime::builder().domains(1).run(|| {
        lisle::spawn(|| ()).join().unwrap();
        let before = resident();
        let (tx, rx) = lisle::channel::bounded(n);
        for _ in 0..n {
            let tx = tx.clone();
            drop(lisle::spawn(move || {
                tx.send(()).unwrap();
                never::<()>().sync();
            }));
        }
        rx.iter().take(n).for_each(drop);
        let after = resident();
        (after - before) / n as f64
    })
}
