//! Sequential consistency: program order and communication have no cycle. All parts of an access are
//! at one point of the order.
//!
//! Source: Lamport, "How to Make a Multiprocessor Computer That Correctly Executes Multiprocess
//! Programs" (1979), as an axiom in the manner of "Herding Cats" (2014).

use super::Axioms;
use crate::litmus::execution::relation::Relation;
use crate::litmus::execution::search::Graph;
use crate::litmus::execution::skeleton::Skeleton;

/// The axioms.
pub(super) struct Sc {
    pairs: Relation,
}

impl Sc {
    pub(super) fn new(skeleton: &Skeleton) -> Sc {
        Sc { pairs: skeleton.pairs() }
    }
}

impl Axioms for Sc {
    fn allow(&self, skeleton: &Skeleton, graph: &Graph) -> bool {
        skeleton.program.or(&graph.communication()).then(&skeleton.together).is_acyclic()
            && is_atomic(&self.pairs, skeleton, graph)
    }
}

/// Returns `true` if no write of another thread comes between the read and the write of one step.
pub(super) fn is_atomic(pairs: &Relation, skeleton: &Skeleton, graph: &Graph) -> bool {
    if pairs.is_empty() {
        return true;
    }
    let between = skeleton.external(&graph.from_reads).then(&skeleton.external(&graph.coherence));
    pairs.and(&between).is_empty()
}

/// Returns `true` if each location, looked at alone, is sequentially consistent.
pub(super) fn is_coherent(skeleton: &Skeleton, graph: &Graph) -> bool {
    skeleton.program.and(&graph.same_location).or(&graph.communication()).is_acyclic()
}
