//! The count of foreign calls that are under way.

use crate::event::calls;
use crate::fork::PerProcess;
use crate::shim::atomic::{AtomicU64, Ordering};

/// The number of submitted jobs, and the number of jobs that have ended.
#[derive(Default)]
struct Counts {
    submitted: AtomicU64,
    ended: AtomicU64,
}

static COUNTS: PerProcess<Counts> = PerProcess::new(Counts::default);

/// A job that is counted until it has ended or been dropped.
pub(crate) struct Counted(&'static Counts);

impl Counted {
    pub(crate) fn new() -> Self {
        let counts = COUNTS.get();
        counts.submitted.fetch_add(1, Ordering::SeqCst);
        Counted(counts)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

/// Returns how many foreign calls have ended, and how often one has fallen asleep waiting for an
/// event. Returns `None` if one of them does anything else than wait for an event.
pub(crate) fn stillness() -> Option<[u64; 2]> {
    // A call that has ended by now is not asleep when `calls` looks, so none is counted twice. All
    // that are counted were submitted before `submitted` is read.
    let counts = COUNTS.get();
    let ended = counts.ended.load(Ordering::SeqCst);
    let (asleep, sleeps) = calls::stillness()?;
    (counts.submitted.load(Ordering::SeqCst) == ended + asleep).then_some([ended, sleeps])
}
