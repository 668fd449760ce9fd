//! A cache that all threads share, behind a mutex: it keeps the entries that were used last. Half of the keys that threads ask for are
//! not there, and each of these takes the place of the oldest entry, which has become old in the heap.

mod boxes;
mod heap;

use crate::clock::processor_time;
use crate::job::{Figure, Job, Outcome};
use crate::threads::Share;
use std::time::Instant;

/// How many times each entry is asked for on average.
const TIMES: u64 = 2;

/// The words of a value. The first is its key.
type Numbers = [u64; 4];

/// The keys that one thread asks for.
struct Keys {
    random: u64,
    count: u64,
    range: u64,
}

impl Keys {
    fn of(share: Share, entries: u64) -> Self {
        Self { random: share.index as u64, count: TIMES * entries / share.threads as u64, range: 2 * entries }
    }
}

impl Iterator for Keys {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.count = self.count.checked_sub(1)?;
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((self.random >> 20 & u64::from(u32::MAX)) % self.range)
    }
}

/// Measures the system of the job, if it is one of these. On one thread, the sum of the found keys is the checksum.
pub fn measure(job: &Job) -> Option<Outcome> {
    let entries = job.param("entries");
    let run = match job.system.as_str() {
        "lisle-heap" => heap::run,
        "box" => boxes::run,
        _ => return None,
    };
    let (sum, begun, processor_begun) = run(job, entries);
    let operations = TIMES * entries / job.workers as u64 * job.workers as u64;
    let figure = Figure::new("", begun.elapsed().as_secs_f64() * 1e9 / operations as f64);
    let outcome = Outcome::new(vec![figure], operations, processor_time() - processor_begun);
    Some(outcome.checked((job.workers == 1).then_some(sum)))
}

/// The begin of a run: the time and the processor time when the cache was full.
fn begin() -> (Instant, f64) {
    (Instant::now(), processor_time())
}

/// Returns the number of lists among which the entries are divided by their keys.
fn buckets(entries: u64) -> usize {
    usize::try_from(entries).expect("the cache fits the memory").next_power_of_two()
}
