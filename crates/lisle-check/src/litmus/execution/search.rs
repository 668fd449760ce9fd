//! Builds the consistent executions of a skeleton, each exactly once.
//!
//! First each read is given its write, then the writes of each location are put into order. After
//! every choice the values that have become known are computed, the conditions of the paths are
//! compared with them, and the model is asked about the graph so far. That is sound because in
//! every model here a further choice only adds pairs to the relations whose cycles are forbidden: a
//! cycle that is there stays.
//!
//! A read whose address is not known waits until it is. If only such reads are left, or if values
//! depend on themselves, then the reads take their values from each other in a cycle of
//! dependencies. Every model here forbids those cycles (as program order and reads-from, or as
//! dependencies and reads-from), so no value can come out of thin air.

use std::cell::Cell;

use super::cells::{Cells, Target};
use super::relation::{Relation, Set, members};
use super::skeleton::Skeleton;
use crate::litmus::model::{Axioms, Model};
use crate::litmus::program::memory::Range;
use crate::litmus::program::path::Symbol;

/// The choices so far, and their consequences.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    /// The write that each read reads from.
    pub(crate) sources: Vec<Option<usize>>,
    /// The values of the events as far as they are known.
    pub(crate) values: Vec<Option<i64>>,
    /// The cells of the events as far as they are known.
    pub(crate) places: Vec<Option<usize>>,
    /// From a write to the reads that read from it.
    pub(crate) reads_from: Relation,
    /// From a write to the later writes of the same location.
    pub(crate) coherence: Relation,
    /// From a read to the writes that come after the one that it reads from.
    pub(crate) from_reads: Relation,
    /// The pairs of accesses to one location.
    pub(crate) same_location: Relation,
    /// The pairs of accesses to different locations.
    pub(crate) other_location: Relation,
    /// Whether all locations are known.
    pub(crate) settled: bool,
    /// The last write of each cell.
    pub(crate) last: Vec<usize>,
}

impl Graph {
    /// The value of an expression over the reads of the execution.
    pub(crate) fn evaluate(&self, symbol: &Symbol) -> Option<i64> {
        symbol.evaluate(&|read: &usize| self.values[*read])
    }

    /// Reads-from, coherence and from-reads together.
    pub(crate) fn communication(&self) -> Relation {
        self.reads_from.or(&self.coherence).or(&self.from_reads)
    }
}

/// A search through the executions of one skeleton.
pub(crate) struct Search<'a> {
    skeleton: &'a Skeleton,
    cells: &'a Cells<'a>,
    model: Model,
    /// The model's relations that depend on locations, where all are known from the start.
    prepared: Option<Box<dyn Axioms>>,
    pairs: Relation,
    /// The range of an access that is not one cell.
    several: Cell<Option<Range>>,
    found: &'a mut dyn FnMut(&Graph),
}

impl<'a> Search<'a> {
    /// Calls `found` with each execution of `skeleton` that `model` allows.
    ///
    /// # Errors
    ///
    /// If an access goes to bytes that are not one cell. Then the executions found so far do not
    /// count.
    pub(crate) fn run(
        skeleton: &'a Skeleton,
        cells: &'a Cells<'a>,
        model: Model,
        found: &'a mut dyn FnMut(&Graph),
    ) -> Result<(), Range> {
        let count = skeleton.count();
        let mut graph = Graph {
            sources: vec![None; count],
            values: vec![None; count],
            places: vec![None; count],
            reads_from: Relation::empty(count),
            coherence: Relation::empty(count),
            from_reads: Relation::empty(count),
            same_location: Relation::empty(count),
            other_location: Relation::empty(count),
            settled: false,
            last: (0..skeleton.cells).collect(),
        };
        let (pairs, several) = (skeleton.pairs(), Cell::new(None));
        let mut search = Search { skeleton, cells, model, prepared: None, pairs, several, found };
        if search.resolve(&mut graph) {
            if graph.settled {
                search.prepared = Some(model.axioms(skeleton, &graph));
            }
            search.read(&graph);
        }
        search.several.get().map_or(Ok(()), Err)
    }

    /// Gives the next read its write, in each possible way.
    fn read(&mut self, graph: &Graph) {
        let open = members(self.skeleton.reads).filter(|&read| graph.sources[read].is_none());
        let mut open = open.peekable();
        if open.peek().is_none() {
            return self.begin_order(graph);
        }
        let Some(read) = open.find(|&read| graph.places[read].is_some()) else { return };
        for write in members(self.skeleton.writes) {
            if self.may_read(graph, read, write) {
                let mut next = graph.clone();
                next.sources[read] = Some(write);
                next.reads_from.insert(write, read);
                if self.resolve(&mut next) && self.allows(&next) {
                    self.read(&next);
                }
                if self.several.get().is_some() {
                    return;
                }
            }
        }
    }

    /// Returns `false` if it is clear from `write` alone that `read` cannot read from it: it is
    /// elsewhere, or both are parts of updates and another update has read from it already. (The
    /// second of the two would come between the first and its own read, which no model allows.)
    fn may_read(&self, graph: &Graph, read: usize, write: usize) -> bool {
        let here = graph.places[write].is_none_or(|place| graph.places[read] == Some(place));
        let updates = |read: usize| self.pairs.successors(read) != 0;
        here && !(updates(read) && members(graph.reads_from.successors(write)).any(updates))
    }

    /// Computes the values that have become known. Returns `false` if one contradicts a choice or
    /// the paths.
    fn resolve(&self, graph: &mut Graph) -> bool {
        loop {
            let mut news = false;
            for event in members(self.skeleton.accesses()) {
                if graph.places[event].is_none() {
                    graph.places[event] = self.place(graph, event);
                    news |= graph.places[event].is_some();
                }
                if graph.values[event].is_none() {
                    graph.values[event] = match (graph.sources[event], self.skeleton.reads >> event & 1) {
                        (Some(write), _) => graph.values[write],
                        (None, 1) => None,
                        (None, _) => self.written(graph, event),
                    };
                    news |= graph.values[event].is_some();
                }
            }
            if !news {
                break;
            }
        }
        if !graph.settled {
            self.relate_places(graph);
        }
        let moved = |(read, write): (usize, &Option<usize>)| {
            write.is_some_and(|write| {
                graph.places[write].is_some_and(|place| graph.places[read] != Some(place))
            })
        };
        let contradicts = |(symbol, truth): &(Symbol, bool)| {
            graph.evaluate(symbol).is_some_and(|value| (value != 0) != *truth)
        };
        !graph.sources.iter().enumerate().any(moved) && !self.skeleton.conditions.iter().any(contradicts)
    }

    /// The value in memory after a write, converted to the type of its location.
    fn written(&self, graph: &Graph, write: usize) -> Option<i64> {
        let cell = graph.places[write]?;
        let value = graph.evaluate(&self.skeleton.events[write].value)?;
        Some(if cell < self.cells.cells.len() { self.cells.wrap(cell, value) } else { value })
    }

    fn place(&self, graph: &Graph, event: usize) -> Option<usize> {
        if event < self.skeleton.cells {
            return Some(event);
        }
        let address = graph.evaluate(&self.skeleton.events[event].address)?;
        Some(match self.cells.target(address, &self.skeleton.events[event]) {
            Target::Cell(cell) => cell,
            Target::Nowhere => self.cells.cells.len(),
            Target::Several(range) => {
                self.several.set(Some(range));
                self.cells.cells.len()
            }
        })
    }

    fn relate_places(&self, graph: &mut Graph) {
        let both = |from: usize, to: usize| graph.places[from].zip(graph.places[to]);
        let count = self.skeleton.count();
        graph.same_location = Relation::of(count, |from, to| both(from, to).is_some_and(|(a, b)| a == b));
        graph.other_location = Relation::of(count, |from, to| both(from, to).is_some_and(|(a, b)| a != b));
        graph.settled = members(self.skeleton.accesses()).all(|event| graph.places[event].is_some());
    }

    fn allows(&self, graph: &Graph) -> bool {
        match &self.prepared {
            Some(axioms) => axioms.allow(self.skeleton, graph),
            None => self.model.axioms(self.skeleton, graph).allow(self.skeleton, graph),
        }
    }

    /// All reads have a source: puts the writes into order, if all is known that has to be.
    fn begin_order(&mut self, graph: &Graph) {
        if members(self.skeleton.accesses()).any(|event| graph.values[event].is_none()) || !graph.settled {
            return;
        }
        let mut graph = graph.clone();
        for location in 0..self.skeleton.cells {
            let others = self.writes_of(&graph, location) & !self.skeleton.initial;
            graph.coherence.insert_all(location, others);
        }
        if self.advance(&mut graph) {
            self.order(&graph, 0);
        }
    }

    fn writes_of(&self, graph: &Graph, location: usize) -> Set {
        graph.same_location.successors(location) & self.skeleton.writes
    }

    /// Computes from-reads anew and asks the model.
    fn advance(&self, graph: &mut Graph) -> bool {
        graph.from_reads = graph.reads_from.inverse().then(&graph.coherence);
        self.allows(graph)
    }

    /// Chooses the next write of `location`, or goes to the next location.
    fn order(&mut self, graph: &Graph, location: usize) {
        if location == self.skeleton.cells {
            return (self.found)(graph);
        }
        let open = graph.coherence.successors(graph.last[location]);
        if open == 0 {
            return self.order(graph, location + 1);
        }
        for write in members(open) {
            let mut next = graph.clone();
            next.last[location] = write;
            next.coherence.insert_all(write, open & !(1 << write));
            // With one write there was no choice.
            if open & (open - 1) == 0 || self.advance(&mut next) {
                self.order(&next, location);
            }
        }
    }
}

impl std::fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search").field("model", &self.model).finish_non_exhaustive()
    }
}
