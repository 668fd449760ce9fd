//! The rows of the limit beside other workloads, in their units: the faster of the two ways, by one
//! word.

use super::lines::{Words, alternate};
use crate::job::{Job, Measured, Outcome};

/// An operation is a transfer: two make a round trip.
fn transfers(job: &Job) -> Measured {
    job.measure(|n| alternate(n.div_ceil(2), Words::One))
}

/// Nanoseconds for a message there and one back.
pub(crate) fn round_trips(job: &Job) -> Outcome {
    each_message(job, 2)
}

/// Nanoseconds a message, of a run that sends `count` messages.
pub(crate) fn each_message(job: &Job, count: u64) -> Outcome {
    let all = transfers(job);
    all.figure(all.elapsed.as_secs_f64() * 1e9 / all.operations as f64 * count as f64)
}

/// How many messages cross in a second, or how often a lock does.
pub(crate) fn messages(job: &Job) -> Outcome {
    transfers(job).per_second(1)
}
