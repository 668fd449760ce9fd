//! The exploration: all states that a program can be in, level by level.
//!
//! The level of a state is how many requests were performed before it. Every turn performs at least
//! one, so levels only grow, and of an explored level only the ways to its states are kept: the
//! sweep-line method of Christensen, Kristensen and Mailund (2001). States of one level that are
//! equal are one state.
//!
//! *Invariant:* everything is kept in the order in which it was found, so the same program gives
//! the same verdict with the same counts; and a shortest schedule is the first to reach a state.

use super::ends::{Ends, How};
use super::machine::{Actor, Machine};
use super::schedule::{Schedule, Step, describe};
use super::state::State;
use super::turns::{of_every_set, rule_for};
use super::{Checker, Turns};
use crate::task::conflict::{Kind, Rule, why};
use crate::task::program::{Site, Task};
use crate::task::{Asked, Conflict, Coverage, Possible, Verdict};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashSet};
use std::collections::BTreeMap;

type Level = IndexMap<State, u32, FxBuildHasher>;

/// How a state was first reached.
#[derive(Clone, Copy)]
struct Origin {
    parent: u32,
    turn: u32,
}

/// The parent of the first state, which has none.
const NOWHERE: u32 = u32::MAX;

/// The key of a conflict for a reader: the tasks, their requests and the places.
type Meeting = [(u32, Kind, Option<Site>); 2];

/// The exploration of one program.
pub(super) struct Explorer<'a> {
    checker: &'a Checker,
    machine: Machine,
    origins: Vec<Origin>,
    /// The turns that were taken, as the slots of their actors.
    orders: IndexSet<Vec<u32>, FxBuildHasher>,
    levels: BTreeMap<usize, Level>,
    ends: Ends,
    conflicts: Vec<(Conflict, u32)>,
    met: FxHashSet<(u32, u32)>,
    meetings: FxHashSet<Meeting>,
    turns: usize,
}

impl<'a> Explorer<'a> {
    pub(super) fn new(checker: &'a Checker, task: &Task) -> Self {
        let lines = checker.world.lines();
        Explorer {
            checker,
            machine: Machine::new(task, checker.memory, checker.clock, lines),
            origins: Vec::new(),
            orders: IndexSet::default(),
            levels: BTreeMap::new(),
            ends: Ends::new(checker.compares_memory),
            conflicts: Vec::new(),
            met: FxHashSet::default(),
            meetings: FxHashSet::default(),
            turns: 0,
        }
    }

    pub(super) fn explore(mut self) -> Verdict {
        let (first, stop) = self.machine.begin(&self.checker.world);
        self.origins.push(Origin { parent: NOWHERE, turn: 0 });
        match stop {
            Some(stop) => self.ends.note(&self.machine, &first, How::Stopped(stop), (0, None)),
            None => drop(self.levels.entry(0).or_default().insert(first, 0)),
        }
        while let Some((depth, level)) = self.levels.pop_first() {
            for (state, number) in level {
                if !self.expand(&state, number, depth) {
                    return self.verdict(Coverage::Bounded);
                }
            }
        }
        self.verdict(Coverage::Exhaustive)
    }

    /// Takes all turns that are possible in a state. Returns `false` if there are too many states.
    fn expand(&mut self, state: &State, number: u32, depth: usize) -> bool {
        let mut actors = Vec::new();
        self.machine.actors(state, &mut actors);
        if actors.is_empty() {
            let left = self.machine.left(state);
            self.ends.note(&self.machine, state, How::Idle(left), (number, None));
            return true;
        }
        let conflicting = self.conflicts_among(state, &actors, number);
        match self.checker.turns {
            Turns::One => (0..actors.len()).all(|one| self.take(state, number, depth, &actors, &[one])),
            Turns::EverySet => of_every_set(state, &actors, &conflicting)
                .iter()
                .all(|order| self.take(state, number, depth, &actors, order)),
        }
    }

    /// Returns the pairs of actors that conflict, and notes new ones.
    fn conflicts_among(&mut self, state: &State, actors: &[Actor], number: u32) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (index, &one) in actors.iter().enumerate() {
            for (other_index, &other) in actors.iter().enumerate().skip(index + 1) {
                let conflict = match rule_for(one, other) {
                    Rule::Together | Rule::SeesBefore | Rule::Winner => false,
                    Rule::Conflict => true,
                    Rule::UnlessEqual => {
                        let left = self.machine.leaves(state, one).zip(self.machine.leaves(state, other));
                        left.is_some_and(|(one, other)| one != other)
                    }
                };
                if conflict {
                    pairs.push((index, other_index));
                    self.note_conflict(one, other, number);
                }
            }
        }
        pairs
    }

    fn note_conflict(&mut self, one: Actor, other: Actor, number: u32) {
        if !self.met.insert((one.local, other.local)) {
            return;
        }
        let locals = &self.machine.locals;
        let party = |actor: Actor| (locals.get(actor.local).task, actor.kind, locals.get(actor.local).site);
        if !self.meetings.insert([party(one), party(other)]) {
            return;
        }
        let asked = |actor: Actor| Asked {
            task: locals.name(actor.local).clone(),
            what: describe(locals, actor, None),
            at: locals.get(actor.local).site,
        };
        let why = why(one.kind, other.kind);
        let conflict =
            Conflict { first: asked(one), second: asked(other), why, schedule: Schedule::default() };
        self.conflicts.push((conflict, number));
    }

    /// Performs a turn. Returns `false` if there are too many states.
    fn take(&mut self, state: &State, number: u32, depth: usize, actors: &[Actor], order: &[usize]) -> bool {
        self.turns += 1;
        let mut next = state.clone();
        let mut performed = Vec::with_capacity(order.len());
        for &index in order {
            let actor = actors[index];
            if actor.kind == Kind::Lock && next.get(actor.object) != 0 {
                continue; // It has lost the race, and waits.
            }
            performed.push(actor.slot);
            if let Err(stop) = self.machine.perform(&mut next, actor) {
                let turn = self.turn(performed);
                self.ends.note(&self.machine, &next, How::Stopped(stop), (number, Some(turn)));
                return true;
            }
        }
        let depth = depth + performed.len();
        let level = self.levels.entry(depth).or_default();
        if let indexmap::map::Entry::Vacant(place) = level.entry(next) {
            if self.origins.len() >= self.checker.states {
                return false;
            }
            place.insert(u32::try_from(self.origins.len()).expect("fewer than 2^32 states"));
            let turn = self.turn(performed);
            self.origins.push(Origin { parent: number, turn });
        }
        true
    }

    fn turn(&mut self, slots: Vec<u32>) -> u32 {
        u32::try_from(self.orders.insert_full(slots).0).expect("fewer than 2^32 turns")
    }

    /// Returns the schedule that leads to a state, and through one more turn if there is one.
    fn schedule(&mut self, state: u32, last: Option<u32>) -> Schedule {
        let mut orders: Vec<u32> = last.into_iter().collect();
        let mut at = self.origins[state as usize];
        while at.parent != NOWHERE {
            orders.push(at.turn);
            at = self.origins[at.parent as usize];
        }
        let (mut state, _) = self.machine.begin(&self.checker.world);
        let mut turns = Vec::with_capacity(orders.len());
        let mut actors = Vec::new();
        for order in orders.into_iter().rev() {
            actors.clear();
            self.machine.actors(&state, &mut actors);
            let slots = self.orders[order as usize].clone();
            turns.push(slots.iter().map(|slot| self.step(&mut state, &actors, *slot)).collect());
        }
        Schedule { turns }
    }

    fn step(&mut self, state: &mut State, actors: &[Actor], slot: u32) -> Step {
        let actor = *actors.iter().find(|actor| actor.slot == slot).expect("the turn was possible");
        let reply = self.machine.perform(state, actor).ok();
        let locals = &self.machine.locals;
        let did = describe(locals, actor, reply);
        Step { task: locals.name(actor.local).clone(), did, at: locals.get(actor.local).site }
    }

    fn verdict(mut self, coverage: Coverage) -> Verdict {
        let found = self.ends.take();
        let mut outcomes: Vec<Possible> = found
            .into_iter()
            .map(|(outcome, (state, last))| Possible { outcome, schedule: self.schedule(state, last) })
            .collect();
        outcomes.sort_by_key(|possible| possible.schedule.len());
        let noted = std::mem::take(&mut self.conflicts);
        let conflicts = noted
            .into_iter()
            .map(|(conflict, state)| Conflict { schedule: self.schedule(state, None), ..conflict })
            .collect();
        Verdict { outcomes, conflicts, coverage, states: self.origins.len(), turns: self.turns }
    }
}
