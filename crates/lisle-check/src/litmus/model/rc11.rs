//! RC11: the model of C11 with its sequentially consistent accesses and fences repaired, and
//! without values out of thin air.
//!
//! Source: Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing Sequential Consistency in C/C++11"
//! (PLDI 2017). The names come from the paper. One definition comes from C++20 (P0982): a release
//! sequence goes on only by updates, not by later stores of the same thread.

use super::Axioms;
use crate::litmus::error::SourcePosition;
use crate::litmus::execution::relation::{Relation, Set, members};
use crate::litmus::execution::search::Graph;
use crate::litmus::execution::skeleton::Skeleton;
use crate::litmus::program::path::Kind;
use crate::litmus::program::{Fence, Order};

/// The axioms.
pub(super) struct Rc11 {
    /// Sequenced before, with the initial writes before all else.
    sequenced: Relation,
    /// Sequenced before, to an access of another location or a fence.
    elsewhere: Relation,
    /// From a releasing event to the atomic write that carries it.
    releases: Relation,
    /// From an atomic read to the event that acquires by it.
    acquires: Relation,
    pairs: Relation,
    /// The sequentially consistent accesses and fences.
    strong: Set,
    /// The sequentially consistent fences.
    strong_fences: Set,
}

impl Rc11 {
    pub(super) fn new(skeleton: &Skeleton, graph: &Graph) -> Rc11 {
        let mut sequenced = skeleton.program.clone();
        let all: Set = skeleton.select(|_| true);
        members(skeleton.initial).for_each(|first| sequenced.insert_all(first, all & !skeleton.initial));
        let fence = |holds: fn(Order) -> bool| {
            skeleton.select(|event| matches!(event.kind, Kind::Fence(Fence::Thread(order)) if holds(order)))
        };
        let access = |kind: Kind, holds: fn(Order) -> bool| {
            skeleton.select(|event| event.kind == kind && holds(event.order))
        };
        let strong = |order: Order| order == Order::SequentiallyConsistent;
        let atomic = |order: Order| order != Order::Plain;
        let itself = |set: Set| Relation::identity(skeleton.count(), set);
        let fences = !skeleton.accesses();
        Rc11 {
            releases: itself(access(Kind::Write, Order::releases))
                .or(&sequenced.from(fence(Order::releases)).to(access(Kind::Write, atomic))),
            acquires: itself(access(Kind::Read, Order::acquires))
                .or(&sequenced.from(access(Kind::Read, atomic)).to(fence(Order::acquires))),
            elsewhere: sequenced
                .and(&graph.other_location)
                .or(&sequenced.from(fences))
                .or(&sequenced.to(fences)),
            strong: access(Kind::Read, strong) | access(Kind::Write, strong) | fence(strong),
            strong_fences: fence(strong),
            sequenced,
            pairs: skeleton.pairs(),
        }
    }

    /// Happens before: sequenced before and synchronizes with, taken together.
    fn happens_before(&self, graph: &Graph) -> Relation {
        let handed_on = graph.reads_from.then(&self.pairs).transitive().reflexive();
        let synchronizes = self.releases.then(&handed_on).then(&graph.reads_from).then(&self.acquires);
        self.sequenced.or(&synchronizes).transitive()
    }

    /// The partial order that sequentially consistent events must have in common.
    fn partial_sc(&self, graph: &Graph, happens: &Relation, extended: &Relation) -> Relation {
        let apart = &self.elsewhere;
        let base = self.sequenced.or(&apart.then(happens).then(apart)).or(&happens.and(&graph.same_location));
        let base = base.or(&graph.coherence).or(&graph.from_reads);
        let itself = Relation::identity(graph.values.len(), self.strong);
        let begins = itself.or(&happens.from(self.strong_fences));
        let ends = itself.or(&happens.to(self.strong_fences));
        let by_fences = happens.or(&happens.then(extended).then(happens));
        let by_fences = by_fences.from(self.strong_fences).to(self.strong_fences);
        begins.then(&base).then(&ends).or(&by_fences)
    }
}

impl Axioms for Rc11 {
    fn allow(&self, _: &Skeleton, graph: &Graph) -> bool {
        let happens = self.happens_before(graph);
        let extended = graph.communication().transitive();
        let interrupted = graph.from_reads.then(&graph.coherence);
        let coherent = happens.is_irreflexive() && happens.then(&extended).is_irreflexive();
        let no_thin_air = || self.sequenced.or(&graph.reads_from).is_acyclic();
        let one_order = || self.strong == 0 || self.partial_sc(graph, &happens, &extended).is_acyclic();
        coherent && self.pairs.and(&interrupted).is_empty() && no_thin_air() && one_order()
    }
}

/// A data race: two accesses of different threads to one location, at least one of them a write and
/// at least one not atomic, neither of which happens before the other. In C, a program with a race
/// in any execution has no meaning at all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub(crate) location: usize,
    pub(crate) sides: [Side; 2],
}

/// One of the accesses of a race.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Side {
    pub(crate) thread: usize,
    pub(crate) position: SourcePosition,
    pub(crate) writes: bool,
}

/// The races of an execution that RC11 allows.
pub(crate) fn races(skeleton: &Skeleton, graph: &Graph) -> Vec<Pair> {
    if skeleton.select(|event| event.order == Order::Plain) & skeleton.accesses() & !skeleton.initial == 0 {
        return Vec::new();
    }
    let happens = Rc11::new(skeleton, graph).happens_before(graph);
    let mut found = Vec::new();
    for first in members(skeleton.accesses() & !skeleton.initial) {
        for second in members(graph.same_location.successors(first) & !skeleton.initial & (!0 << first)) {
            let writes = skeleton.writes >> first | skeleton.writes >> second;
            let plain = [first, second].iter().any(|event| skeleton.events[*event].order == Order::Plain);
            let ordered = happens.contains(first, second) || happens.contains(second, first);
            let side = |event: usize| {
                let writes = skeleton.writes >> event & 1 == 1;
                Some(Side {
                    thread: skeleton.threads[event]?,
                    position: skeleton.events[event].position,
                    writes,
                })
            };
            if writes & 1 == 1
                && plain
                && !ordered
                && let (Some(location), Some(left), Some(right)) =
                    (graph.places[first], side(first), side(second))
                && left.thread != right.thread
            {
                found.push(Pair { location, sides: [left, right] });
            }
        }
    }
    found
}
