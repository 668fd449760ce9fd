//! The count of foreign calls that are under way.

use crate::event::calls;
use crate::shim::atomic::{AtomicU64, Ordering};

/// The number of jobs that have been submitted, and the number of those that have ended.
static SUBMITTED: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// A job that is counted until it has ended or been dropped.
pub(crate) struct Counted;

impl Counted {
    pub(crate) fn new() -> Self {
        SUBMITTED.fetch_add(1, Ordering::SeqCst);
        Counted
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ENDED.fetch_add(1, Ordering::SeqCst);
    }
}

/// Returns how many foreign calls have ended, and how often one has fallen asleep waiting for an
/// event. Returns `None` if one of them does anything else than wait for an event.
pub(crate) fn stillness() -> Option<[u64; 2]> {
    // A call that has ended by now is not asleep when `calls` looks, so none is counted twice. All
    // that are counted were submitted before `SUBMITTED` is read.
    let ended = ENDED.load(Ordering::SeqCst);
    let (asleep, sleeps) = calls::stillness()?;
    (SUBMITTED.load(Ordering::SeqCst) == ended + asleep).then_some([ended, sleeps])
}
