//! Limits the domains that look at the rings of other domains to a few at a time.
//!
//! The owner of a ring writes its line at each spawn, and each look takes that line away. Where one of
//! sixteen domains spawned and the others looked, 39 % of all processor time was spent here. So a
//! thief takes one of [`PLACES`] places for as long as it looks around. The fibers that it has seen
//! waiting stay noted there for the next thief, with the time of the first look. One place or four
//! made no clear difference.
//!
//! A thief without a place looks at its inbox, at the common queue and at the offered jobs, and now
//! and then for a place. After a while it sleeps. So a thief that takes overdue fibers wakes another:
//! it leaves its place, and there may be more elsewhere. (The last of Go's threads that looks for work
//! does the same.)

use crate::event::lock::{Guard, Lock};
use crate::queue::stealable::Sight;
use crate::shim::CachePadded;
use std::array;
use std::cell::Cell;

/// The number of domains that may look at others at the same time.
const PLACES: usize = 2;

/// The fibers that were seen waiting in the ring of a domain, and the time of the first look.
#[derive(Clone, Copy)]
pub(super) struct Sighting {
    pub(super) victim: usize,
    pub(super) sight: Sight,
    pub(super) since: u64,
}

/// The sighting of the thief that has this place, or of the one before it.
pub(super) type Lookout = Cell<Option<Sighting>>;

/// The lookout that a thief holds, if it has found a free one.
pub(super) type HeldLookout<'a> = Option<Guard<'a, Lookout>>;

/// The places of thieves that look at the rings of others. They are held for longer than a lock
/// should be, which does no harm: no thread waits for one.
pub(crate) struct Lookouts([CachePadded<Lock<Lookout>>; PLACES]);

impl Lookouts {
    pub(crate) fn new() -> Self {
        Lookouts(array::from_fn(|_| CachePadded(Lock::new(Cell::new(None)))))
    }

    /// Takes a place until the guard is dropped. Returns `None` if others have all of them.
    pub(super) fn man(&self) -> HeldLookout<'_> {
        self.0.iter().find_map(|place| place.try_lock())
    }
}
