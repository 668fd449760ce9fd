//! Pauses: threads make garbage and replace objects of large tables, one each. The time of each step is counted, and the pauses of a
//! collector are the longest steps. Threads that only look at the clock show what the machine adds to that.

mod boxes;
mod heap;
mod steps;

use crate::clock::processor_time;
use crate::job::{Figure, Job, Outcome};
use crate::lisle;
use crate::threads::{Share, on_threads};
use std::sync::{Barrier, OnceLock};
use std::time::Duration;
use steps::Steps;

/// The bytes of an object of the tables, with what a heap adds.
const NODE: u64 = 56;

/// How many objects a step makes that nothing keeps. Of each eight steps one also replaces an object of the table.
const GARBAGE: u64 = 20;

/// What one of the threads has to do.
struct Part<'a> {
    share: Share,
    /// The number of objects in its table.
    table: usize,
    length: Duration,
    ready: &'a Barrier,
    /// The processor time of the process when the threads were ready.
    begun: &'a OnceLock<f64>,
}

/// The object of the table that is replaced, and the one that its successor gets as a part.
struct Replacement {
    to: usize,
    from: usize,
}

impl Part<'_> {
    /// Waits for the tables of all threads.
    fn wait(&self) {
        self.ready.wait();
        self.begun.get_or_init(processor_time);
    }

    /// Calls `step` with random numbers for a while, and counts the time of each call.
    fn count(&self, step: impl FnMut(u64)) -> Steps {
        Steps::count(self.length, self.share.index as u64, step)
    }

    fn replacement(&self, random: u64) -> Option<Replacement> {
        let at = |bits: u64| usize::try_from(bits % self.table as u64).expect("it is within the table");
        random.is_multiple_of(8).then(|| Replacement { to: at(random >> 20), from: at(random >> 40) })
    }
}

/// Measures the system of the job, if it is one of these.
pub fn measure(job: &Job) -> Option<Outcome> {
    let nodes = usize::try_from(job.param("mib") * (1 << 20) / NODE).expect("the tables fit the memory");
    let (ready, begun) = (Barrier::new(job.workers), OnceLock::new());
    let all = |run: &(dyn Fn(&Part<'_>) -> Steps + Sync)| {
        on_threads(job.workers, |share| {
            let length = Duration::from_millis(job.param("millis"));
            run(&Part { share, table: nodes / job.workers, length, ready: &ready, begun: &begun })
        })
    };
    let steps = match job.system.as_str() {
        "clock" => all(&|part| {
            part.wait();
            part.count(|_| {})
        }),
        "lisle-heap" => {
            let heap = lisle::heap(job.memory);
            all(&|part| heap::run(&heap, part))
        }
        "box" => all(&boxes::run),
        _ => return None,
    };
    let cpu = processor_time() - begun.get().expect("the threads were ready");
    let steps: Steps = steps.into_iter().sum();
    let figures = vec![
        Figure::new("p99", steps.microseconds(0.99)),
        Figure::new("p99.99", steps.microseconds(0.9999)),
        Figure::new("p99.9999", steps.microseconds(0.999_999)),
        Figure::new("longest", steps.longest()),
        Figure::new("steps", steps.number() as f64 / job.param("millis") as f64 / 1e3),
    ];
    Some(Outcome::new(figures, steps.number(), cpu))
}
