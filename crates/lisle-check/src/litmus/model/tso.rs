//! x86-TSO: a store may wait in its thread's queue while later loads are done, and nothing else is
//! out of order. Fences and locked instructions empty the queue.
//!
//! Sources: Owens, Sarkar and Sewell, "A Better x86 Memory Model: x86-TSO" (TPHOLs 2009); the
//! axioms in the manner of "Herding Cats" (2014).

use super::sc::{is_atomic, is_coherent};
use super::{Axioms, Order};
use crate::litmus::execution::relation::Relation;
use crate::litmus::execution::search::Graph;
use crate::litmus::execution::skeleton::Skeleton;
use crate::litmus::program::Fence;

/// The axioms.
pub(super) struct Tso {
    /// The order within a thread that holds for all threads.
    preserved: Relation,
    pairs: Relation,
}

impl Tso {
    pub(super) fn new(skeleton: &Skeleton, _: &Graph) -> Tso {
        let program = &skeleton.program;
        let (reads, writes) = (skeleton.reads, skeleton.writes);
        let locked = skeleton.select(|event| event.locked);
        let fenced = program.to(skeleton.fences(Fence::Full)).then(program);
        let delayed = program.from(writes).to(reads);
        let preserved = program.from(reads).to(reads | writes).or(&program.from(writes).to(writes));
        let preserved = preserved.or(&delayed.from(locked)).or(&delayed.to(locked)).or(&fenced);
        Tso { preserved, pairs: skeleton.pairs() }
    }
}

impl Axioms for Tso {
    fn allow(&self, skeleton: &Skeleton, graph: &Graph) -> bool {
        let order = self.preserved.or(&skeleton.external(&graph.reads_from));
        let order = order.or(&graph.coherence).or(&graph.from_reads);
        order.is_acyclic() && is_coherent(skeleton, graph) && is_atomic(&self.pairs, skeleton, graph)
    }
}

/// The fence of x86 for a fence of C: only one that is sequentially consistent needs any.
pub(super) fn compile(fence: Fence) -> Fence {
    match fence {
        Fence::Thread(Order::SequentiallyConsistent) => Fence::Full,
        Fence::Thread(_) => Fence::Compiler,
        other => other,
    }
}
