//! How many foreign calls are under way.

use crate::event::calls;
use crate::shim::atomic::{AtomicU64, Ordering};

/// How many jobs have been submitted, and how many have ended.
static SUBMITTED: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// A job that is counted, until it has ended or been dropped.
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

/// How many foreign calls have ended, and how often one has fallen asleep, waiting for an event; `None` if one of them does
/// anything else.
pub(crate) fn stillness() -> Option<[u64; 2]> {
    // One that had ended by now does not sleep when that is looked at, so none is counted twice; and all that are counted had
    // been submitted before their number is read.
    let ended = ENDED.load(Ordering::SeqCst);
    let (asleep, sleeps) = calls::stillness()?;
    (SUBMITTED.load(Ordering::SeqCst) == ended + asleep).then_some([ended, sleeps])
}
