//! The executions of all workers that the model distinguishes, each once.

use super::{Memory, Modelled, Used, graph};
use crate::explore::mix;
use rustc_hash::FxHashSet;

/// The results of the memories of several workers.
#[derive(Debug, Default)]
pub(in crate::program) struct Seen {
    weak: Option<Memory>,
    has_weaker_orders: bool,
    shapes: FxHashSet<u64>,
}

impl Seen {
    /// Creates the results from these hashes of executions.
    pub(in crate::program) fn of(shapes: &[u64]) -> Self {
        Seen { shapes: shapes.iter().copied().collect(), ..Seen::default() }
    }

    /// Adds the results of one worker's memory.
    pub(in crate::program) fn add(&mut self, modelled: &Modelled) {
        self.weak = self.weak.or(modelled.weak());
        self.has_weaker_orders |= modelled.has_weaker_orders;
        self.shapes.extend(&modelled.shapes);
    }

    /// Returns the hashes of the executions.
    pub(in crate::program) fn shapes(&self) -> Vec<u64> {
        self.shapes.iter().copied().collect()
    }

    /// Returns the use of the model by all of them.
    pub(in crate::program) fn used(&self) -> Used {
        match self.weak {
            Some(memory) => Used::Weak { memory, graphs: self.shapes.len() as u64 },
            None if self.has_weaker_orders => Used::Sc,
            None => Used::Newest,
        }
    }
}

impl Modelled {
    /// Returns a hash of everything that the model distinguishes in the execution: the accesses of
    /// each process, the writes that it read from, the order of the writes, and its view of the
    /// library.
    pub(super) fn shape(&self) -> u64 {
        let name = |id: graph::Id| {
            let event = self.graph.event(id);
            mix(u64::from(event.moment.process), u64::from(event.moment.count))
        };
        let mut shape = self.library.shape();
        for thread in &self.graph.threads {
            for &id in &thread.events {
                let event = self.graph.event(id);
                let source = event.source.map_or(0, &name);
                // The written values follow from the read ones.
                shape = mix(shape, mix(mix(name(id), event.does as u64), source));
            }
        }
        let orders = self
            .graph
            .locations
            .iter()
            .map(|location| location.order[1..].iter().fold(0, |order, write| mix(order, name(*write))));
        mix(shape, orders.fold(0, u64::wrapping_add))
    }
}
