//! The time that all frames of a run have taken.

use lisle_frame::Report;
use std::fmt;
use std::time::Duration;

/// The sum of a run. The first frame makes everything for the first time, and does not count.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    frames: u64,
    late: u64,
    total: Duration,
    worst: Duration,
    in_streams: Duration,
    waiting: Duration,
    retiring: Duration,
}

impl Summary {
    pub(crate) fn add(&mut self, report: &Report) {
        self.frames += 1;
        if self.frames == 1 {
            return;
        }
        self.late += u64::from(!report.within_budget);
        self.total += report.total;
        self.worst = self.worst.max(report.total);
        self.in_streams += report.in_streams;
        self.waiting += report.waiting;
        self.retiring += report.retiring;
    }

    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// The number of frames that have not kept the budget.
    pub(crate) fn late(&self) -> u64 {
        self.late
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = self.frames.saturating_sub(1).max(1) as f64;
        let mean = |sum: Duration| sum.as_secs_f64() * 1e3 / counted;
        write!(
            f,
            "{} frames, {} over the budget; {:.2} ms in the mean and {:.2} ms at worst: \
             {:.2} in streams, {:.2} waiting and {:.2} retiring",
            self.frames,
            self.late,
            mean(self.total),
            self.worst.as_secs_f64() * 1e3,
            mean(self.in_streams),
            mean(self.waiting),
            mean(self.retiring),
        )
    }
}
