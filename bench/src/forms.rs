//! One program in four forms: serial, by fibers, by tasks, and in Go. Each form's result is a
//! checksum. The checksums of the forms in Rust are compared with the serial form's in the same
//! process; the runner compares the checksums of all systems.

use crate::{
    job::{Job, Outcome, Threads},
    peers,
    workload::Program,
};
use std::{sync::Arc, time::Instant};

/// Where the programs are from.
pub(crate) const FOLLOWS: &str = "the programs of K. Sivaramakrishnan, L. Ziarek and S. Jagannathan's \"Featherweight Threads for Communication\"";

/// A program. `Self` is its input.
pub(crate) trait Forms: Send + Sync + Sized + 'static {
    /// The input of the case. It is made once, before the clock starts.
    fn input(job: &Job) -> Self;

    /// Optimized, without threads.
    fn serial(&self) -> u64;

    /// By fibers that communicate synchronously. Called in a fiber.
    fn fibers(self: &Arc<Self>) -> u64;

    /// By tasks in the place of the fibers. They communicate asynchronously where the program may
    /// go on. Called in a fiber.
    fn tasks(self: &Arc<Self>) -> u64;
}

/// The programs of the workload `F`.
pub(crate) const fn in_four_forms<F: Forms>() -> [Program; 4] {
    [
        Program::here("serial", serial::<F>),
        Program::here("lisle", fibers::<F>),
        Program::here("lisle-tasks", tasks::<F>),
        Program::elsewhere("go"),
    ]
}

pub(crate) fn serial<F: Forms>(job: &Job) -> Outcome {
    measure(job, &Arc::new(F::input(job)), |input| input.serial())
}

pub(crate) fn fibers<F: Forms>(job: &Job) -> Outcome {
    let input = Arc::new(F::input(job));
    peers::runtime(job.workers).run(|| told(1.0, || measure(job, &input, F::fibers)))
}

pub(crate) fn tasks<F: Forms>(job: &Job) -> Outcome {
    let input = Arc::new(F::input(job));
    peers::runtime(job.workers).run(|| told(1.0, || measure(job, &input, F::tasks)))
}

/// Measures, and adds statistics of this runtime's threads, for one run. The threads have done the
/// measured runs, and before these `warm_up` runs.
pub(crate) fn told(warm_up: f64, measure: impl FnOnce() -> Outcome) -> Outcome {
    let outcome = measure();
    let threads = Threads::of(lisle::statistics(), outcome.operations as f64 + warm_up);
    Outcome { threads: Some(threads), ..outcome }
}

/// Milliseconds for a run of `form`, warmed up by a whole run.
fn measure<F: Forms>(job: &Job, input: &Arc<F>, form: impl Fn(&Arc<F>) -> u64) -> Outcome {
    let expected = input.serial();
    let run = || {
        let start = Instant::now();
        let checksum = form(input);
        let elapsed = start.elapsed();
        assert_eq!(checksum, expected, "the result is not that of the serial form");
        elapsed
    };
    let warm_up = || {
        run();
    };
    Outcome { checksum: Some(expected), ..job.measure_whole(warm_up, run).milliseconds() }
}

/// A checksum of numbers in their order: FNV-1a, on whole numbers in the place of bytes.
pub(crate) fn checksum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, number| (hash ^ number).wrapping_mul(0x0100_0000_01b3))
}

/// Numbers that look random and are the same in every language: a linear congruence, its upper
/// bits.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Numbers(seed)
    }

    /// The next, of 32 bits.
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    /// The next, below a bound.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.next() % bound
    }
}
