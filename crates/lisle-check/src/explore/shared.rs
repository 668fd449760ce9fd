//! The state that the workers of one exhaustive exploration share.
//!
//! The tree stands under one lock. A worker takes it once for each execution: to add the results of
//! the execution, and to take the next branch. It runs the program without it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::tree::Tree;
use super::{Counts, Divergence};

/// The shared state.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<Common>,
    found: Condvar,
}

/// The data under the lock.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) tree: Tree,
    pub(crate) counts: Counts,
    /// There has been one worker only, from the beginning, which explores from left to right.
    pub(crate) ordered: bool,
    /// The number of workers that run a branch.
    pub(crate) busy: u32,
    /// The number of workers that wait for a branch.
    waiting: u32,
    /// The most executions that may begin.
    pub(crate) most: u64,
    pub(crate) stopped: bool,
    pub(crate) divergence: Option<Divergence>,
}

impl Common {
    /// Returns `true` if another execution may begin while `in_progress` executions run.
    pub(crate) fn has_room(&self, in_progress: u32) -> bool {
        !self.stopped && self.counts.all() + u64::from(in_progress) < self.most
    }
}

impl Shared {
    /// Creates the exploration that goes on with this tree.
    pub(crate) fn new(tree: Tree, counts: Counts, ordered: bool) -> Self {
        let common = Common {
            tree,
            counts,
            ordered,
            busy: 0,
            waiting: 0,
            most: u64::MAX,
            stopped: false,
            divergence: None,
        };
        Shared { state: Mutex::new(common), found: Condvar::new() }
    }

    /// Locks the tree.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Common> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the workers that wait for a branch.
    pub(crate) fn wake(&self, common: &Common) {
        if common.waiting > 0 {
            self.found.notify_all();
        }
    }

    /// Waits until another worker has added its results.
    pub(crate) fn wait<'a>(&self, mut common: MutexGuard<'a, Common>) -> MutexGuard<'a, Common> {
        common.waiting += 1;
        common = self.found.wait(common).unwrap_or_else(PoisonError::into_inner);
        common.waiting -= 1;
        common
    }

    /// Takes a branch from anywhere, or returns `None` if the exploration is over. Waits while
    /// others may still find branches.
    pub(crate) fn take(&self) -> Option<(MutexGuard<'_, Common>, u32)> {
        let mut common = self.lock();
        loop {
            if !common.has_room(common.busy) {
                return None;
            }
            let ordered = common.ordered;
            let node = if ordered { common.tree.take_leftmost() } else { common.tree.take_anywhere() };
            if let Some(node) = node {
                common.busy += 1;
                return Some((common, node));
            }
            if common.busy == 0 {
                return None;
            }
            common = self.wait(common);
        }
    }
}
