//! Schedules at random: a random walk, and priorities with a guarantee.
//!
//! A seed and the number of the execution determine both, so each execution can be run again by
//! itself, and several workers can divide them. Priorities also need the length of executions. They
//! learn it at the beginning of each *round* from the executions of all earlier rounds, which are
//! the same with any number of workers. A round is twice as long as the round before.

use serde::{Deserialize, Serialize};

use super::{Counts, Decision, Ending, Mark, Process, Strategy};

/// Runs a process at random at each scheduling point.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    executions: u64,
    generator: fastrand::Rng,
    counts: Counts,
    step: u32,
}

impl Random {
    /// Creates a random walk of this many executions.
    pub fn new(seed: u64, executions: u64) -> Self {
        Random {
            seed,
            executions,
            generator: fastrand::Rng::with_seed(seed),
            counts: Counts::default(),
            step: 0,
        }
    }

    /// Makes this execution the next one.
    pub(super) fn draw(&mut self, number: u64) {
        self.generator = generator(self.seed, number);
        self.step = 0;
    }
}

/// The length of executions, assumed for the next ones or measured.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Lengths {
    steps: u32,
    processes: u32,
}

impl Lengths {
    /// The lengths that are assumed before the first execution.
    pub(super) const NONE: Lengths = Lengths { steps: 1, processes: 1 };

    /// Returns the greater of both.
    pub(super) fn max(self, other: Lengths) -> Lengths {
        Lengths { steps: self.steps.max(other.steps), processes: self.processes.max(other.processes) }
    }

    /// Returns `true` if a round begins with this execution. From then on, the lengths of all
    /// executions before it are assumed.
    pub(super) fn change_at(number: u64) -> bool {
        number.is_power_of_two()
    }
}

/// Runs the process of the highest priority, and lowers priorities at a few random points.
///
/// This is probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatti, "A
/// randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010). A bug of
/// depth d shows as soon as d orders between steps are as the bug needs them. Each execution of a
/// program of n processes and k steps shows such a bug with a probability of at least 1 / (n *
/// k^(d-1)).
#[derive(Debug)]
pub struct Priorities {
    seed: u64,
    executions: u64,
    depth: u32,
    generator: fastrand::Rng,
    /// The priority of each process that could run so far; the highest one runs.
    priorities: Vec<Option<u64>>,
    processes: u32,
    /// The steps before which the running process's priority becomes the number of the place.
    changes: Vec<u32>,
    step: u32,
    assumed: Lengths,
    seen: Lengths,
    counts: Counts,
}

impl Priorities {
    /// Creates an exploration of this many executions that looks for bugs of this depth.
    ///
    /// # Panics
    ///
    /// Panics if the depth is zero.
    pub fn new(seed: u64, executions: u64, depth: u32) -> Self {
        assert!(depth > 0, "a bug has a depth of at least 1; got 0");
        Priorities {
            seed,
            executions,
            depth,
            generator: fastrand::Rng::with_seed(seed),
            priorities: Vec::new(),
            processes: 0,
            changes: Vec::new(),
            step: 0,
            assumed: Lengths::NONE,
            seen: Lengths::NONE,
            counts: Counts::default(),
        }
    }

    /// Returns a lower bound of the probability that an execution shows a bug of the given depth,
    /// by the longest execution and the most processes so far.
    pub fn probability(&self) -> f64 {
        let Lengths { steps, processes } = self.seen;
        1.0 / (f64::from(processes) * f64::from(steps).powi(self.depth as i32 - 1))
    }

    /// Makes this execution the next one, with these assumed lengths.
    pub(super) fn draw(&mut self, number: u64, assumed: Lengths) {
        self.generator = generator(self.seed, number);
        self.priorities.clear();
        self.processes = 0;
        self.changes.clear();
        for _ in 1..self.depth {
            self.changes.push(self.generator.u32(1..=assumed.steps));
        }
        self.step = 0;
    }

    /// Returns how long the execution was.
    pub(super) fn lengths(&self) -> Lengths {
        Lengths { steps: self.step.max(1), processes: self.processes.max(1) }
    }

    /// Returns the priority of a process. It is drawn when the process can run for the first time,
    /// so that it does not depend on the process's number, which may depend on earlier executions.
    fn priority(&mut self, process: Process) -> u64 {
        if self.priorities.len() <= process.index() {
            self.priorities.resize(process.index() + 1, None);
        }
        if let Some(priority) = self.priorities[process.index()] {
            return priority;
        }
        // All of them are above the priorities of the change points.
        let priority = self.generator.u64(u64::from(self.depth)..);
        self.processes += 1;
        self.priorities[process.index()] = Some(priority);
        priority
    }

    /// Returns the runnable process of the highest priority.
    fn highest(&mut self, runnable: &[Process]) -> Process {
        let mut best = (self.priority(runnable[0]), runnable[0]);
        for &process in &runnable[1..] {
            let priority = self.priority(process);
            if priority > best.0 {
                best = (priority, process);
            }
        }
        best.1
    }
}

/// Returns the generator of one execution.
fn generator(seed: u64, execution: u64) -> fastrand::Rng {
    let mut mixed = fastrand::Rng::with_seed(seed ^ execution.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed.fork()
}

impl Strategy for Random {
    fn begin(&mut self) -> bool {
        if self.counts.all() == self.executions {
            return false;
        }
        self.draw(self.counts.all());
        true
    }

    fn next(&mut self, _: Option<Process>, runnable: &[Process]) -> Decision {
        self.step += 1;
        Decision::Run(runnable[self.generator.usize(..runnable.len())])
    }

    fn choose(&mut self, _: Process, ways: u32) -> u32 {
        self.generator.u32(..ways)
    }

    fn mark(&mut self) -> Mark {
        Mark(self.step - 1)
    }

    fn end(&mut self, ending: Ending) {
        self.counts.add(ending);
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

impl Strategy for Priorities {
    fn begin(&mut self) -> bool {
        if self.counts.all() == self.executions {
            return false;
        }
        if Lengths::change_at(self.counts.all()) {
            self.assumed = self.seen;
        }
        self.draw(self.counts.all(), self.assumed);
        true
    }

    fn next(&mut self, _: Option<Process>, runnable: &[Process]) -> Decision {
        self.step += 1;
        let mut process = self.highest(runnable);
        for place in 0..self.changes.len() {
            if self.changes[place] == self.step {
                self.priorities[process.index()] = Some(place as u64);
                process = self.highest(runnable);
            }
        }
        Decision::Run(process)
    }

    fn choose(&mut self, _: Process, ways: u32) -> u32 {
        self.generator.u32(..ways)
    }

    fn mark(&mut self) -> Mark {
        Mark(self.step - 1)
    }

    fn end(&mut self, ending: Ending) {
        self.seen = self.seen.max(self.lengths());
        self.counts.add(ending);
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
