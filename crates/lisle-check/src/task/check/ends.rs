//! The different ways in which a program ends.
//!
//! Many schedules have the same end. So an end is first compared by its *mark*, the words of its
//! state that make the result, and becomes an [`Outcome`] only if the mark is new. *Invariant:* no
//! two of the outcomes are equal, and each is kept with the first way to it.

use super::locals::Action;
use super::machine::{Machine, Stop};
use super::slots::{ANSWER, CellKind, OUTPUT};
use super::state::State;
use crate::task::outcome::{End, Fault, Outcome, Waiting, Wants};
use rustc_hash::FxHashSet;

/// How a program ended.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum How {
    /// A task ended it.
    Stopped(Stop),
    /// No task can go on. These local states are left.
    Idle(Vec<u32>),
}

/// A way to an end: the number of a state, and the number of a turn after it, if there was one.
pub(super) type EndPath = (u32, Option<u32>);

/// The ends that were met.
pub(super) struct Ends {
    found: Vec<(Outcome, EndPath)>,
    marks: FxHashSet<(How, Vec<(u32, u32)>)>,
    compares_memory: bool,
}

impl Ends {
    pub(super) fn new(compares_memory: bool) -> Self {
        Ends { found: Vec::new(), marks: FxHashSet::default(), compares_memory }
    }

    /// Returns the outcomes, in the order in which they were met.
    pub(super) fn take(&mut self) -> Vec<(Outcome, EndPath)> {
        std::mem::take(&mut self.found)
    }

    /// Notes an end if it is a new one.
    pub(super) fn note(&mut self, machine: &Machine, state: &State, how: How, way: EndPath) {
        // Two ends may look the same and differ only in replies that a task has forgotten.
        let may_repeat = match &how {
            How::Stopped(Stop::Exit(_)) => false,
            How::Stopped(Stop::Fault { .. }) => true,
            How::Idle(left) => !left.is_empty(),
        };
        let mark = (how, self.compared(machine, state));
        if self.marks.contains(&mark) {
            return;
        }
        let outcome = self.outcome(machine, state, &mark.0);
        self.marks.insert(mark);
        if !may_repeat || self.found.iter().all(|(known, _)| *known != outcome) {
            self.found.push((outcome, way));
        }
    }

    /// Returns the words of a state that make its outcome.
    fn compared(&self, machine: &Machine, state: &State) -> Vec<(u32, u32)> {
        let slots = &machine.locals.slots;
        let memory = slots.memory().filter(|_| self.compares_memory).map(|(slot, _)| slot);
        let files = slots.files().map(|(slot, _)| slot);
        let compared = [OUTPUT, ANSWER].into_iter().chain(files).chain(memory);
        compared.map(|slot| (slot, state.get(slot))).filter(|&(_, word)| word != 0).collect()
    }

    fn outcome(&self, machine: &Machine, state: &State, how: &How) -> Outcome {
        let locals = &machine.locals;
        let value = |slot: u32| state.number(slot).map(|value| locals.value(value).clone());
        let text = |slot: u32| value(slot).map(|text| text.take::<String>());
        let memory = locals.slots.memory().filter(|_| self.compares_memory);
        let files = locals.slots.files();
        Outcome {
            end: end(machine, state, how),
            answer: value(ANSWER),
            output: text(OUTPUT).unwrap_or_default(),
            files: files.filter_map(|(slot, name)| Some((name.to_string(), text(slot)?))).collect(),
            memory: memory.filter_map(|(slot, name)| Some((name.clone(), value(slot)?))).collect(),
        }
    }
}

fn end(machine: &Machine, state: &State, how: &How) -> End {
    match how {
        How::Stopped(Stop::Exit(code)) => End::Exit(*code),
        How::Stopped(Stop::Fault { local, what }) => {
            let task = machine.locals.name(*local).clone();
            End::Fault(Fault { task, what: what.to_string(), at: machine.locals.get(*local).site })
        }
        How::Idle(left) if left.is_empty() => End::Finished,
        How::Idle(left) => {
            let mut waiting: Vec<Waiting> = left.iter().map(|&local| waits(machine, state, local)).collect();
            waiting.sort_by(|one, other| one.task.path.cmp(&other.task.path));
            End::Deadlock(waiting)
        }
    }
}

fn waits(machine: &Machine, state: &State, local: u32) -> Waiting {
    let locals = &machine.locals;
    let (wants, cell, kind) = match locals.get(local).action {
        Action::Await(cell) => (Wants::Value, cell, CellKind::IVar),
        Action::Lock(cell) => (Wants::Lock, cell, CellKind::Mutex),
        _ => unreachable!("nothing else blocks a task"),
    };
    let holder = (wants == Wants::Lock).then(|| state.number(cell)).flatten();
    Waiting {
        task: locals.name(local).clone(),
        wants,
        cell: locals.slots.cell(cell, kind).expect("the cell has a name").clone(),
        at: locals.get(local).site.expect("a request was written somewhere"),
        holder: holder.map(|holder| locals.slots.task(holder).name.clone()),
    }
}
