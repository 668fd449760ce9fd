//! Armv8, which is multi-copy atomic: dependencies, barriers, acquires and releases of a thread
//! order its accesses for all threads, and nothing else does.
//!
//! Sources: Pulte, Flur, Deacon, French, Sarkar and Sewell, "Simplifying ARM Concurrency" (POPL
//! 2018); the Arm Architecture Reference Manual (DDI 0487, section B2.3), whose newer wording is
//! followed where both differ: a local write is before the local read that directly follows it
//! there, whatever that read returns, and the accesses after an update by one acquiring and
//! releasing instruction are ordered after its write. That manual also defines accesses of different
//! sizes: an access that observes a part of another is ordered before, or after, all of its parts.

use super::sc::{is_atomic, is_coherent};
use super::{Axioms, Order};
use crate::litmus::execution::relation::{Relation, Set, members};
use crate::litmus::execution::search::Graph;
use crate::litmus::execution::skeleton::Skeleton;
use crate::litmus::program::Fence;

/// The axioms.
pub(super) struct Arm8 {
    /// The order within a thread, which holds for all threads.
    local: Relation,
    pairs: Relation,
    /// From a read to the parts of a later read of its thread, at the same place and beside it,
    /// where accesses have parts.
    read_again: Option<Relation>,
}

impl Arm8 {
    pub(super) fn new(skeleton: &Skeleton, graph: &Graph) -> Arm8 {
        let parts = Parts::new(skeleton, graph);
        let local =
            parts.same_place().or(&parts.by_dependencies()).or(&parts.by_picks()).or(&parts.by_updates());
        let local = local.or(&parts.by_barriers()).or(&parts.by_instruction_barriers()).transitive();
        let guessed = parts.picks.then(&local).to(skeleton.writes);
        let read_again = || parts.program.and(&graph.same_location).from(parts.reads).to(parts.reads);
        let read_again = skeleton.divided.then(|| read_again().then(&skeleton.together));
        Arm8 { local: local.or(&guessed), pairs: skeleton.pairs(), read_again }
    }
}

impl Axioms for Arm8 {
    fn allow(&self, skeleton: &Skeleton, graph: &Graph) -> bool {
        let mut observed = skeleton.external(&graph.communication());
        if let Some(read_again) = &self.read_again {
            // Without parts the first follows from the coherence of each location.
            let hazards = read_again.then(&skeleton.external(&graph.from_reads));
            observed = observed.or(&hazards).then(&skeleton.together);
        }
        self.local.or(&observed).is_acyclic()
            && is_coherent(skeleton, graph)
            && is_atomic(&self.pairs, skeleton, graph)
    }
}

/// The relations that the definitions of the local order share.
struct Parts<'a> {
    skeleton: &'a Skeleton,
    graph: &'a Graph,
    program: &'a Relation,
    reads: Set,
    writes: Set,
    accesses: Set,
    /// Loads by LDAR, and by updates that acquire.
    acquires: Set,
    /// Loads by LDAPR.
    acquires_pc: Set,
    /// Stores by STLR, and by updates that release.
    releases: Set,
    address: Relation,
    data: Relation,
    control: Relation,
    picked_address: Relation,
    picked_data: Relation,
    picked_control: Relation,
    /// All dependencies on reads, also by choices that could be guessed.
    picks: Relation,
    /// From a write to each later read of its thread and location, with no write in between.
    read_next: Relation,
}

impl<'a> Parts<'a> {
    fn new(skeleton: &'a Skeleton, graph: &'a Graph) -> Parts<'a> {
        let program = &skeleton.program;
        let (reads, writes) = (skeleton.reads, skeleton.writes);
        let here = program.and(&graph.same_location);
        // A write in between could go to a location that is not known yet.
        let read_next = match graph.settled {
            true => here.minus(&here.to(writes).then(&here)).from(writes).to(reads),
            false => Relation::empty(skeleton.count()),
        };
        let picked_data = skeleton.dependency(|event| event.value_taint.picked);
        // A dependency goes on through a location that the thread writes and reads back.
        let through = picked_data.then(&read_next).transitive();
        let onward = through.clone().reflexive();
        let picked_data = onward.then(&picked_data);
        let picked_address = onward.then(&skeleton.dependency(|event| event.address_taint.picked));
        let picked_control = onward.then(&skeleton.dependency(|event| event.control.picked));
        Parts {
            picks: through.or(&picked_data).or(&picked_address).or(&picked_control),
            picked_address,
            picked_data,
            picked_control,
            skeleton,
            graph,
            program,
            reads,
            writes,
            accesses: skeleton.accesses(),
            acquires: reads & skeleton.select(|event| event.order.acquires() && !event.unused),
            acquires_pc: reads & skeleton.select(|event| event.order == Order::AcquirePc),
            releases: writes & skeleton.select(|event| event.order.releases()),
            address: skeleton.dependency(|event| event.address_taint.certain),
            data: skeleton.dependency(|event| event.value_taint.certain),
            control: skeleton.dependency(|event| event.control.certain),
            read_next,
        }
    }

    /// A write is after the earlier accesses of its thread to the same location, with all of its
    /// parts.
    fn same_place(&self) -> Relation {
        self.program.and(&self.graph.same_location).to(self.writes).then(&self.skeleton.together)
    }

    fn by_dependencies(&self) -> Relation {
        let direct = self.address.or(&self.data);
        let speculated = self.control.or(&self.address.to(self.accesses).then(self.program));
        direct.or(&speculated.to(self.writes)).or(&direct.then(&self.read_next))
    }

    /// An access that depends on a choice that could be guessed is ordered only if it writes.
    fn by_picks(&self) -> Relation {
        let later = self.picked_address.to(self.accesses).then(self.program);
        self.picked_address.or(&self.picked_data).or(&self.picked_control).or(&later).to(self.writes)
    }

    fn by_updates(&self) -> Relation {
        let pairs = self.skeleton.pairs();
        let acquired = pairs.then(&self.read_next).to(self.acquires | self.acquires_pc);
        pairs.or(&acquired)
    }

    fn by_barriers(&self) -> Relation {
        let (program, accesses) = (self.program, self.accesses);
        let across = |fence: Fence, before: Set, after: Set| {
            program.from(before).to(self.skeleton.fences(fence)).then(program).to(after)
        };
        let used = self.reads & !self.skeleton.select(|event| event.unused);
        let barriers = across(Fence::Full, accesses, accesses)
            .or(&across(Fence::Loads, used, accesses))
            .or(&across(Fence::Stores, self.writes, self.writes))
            .or(&across(Fence::StoresWithAll, self.writes, accesses));
        let half = program
            .from(self.releases)
            .to(self.acquires)
            .or(&program.from(self.acquires | self.acquires_pc).to(accesses))
            .or(&program.from(accesses).to(self.releases));
        barriers.or(&half).or(&program.from(self.whole_updates()).to(accesses))
    }

    /// The writes of updates by one instruction that acquires and releases.
    fn whole_updates(&self) -> Set {
        let whole = |&write: &usize| {
            let pair = self.skeleton.events[write].pair.filter(|pair| pair.single);
            pair.is_some_and(|pair| self.acquires & pair.reads != 0)
        };
        members(self.releases).filter(whole).fold(0, |set, write| set | 1 << write)
    }

    /// An ISB after a branch, or after an access whose address was computed, waits for it.
    fn by_instruction_barriers(&self) -> Relation {
        let computed = self.picked_address.to(self.accesses).then(self.program);
        let decided = self.picked_control.or(&computed);
        decided.to(self.skeleton.fences(Fence::Instructions)).then(self.program)
    }
}

/// The barrier for a fence of C.
pub(super) fn compile(fence: Fence) -> Fence {
    match fence {
        Fence::Thread(Order::Acquire) => Fence::Loads,
        Fence::Thread(_) => Fence::Full,
        other => other,
    }
}
