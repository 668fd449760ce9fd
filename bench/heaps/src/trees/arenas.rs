//! Trees in gc-arena. An arena belongs to one thread, so each thread has one.

use super::depths;
use crate::job::{Job, Memory};
use crate::threads::on_threads;
use gc_arena::metrics::Pacing;
use gc_arena::{Arena, Collect, Gc, Mutation, Rootable};

#[derive(Collect)]
#[collect(no_drop)]
struct Tree<'gc> {
    left: Option<Gc<'gc, Tree<'gc>>>,
    right: Option<Gc<'gc, Tree<'gc>>>,
}

fn make<'gc>(mutation: &Mutation<'gc>, depth: u32) -> Gc<'gc, Tree<'gc>> {
    if depth == 0 {
        return Gc::new(mutation, Tree { left: None, right: None });
    }
    let left = make(mutation, depth - 1);
    let right = make(mutation, depth - 1);
    Gc::new(mutation, Tree { left: Some(left), right: Some(right) })
}

fn count(tree: Gc<'_, Tree<'_>>) -> u64 {
    1 + tree.left.map_or(0, count) + tree.right.map_or(0, count)
}

/// Makes and counts all trees, each thread its share of them.
pub fn run(job: &Job, depth: u32) -> u64 {
    // How long the collector sleeps after a cycle, in parts of the live objects.
    let sleep_factor = match job.memory {
        Memory::Small => 0.2,
        Memory::Medium => Pacing::DEFAULT.sleep_factor,
        Memory::Large => 2.0,
    };
    let totals = on_threads(job.workers, |share| {
        let mut arena = Arena::<Rootable![Option<Gc<'_, Tree<'_>>>]>::new(|_| None);
        arena.metrics().set_pacing(Pacing { sleep_factor, ..Pacing::DEFAULT });
        let mut total = 0;
        if share.is_last() {
            total += arena.mutate(|mutation, _| count(make(mutation, depth + 1)));
            arena.collect_debt();
        }
        if share.is_first() {
            arena.mutate_root(|mutation, root| *root = Some(make(mutation, depth)));
        }
        for shallow in depths(share, depth) {
            total += arena.mutate(|mutation, _| count(make(mutation, shallow)));
            arena.collect_debt();
        }
        total + arena.mutate(|_, root| root.map_or(0, count))
    });
    totals.into_iter().sum()
}
