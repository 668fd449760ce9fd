//! The memory of objects, and what moves and marks them. It knows neither sessions nor roots.

mod mark;
mod minor;
pub(crate) mod old;
mod pages;
mod place;

use crate::stats::Stats;

pub(crate) use mark::Marker;
pub(crate) use minor::Mover;
pub(crate) use old::{LARGEST_CELL, Old, blocks_for};
pub(crate) use place::{Logged, Place};

/// What a heap has beside its nursery.
pub(crate) struct Spaces {
    pub(crate) old: Old,
    pub(crate) marker: Marker,
    /// The bytes of the old space at which it is collected.
    pub(crate) threshold: usize,
    pub(crate) stats: Stats,
}

impl Spaces {
    pub(crate) fn new(nursery: usize) -> Self {
        Self { old: Old::new(), marker: Marker::default(), threshold: 4 * nursery, stats: Stats::default() }
    }
}
