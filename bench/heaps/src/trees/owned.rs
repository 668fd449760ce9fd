//! Trees of boxes, and of references that are counted.

use super::depths;
use crate::job::{Job, Memory};
use crate::threads::on_threads;
use dumpster::{Trace, sync, unsync};
use std::sync::Arc;

/// A tree that its owner drops.
pub trait Tree: Sized {
    fn new(sides: Option<(Self, Self)>) -> Self;
    fn sides(&self) -> Option<(&Self, &Self)>;
}

pub type Boxed = Box<BoxedNode>;
pub type Shared = Arc<SharedNode>;
pub type Dumped = unsync::Gc<DumpedNode>;
pub type DumpedByAll = sync::Gc<DumpedByAllNode>;

pub struct BoxedNode {
    left: Option<Boxed>,
    right: Option<Boxed>,
}

pub struct SharedNode {
    left: Option<Shared>,
    right: Option<Shared>,
}

#[derive(Trace)]
pub struct DumpedNode {
    left: Option<Dumped>,
    right: Option<Dumped>,
}

#[derive(Trace)]
pub struct DumpedByAllNode {
    left: Option<DumpedByAll>,
    right: Option<DumpedByAll>,
}

/// Makes trees of nodes in such a pointer.
macro_rules! tree {
    ($pointer:ty, $node:ident) => {
        impl Tree for $pointer {
            fn new(sides: Option<(Self, Self)>) -> Self {
                let (left, right) = sides.unzip();
                Self::new($node { left, right })
            }

            fn sides(&self) -> Option<(&Self, &Self)> {
                self.left.as_ref().zip(self.right.as_ref())
            }
        }
    };
}

tree!(Boxed, BoxedNode);
tree!(Shared, SharedNode);
tree!(Dumped, DumpedNode);
tree!(DumpedByAll, DumpedByAllNode);

fn make<T: Tree>(depth: u32) -> T {
    if depth == 0 {
        return T::new(None);
    }
    let left = make(depth - 1);
    let right = make(depth - 1);
    T::new(Some((left, right)))
}

fn count<T: Tree>(tree: &T) -> u64 {
    1 + tree.sides().map_or(0, |(left, right)| count(left) + count(right))
}

/// Makes and counts all trees, each thread its share of them.
pub fn run<T: Tree>(job: &Job, depth: u32) -> u64 {
    let totals = on_threads(job.workers, |share| {
        let mut total = 0;
        if share.is_last() {
            total += count(&make::<T>(depth + 1));
        }
        let long_lived = share.is_first().then(|| make::<T>(depth));
        for shallow in depths(share, depth) {
            total += count(&make::<T>(shallow));
        }
        total + long_lived.as_ref().map_or(0, count)
    });
    totals.into_iter().sum()
}

/// Sets after how many drops dumpster looks for cycles, of which there are none: its default is as many as there are
/// objects.
pub fn set_memory(memory: Memory) {
    match memory {
        Memory::Small => {
            sync::set_collect_condition(|info| {
                info.n_gcs_dropped_since_last_collect() > info.n_gcs_existing() / 2
            });
            unsync::set_collect_condition(|info| {
                info.n_gcs_dropped_since_last_collect() > info.n_gcs_existing() / 2
            });
        }
        Memory::Medium => {}
        Memory::Large => {
            sync::set_collect_condition(|info| {
                info.n_gcs_dropped_since_last_collect() > info.n_gcs_existing() * 4
            });
            unsync::set_collect_condition(|info| {
                info.n_gcs_dropped_since_last_collect() > info.n_gcs_existing() * 4
            });
        }
    }
}
