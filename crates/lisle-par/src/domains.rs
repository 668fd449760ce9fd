//! The number of domains that can take part in a loop.

use crate::affinity;
use lisle_core::internal::fork::PerProcess;
use lisle_runtime::internal::{started_default_runtime, with_current};

/// Returns the number of domains that a loop of the calling thread can be divided among, and that
/// run at the same time.
pub(crate) fn domains() -> usize {
    // A plain thread uses the default runtime, which has this many domains once it has been
    // started. The number is computed once, because it is read from files.
    static PROCESSORS: PerProcess<usize> = PerProcess::new(affinity::processors);
    let outside = || *PROCESSORS.get();
    with_current(|worker| match worker {
        Some(worker) => worker.shared().most_at_once(),
        None => started_default_runtime().map_or_else(outside, |shared| shared.most_at_once()),
    })
}
