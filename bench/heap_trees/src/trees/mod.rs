//! Binary trees, after the Computer Language Benchmarks Game: many trees of several depths are made, counted and
//! dropped, while one long-lived tree stays. Each system runs in a process of its own, one after the other.

mod arenas;
mod boxes;
pub mod heap;

use crate::clock::{processor_time, resident};
use std::ops::Range;
use std::thread;
use std::time::Instant;

/// The name of a system, and its program, which takes a depth and a number of threads, and returns a number of nodes.
type System = (&'static str, fn(u32, usize) -> u64);

const SYSTEMS: [System; 3] =
    [("lisle-heap", heap::run), ("boxes, mimalloc", boxes::run), ("gc-arena", arenas::run)];

/// What one of the threads does of the work, which is the same for each number of threads. The first one has the
/// long-lived tree, and the last one makes the largest tree.
#[derive(Clone, Copy)]
pub struct Share {
    index: usize,
    threads: usize,
}

impl Share {
    pub fn is_first(self) -> bool {
        self.index == 0
    }

    pub fn is_last(self) -> bool {
        self.index + 1 == self.threads
    }

    /// Returns the numbers of this share's trees among so many.
    pub fn of(self, trees: usize) -> Range<usize> {
        trees * self.index / self.threads..trees * (self.index + 1) / self.threads
    }

    /// Returns the depth of each tree of this share, except for those two.
    pub fn depths(self, depth: u32) -> impl Iterator<Item = u32> {
        (4..=depth)
            .step_by(4)
            .flat_map(move |shallow| self.of(1 << (depth - shallow + 4)).map(move |_| shallow))
    }
}

/// Calls `f` on so many threads, each with its share, and adds up.
fn on_threads(threads: usize, f: impl Fn(Share) -> u64 + Sync) -> u64 {
    let f = &f;
    thread::scope(|t| {
        let threads: Vec<_> =
            (0..threads).map(|index| t.spawn(move || f(Share { index, threads }))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the thread has counted its trees")).sum()
    })
}

/// Runs one system, in this process, and prints its figures.
pub fn run_one(depth: u32, threads: usize, system: usize) {
    let (begun, processor_begun) = (Instant::now(), processor_time());
    let total = SYSTEMS[system].1(depth, threads);
    println!(
        "{} {} {} {total}",
        begun.elapsed().as_secs_f64(),
        processor_time() - processor_begun,
        resident()
    );
}

/// Compares the systems, and prints a table.
pub fn compare(depth: u32, rounds: u32, threads: usize) {
    println!("Trees of depth {depth}, threads: {threads}\n");
    println!("| system | seconds | ratio to lisle-heap | processor seconds | ratio | MiB |");
    println!("|---|---|---|---|---|---|");
    for _ in 0..rounds {
        let mut first = None;
        for (index, (name, _)) in SYSTEMS.iter().enumerate() {
            let program = std::env::current_exe().expect("the program has a path");
            let out = std::process::Command::new(program)
                .args([depth.to_string(), "1".into(), threads.to_string(), index.to_string()])
                .output()
                .expect("the program runs");
            let text = String::from_utf8(out.stdout).expect("it prints text");
            let numbers: Vec<f64> =
                text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
            let [seconds, processor, resident, total] = numbers[..] else { panic!("{name} has failed") };
            let (base, processor_base, expected) = *first.get_or_insert((seconds, processor, total));
            assert!(total == expected, "{name} has counted {total} nodes, and others {expected}");
            println!(
                "| {name} | {seconds:.3} | {:.2} | {processor:.3} | {:.2} | {resident:.0} |",
                seconds / base,
                processor / processor_base
            );
        }
    }
}
