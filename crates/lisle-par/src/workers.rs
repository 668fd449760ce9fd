//! How many can take part.

use crate::affinity;
use crate::shim::sync::OnceLock;
use lisle_runtime::sched::default::started_default_runtime;
use lisle_runtime::sched::worker::with_current;

/// How many domains a loop of the calling thread can be divided among, and run on at the same time.
pub(crate) fn workers() -> usize {
    // Of a plain thread: the default runtime, once it has been started, has as many. Asked once, since the answer comes
    // out of files.
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    let outside = || *PROCESSORS.get_or_init(affinity::processors);
    with_current(|worker| match worker {
        Some(worker) => worker.shared().most_at_once(),
        None => started_default_runtime().map_or_else(outside, |shared| shared.most_at_once()),
    })
}
