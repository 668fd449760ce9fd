//! The order in which sparks run, and the domains that run them.
//!
//! A spark that has ended makes others ready. The short ones run at once on the same domain,
//! because the results that they use are in the cache of this core, and giving them away would cost
//! more than running them. Of the long ones, the spark on which most depends also runs here. The
//! others become jobs of a scope, which other domains may take; the sparks on which most depends go
//! first. The measure of how much depends on a spark is the cost of the longest path from it to the
//! end.

use super::super::cost_history;
use super::super::scope::Scope;
use crate::event::lock::Lock;
use crate::event::{declare, gone, is_modelled};
use crate::looks;
use crate::panics::forget_panic;
use crate::shim::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::shim::ticks;
use std::any::Any;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

/// A spark shorter than this, in ticks, is not given away.
pub(super) const SHORT: u64 = 10 * ticks::A_MICROSECOND;
/// The assumed cost of a spark of unknown cost, in ticks: it is not short.
const UNKNOWN: u64 = 100 * ticks::A_MICROSECOND;

/// A spark of a graph.
pub(super) struct Node<'env> {
    /// Computes the result and stores it in its slot.
    pub(super) compute: Lock<Option<Box<dyn FnOnce() + Send + 'env>>>,
    /// The key of its cost in the cost history: the address of a function that was instantiated for
    /// it.
    pub(super) code: usize,
    /// Where it was added.
    pub(super) site: &'static Location<'static>,
    /// The cost that the user has given, in ticks.
    pub(super) hint: Option<u64>,
    /// The number of sparks whose results it uses and that have not ended.
    pub(super) missing: AtomicUsize,
    pub(super) dependents: Vec<usize>,
    /// The cost of the longest path from here to the end, in ticks, and the cost of this spark
    /// alone.
    pub(super) path: u64,
    pub(super) cost: u64,
    /// The measured cost; 0 if the spark has not run to its end.
    pub(super) took: AtomicU64,
}

impl Drop for Node<'_> {
    fn drop(&mut self) {
        // A model has to know that another object may come to the same place in memory.
        gone(&self.missing);
    }
}

/// A graph while it runs.
pub(super) struct Running<'n, 'env> {
    pub(super) nodes: &'n [Node<'env>],
    /// The panic of the earliest spark that has panicked.
    pub(super) panic: Lock<Option<(usize, Box<dyn Any + Send>)>>,
}

/// Estimates the costs of the sparks, and of the paths that begin at them.
pub(super) fn estimate(nodes: &mut [Node<'_>]) {
    // A spark comes after those that it uses.
    for index in (0..nodes.len()).rev() {
        let after = nodes[index].dependents.iter().map(|&dependent| nodes[dependent].path).max();
        let node = &mut nodes[index];
        let known = cost_history::recall(node.code);
        node.cost = node.hint.or(known).unwrap_or(UNKNOWN).max(1);
        node.path = node.cost.saturating_add(after.unwrap_or(0));
    }
}

/// Records the measured costs, for the next time that the same code builds a graph.
pub(super) fn remember(nodes: &[Node<'_>]) {
    for node in nodes {
        let took = node.took.load(Ordering::Relaxed);
        if took > 0 && node.hint.is_none() {
            cost_history::learn(node.code, took);
        }
    }
}

impl<'s> Running<'s, '_> {
    /// Runs the sparks that use no results, and those that they make ready.
    pub(super) fn begin(&'s self, scope: &'s Scope<'s, '_>) {
        // The thread that counts down last runs the sparks that are ready then.
        self.nodes.iter().for_each(|node| declare(&node.missing));
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
                // A spark that depends on this one never becomes ready, and so does not run.
                self.note(index, panic);
                continue;
            }
            let node = &self.nodes[index];
            node.took.store(ticks::now().wrapping_sub(start).max(1), Ordering::Relaxed);
            // Release and acquire: the thread that makes a spark ready has seen all results that
            // the spark uses.
            let is_ready =
                |&&dependent: &&usize| self.nodes[dependent].missing.fetch_sub(1, Ordering::AcqRel) == 1;
            let ready = node.dependents.iter().filter(is_ready).copied().collect();
            self.distribute(ready, &mut here, scope);
            looks::after_a_piece();
        }
    }

    /// Puts off all long sparks except for one.
    fn distribute(&'s self, mut ready: Vec<usize>, here: &mut Vec<usize>, scope: &'s Scope<'s, '_>) {
        if is_modelled() {
            return self.put_off_all(ready, here, scope);
        }
        ready.sort_by_key(|&index| std::cmp::Reverse(self.nodes[index].path));
        let (long, short): (Vec<usize>, Vec<usize>) =
            ready.into_iter().partition(|&index| self.nodes[index].cost >= SHORT);
        let mut long = long.into_iter();
        // The long spark lies below the short ones, and so runs after them.
        here.extend(long.next());
        for index in long {
            let site = self.nodes[index].site;
            let _ = scope.spawn_at(move || self.run(vec![index], scope), site);
        }
        here.extend(short.into_iter().rev());
    }

    /// Puts off all sparks except for one, whatever they have cost before.
    #[cold]
    fn put_off_all(&'s self, ready: Vec<usize>, here: &mut Vec<usize>, scope: &'s Scope<'s, '_>) {
        let mut ready = ready.into_iter();
        here.extend(ready.next());
        for index in ready {
            let _ = scope.spawn_at(move || self.run(vec![index], scope), self.nodes[index].site);
        }
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
