//! How many can take part.

use crate::shim::sync::OnceLock;

/// How many domains a loop of the calling thread can be divided among.
pub(crate) fn workers() -> usize {
    // Asked once: the answer comes out of files.
    static WORKERS: OnceLock<usize> = OnceLock::new();
    *WORKERS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}
