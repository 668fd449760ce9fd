//! In which order sparks run, and where.
//!
//! A spark that has ended makes others ready. Of those, the short ones run at once where they are, since what they use
//! is in this core's cache, and giving them away would cost more than they do. Of the long ones, the one on which most
//! depends runs here, too; the others become jobs of a scope, which other domains may take, that on which most depends first.
//! How much depends on a spark is what the longest path from it to the end costs.

use super::super::cost_history;
use super::super::scope::Scope;
use crate::event::lock::Lock;
use crate::panics::forget_panic;
use crate::shim::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::shim::ticks;
use std::any::Any;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

/// So short a spark is not given away, in ticks.
pub(super) const SHORT: u64 = 10 * ticks::A_MICROSECOND;
/// What a spark is taken to cost of which nothing is known, in ticks: it is not short.
const UNKNOWN: u64 = 100 * ticks::A_MICROSECOND;

/// One spark of a graph.
pub(super) struct Node<'env> {
    /// Computes the result and puts it in its place.
    pub(super) compute: Lock<Option<Box<dyn FnOnce() + Send + 'env>>>,
    /// By what its cost is remembered: the address of a function that was made for it.
    pub(super) code: usize,
    /// Where it was added.
    pub(super) site: &'static Location<'static>,
    /// What the user says it costs, in ticks.
    pub(super) hint: Option<u64>,
    /// How many of those whose results it uses have not ended.
    pub(super) missing: AtomicUsize,
    pub(super) dependents: Vec<usize>,
    /// What the longest path from here to the end costs, in ticks, and what this costs by itself.
    pub(super) path: u64,
    pub(super) cost: u64,
    /// What it has cost; 0 if it has not run to its end.
    pub(super) took: AtomicU64,
}

/// A graph while it runs.
pub(super) struct Running<'n, 'env> {
    pub(super) nodes: &'n [Node<'env>],
    /// The panic of the earliest spark that has panicked.
    pub(super) panic: Lock<Option<(usize, Box<dyn Any + Send>)>>,
}

/// Estimates what the sparks cost, and what depends on them.
pub(super) fn estimate(nodes: &mut [Node<'_>]) {
    // A spark comes after those that it uses.
    for index in (0..nodes.len()).rev() {
        let after = nodes[index].dependents.iter().map(|&dependent| nodes[dependent].path).max();
        let node = &mut nodes[index];
        let known = cost_history::recall(node.code).map(|known| known.cost);
        node.cost = node.hint.or(known).unwrap_or(UNKNOWN).max(1);
        node.path = node.cost.saturating_add(after.unwrap_or(0));
    }
}

/// Remembers what the sparks have cost, for the next time that the same code makes a graph.
pub(super) fn remember(nodes: &[Node<'_>]) {
    for node in nodes {
        let took = node.took.load(Ordering::Relaxed);
        if took > 0 && node.hint.is_none() {
            cost_history::learn(node.code, took);
        }
    }
}

impl<'s> Running<'s, '_> {
    /// Runs those that use no results, and what they make ready.
    pub(super) fn begin(&'s self, scope: &'s Scope<'s, '_>) {
        let mut here = Vec::new();
        let ready =
            self.nodes.iter().enumerate().filter(|(_, node)| node.missing.load(Ordering::Relaxed) == 0);
        self.distribute(ready.map(|(index, _)| index).collect(), &mut here, scope);
        self.run(here, scope);
    }

    fn run(&'s self, mut here: Vec<usize>, scope: &'s Scope<'s, '_>) {
        while let Some(index) = here.pop() {
            let Some(compute) = self.nodes[index].compute.lock().take() else { continue };
            let start = ticks::now();
            if let Err(panic) = catch_unwind(AssertUnwindSafe(compute)) {
                // What depends on it will miss it for ever, and so not run.
                self.note(index, panic);
                continue;
            }
            let node = &self.nodes[index];
            node.took.store(ticks::now().wrapping_sub(start).max(1), Ordering::Relaxed);
            // Release and acquire: who makes it ready has seen all that it uses.
            let is_ready =
                |&&dependent: &&usize| self.nodes[dependent].missing.fetch_sub(1, Ordering::AcqRel) == 1;
            let ready = node.dependents.iter().filter(is_ready).copied().collect();
            self.distribute(ready, &mut here, scope);
        }
    }

    /// Puts off what is long, but for one.
    fn distribute(&'s self, mut ready: Vec<usize>, here: &mut Vec<usize>, scope: &'s Scope<'s, '_>) {
        ready.sort_by_key(|&index| std::cmp::Reverse(self.nodes[index].path));
        let (long, short): (Vec<usize>, Vec<usize>) =
            ready.into_iter().partition(|&index| self.nodes[index].cost >= SHORT);
        let mut long = long.into_iter();
        // Below what is short, and so after it.
        here.extend(long.next());
        for index in long {
            let site = self.nodes[index].site;
            let _ = scope.spawn_at(move || self.run(vec![index], scope), site);
        }
        here.extend(short.into_iter().rev());
    }

    #[cold]
    fn note(&self, index: usize, panic: Box<dyn Any + Send>) {
        let unheard = {
            let mut first = self.panic.lock();
            match &*first {
                Some((earlier, _)) if *earlier < index => Some((index, panic)),
                _ => first.replace((index, panic)),
            }
        };
        forget_panic(unheard);
    }
}
