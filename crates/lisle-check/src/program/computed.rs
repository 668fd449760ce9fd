//! The processor time of workers.
//!
//! The time of a clock also passes while others have the processors, so decisions by it would depend
//! on the load of the machine.

use lisle_runtime::internal::model::processor_time;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The shortest time between two questions to the system: a look at the clock takes less time.
const OFTEN: Duration = Duration::from_millis(5);

/// The processor time of all workers together.
#[derive(Default)]
pub(super) struct Computed(AtomicU64);

/// A worker that computes. It stays on its thread.
pub(super) struct Computes<'a> {
    total: &'a Computed,
    /// Its processor time at the last question to the system, and the time of that.
    before: Duration,
    asked: Instant,
}

impl Computed {
    pub(super) fn get(&self) -> Duration {
        Duration::from_nanos(self.0.load(Relaxed))
    }

    /// Lets this thread be one of the workers.
    pub(super) fn begins(&self) -> Computes<'_> {
        Computes { total: self, before: processor_time(), asked: Instant::now() }
    }
}

impl Computes<'_> {
    /// Adds the processor time of this thread, unless it is little.
    pub(super) fn add(&mut self) {
        if self.asked.elapsed() >= OFTEN {
            let now = processor_time();
            let more = now.saturating_sub(self.before);
            self.total.0.fetch_add(more.as_nanos() as u64, Relaxed);
            (self.before, self.asked) = (now, Instant::now());
        }
    }
}

impl Drop for Computes<'_> {
    fn drop(&mut self) {
        let more = processor_time().saturating_sub(self.before);
        self.total.0.fetch_add(more.as_nanos() as u64, Relaxed);
    }
}
