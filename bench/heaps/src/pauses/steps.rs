//! The times of steps.

use std::iter::Sum;
use std::time::{Duration, Instant};

/// How many steps took how long. A range of times is an eighth of a power of two.
pub struct Steps {
    counts: Vec<u64>,
    longest: u64,
}

impl Steps {
    fn new() -> Self {
        Self { counts: vec![0; range(u64::MAX) + 1], longest: 0 }
    }

    /// Calls `step` with random numbers for so long, and counts the time of each call.
    pub fn count(length: Duration, seed: u64, mut step: impl FnMut(u64)) -> Self {
        let (mut steps, mut random) = (Self::new(), 88_172_645_463_325_252 + seed);
        let begun = Instant::now();
        let mut last = begun;
        while last - begun < length {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            step(random);
            let now = Instant::now();
            let took = u64::try_from((now - last).as_nanos()).expect("a step takes less than an age");
            steps.counts[range(took)] += 1;
            steps.longest = steps.longest.max(took);
            last = now;
        }
        steps
    }

    pub fn number(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the microseconds of the longest step.
    pub fn longest(&self) -> f64 {
        self.longest as f64 / 1e3
    }

    /// Returns the microseconds that this part of the steps took at most: the end of a range.
    pub fn microseconds(&self, part: f64) -> f64 {
        let enough = (self.number() as f64 * part).ceil() as u64;
        let mut seen = 0;
        let range = self.counts.iter().position(|count| {
            seen += count;
            seen >= enough
        });
        end(range.expect("all steps are counted")).min(self.longest) as f64 / 1e3
    }
}

impl Sum for Steps {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::new(), |mut sum, steps| {
            sum.counts.iter_mut().zip(steps.counts).for_each(|(sum, count)| *sum += count);
            sum.longest = sum.longest.max(steps.longest);
            sum
        })
    }
}

/// Returns the number of the range in which a time lies. Below 16 each time is a range.
fn range(nanoseconds: u64) -> usize {
    let shift = nanoseconds.max(1).ilog2().saturating_sub(3);
    (shift << 3) as usize + (nanoseconds >> shift) as usize
}

/// Returns the longest time of a range.
fn end(range: usize) -> u64 {
    let shift = (range >> 3).saturating_sub(1);
    let first = (range - (shift << 3)) as u64;
    (first << shift) + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_in_one_range() {
        for nanoseconds in (0..100_000).chain([u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX - 1, u64::MAX]) {
            let range = range(nanoseconds);
            assert!(end(range) >= nanoseconds, "{nanoseconds}");
            assert!(range == 0 || end(range - 1) < nanoseconds, "{nanoseconds}");
            assert!(end(range) as f64 <= nanoseconds as f64 * 1.125, "{nanoseconds}");
        }
    }

    #[test]
    fn a_part_of_the_steps_took_so_long_at_most() {
        let mut steps = Steps::new();
        for nanoseconds in [10, 10, 10, 5_000] {
            steps.counts[range(nanoseconds)] += 1;
            steps.longest = steps.longest.max(nanoseconds);
        }
        assert_eq!((steps.microseconds(0.75), steps.microseconds(1.0)), (0.01, 5.0));
        assert_eq!((steps.number(), steps.longest()), (4, 5.0));
    }
}
