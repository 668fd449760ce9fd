//! Schedules at random: a random walk, and priorities with a guarantee.
//!
//! Both are determined by a seed and the number of the execution, so that each execution can be run again
//! by itself.

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
}

/// Runs the process of the highest priority, and lowers priorities at a few random points.
///
/// This is probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatti, "A
/// randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010). A bug of depth d is
/// one that shows as soon as d orders between steps are as it needs them. Each execution of a program of n
/// processes and k steps shows such a bug with a probability of at least 1 / (n * k^(d-1)).
#[derive(Debug)]
pub struct Priorities {
    seed: u64,
    executions: u64,
    depth: u32,
    generator: fastrand::Rng,
    /// The priority of each process; the highest one runs.
    priorities: Vec<u64>,
    /// The steps before which the running process's priority becomes the number of the place.
    changes: Vec<u32>,
    step: u32,
    most_steps: u32,
    most_processes: u32,
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
            changes: Vec::new(),
            step: 0,
            most_steps: 1,
            most_processes: 1,
            counts: Counts::default(),
        }
    }

    /// Returns a probability with which each execution shows a bug of the depth that is looked for, at
    /// least, by the longest execution and the most processes seen so far.
    pub fn probability(&self) -> f64 {
        1.0 / (f64::from(self.most_processes) * f64::from(self.most_steps).powi(self.depth as i32 - 1))
    }

    fn priority(&mut self, process: Process) -> u64 {
        while self.priorities.len() <= process.index() {
            // All of them are above those that the change points give.
            self.priorities.push(self.generator.u64(u64::from(self.depth)..));
        }
        self.priorities[process.index()]
    }

    /// Returns the runnable process of the highest priority.
    fn highest(&mut self, runnable: &[Process]) -> Process {
        let mut best = (self.priority(runnable[0]), runnable[0]);
        for &process in &runnable[1..] {
            best = best.max((self.priority(process), process));
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
        self.generator = generator(self.seed, self.counts.all());
        self.step = 0;
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
        self.generator = generator(self.seed, self.counts.all());
        self.priorities.clear();
        self.changes.clear();
        for _ in 1..self.depth {
            self.changes.push(self.generator.u32(1..=self.most_steps));
        }
        self.step = 0;
        true
    }

    fn next(&mut self, _: Option<Process>, runnable: &[Process]) -> Decision {
        self.step += 1;
        let mut process = self.highest(runnable);
        for place in 0..self.changes.len() {
            if self.changes[place] == self.step {
                self.priorities[process.index()] = place as u64;
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
        self.most_steps = self.most_steps.max(self.step);
        self.most_processes = self.most_processes.max(self.priorities.len() as u32);
        self.counts.add(ending);
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}
