//! The part of an execution that does not depend on the memory model: one path of each thread.
//!
//! Events are numbered across the threads. First comes a write of the initial value of each cell,
//! then each thread's events in the order of its program. If some address depends on a read, or
//! belongs to no cell, there is one more cell, *nowhere*. An access to it is an error of the test,
//! but only if the model allows the whole execution.

use super::cells::{Cells, Target};
use super::relation::{EVENTS, Relation, Set, members};
use crate::litmus::error::SourcePosition;
use crate::litmus::program::expression::Expression;
use crate::litmus::program::path::{Event, Kind, Path, Symbol, Taint};
use crate::litmus::program::{Fence, Order};

/// The events of one path of each thread.
#[derive(Debug)]
pub(crate) struct Skeleton {
    pub(crate) events: Vec<Event>,
    /// The thread of each event; the initial writes have none.
    pub(crate) threads: Vec<Option<usize>>,
    /// The number of the first event of each thread.
    pub(crate) offsets: Vec<usize>,
    /// How many initial writes, and so how many cells, there are.
    pub(crate) cells: usize,
    /// The conditions of each thread's path.
    pub(crate) conditions: Vec<(Symbol, bool)>,
    /// The order of each thread's program. The initial writes are not in it.
    pub(crate) program: Relation,
    pub(crate) reads: Set,
    pub(crate) writes: Set,
    pub(crate) initial: Set,
    /// The pairs of the parts of one access, and each event with itself.
    pub(crate) together: Relation,
    /// Whether some access has several parts.
    pub(crate) divided: bool,
}

impl Skeleton {
    /// The skeleton of these paths. `None` if it has too many events.
    pub(crate) fn new(cells: &Cells<'_>, paths: &[&Path]) -> Option<Skeleton> {
        let settled = |event: &Event| match event.address {
            _ if matches!(event.kind, Kind::Fence(_)) => true,
            Expression::Constant(address) => matches!(cells.target(address, event), Target::Cell(_)),
            _ => false,
        };
        let nowhere = !paths.iter().all(|path| path.events.iter().all(settled));
        let initial = (0..cells.cells.len()).map(|cell| cells.first_value(cell)).chain(nowhere.then_some(0));
        let mut events: Vec<Event> = initial.map(first_write).collect();
        let first_writes = events.len();
        if first_writes + paths.iter().map(|path| path.events.len()).sum::<usize>() > EVENTS {
            return None;
        }
        let mut threads = vec![None; first_writes];
        let mut offsets = Vec::with_capacity(paths.len());
        let mut conditions = Vec::new();
        for (thread, path) in paths.iter().enumerate() {
            let offset = events.len();
            offsets.push(offset);
            events.extend(path.events.iter().map(|event| event.moved(offset)));
            threads.resize(events.len(), Some(thread));
            let moved = |symbol: &Symbol| symbol.replace(&mut |read| Expression::Leaf(read + offset));
            conditions.extend(path.conditions.iter().map(|(symbol, truth)| (moved(symbol), *truth)));
        }
        let of_kind = |kind: Kind| all(&events, |event| event.kind == kind);
        let same_thread = |from: usize, to: usize| threads[from].is_some() && threads[from] == threads[to];
        let same_access = |from: usize, to: usize| events[from].access == events[to].access;
        Some(Skeleton {
            program: Relation::of(events.len(), |from, to| {
                from < to && same_thread(from, to) && !same_access(from, to)
            }),
            together: Relation::of(events.len(), |from, to| same_thread(from, to) && same_access(from, to))
                .reflexive(),
            divided: events.iter().any(|event| event.size != event.whole),
            reads: of_kind(Kind::Read),
            writes: of_kind(Kind::Write),
            initial: (1 << first_writes) - 1,
            events,
            threads,
            offsets,
            cells: first_writes,
            conditions,
        })
    }

    /// How many events there are.
    pub(crate) fn count(&self) -> usize {
        self.events.len()
    }

    /// The events that satisfy `holds`.
    pub(crate) fn select(&self, holds: impl Fn(&Event) -> bool) -> Set {
        all(&self.events, holds)
    }

    /// The fences of one kind.
    pub(crate) fn fences(&self, fence: Fence) -> Set {
        self.select(|event| event.kind == Kind::Fence(fence))
    }

    /// The reads and the writes.
    pub(crate) fn accesses(&self) -> Set {
        self.reads | self.writes
    }

    /// The relation from the reads that `dependencies` names to the event.
    pub(crate) fn dependency(&self, dependencies: impl Fn(&Event) -> Set) -> Relation {
        let mut result = Relation::empty(self.count());
        for (to, event) in self.events.iter().enumerate() {
            members(dependencies(event)).for_each(|from| result.insert(from, to));
        }
        result
    }

    /// The relation from the read to the write of one step.
    pub(crate) fn pairs(&self) -> Relation {
        self.dependency(|event| event.pair.map_or(0, |pair| pair.reads))
    }

    /// The pairs of `relation` whose ends are of different threads. An initial write is of no
    /// thread, and different from all.
    pub(crate) fn external(&self, relation: &Relation) -> Relation {
        relation.minus(&self.program).minus(&self.program.inverse())
    }
}

fn all(events: &[Event], holds: impl Fn(&Event) -> bool) -> Set {
    events.iter().enumerate().filter(|(_, event)| holds(event)).fold(0, |set, (number, _)| set | 1 << number)
}

fn first_write(value: i64) -> Event {
    Event {
        kind: Kind::Write,
        order: Order::Plain,
        // Its place is its number.
        address: Expression::Constant(0),
        size: 0,
        access: 0,
        part: 0,
        whole: 0,
        value: Expression::Constant(value),
        address_taint: Taint::default(),
        value_taint: Taint::default(),
        control: Taint::default(),
        pair: None,
        locked: false,
        unused: false,
        position: SourcePosition::default(),
    }
}
