//! How many can take part.

use crate::domain::worker::with_current;
use crate::shim::sync::OnceLock;

/// How many domains a loop of the calling thread can be divided among.
pub(crate) fn workers() -> usize {
    // Asked once: the answer comes out of files. It is also how many domains the default runtime has.
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    let processors =
        || *PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
    with_current(|worker| {
        worker.map_or_else(processors, |worker| worker.shared().domains.len().min(processors()))
    })
}
