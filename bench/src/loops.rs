//! Programs of parallel loops: one form for all systems in Rust, which a [`Pool`] runs. Its result
//! is a checksum, which the runner compares with the other systems'.

use crate::{
    job::{Job, Measured, Outcome, cpu_seconds},
    peers::Pool,
};
use std::time::{Duration, Instant};

/// A program, with its input and its result.
pub(crate) trait Loops: Send + Sized {
    /// The input of the case, and room for the result.
    fn input(job: &Job) -> Self;

    /// Restores the input, if a run changes it. Not timed.
    fn reset(&mut self) {}

    /// The timed part. It is called within the pool.
    fn run<P: Pool>(&mut self);

    /// The checksum of the last run's result. Not timed.
    fn checksum(&self) -> u64;
}

/// Milliseconds for a run of `L` on `P`, warmed up by a whole run.
pub(crate) fn on<L: Loops, P: Pool>(job: &Job) -> Outcome {
    let mut program = L::input(job);
    P::run(job.workers, || {
        let (_, expected) = run::<L, P>(&mut program);
        let mut all = Measured { operations: 0, elapsed: Duration::ZERO, cpu_seconds: 0.0 };
        while all.elapsed < job.target {
            let (one, checksum) = run::<L, P>(&mut program);
            assert_eq!(checksum, expected, "the result is not that of the run before");
            all.operations += 1;
            all.elapsed += one.elapsed;
            all.cpu_seconds += one.cpu_seconds;
        }
        Outcome { checksum: Some(expected), ..all.milliseconds() }
    })
}

/// Only a part of a run is timed, so its processor time is taken here, too.
fn run<L: Loops, P: Pool>(program: &mut L) -> (Measured, u64) {
    program.reset();
    let cpu = cpu_seconds();
    let start = Instant::now();
    program.run::<P>();
    let elapsed = start.elapsed();
    (Measured { operations: 1, elapsed, cpu_seconds: cpu_seconds() - cpu }, program.checksum())
}
