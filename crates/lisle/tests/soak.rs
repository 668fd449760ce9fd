//! Choices on four threads for a long time: cancellations, dropped futures, panics in wraps and
//! guards and makers, ends that close, negative acknowledgements, second stages, timers. Every
//! message is accounted for, every nack is right, and memory does not grow.
//!
//! It runs for two seconds by default, or for `LISLE_SOAK_SECONDS`. This is a test binary of its
//! own, since it counts the blocks of its whole process.

#[path = "it/support/watch.rs"]
mod watch;

use lisle::channel::{Receiver, Sender, bounded};
use lisle::event::{BoxEvent, Nack, choose_biased, guard, with_nack};
use lisle::time::after;
use lisle::{Event, Runtime, choose, never};
use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};
use watch::watched;

/// The system's allocator, with a count of the blocks and bytes in use.
struct Counting;

static BLOCKS: AtomicIsize = AtomicIsize::new(0);
static BYTES: AtomicIsize = AtomicIsize::new(0);

// SAFETY: all calls are passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BLOCKS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BLOCKS.fetch_sub(1, Ordering::Relaxed);
        BYTES.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The counts of all rounds.
struct Ledger {
    /// Messages that exist.
    live: AtomicIsize,
    /// The counts of senders and receivers, over the channels where both sides learn of every
    /// message.
    sent: AtomicUsize,
    received: AtomicUsize,
    performances: AtomicUsize,
    panics: AtomicUsize,
    drops: AtomicUsize,
    nacks: AtomicUsize,
}

static LEDGER: Ledger = Ledger {
    live: AtomicIsize::new(0),
    sent: AtomicUsize::new(0),
    received: AtomicUsize::new(0),
    performances: AtomicUsize::new(0),
    panics: AtomicUsize::new(0),
    drops: AtomicUsize::new(0),
    nacks: AtomicUsize::new(0),
};

fn add(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// A message on the heap, so an allocator or a sanitizer detects a double drop.
struct Message(Box<u64>);

const BODY: u64 = 0x6c69_736c_655f_6d73;

impl Message {
    fn new() -> Self {
        LEDGER.live.fetch_add(1, Ordering::Relaxed);
        Message(Box::new(BODY))
    }
}

impl Clone for Message {
    fn clone(&self) -> Self {
        Message::new()
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if std::mem::replace(&mut *self.0, 0) != BODY {
            eprintln!("a message was dropped twice");
            std::process::abort();
        }
        LEDGER.live.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The payload of an intended panic.
struct Planned;

fn planned() -> ! {
    add(&LEDGER.panics);
    resume_unwind(Box::new(Planned))
}

type Ends = (Sender<Message>, Receiver<Message>);

/// The number of concurrent performers, and the number of plain threads among them.
const PERFORMERS: usize = 10;
const THREADS: usize = 2;

/// The data that the performers of one round share.
struct Round {
    /// Channels on which both sides learn of every message.
    exact: [Ends; 3],
    /// Channels on which futures are dropped that may have sent or received without learning of it.
    loose: [Ends; 2],
    /// Others cancel the waits of a performer.
    cancels: Vec<(Sender<()>, Receiver<()>)>,
    stop: AtomicBool,
    /// The nacks of performances that a shutdown may end.
    at_the_end: Mutex<Vec<Nack>>,
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    fn once_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn short(&mut self) -> Duration {
        Duration::from_micros(self.below(300))
    }
}

impl Round {
    fn new() -> Self {
        Round {
            exact: [0, 1, 3].map(bounded),
            loose: [0, 2].map(bounded),
            cancels: (0..PERFORMERS).map(|_| bounded(1)).collect(),
            stop: AtomicBool::new(false),
            at_the_end: Mutex::default(),
        }
    }

    fn receive<'a>(&'a self, (_, rx): &'a Ends, exact: bool) -> BoxEvent<'a, ()> {
        let count = move |received: Result<Message, _>| {
            if exact && received.is_ok() {
                add(&LEDGER.received);
            }
        };
        rx.recv_evt().wrap(count).boxed()
    }

    fn send<'a>(&'a self, (tx, _): &'a Ends, exact: bool, random: &mut Random) -> BoxEvent<'a, ()> {
        let count = move |sent: bool| {
            if exact && sent {
                add(&LEDGER.sent);
            }
        };
        match random.below(8) {
            0..4 => tx.send_evt(Message::new()).wrap(move |sent| count(sent.is_ok())).boxed(),
            4 => tx.send_with_evt(|| planned()).wrap(|_| ()).boxed(),
            _ => tx.send_with_evt(Message::new).wrap(move |sent| count(sent.is_ok())).boxed(),
        }
    }

    /// Returns one alternative of a choice, in one of many forms.
    fn alternative<'a>(&'a self, me: usize, exact: bool, random: &mut Random) -> BoxEvent<'a, ()> {
        let channels: &[Ends] = if exact { &self.exact } else { &self.loose };
        let ends = &channels[random.below(channels.len() as u64) as usize];
        let event = match random.below(12) {
            0..=3 => self.receive(ends, exact),
            4..=6 => self.send(ends, exact, random),
            7 => after(random.short()).boxed(),
            8 => {
                let (breaks, pause) = (random.once_in(16), random.short());
                guard(move || {
                    if breaks {
                        planned();
                    }
                    choose((self.receive(ends, exact), after(pause)))
                })
                .boxed()
            }
            9 => {
                let (breaks, pause) = (random.once_in(16), random.short());
                let next = move |()| {
                    if breaks {
                        planned();
                    }
                    choose((self.receive(ends, exact), after(pause)))
                };
                self.receive(ends, exact).replace(next).boxed()
            }
            10 => random.once_in(2).then(|| self.receive(ends, exact)).boxed(),
            _ => self.cancels[me].1.recv_evt().wrap(drop).boxed(),
        };
        match random.below(24) {
            0 => event.wrap(|()| planned()).boxed(),
            1 => event.wrap(|()| planned()).wrap_panic(|_| ()).boxed(),
            _ => event,
        }
    }

    /// Performs a choice of a few alternatives, some with nacks. Afterwards checks every nack.
    fn perform(&self, me: usize, random: &mut Random, waker: &Waker) {
        add(&LEDGER.performances);
        let how = random.below(8);
        let dropped = how == 0;
        let nacks = Mutex::new(Vec::new());
        let alternatives: Vec<BoxEvent<'_, usize>> = (0..1 + random.below(5) as usize)
            .map(|place| {
                let event = self.alternative(me, !dropped, random);
                if random.once_in(2) {
                    return event.wrap(move |()| place).boxed();
                }
                let (nacks, event) = (&nacks, Mutex::new(Some(event)));
                with_nack(move |nack| {
                    nacks.lock().unwrap().push((place, nack));
                    event.lock().unwrap().take().expect("performed once").wrap(move |()| place)
                })
                .boxed()
            })
            .collect();
        let pause = after(random.short()).wrap(|()| usize::MAX);
        let alternatives = match random.below(3) {
            0 => choose_biased(alternatives).boxed(),
            _ => choose(alternatives).boxed(),
        };
        let event = choose((alternatives, pause));
        let outcome = catch_unwind(AssertUnwindSafe(|| match how {
            0 => {
                add(&LEDGER.drops);
                let mut future = pin!(event.future());
                let mut context = Context::from_waker(waker);
                for _ in 0..random.below(3) {
                    if let Poll::Ready(place) = future.as_mut().poll(&mut context) {
                        return Some(place);
                    }
                    std::thread::yield_now();
                }
                None
            }
            1 => event.poll(),
            2 if me < THREADS => Some(block_on(event.future(), waker)),
            _ => Some(event.sync()),
        }));
        for (place, nack) in nacks.into_inner().unwrap() {
            add(&LEDGER.nacks);
            let fate = (nack.is_taken(), nack.is_lost());
            match &outcome {
                Ok(winner) => assert_eq!(fate, (*winner == Some(place), *winner != Some(place))),
                Err(_) => assert!(fate.0 != fate.1, "{fate:?}"),
            }
        }
        if let Err(panic) = outcome
            && !panic.is::<Planned>()
        {
            resume_unwind(panic);
        }
    }

    fn interfere(&self, random: &mut Random) {
        if random.once_in(4) {
            let _ = self.cancels[random.below(PERFORMERS as u64) as usize].0.try_send(());
        }
        if random.once_in(2_000) {
            self.exact[random.below(3) as usize].0.close();
        }
        if random.once_in(2_000) {
            self.loose[random.below(2) as usize].1.close();
        }
    }

    /// Chooses until the round is over.
    fn run(&self, me: usize, seed: u64) {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        while !self.stop.load(Ordering::Relaxed) {
            self.perform(me, &mut random, &waker);
            self.interfere(&mut random);
            lisle::fiber::yield_now();
        }
    }

    /// Waits for a message that may or may not come. A shutdown ends the wait.
    fn wait_for_the_end(&self, me: usize) {
        let noted = with_nack(|nack| {
            self.at_the_end.lock().unwrap().push(nack);
            never()
        });
        choose((noted, self.receive(&self.exact[me % 3], true), self.receive(&self.exact[0], true))).sync();
    }
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls `future` until it is ready, and parks in between.
fn block_on<F: Future>(future: F, waker: &Waker) -> F::Output {
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Runs four threads: two plain ones, and two domains with four fibers each.
fn round(seed: u64, length: Duration) {
    let round = Arc::new(Round::new());
    let before = (LEDGER.sent.load(Ordering::SeqCst), LEDGER.received.load(Ordering::SeqCst));
    let runtime = Runtime::builder().domains(2).stall_report(None).start().unwrap();
    let fibers: Vec<_> = (THREADS..PERFORMERS)
        .map(|me| {
            let round = round.clone();
            runtime.spawn(move || {
                round.run(me, seed * 16 + me as u64);
                if me % 2 == 0 {
                    round.wait_for_the_end(me);
                }
            })
        })
        .collect();
    std::thread::scope(|scope| {
        for me in 0..THREADS {
            let round = &round;
            scope.spawn(move || round.run(me, seed * 16 + me as u64));
        }
        std::thread::sleep(length);
        round.stop.store(true, Ordering::SeqCst);
    });
    assert!(runtime.shutdown(Duration::from_secs(60)).is_clean());
    for fiber in fibers {
        // The fiber has ended, or was unwound where it waited. A failed assertion continues here.
        if let Err(error) = fiber.join()
            && let Ok(panic) = error.into_panic()
        {
            resume_unwind(panic);
        }
    }
    for nack in round.at_the_end.lock().unwrap().iter() {
        assert!(nack.is_lost() && !nack.is_taken());
    }
    let left: usize =
        round.exact.iter().map(|(_, rx)| std::iter::from_fn(|| rx.try_recv().ok()).count()).sum();
    let sent = LEDGER.sent.load(Ordering::SeqCst) - before.0;
    let received = LEDGER.received.load(Ordering::SeqCst) - before.1;
    assert_eq!(sent, received + left, "round {seed}: messages sent, received and left over");
    drop(Arc::into_inner(round).expect("all have let go of the round"));
    assert_eq!(LEDGER.live.load(Ordering::SeqCst), 0, "round {seed}: messages that nobody has");
}

#[test]
fn choices_for_a_long_time() {
    let seconds = std::env::var("LISLE_SOAK_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let total = Duration::from_secs(seconds.unwrap_or(2));
    let length = Duration::from_millis(100);
    // Warm up, so the memory that threads and the clock keep is allocated.
    (0..4).for_each(|seed| round(seed, length));
    let heap = || (BLOCKS.load(Ordering::SeqCst), BYTES.load(Ordering::SeqCst));
    let (begun, before) = (Instant::now(), heap());
    let mut most = before;
    let mut reported = Duration::ZERO;
    for seed in 4.. {
        // Each round is watched separately, so a hang is attributed to its round.
        let _watched = watched();
        round(seed, length);
        let now = heap();
        most = (most.0.max(now.0), most.1.max(now.1));
        let elapsed = begun.elapsed();
        if elapsed >= reported || elapsed >= total {
            reported += Duration::from_secs(60);
            println!(
                "{:>4} s, {seed} rounds: {} performances, {} panics, {} dropped futures, {} nacks, {} messages; \
                 {} blocks and {} bytes in use, {} and {} before",
                elapsed.as_secs(),
                LEDGER.performances.load(Ordering::SeqCst),
                LEDGER.panics.load(Ordering::SeqCst),
                LEDGER.drops.load(Ordering::SeqCst),
                LEDGER.nacks.load(Ordering::SeqCst),
                LEDGER.received.load(Ordering::SeqCst),
                now.0,
                now.1,
                before.0,
                before.1,
            );
        }
        if elapsed >= total {
            break;
        }
    }
    assert!(most.0 <= before.0 + 100, "{} blocks in use before, {} at most after a round", before.0, most.0);
    assert!(most.1 <= before.1 + 64 * 1024, "{} bytes in use before, {} at most", before.1, most.1);
    assert!(LEDGER.panics.load(Ordering::SeqCst) > 0 && LEDGER.drops.load(Ordering::SeqCst) > 0);
}
