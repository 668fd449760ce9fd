//! What a heap has done.

use std::time::Duration;

/// What a heap has done since it was made, and its sizes now.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// The number of minor collections, those before a full one included.
    pub minor_collections: u64,
    /// The number of cycles of the old space that have found the dead objects, with the cycles of full collections.
    pub full_collections: u64,
    /// The bytes of all objects that were ever allocated, headers included.
    pub allocated_bytes: u64,
    /// The bytes of all objects that have survived a minor collection, headers included.
    pub promoted_bytes: u64,
    /// The number of stores that were logged, since they made an old object refer to a young one.
    pub logged_stores: u64,
    /// The bytes of objects outside of the nursery. Some of them may be garbage.
    pub old_bytes: usize,
    /// The bytes that the plain fields of these objects own elsewhere, as far as their types say so with `#[external(…)]`.
    pub external_bytes: usize,
    /// The bytes of objects outside of the nursery after the last cycle of the old space.
    pub live_bytes: usize,
    /// The bytes that the heap has from the system, touched or not.
    pub reserved_bytes: usize,
    /// The time of all stops.
    pub collection_time: Duration,
    /// The time of the longest stop.
    pub longest_pause: Duration,
    /// The time for which threads have marked and swept while others went on, the sum over the threads.
    pub slice_time: Duration,
    /// The longest time from the begin of a collection until all threads that were inside had stopped.
    pub longest_stop: Duration,
    /// The largest number of threads that have used the heap at once: each has a place.
    pub places: usize,
}
