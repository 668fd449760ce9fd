#![doc = include_str!("README.md")]

mod cells;
mod clock;
mod graph;
mod library;
mod model;
mod rc11;
mod report;
mod tso;
mod ways;

use crate::explore::{Kind, Mark, Object, mix};
use cells::{Cells, Found, Name};
use graph::{Does, Graph, Orders};
use library::Library;
use rustc_hash::FxHashSet;
use std::panic::Location as Site;
use std::sync::atomic::Ordering;
use ways::{Request, Ways};

pub use cells::CellAccess;
pub use model::Memory;
pub(super) use model::{Detail, Used};
pub use report::{DataRace, RaceSide};
pub(crate) use ways::Access;

/// How an access has gone on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    /// What it has read.
    pub(crate) read: u64,
    /// What is newest in the order of writes now.
    pub(crate) newest: u64,
    /// Whether it has written.
    pub(crate) has_written: bool,
}

/// An access to an atomic.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    pub(super) process: u32,
    pub(super) address: usize,
    /// What is there.
    pub(super) value: u64,
    pub(super) order: Ordering,
    /// The order of an update that writes nothing.
    pub(super) otherwise: Ordering,
    /// The update may fail although it could write.
    pub(super) may_fail: bool,
    pub(super) site: &'static Site<'static>,
}

/// The memory of an execution.
#[derive(Debug)]
pub(super) struct Modelled {
    memory: Memory,
    detail: Detail,
    needed: Detail,
    graph: Graph,
    library: Library,
    cells: Cells,
    /// Whose code runs in the step in progress, and who can go on after it.
    running: Vec<u32>,
    enabled: Vec<u32>,
    /// Whose exchange of what has failed without a reason, and has not succeeded since.
    failed: FxHashSet<(u32, usize)>,
    /// The model does not allow what the execution has come to. Nothing else happens in it.
    is_impossible: bool,
    race: Option<Found>,
    has_weaker_orders: bool,
    /// Counts the executions, for the names of cells.
    execution: u32,
    made: u32,
    shapes: FxHashSet<u64>,
}

/// What the memories of several workers have come to.
#[derive(Debug, Default)]
pub(super) struct Seen {
    weak: Option<Memory>,
    has_weaker_orders: bool,
    shapes: FxHashSet<u64>,
}

impl Seen {
    /// Returns what had come to these numbers for what the model distinguishes.
    pub(super) fn of(shapes: &[u64]) -> Self {
        Seen { shapes: shapes.iter().copied().collect(), ..Seen::default() }
    }

    /// Adds what the memory of one worker has come to.
    pub(super) fn add(&mut self, modelled: &Modelled) {
        self.weak = self.weak.or(modelled.weak());
        self.has_weaker_orders |= modelled.has_weaker_orders;
        self.shapes.extend(&modelled.shapes);
    }

    /// Returns the numbers for what the model distinguishes.
    pub(super) fn shapes(&self) -> Vec<u64> {
        self.shapes.iter().copied().collect()
    }

    /// Returns what they have come to together.
    pub(super) fn used(&self) -> Used {
        match self.weak {
            Some(memory) => Used::Weak { memory, graphs: self.shapes.len() as u64 },
            None if self.has_weaker_orders => Used::Sc,
            None => Used::Newest,
        }
    }
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

    /// Ends an execution in which all processes have come to their end.
    pub(super) fn complete(&mut self) {
        if self.detail == Detail::Weak {
            self.shapes.insert(self.shape());
        }
    }

    /// Returns how much has to be modelled, if that is more than was known.
    pub(super) fn learnt(&self) -> Option<Detail> {
        (self.needed > self.detail).then_some(self.needed)
    }

    /// Begins to model as much as is known to be needed.
    pub(super) fn begin_anew(&mut self) {
        self.detail = self.needed;
        self.shapes.clear();
    }

    /// Returns what the model has come to.
    pub(super) fn used(&self) -> Used {
        let mut seen = Seen::default();
        seen.add(self);
        seen.used()
    }

    /// Returns `true` if it is known what happens before what.
    pub(super) fn is_modelled(&self) -> bool {
        self.detail > Detail::None
    }

    /// Returns the model, if operations can see what is not the newest.
    pub(super) fn weak(&self) -> Option<Memory> {
        (self.detail == Detail::Weak).then_some(self.memory)
    }

    /// Returns `true` if the execution is not to go on.
    pub(super) fn is_over(&self) -> bool {
        self.is_impossible || self.race.is_some()
    }

    /// Returns the race that the execution has shown. `spawned_at` says where a process was spawned.
    pub(super) fn race(
        &self,
        spawned_at: impl Fn(u32) -> Option<&'static Site<'static>>,
    ) -> Option<DataRace> {
        self.race.as_ref().map(|found| DataRace::new(found, spawned_at))
    }

    fn need(&mut self, detail: Detail) {
        self.needed = self.needed.max(detail);
    }

    fn orders(&self, order: Ordering) -> Orders {
        let orders = Orders::from(order);
        match self.memory {
            Memory::Rc11 => orders,
            Memory::Sc | Memory::Tso => Orders { acquires: true, releases: true, ..orders },
        }
    }

    /// Performs an access. `choose` returns one of so many ways in which it can go on.
    pub(super) fn access(
        &mut self,
        operation: Operation,
        mut access: Access<'_>,
        choose: impl FnOnce(usize) -> usize,
    ) -> Done {
        let Operation { process, address, value, order, otherwise, site, .. } = operation;
        let is_weak = match self.memory {
            Memory::Sc => false,
            Memory::Tso => order != Ordering::SeqCst && matches!(access, Access::Store(_)),
            Memory::Rc11 => order != Ordering::SeqCst || otherwise != Ordering::SeqCst,
        };
        if is_weak {
            self.need(Detail::Weak);
        }
        self.has_weaker_orders |= order != Ordering::SeqCst;
        let may_fail = operation.may_fail && !self.failed.contains(&(process, address));
        if self.detail == Detail::None || self.is_impossible {
            return self.access_newest(operation, access, may_fail, choose);
        }
        let location = self.graph.location_at(address, value);
        let (orders, otherwise) = (self.orders(order), self.orders(otherwise));
        let request = Request { process, location, orders, otherwise, may_fail, site };
        let memory = if self.detail == Detail::Weak { self.memory } else { Memory::Sc };
        let ways: Ways = self.graph.ways(memory, &request, &mut access);
        let way = &ways[if ways.len() > 1 { choose(ways.len()) } else { 0 }];
        let (read, is_allowed) = self.graph.take(memory, &request, way);
        if !is_allowed {
            self.is_impossible = true;
            return self.access_newest(operation, access, false, |_| 0);
        }
        self.note_failure(operation, way.has_failed);
        Done { read, newest: self.graph.newest(location).value, has_written: way.does != Does::Load }
    }

    /// Performs an access to what is newest.
    fn access_newest(
        &mut self,
        operation: Operation,
        access: Access<'_>,
        may_fail: bool,
        choose: impl FnOnce(usize) -> usize,
    ) -> Done {
        let read = operation.value;
        let written = match access {
            Access::Load => None,
            Access::Store(value) => Some(value),
            Access::Update(change) => change(read),
        };
        let has_failed = may_fail && written.is_some() && choose(2) == 1;
        self.note_failure(operation, has_failed);
        let written = written.filter(|_| !has_failed);
        Done { read, newest: written.unwrap_or(read), has_written: written.is_some() }
    }

    /// Notes whether an exchange has failed without a reason. The next one of its process does not.
    fn note_failure(&mut self, operation: Operation, has_failed: bool) {
        if has_failed {
            self.failed.insert((operation.process, operation.address));
        } else if operation.may_fail {
            self.failed.remove(&(operation.process, operation.address));
        }
    }

    /// Performs a fence.
    pub(super) fn fence(&mut self, process: u32, order: Ordering, site: &'static Site<'static>) {
        if self.detail > Detail::None {
            let orders = match self.memory {
                Memory::Rc11 => Orders::from(order),
                // What orders nothing more than the accesses do is left out.
                Memory::Sc | Memory::Tso if order != Ordering::SeqCst => return,
                Memory::Sc | Memory::Tso => Orders::from(order),
            };
            self.graph.fence(process, orders, site);
        }
    }

    /// Returns a name for a cell that is made now.
    pub(super) fn make_cell(&mut self, process: u32, site: &'static Site<'static>) -> Name {
        self.need(Detail::Clocks);
        self.made += 1;
        let name = (u64::from(self.execution) << 32) | u64::from(self.made);
        if self.detail > Detail::None {
            self.cells.access(&mut self.graph, name, process, CellAccess::Made, Some(site));
        }
        name
    }

    /// Notes an access to a cell. `name` is what it was given when it was made, or zero.
    pub(super) fn access_cell(
        &mut self,
        name: Name,
        address: usize,
        process: u32,
        access: CellAccess,
        site: Option<&'static Site<'static>>,
    ) {
        self.need(Detail::Clocks);
        let name = if (name >> 32) as u32 == self.execution && name != 0 { name } else { address as u64 };
        if self.detail > Detail::None && !self.is_over() {
            self.race = self.cells.access(&mut self.graph, name, process, access, site);
            if access == CellAccess::Dropped {
                self.cells.forget(name);
            }
        }
    }

    /// Notes that what was at an address is gone.
    pub(super) fn forget(&mut self, address: usize) {
        if self.detail > Detail::None {
            self.graph.forget(address);
        }
    }

    /// Notes that what was at these addresses is gone.
    pub(super) fn forget_within(&mut self, begin: usize, size: usize) {
        if self.detail > Detail::None {
            self.graph.forget_within(begin, begin + size);
        }
    }

    /// Notes that a process has touched an object of the library's.
    pub(super) fn touch(&mut self, process: u32, object: Object, kind: Kind, is_order: bool) {
        if self.detail > Detail::None {
            self.library.touch(&mut self.graph, process, object, kind, is_order);
        }
    }

    /// Notes that the step in progress, which has this mark, leaves something that another one takes.
    pub(super) fn leave(&mut self, process: u32, mark: Mark) {
        if self.detail > Detail::None {
            self.library.leave(&mut self.graph, process, mark.0);
        }
    }

    /// Notes that a process goes on after what was left by the step with this mark.
    pub(super) fn follow(&mut self, process: u32, mark: Mark) {
        if self.detail > Detail::None {
            self.library.follow(&mut self.graph, process, mark.0);
        }
    }

    /// Notes that a process, which asks again and again, can go on since another one has changed something.
    /// That orders their steps, and nothing that they do.
    pub(super) fn wake(&mut self, process: u32, other: u32) {
        if self.detail > Detail::None {
            self.enabled.push(other);
            self.library.comes_after(&mut self.graph, other, process);
        }
    }

    /// Notes that a process takes a step since nothing else can run: after all that the others have done.
    pub(super) fn comes_last(&mut self, process: u32) {
        if self.detail > Detail::None {
            for other in 0..self.graph.threads.len() as u32 {
                self.library.comes_after(&mut self.graph, process, other);
            }
        }
    }

    /// Returns `true` if a process has read something since it has asked last that was not the newest.
    pub(super) fn sees_old(&self, process: u32) -> bool {
        self.detail == Detail::Weak && self.graph.sees_old(process)
    }

    /// Notes that a process asks again. If it `looks`, it does so where all that it has read is as it is now;
    /// if it `catches_up`, it reads nothing older from now on.
    pub(super) fn asks_again(&mut self, process: u32, looks: bool, catches_up: bool) {
        if self.detail == Detail::Weak {
            self.graph.asks_again(process, looks || catches_up, catches_up);
        }
    }

    /// Notes that the code of a process runs in the step in progress.
    pub(super) fn runs(&mut self, process: u32) {
        if self.detail > Detail::None {
            self.running.push(process);
        }
    }

    /// Ends the step in progress.
    pub(super) fn end_step(&mut self) {
        if self.detail > Detail::None {
            let past = self.graph.end_step(&self.running, &self.enabled);
            self.library.end_step(&past);
            self.running.clear();
            self.enabled.clear();
        }
    }

    /// Notes that a process lets another one begin, or go on.
    pub(super) fn enable(&mut self, process: u32, other: u32) {
        if self.detail > Detail::None {
            self.enabled.push(other);
            self.library.enable(&mut self.graph, process, other);
        }
    }

    /// Notes that a process goes on after the end of another one.
    pub(super) fn join(&mut self, process: u32, ended: u32) {
        if self.detail > Detail::None {
            self.library.join(&mut self.graph, process, ended);
        }
    }

    /// Notes which way a process has gone on by the choice of the checker.
    pub(super) fn chosen(&mut self, process: u32, way: usize) {
        if self.detail == Detail::Weak {
            self.library.observe(process, way as u64 + 1);
        }
    }

    /// Returns a number for all that the model distinguishes in the execution: what each process did, what it
    /// read, the order of the writes, and what it has seen of the library.
    fn shape(&self) -> u64 {
        let name = |id: graph::Id| {
            let event = self.graph.event(id);
            mix(u64::from(event.moment.process), u64::from(event.moment.count))
        };
        let mut shape = self.library.shape();
        for thread in &self.graph.threads {
            for &id in &thread.events {
                let event = self.graph.event(id);
                let source = event.source.map_or(0, &name);
                // What it writes follows from what the process has read.
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
