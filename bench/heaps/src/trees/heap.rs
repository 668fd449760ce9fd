//! Trees in one heap that all threads are in.

use super::depths;
use crate::job::{Job, Memory};
use crate::lisle;
use crate::threads::on_threads;
use lisle_heap::{Gc, Local, Object, Ref, Scope};
use std::sync::OnceLock;

#[derive(Object)]
struct Tree {
    left: Gc<Option<Tree>>,
    right: Gc<Option<Tree>>,
}

fn make<'s>(s: &mut Scope<'s>, depth: u32) -> Local<'s, Tree> {
    if depth == 0 {
        return s.alloc::<Tree>(Tree::init(None, None));
    }
    s.escape(|s| {
        let left = make(s, depth - 1);
        let right = make(s, depth - 1);
        s.alloc::<Tree>(Tree::init(left, right))
    })
}

fn count(tree: Ref<'_, Tree>) -> u64 {
    1 + tree.left().map_or(0, count) + tree.right().map_or(0, count)
}

/// Makes and counts all trees, each thread its share of them. The long-lived one stays until all are done.
pub fn run(job: &Job, depth: u32) -> u64 {
    let (heap, long_lived) = (lisle::heap(job.memory), OnceLock::new());
    let totals = on_threads(job.workers, |share| {
        heap.enter(|s| {
            let largest = if share.is_last() { one(s, depth + 1) } else { 0 };
            if share.is_first() {
                s.scope(|s| {
                    let tree = make(s, depth);
                    long_lived.set(s.global::<Tree>(tree)).expect("one thread is the first one");
                });
            }
            largest + depths(share, depth).map(|shallow| one(s, shallow)).sum::<u64>()
        })
    });
    let long_lived = long_lived.into_inner().expect("the first thread has made it");
    totals.into_iter().sum::<u64>() + heap.enter(|s| count(s.take(long_lived).get(s)))
}

/// Makes and counts so many trees of this depth, each thread its share of them.
pub fn run_alike(trees: usize, depth: u32, threads: usize) -> u64 {
    let heap = lisle::heap(Memory::Medium);
    let totals =
        on_threads(threads, |share| heap.enter(|s| share.of(trees).map(|_| one(s, depth)).sum::<u64>()));
    totals.into_iter().sum()
}

fn one(s: &mut Scope<'_>, depth: u32) -> u64 {
    s.scope(|s| {
        let tree = make(s, depth);
        count(tree.get(s))
    })
}
