//! What a thief remembers of what it has seen.

use crate::queue::stealable::Sight;

/// What a thief has seen waiting.
#[derive(Clone, Copy)]
pub(super) struct Sighting {
    pub(super) victim: usize,
    pub(super) sight: Sight,
    pub(super) since: u64,
}
