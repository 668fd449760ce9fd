#![doc = include_str!("README.md")]

mod accesses;
mod cells;
mod clock;
mod graph;
mod library;
mod model;
mod rc11;
mod report;
mod seen;
mod told;
mod tso;
mod ways;

use cells::{Cells, Found};
use graph::Graph;
use library::Library;
use rustc_hash::FxHashSet;
use std::panic::Location as Site;

pub(crate) use accesses::Done;
pub(super) use accesses::Operation;
pub use cells::CellAccess;
pub use model::Memory;
pub(super) use model::{Detail, Used};
pub use report::{DataRace, RaceSide};
pub(super) use seen::Seen;
pub(crate) use ways::Access;

/// The memory of an execution.
#[derive(Debug)]
pub(super) struct Modelled {
    memory: Memory,
    detail: Detail,
    needed: Detail,
    graph: Graph,
    library: Library,
    cells: Cells,
    /// The processes whose code runs in the step in progress, and the processes that it lets go on.
    running: Vec<u32>,
    enabled: Vec<u32>,
    /// The processes and addresses of exchanges that have failed without a reason, and have not
    /// succeeded since.
    failed: FxHashSet<(u32, usize)>,
    /// The model does not allow the execution, which does not go on.
    is_impossible: bool,
    race: Option<Found>,
    has_weaker_orders: bool,
    /// Counts the executions, for the names of cells.
    execution: u32,
    made: u32,
    shapes: FxHashSet<u64>,
}

impl Modelled {
    pub(super) fn new(memory: Memory, detail: Detail) -> Self {
        Modelled {
            memory,
            detail,
            needed: detail,
            graph: Graph::default(),
            library: Library::default(),
            cells: Cells::default(),
            running: Vec::new(),
            enabled: Vec::new(),
            failed: FxHashSet::default(),
            is_impossible: false,
            race: None,
            has_weaker_orders: false,
            execution: 0,
            made: 0,
            shapes: FxHashSet::default(),
        }
    }

    /// Begins an execution.
    pub(super) fn begin(&mut self) {
        if self.detail > Detail::None {
            self.graph.clear();
            self.library.clear();
            self.cells.clear();
            self.running.clear();
            self.enabled.clear();
        }
        self.failed.clear();
        self.is_impossible = false;
        self.race = None;
        self.execution = self.execution.wrapping_add(1);
        self.made = 0;
    }

    /// Ends an execution in which all processes have ended.
    pub(super) fn complete(&mut self) {
        if self.detail == Detail::Weak {
            self.shapes.insert(self.shape());
        }
    }

    /// Returns the detail that the program needs, if that is more than was known.
    pub(super) fn learnt(&self) -> Option<Detail> {
        (self.needed > self.detail).then_some(self.needed)
    }

    /// Begins to model the detail that is known to be needed.
    pub(super) fn begin_anew(&mut self) {
        self.detail = self.needed;
        self.shapes.clear();
    }

    /// Returns the use of the model.
    pub(super) fn used(&self) -> Used {
        let mut seen = Seen::default();
        seen.add(self);
        seen.used()
    }

    /// Returns `true` if the model keeps happens-before.
    pub(super) fn is_modelled(&self) -> bool {
        self.detail > Detail::None
    }

    /// Returns the model, if operations can see old values.
    pub(super) fn weak(&self) -> Option<Memory> {
        (self.detail == Detail::Weak).then_some(self.memory)
    }

    /// Returns `true` if the execution must not go on.
    pub(super) fn is_over(&self) -> bool {
        self.is_impossible || self.race.is_some()
    }

    /// Returns the race that the execution has shown. `spawned_at` returns the place where a
    /// process was spawned.
    pub(super) fn race(
        &self,
        spawned_at: impl Fn(u32) -> Option<&'static Site<'static>>,
    ) -> Option<DataRace> {
        self.race.as_ref().map(|found| DataRace::new(found, spawned_at))
    }

    fn need(&mut self, detail: Detail) {
        self.needed = self.needed.max(detail);
    }
}
