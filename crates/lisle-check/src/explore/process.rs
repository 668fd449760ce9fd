//! The names of processes, which stay the same from one execution to the next.
//!
//! The engine compares the steps of a process in different executions, and so needs names that do
//! not depend on the schedule. The number of a process in the order of creation does depend on it.
//! Its place in the family does not: it is the n-th child of its parent, and the parent is named in
//! the same way. [`Family`] turns such a place into a small number.
//!
//! Invariant: a number, once given to a place, is never given to another one, neither in a later
//! execution nor by another worker of the same exploration.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A process of the program under test: a fiber, a task, or a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Process(pub u32);

impl Process {
    /// The process that the program starts with.
    pub const ROOT: Process = Process(0);

    /// Returns the number of this process, as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Gives each place in the family of processes its number.
///
/// A clone shares the numbers with its original: each worker of a parallel exploration has one.
/// Looking up a place that this clone has seen before takes no lock.
///
/// ```
/// use lisle_check::explore::{Family, Process};
///
/// let mut family = Family::new();
/// let first = family.child(Process::ROOT, 0);
/// let second = family.child(Process::ROOT, 1);
/// assert_ne!(first, second);
/// assert_eq!(family.clone().child(Process::ROOT, 0), first);
/// ```
#[derive(Clone, Debug)]
pub struct Family {
    known: Vec<Vec<Process>>,
    shared: Arc<Mutex<Places>>,
}

/// The places that have a number, for all workers.
#[derive(Debug, Default)]
struct Places {
    numbers: FxHashMap<(Process, u32), Process>,
    in_order: Vec<(Process, u32)>,
}

impl Family {
    /// Creates a family of which only the root has a number.
    pub fn new() -> Self {
        Family { known: Vec::new(), shared: Arc::default() }
    }

    /// Creates the family whose places were numbered in this order, from 1 on.
    pub(crate) fn from_places(places: &[(Process, u32)]) -> Self {
        let mut family = Family::new();
        for &(parent, nth) in places {
            family.child(parent, nth);
        }
        family
    }

    /// Returns the places that have a number, in the order of the numbers, from 1 on.
    pub(crate) fn places(&self) -> Vec<(Process, u32)> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).in_order.clone()
    }

    /// Returns the number of the `nth` child of `parent`, counted from zero.
    ///
    /// Takes constant time. Only the first look-up of a place by this clone takes a lock.
    ///
    /// # Panics
    ///
    /// Panics if the children of `parent` before the `nth` one have not been looked up by this
    /// clone.
    pub fn child(&mut self, parent: Process, nth: u32) -> Process {
        if self.known.len() <= parent.index() {
            self.known.resize_with(parent.index() + 1, Vec::new);
        }
        let children = &mut self.known[parent.index()];
        if let Some(&child) = children.get(nth as usize) {
            return child;
        }
        assert_eq!(children.len(), nth as usize, "the children of {parent:?} are looked up in their order");
        let mut places = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let next = Process(places.in_order.len() as u32 + 1);
        let child = *places.numbers.entry((parent, nth)).or_insert(next);
        if child == next {
            places.in_order.push((parent, nth));
        }
        children.push(child);
        child
    }
}
