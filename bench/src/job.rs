//! The child's side of a sample: its job, its measurement, and its answer.

use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs,
    time::{Duration, Instant},
};

/// One sample to take.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) variant: String,
    /// How many threads the system may use; the process is pinned to as many cores.
    pub(crate) workers: usize,
    /// How long the measured run lasts at least.
    pub(crate) target: Duration,
    pub(crate) params: BTreeMap<String, u64>,
}

/// The result of a sample.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) figures: Vec<Figure>,
    /// How much work the measured run did.
    pub(crate) operations: u64,
    /// Processor time of the whole process during the measured run.
    pub(crate) cpu_seconds: f64,
    /// The most memory the process had resident until the end.
    pub(crate) rss_bytes: u64,
    /// The result that all systems must share, where the workload itself does not know it.
    pub(crate) checksum: Option<u64>,
    /// The statistics of its threads, for one run, where the system tells them.
    #[serde(default)]
    pub(crate) threads: Option<Threads>,
}

/// The threads of a program and their messages.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Threads {
    pub(crate) fibers: u64,
    pub(crate) tasks: u64,
    pub(crate) reified: u64,
    pub(crate) inflated: u64,
    pub(crate) migrations: u64,
    pub(crate) messages: u64,
    /// Of a reified task: on average, and of the largest.
    pub(crate) mean_bytes: u64,
    pub(crate) largest_bytes: u64,
}

impl Threads {
    /// Computes the statistics of one run from a Lisle runtime's statistics of `runs` runs.
    pub(crate) fn of(statistics: lisle::Statistics, runs: f64) -> Self {
        let each = |all: u64| (all as f64 / runs).round() as u64;
        Threads {
            fibers: each(statistics.fibers),
            tasks: each(statistics.tasks),
            reified: each(statistics.reifications),
            inflated: each(statistics.inflations),
            migrations: each(statistics.migrations),
            messages: each(statistics.communications),
            mean_bytes: statistics.mean_task().round() as u64,
            largest_bytes: statistics.largest_task,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Figure {
    /// Empty if the sample has only one.
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) p99: Option<f64>,
}

/// A run that was long enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) operations: u64,
    pub(crate) elapsed: Duration,
    pub(crate) cpu_seconds: f64,
}

impl Job {
    /// A parameter of the case.
    pub(crate) fn param(&self, name: &str) -> u64 {
        *self.params.get(name).unwrap_or_else(|| panic!("the parameter `{name}` is missing"))
    }

    /// `run(n)` does the work `n` times and says how long that took. Warms up with short runs, then
    /// measures one that lasts as long as asked.
    pub(crate) fn measure(&self, mut run: impl FnMut(u64) -> Duration) -> Measured {
        let warm = (self.target / 20).min(Duration::from_millis(10));
        let mut n = 1;
        let mut elapsed = run(n);
        while elapsed < warm {
            n *= 4;
            elapsed = run(n);
        }
        loop {
            let times = 1.1 * self.target.as_secs_f64() / elapsed.as_secs_f64();
            n = ((n as f64 * times).ceil() as u64).max(1);
            let cpu = cpu_seconds();
            elapsed = run(n);
            if elapsed >= self.target.mul_f64(0.9) {
                return Measured { operations: n, elapsed, cpu_seconds: cpu_seconds() - cpu };
            }
        }
    }

    /// For work of a size that is part of the case: `run` does all of it, once; `warm_up` a little
    /// of it. Repeats until the time asked for is over.
    pub(crate) fn measure_whole(
        &self,
        warm_up: impl FnOnce(),
        mut run: impl FnMut() -> Duration,
    ) -> Measured {
        warm_up();
        let cpu = cpu_seconds();
        let (mut operations, mut elapsed) = (0, Duration::ZERO);
        while elapsed < self.target {
            elapsed += run();
            operations += 1;
        }
        Measured { operations, elapsed, cpu_seconds: cpu_seconds() - cpu }
    }
}

impl Measured {
    /// Nanoseconds for each operation.
    pub(crate) fn nanoseconds(self) -> Outcome {
        self.figure(self.elapsed.as_secs_f64() * 1e9 / self.operations as f64)
    }

    /// Milliseconds for each operation.
    pub(crate) fn milliseconds(self) -> Outcome {
        self.figure(self.elapsed.as_secs_f64() * 1e3 / self.operations as f64)
    }

    /// How many a second, where an operation stands for `each`.
    pub(crate) fn per_second(self, each: u64) -> Outcome {
        self.figure(self.operations as f64 * each as f64 / self.elapsed.as_secs_f64())
    }

    /// The only figure of this sample.
    pub(crate) fn figure(self, value: f64) -> Outcome {
        self.figures(vec![Figure { name: String::new(), value, p99: None }])
    }

    pub(crate) fn figures(self, figures: Vec<Figure>) -> Outcome {
        Outcome {
            figures,
            operations: self.operations,
            cpu_seconds: self.cpu_seconds,
            rss_bytes: peak_resident_bytes(),
            checksum: None,
            threads: None,
        }
    }
}

/// Runs `work` and says how long it took.
pub(crate) fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Processor time that this process has used, in user and in system mode.
pub(crate) fn cpu_seconds() -> f64 {
    let clock = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    clock.tv_sec as f64 + clock.tv_nsec as f64 / 1e9
}

fn peak_resident_bytes() -> u64 {
    status("VmHWM:")
}

/// Memory that this process has resident now.
pub(crate) fn resident_bytes() -> u64 {
    status("VmRSS:")
}

fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("the kernel names the field");
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("the kernel writes a number");
    kilobytes * 1024
}
