//! What an entry and an allocation take, and what the threads in a heap take from each other: cases 13 to 15 of the
//! design, as ratios. The runs that are compared take turns, and each figure is the median of its runs.
//!
//! Where other programs use the machine, the ratio of the processor times is the better one. It says nothing of waits.

use crate::clock::{processor_time, thread_time};
use crate::trees;
use lisle_heap::{Gc, Heap, Object, Scope};
use std::hint::{black_box, spin_loop};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

#[derive(Object)]
struct Pair {
    first: Gc<Option<Pair>>,
    second: Gc<Option<Pair>>,
}

/// A pair as a program without a heap has it.
struct Boxed {
    _first: Option<Box<Boxed>>,
    _second: Option<Box<Boxed>>,
}

/// The time of a run, and its processor time.
#[derive(Clone, Copy)]
struct Taken {
    time: f64,
    processor: f64,
}

impl Taken {
    /// Measures `f`, in seconds, with a clock of processor time.
    fn by(processor: fn() -> f64, f: impl FnOnce()) -> Self {
        let (begun, processor_begun) = (Instant::now(), processor());
        f();
        Self { time: begun.elapsed().as_secs_f64(), processor: processor() - processor_begun }
    }

    /// Returns the time in another unit, for one of so many repetitions.
    fn each(self, unit: f64, times: u64) -> Self {
        let factor = unit / times as f64;
        Self { time: self.time * factor, processor: self.processor * factor }
    }
}

/// Runs the programs in turn, so often, and returns the median of each.
fn medians<const N: usize>(rounds: usize, programs: [&dyn Fn() -> Taken; N]) -> [Taken; N] {
    let mut runs = [const { Vec::new() }; N];
    for _ in 0..rounds {
        for (runs, program) in runs.iter_mut().zip(programs) {
            runs.push(program());
        }
    }
    runs.map(|runs| {
        let median = |of: fn(&Taken) -> f64| {
            let mut figures: Vec<f64> = runs.iter().map(of).collect();
            figures.sort_by(f64::total_cmp);
            figures[figures.len() / 2]
        };
        Taken { time: median(|run| run.time), processor: median(|run| run.processor) }
    })
}

/// Returns the nanoseconds that `f` takes, of `times` in a row.
fn nanoseconds(times: u32, mut f: impl FnMut()) -> Taken {
    Taken::by(thread_time, || (0..times).for_each(|_| f())).each(1e9, times.into())
}

fn enter_and_leave(heap: &Heap) -> Taken {
    nanoseconds(1_000_000, || heap.enter(|s| _ = black_box(s)))
}

fn lock_and_unlock(mutex: &Mutex<u64>) -> Taken {
    nanoseconds(1_000_000, || *black_box(mutex).lock().expect("nothing panics here") += 1)
}

fn allocate_and_root(heap: &Heap) -> Taken {
    heap.enter(|s| {
        let mut last = s.root::<Option<Pair>>(None);
        nanoseconds(10_000_000, || {
            s.scope(|s| {
                let pair = s.alloc::<Pair>(Pair::init(None, None));
                last.set(s, pair);
            });
        })
    })
}

fn box_and_drop() -> Taken {
    let mut last = None;
    let taken =
        nanoseconds(10_000_000, || last = black_box(Some(Box::new(Boxed { _first: None, _second: None }))));
    drop(last);
    taken
}

/// Allocates until there were 50 collections, and returns the microseconds for each, its allocations included.
fn allocate(s: &mut Scope<'_>) -> Taken {
    const MINORS: u64 = 50;
    s.scope(|s| {
        let mut kept = s.root::<Option<Pair>>(None);
        let until = s.stats().minor_collections + MINORS;
        Taken::by(thread_time, || {
            while s.stats().minor_collections < until {
                // Of ten pairs, one is alive until there are 1,000 of them.
                kept.set(s, None);
                for _ in 0..1_000 {
                    s.scope(|s| {
                        let pair = s.alloc::<Pair>(Pair::init(&kept, None));
                        kept.set(s, pair);
                        (0..9).for_each(|_| _ = s.alloc::<Pair>(Pair::init(None, None)));
                    });
                }
            }
        })
        .each(1e6, MINORS)
    })
}

fn beside_one_asleep() -> Taken {
    let heap = &Heap::new();
    thread::scope(|t| {
        let ((asleep, is_asleep), (wake, woken)) = (mpsc::channel(), mpsc::channel::<()>());
        t.spawn(move || {
            heap.enter(|s| {
                s.alloc::<Pair>(Pair::init(None, None));
                s.outside(|| {
                    asleep.send(()).expect("the other thread waits for it");
                    woken.recv().expect("the other thread wakes this one");
                });
            });
        });
        is_asleep.recv().expect("the thread falls asleep");
        let taken = heap.enter(allocate);
        wake.send(()).expect("the thread is asleep");
        taken
    })
}

/// Also counts the entries of the other thread while this one allocates.
fn beside_one_that_enters(entries: &AtomicUsize) -> Taken {
    const PAUSE: Duration = Duration::from_micros(10);
    let (heap, done, entered) = (&Heap::new(), &AtomicBool::new(false), &AtomicUsize::new(0));
    thread::scope(|t| {
        t.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                heap.enter(|s| _ = s.alloc::<Pair>(Pair::init(None, None)));
                entered.fetch_add(1, Ordering::Relaxed);
                let left = Instant::now();
                while left.elapsed() < PAUSE {
                    spin_loop();
                }
            }
        });
        while entered.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        let taken = heap.enter(|s| {
            let before = entered.load(Ordering::Relaxed);
            let taken = allocate(s);
            entries.fetch_add(entered.load(Ordering::Relaxed) - before, Ordering::Relaxed);
            taken
        });
        done.store(true, Ordering::Relaxed);
        taken
    })
}

/// Returns the milliseconds of 512 trees on so many threads.
fn trees(threads: usize) -> Taken {
    let run = || _ = black_box(trees::heap::run_alike(512, 12, threads));
    Taken::by(processor_time, run).each(1e3, 1)
}

fn row(figure: &str, measured: Taken, unit: &str, reference: Taken, of: &str) {
    println!(
        "| {figure} | {:.1} {unit} | {of}: {:.1} {unit} | {:.3} | {:.3} |",
        measured.time,
        reference.time,
        measured.time / reference.time,
        measured.processor / reference.processor
    );
}

/// Measures all, and prints a table.
pub fn measure(rounds: usize) {
    println!("Medians of {rounds} runs\n\n| figure | measured | beside | ratio | ratio of processor time |");
    println!("|---|---|---|---|---|");
    let (heap, mutex) = (Heap::new(), Mutex::new(0));
    let [entry, lock] = medians(rounds, [&|| enter_and_leave(&heap), &|| lock_and_unlock(&mutex)]);
    row("enter and leave", entry, "ns", lock, "lock and unlock a mutex");
    let [pair, boxed] = medians(rounds, [&|| allocate_and_root(&heap), &box_and_drop]);
    row("allocate and root a pair", pair, "ns", boxed, "box and drop it");
    let entries = AtomicUsize::new(0);
    let [alone, asleep, enters] = medians(
        rounds,
        [&|| Heap::new().enter(allocate), &beside_one_asleep, &|| beside_one_that_enters(&entries)],
    );
    row("minor, beside a thread asleep in `outside`", asleep, "µs", alone, "alone");
    row("minor, beside a thread that enters and leaves", enters, "µs", alone, "alone");
    let [one, two, eight] = medians(rounds, [&|| trees(1), &|| trees(2), &|| trees(8)]);
    row("trees on 2 threads", two, "ms", one, "on 1");
    row("trees on 8 threads", eight, "ms", two, "on 2");
    let entries = entries.into_inner() / rounds;
    println!(
        "\nThe thread that enters and leaves did so {entries} times while the other one made 50 minors."
    );
}
