//! The part of an execution that does not depend on the memory model: one path of each thread.
//!
//! Events are numbered across the threads. First comes a write of the initial value of each
//! location, then each thread's events in the order of its program. If some address depends on a
//! read there is one more location, *nowhere*: a guess may make an address that belongs to nothing,
//! and only when the model has allowed the whole execution is that the test's error.

use super::relation::{Relation, Set, members};
use crate::litmus::error::Place;
use crate::litmus::program::expression::Expression;
use crate::litmus::program::path::{Event, Kind, Path, Symbol, Taint};
use crate::litmus::program::{Fence, Memory, Order};

/// The events of one path of each thread.
#[derive(Debug)]
pub(crate) struct Skeleton {
    pub(crate) events: Vec<Event>,
    /// The thread of each event; the initial writes have none.
    pub(crate) threads: Vec<Option<usize>>,
    /// The number of the first event of each thread.
    pub(crate) offsets: Vec<usize>,
    /// How many initial writes, and so how many locations, there are.
    pub(crate) locations: usize,
    /// What each thread's path needs.
    pub(crate) conditions: Vec<(Symbol, bool)>,
    /// The order of each thread's program. The initial writes are not in it.
    pub(crate) program: Relation,
    pub(crate) reads: Set,
    pub(crate) writes: Set,
    pub(crate) initial: Set,
}

impl Skeleton {
    /// The skeleton of these paths.
    pub(crate) fn new(memory: &Memory, paths: &[&Path]) -> Skeleton {
        let constant = |event: &Event| event.address.is_constant();
        let nowhere = !paths.iter().all(|path| path.events.iter().all(constant));
        let initial = memory.locations.iter().map(|location| location.initial).chain(nowhere.then_some(0));
        let mut events: Vec<Event> = initial
            .enumerate()
            .map(|(location, value)| first_write(Memory::address(location), value))
            .collect();
        let locations = events.len();
        let mut threads = vec![None; locations];
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
        Skeleton {
            program: Relation::of(events.len(), |from, to| {
                from < to && threads[from].is_some() && threads[from] == threads[to]
            }),
            reads: of_kind(Kind::Read),
            writes: of_kind(Kind::Write),
            initial: (1 << locations) - 1,
            events,
            threads,
            offsets,
            locations,
            conditions,
        }
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
        self.dependency(|event| event.pair.map_or(0, |pair| 1 << pair.read))
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

fn first_write(address: i64, value: i64) -> Event {
    Event {
        kind: Kind::Write,
        order: Order::Plain,
        address: Expression::Constant(address),
        value: Expression::Constant(value),
        address_taint: Taint::default(),
        value_taint: Taint::default(),
        control: Taint::default(),
        pair: None,
        locked: false,
        unused: false,
        place: Place::default(),
    }
}
