//! How long the parts of a frame take.

use crate::shim::now;
use std::cell::Cell;

/// Points in time of the frame under way, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    begin: Cell<u64>,
    streams_have_run: Cell<u64>,
}

impl Clock {
    pub(crate) fn begin(&self) {
        self.begin.set(now());
    }

    /// Notes that each stream has been run as far as it gets without a result.
    pub(crate) fn streams_have_run(&self) {
        self.streams_have_run.set(now());
    }

    /// Returns how long the streams have run, and how long the rest of the frame has taken.
    pub(crate) fn end(&self) -> (u64, u64) {
        let end = now();
        (self.streams_have_run.get() - self.begin.get(), end - self.streams_have_run.get())
    }
}
