//! The demand of RC11 beyond coherence: an order of the sequentially consistent accesses.
//!
//! Source: Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing Sequential Consistency in C/C++11"
//! (PLDI 2017). The ways that an access is offered keep the axioms of coherence and of the
//! atomicity of updates. Program order and reads-from have no cycle, since the program runs in an
//! order that extends both. The last axiom is that the relation *psc* has no cycle. The litmus
//! tests have the same axioms as equations on whole relations; here a relation is a question about
//! two events, which their clocks answer.

use super::clock::Clock;
use super::graph::{Event, Graph, Id};

/// Returns `true` if *psc* has no cycle in the graph, or in that part of it that `within` has.
///
/// Takes time in proportion to the square of the number of sequentially consistent events; with
/// fences among them, times the square of the number of all events in the worst case.
pub(super) fn is_consistent(graph: &Graph, within: Option<&Clock>) -> bool {
    let part = Prefix::new(graph, within);
    let mut colours = vec![Colour::New; part.strong.len()];
    (0..part.strong.len()).all(|from| part.has_no_cycle_from(from, &mut colours))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Colour {
    New,
    Open,
    Done,
}

/// A part of a graph that contains all events that happen before its events.
struct Prefix<'a> {
    graph: &'a Graph,
    all: Vec<Id>,
    strong: Vec<Id>,
}

impl<'a> Prefix<'a> {
    fn new(graph: &'a Graph, within: Option<&Clock>) -> Self {
        let is_within = |event: &Event| within.is_none_or(|within| within.has(event.moment));
        let is_of_process = |event: &Event| event.moment.count > 0;
        let events = graph.events.iter().enumerate();
        let events = events.filter(|(_, event)| is_of_process(event) && is_within(event));
        let (mut all, mut strong) = (Vec::new(), Vec::new());
        for (id, event) in events {
            all.push(id as Id);
            if event.orders.is_strong {
                strong.push(id as Id);
            }
        }
        Prefix { graph, all, strong }
    }

    fn has_no_cycle_from(&self, from: usize, colours: &mut [Colour]) -> bool {
        match colours[from] {
            Colour::Done => return true,
            Colour::Open => return false,
            Colour::New => colours[from] = Colour::Open,
        }
        let no_cycle = (0..self.strong.len()).all(|to| {
            !self.is_before(self.strong[from], self.strong[to]) || self.has_no_cycle_from(to, colours)
        });
        colours[from] = Colour::Done;
        no_cycle
    }

    /// The relation *psc*.
    fn is_before(&self, from: Id, to: Id) -> bool {
        let (is_fence, is_to_fence) = (self.graph.event(from).is_fence(), self.graph.event(to).is_fence());
        if is_fence && is_to_fence && self.graph.happens_before(from, to) {
            return true;
        }
        let begins = |begin: &Id| *begin == from || is_fence && self.graph.happens_before(from, *begin);
        let ends = |end: &Id| *end == to || is_to_fence && self.graph.happens_before(*end, to);
        let firsts: &[Id] = if is_fence { &self.all } else { &[from] };
        let lasts: &[Id] = if is_to_fence { &self.all } else { &[to] };
        firsts.iter().filter(|begin| begins(begin)).any(|begin| {
            lasts.iter().filter(|end| ends(end)).any(|end| {
                self.is_base(*begin, *end)
                    || is_fence
                        && is_to_fence
                        && *begin != from
                        && *end != to
                        && self.communicates(*begin, *end)
            })
        })
    }

    /// The relation *scb*: program order; happens-before by way of other locations, or at the same
    /// one; the order of writes; and from a read to the writes after the write that it has read.
    fn is_base(&self, from: Id, to: Id) -> bool {
        let (first, second) = (self.graph.event(from), self.graph.event(to));
        if from == to {
            return false;
        }
        if first.moment.process == second.moment.process {
            return first.moment.count < second.moment.count || self.is_overwritten(from, to);
        }
        self.is_overwritten(from, to)
            || is_same_place(first, second) && self.graph.happens_before(from, to)
            || self.happens_elsewhere(from, to)
    }

    /// Returns `true` if `to` writes after the write that `from` has made or read.
    fn is_overwritten(&self, from: Id, to: Id) -> bool {
        let (first, second) = (self.graph.event(from), self.graph.event(to));
        second.writes() && is_same_place(first, second) && self.graph.rank_seen(from) < self.graph.rank(to)
    }

    /// The relation *eco*.
    fn communicates(&self, from: Id, to: Id) -> bool {
        let (first, second) = (self.graph.event(from), self.graph.event(to));
        if from == to || !is_same_place(first, second) {
            return false;
        }
        let (seen, found) = (self.graph.rank_seen(from), self.graph.rank_seen(to));
        // A read of a write comes after it; two reads of one write have no order.
        seen < found || seen == found && first.writes() && !second.writes()
    }

    /// Returns `true` if program order leads from `from` to another location, happens-before leads
    /// on from there, and program order leads to `to` from another location.
    fn happens_elsewhere(&self, from: Id, to: Id) -> bool {
        let next = |id: Id| self.neighbours(id).1.iter().copied().find(|other| self.is_elsewhere(id, *other));
        let last = |id: Id| {
            let mut before = self.neighbours(id).0.iter().rev().copied();
            before.find(|other| self.is_elsewhere(id, *other))
        };
        next(from).zip(last(to)).is_some_and(|(next, last)| self.graph.happens_before(next, last))
    }

    fn is_elsewhere(&self, one: Id, other: Id) -> bool {
        !is_same_place(self.graph.event(one), self.graph.event(other))
    }

    /// Returns the events of the same process before and after an event.
    fn neighbours(&self, id: Id) -> (&'a [Id], &'a [Id]) {
        let thread = &self.graph.threads[self.graph.event(id).moment.process as usize].events;
        let place = thread.partition_point(|other| *other < id);
        (&thread[..place], &thread[place + 1..])
    }
}

/// Returns `true` if both are accesses of one location.
fn is_same_place(one: &Event, other: &Event) -> bool {
    one.location == other.location && !one.is_fence()
}
