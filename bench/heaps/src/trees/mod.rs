//! Binary trees, after the Computer Language Benchmarks Game: many trees of several depths are made, counted and
//! dropped, while one long-lived tree stays. The checksum is the number of counted nodes.

mod arenas;
pub mod heap;
mod owned;

use crate::job::{Job, Outcome};
use crate::threads::Share;

/// Measures the system of the job, if it is one of these.
pub fn measure(job: &Job) -> Option<Outcome> {
    let run: fn(&Job, u32) -> u64 = match (job.system.as_str(), job.workers) {
        ("lisle-heap", _) => heap::run,
        ("gc-arena", _) => arenas::run,
        ("box", _) => owned::run::<owned::Boxed>,
        ("arc", _) => owned::run::<owned::Shared>,
        ("dumpster", 1) => owned::run::<owned::Dumped>,
        ("dumpster", _) => owned::run::<owned::DumpedByAll>,
        _ => return None,
    };
    owned::set_memory(job.memory);
    let depth = u32::try_from(job.param("depth")).expect("a depth is small");
    run(job, depth.saturating_sub(6));
    Some(job.milliseconds(|| run(job, depth)))
}

/// Returns the depth of each tree of this share, except for two: the first share has the long-lived tree, and the last one makes
/// the largest.
fn depths(share: Share, depth: u32) -> impl Iterator<Item = u32> {
    (4..=depth).step_by(4).flat_map(move |shallow| share.of(1 << (depth - shallow + 4)).map(move |_| shallow))
}
