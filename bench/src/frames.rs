//! Frames, as a game has them: work that is done again and again, as a whole, and is late if it
//! takes too long.

mod calls;

pub(crate) use calls::{Calls, Chunk};

use crate::{
    job::{Figure, Job, Measured, Outcome, cpu_seconds},
    workload::Unit,
};
use std::time::{Duration, Instant};

/// The figures of a workload of frames.
pub(crate) const UNITS: &[(&str, Unit)] = &[(MEAN, UNIT), (WORST, UNIT)];

pub(crate) const UNIT: Unit = Unit::lower_is_better("ms/frame");

/// The name of the figure that is the mean of all frames.
pub(crate) const MEAN: &str = "mean";

/// The name of the figure that is the worst of ten frames; where there are several tens, the mean
/// of their worst.
pub(crate) const WORST: &str = "worst of ten";

/// How many frames have a worst one.
const TEN: usize = 10;

/// The times of frames. The first is not counted; of the others there are ten, and tens more until
/// the time asked for is over.
pub(crate) struct Frames {
    target: Duration,
    has_begun: bool,
    all: Vec<Duration>,
    elapsed: Duration,
    cpu_at_start: f64,
}

impl Frames {
    pub(crate) fn new(job: &Job) -> Self {
        Frames {
            target: job.target,
            has_begun: false,
            all: Vec::new(),
            elapsed: Duration::ZERO,
            cpu_at_start: 0.0,
        }
    }

    /// Returns whether there is to be another frame.
    pub(crate) fn goes_on(&self) -> bool {
        self.all.is_empty() || !self.all.len().is_multiple_of(TEN) || self.elapsed < self.target
    }

    /// Returns how many frames there have been, with the first.
    pub(crate) fn count(&self) -> usize {
        usize::from(self.has_begun) + self.all.len()
    }

    /// Does a frame, and keeps how long it took.
    pub(crate) fn time(&mut self, frame: impl FnOnce()) {
        let start = Instant::now();
        frame();
        self.note(start.elapsed());
    }

    /// Keeps how long a frame took.
    pub(crate) fn note(&mut self, took: Duration) {
        if self.has_begun {
            self.all.push(took);
            self.elapsed += took;
        } else {
            self.has_begun = true;
            self.cpu_at_start = cpu_seconds();
        }
    }

    pub(crate) fn outcome(self) -> Outcome {
        let cpu_seconds = cpu_seconds() - self.cpu_at_start;
        let frames = Measured { operations: self.all.len() as u64, elapsed: self.elapsed, cpu_seconds };
        let figure =
            |name: &str, seconds: f64| Figure { name: name.to_owned(), value: seconds * 1e3, p99: None };
        let mean = self.elapsed.as_secs_f64() / self.all.len() as f64;
        frames.figures(vec![figure(MEAN, mean), figure(WORST, worst_of_tens(&self.all).as_secs_f64())])
    }
}

/// Returns the mean of the worst times of each ten frames.
fn worst_of_tens(all: &[Duration]) -> Duration {
    let tens = all.chunks(TEN);
    let count = tens.len() as u32;
    tens.filter_map(|ten| ten.iter().max()).sum::<Duration>() / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn frames(millis: u64) -> Frames {
        let target = Duration::from_millis(millis);
        Frames::new(&Job { variant: "-".to_owned(), workers: 1, target, params: BTreeMap::new() })
    }

    #[test]
    fn the_first_is_dropped_and_ten_follow() {
        let mut frames = frames(0);
        for millis in [1000, 1, 1, 1, 1, 11, 1, 1, 1, 1, 1] {
            assert!(frames.goes_on());
            frames.note(Duration::from_millis(millis));
        }
        assert!(!frames.goes_on());
        assert_eq!(frames.count(), 11);
        let outcome = frames.outcome();
        let figures: Vec<_> = outcome.figures.iter().map(|figure| (&*figure.name, figure.value)).collect();
        assert_eq!(figures, [("mean", 2.0), ("worst of ten", 11.0)]);
        assert_eq!(outcome.operations, 10);
    }

    #[test]
    fn tens_follow_until_the_time_is_over() {
        let mut frames = frames(25);
        while frames.goes_on() {
            // The first ten frames are the slowest.
            frames.note(Duration::from_millis(if frames.count() <= 10 { 2 } else { 1 }));
        }
        assert_eq!(frames.count(), 21);
        let figures = frames.outcome().figures;
        assert_eq!([figures[0].value, figures[1].value], [1.5, 1.5]);
    }
}
