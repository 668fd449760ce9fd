//! The report of a frame.

use std::fmt;
use std::time::Duration;

/// Numbers and times of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of the frame, from 1.
    pub frame: u64,
    /// How many streams were evaluated.
    pub streams: usize,
    /// How many foreign calls were made within the frame.
    pub calls: usize,
    /// In how many batches.
    pub batches: usize,
    /// How often the world has waited for a batch that a worker ran, or had not begun.
    pub stalls: usize,
    /// How many batches had not returned before their deadline.
    pub late: usize,
    /// The slowest call that ended in this frame, by the name of its function. Calls that take less
    /// than five microseconds are not timed one by one: their time is the mean of their batch.
    pub slowest: Option<(&'static str, Duration)>,
    /// The time in which each stream ran as far as it got without the result of a call.
    pub in_streams: Duration,
    /// The time in which the world waited for calls, and ran some itself.
    pub waiting: Duration,
    /// The time in which streams got results, and went on.
    pub retiring: Duration,
    /// The whole time.
    pub total: Duration,
    /// Whether the whole time was within the budget; `true` if there is none.
    pub within_budget: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "frame {}: {:?}{}, {} streams in {:?}, {} calls in {} batches, waited {:?}, retired in {:?}",
            self.frame,
            self.total,
            if self.within_budget { "" } else { " (over its budget)" },
            self.streams,
            self.in_streams,
            self.calls,
            self.batches,
            self.waiting,
            self.retiring,
        )?;
        if self.late > 0 {
            write!(f, ", {} batches late", self.late)?;
        }
        match self.slowest {
            Some((name, time)) => write!(f, ", the slowest call was '{name}' with {time:?}"),
            None => Ok(()),
        }
    }
}
