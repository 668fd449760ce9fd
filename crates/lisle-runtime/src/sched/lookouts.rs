//! Who looks at the rings of other domains: few at a time.
//!
//! The owner of a ring writes its line at each spawn, and each look takes that line away. Where one of
//! sixteen domains spawned and the others looked, 39 % of all processor time was spent here. So
//! whoever would steal takes one of [`PLACES`] places, for as long as it looks around. What it has
//! seen waiting stays there for the next one, for which it is then as long overdue. One place or four
//! made no difference that stood out.
//!
//! Who finds no place looks at its inbox and at the common queue, and at the jobs that are offered,
//! and for a place now and then. After a while it sleeps. So one that takes what is overdue wakes
//! another: it leaves its place, and there may be more elsewhere. (The last of Go's threads that looks
//! for work does the same.)

use crate::event::lock::{Guard, Lock};
use crate::queue::stealable::Sight;
use crate::shim::CachePadded;
use std::array;
use std::cell::Cell;

/// How many domains look at the same time at what others have.
const PLACES: usize = 2;

/// What has been seen waiting in the ring of a domain, and since when.
#[derive(Clone, Copy)]
pub(super) struct Sighting {
    pub(super) victim: usize,
    pub(super) sight: Sight,
    pub(super) since: u64,
}

/// What the one that has this place has seen, or the one before it.
pub(super) type Lookout = Cell<Option<Sighting>>;

/// The place of one that looks, if it has found one.
pub(super) type Place<'a> = Option<Guard<'a, Lookout>>;

/// The places of those that look at the rings of others. They are held for longer than a lock should
/// be, which is no harm: nobody waits for one.
pub(crate) struct Lookouts([CachePadded<Lock<Lookout>>; PLACES]);

impl Lookouts {
    pub(crate) fn new() -> Self {
        Lookouts(array::from_fn(|_| CachePadded(Lock::new(Cell::new(None)))))
    }

    /// Takes a place until the guard is dropped. Returns `None` if others have all of them.
    pub(super) fn man(&self) -> Place<'_> {
        self.0.iter().find_map(|place| place.try_lock())
    }
}
