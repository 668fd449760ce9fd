//! The demand of x86-TSO beyond coherence: one order on which all processes agree, except that
//! later loads of a process may overtake a store in the process's queue.
//!
//! Source: Owens, Sarkar and Sewell, "A Better x86 Memory Model: x86-TSO" (TPHOLs 2009), as axioms
//! in the manner of "Herding Cats" (Alglave, Maranget and Tautschnig, TOPLAS 2014). A sequentially
//! consistent store is compiled to XCHG, an update has a LOCK prefix, and a sequentially consistent
//! fence is MFENCE: these wait for the queue to be empty. Other fences do nothing.
//!
//! Only cycles through the newest event are new: the rest of the graph has none.

use super::clock::Clock;
use super::graph::{Does, Event, Graph, Id};

/// Returns `true` if the newest event is on no cycle of the order in the graph, or in that part of
/// it that `within` has. Takes time in proportion to the square of the number of events.
pub(super) fn is_consistent(graph: &Graph, within: Option<&Clock>) -> bool {
    let is_within =
        |event: &Event| event.moment.count > 0 && within.is_none_or(|within| within.has(event.moment));
    let newest = graph.events.len() as Id - 1;
    let mut is_reached = vec![false; graph.events.len()];
    let mut left = vec![newest];
    while let Some(from) = left.pop() {
        for to in 0..graph.events.len() as Id {
            if is_within(graph.event(to)) && !is_reached[to as usize] && is_before(graph, from, to) {
                if to == newest {
                    return false;
                }
                is_reached[to as usize] = true;
                left.push(to);
            }
        }
    }
    true
}

fn is_before(graph: &Graph, from: Id, to: Id) -> bool {
    let (first, second) = (graph.event(from), graph.event(to));
    if from == to {
        return false;
    }
    let is_overwritten = second.writes()
        && first.location == second.location
        && !first.is_fence()
        && graph.rank_seen(from) < graph.rank(to);
    if first.moment.process != second.moment.process {
        // A read from a store of another process reads from the common memory.
        return is_overwritten || graph.happens_before(from, to);
    }
    is_overwritten || first.moment.count < second.moment.count && is_kept(graph, from, to)
}

/// Returns `true` if the others see two events of one process in this order.
fn is_kept(graph: &Graph, from: Id, to: Id) -> bool {
    let (first, second) = (graph.event(from), graph.event(to));
    let is_delayed = first.does == Does::Store && second.does == Does::Load;
    if !is_delayed || empties_queue(first) || empties_queue(second) {
        return is_visible(first) && is_visible(second);
    }
    let thread = &graph.threads[first.moment.process as usize].events;
    thread.iter().any(|between| *between > from && *between < to && empties_queue(graph.event(*between)))
}

fn empties_queue(event: &Event) -> bool {
    event.is_exchange || event.does != Does::Load && event.orders.is_strong
}

/// Returns `true` unless the event is a fence that x86 does not need.
fn is_visible(event: &Event) -> bool {
    !event.is_fence() || empties_queue(event)
}
