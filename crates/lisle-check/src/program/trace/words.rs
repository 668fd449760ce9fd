//! The recorded steps, and the words for them once the execution is over and the names are known.

use super::names::{Fragment, Text};
use super::places::Places;
use super::{Object, SourceLine, State, Step, Wait};
use indexmap::IndexSet;
use lisle_core::internal::shim::model::Touch;
use std::time::Duration;

/// The words between operations of which one happens.
pub(super) const OR: Fragment = Fragment::Words(", or ");

/// The state of a fiber or task, with the number of its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doings {
    New,
    Ready(Option<usize>),
    Waits(Option<usize>),
    Ended,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Operation {
    pub(super) text: Text,
    /// The address of the object, if the text does not begin with a verb.
    pub(super) nameless: Option<usize>,
    pub(super) stack: usize,
}

/// A step, as long as names are not known.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) number: usize,
    pub(super) who: usize,
    pub(super) what: What,
    pub(super) touched: Option<Touch>,
    pub(super) notes: Vec<Note>,
    pub(super) doings: Vec<(usize, Doings)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    Begins,
    Does(usize),
    GoesOn(Option<usize>),
    /// The nanoseconds since the beginning.
    Time(u64),
}

#[derive(Debug)]
pub(super) enum Note {
    Way(usize, usize),
    Then(usize),
    Spawns(usize),
    Wakes(usize),
    Ends(usize),
    Panics(String, Option<SourceLine>),
    Waits,
    WaitsTo(usize),
}

/// Returns a text that says that a fiber or task waits for this operation.
fn waits(operation: &str) -> String {
    match operation.strip_prefix("wait ") {
        Some(rest) => format!("waits {rest}"),
        None if operation.is_empty() => "waits".into(),
        None => format!("waits: {operation}"),
    }
}

/// The names, once they are known.
pub(super) struct Words<'a> {
    pub(super) who: Vec<String>,
    pub(super) objects: Vec<Object>,
    pub(super) operations: &'a IndexSet<Operation>,
}

impl Words<'_> {
    fn operation(&self, operation: usize) -> String {
        let parts = self.operations[operation].text.iter().map(|part| match part {
            Fragment::Words(words) => *words,
            Fragment::Object(object) => &self.objects[*object].name,
            Fragment::Who(who) => &self.who[*who],
        });
        parts.collect()
    }

    fn state(&self, doings: Doings) -> State {
        let operation =
            |operation: Option<usize>| operation.map(|known| self.operation(known)).unwrap_or_default();
        match doings {
            Doings::New => State::Ready(String::new()),
            Doings::Ready(next) => State::Ready(operation(next)),
            Doings::Waits(current) => State::Waits(waits(&operation(current))),
            Doings::Ended => State::Ended,
        }
    }

    pub(super) fn step(&self, row: &Row, places: &mut Places, stacks: &IndexSet<Vec<usize>>) -> Step {
        let what = match row.what {
            What::Begins => "begins".into(),
            What::GoesOn(None) => "runs on".into(),
            What::GoesOn(Some(operation)) => format!("goes on: {}", self.operation(operation)),
            What::Time(due) => format!("{:?} after the beginning", Duration::from_nanos(due)),
            What::Does(operation) => {
                let verb = match row.touched.filter(|_| self.operations[operation].nameless.is_some()) {
                    Some(Touch::Read) => "load ",
                    Some(Touch::Store) => "store ",
                    Some(_) => "change ",
                    None => "",
                };
                format!("{verb}{}", self.operation(operation))
            }
        };
        let place = match row.what {
            What::Does(operation) | What::GoesOn(Some(operation)) => {
                places.of(&stacks[self.operations[operation].stack])
            }
            _ => None,
        };
        Step {
            number: row.number,
            who: row.who,
            what,
            place,
            notes: self.notes(row),
            states: row.doings.iter().map(|&(who, doings)| (who, self.state(doings))).collect(),
            is_idle: matches!(row.what, What::Time(_)) && row.notes.is_empty(),
            is_marked: false,
        }
    }

    pub(super) fn wait(&self, who: usize, what: Vec<String>, held_by: Vec<usize>) -> Wait {
        let mut told = waits(&what.join(", or ")).replacen("waits", "waits for ever", 1);
        // The holder of a join is the joined fiber, which the text names already.
        let holders = held_by.iter().map(|who| self.who[*who].as_str());
        let holders: Vec<_> = holders.filter(|who| !what.iter().any(|what| what.ends_with(who))).collect();
        if !holders.is_empty() {
            told += &format!(", held by {}", holders.join(" and "));
        }
        Wait { who, what, told, held_by }
    }

    /// Returns `true` if a step does one of several operations.
    fn is_choice(&self, what: What) -> bool {
        let (What::Does(operation) | What::GoesOn(Some(operation))) = what else { return false };
        self.operations[operation].text.contains(&OR)
    }

    fn notes(&self, row: &Row) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for (place, note) in row.notes.iter().enumerate() {
            let before = place.checked_sub(1).map(|before| &row.notes[before]);
            match (before, note, notes.last_mut()) {
                // Fibers that are spawned or woken together share a line.
                (Some(Note::Spawns(_)), Note::Spawns(who), Some(last))
                | (Some(Note::Wakes(_)), Note::Wakes(who), Some(last)) => {
                    *last += &format!(", {}", self.who[*who]);
                }
                _ => notes.push(self.note(row, note)),
            }
        }
        notes
    }

    fn note(&self, row: &Row, note: &Note) -> String {
        match note {
            Note::Way(way, ways) => {
                let what = if self.is_choice(row.what) { "arm" } else { "way" };
                format!("choice: {what} {} of {ways}", way + 1)
            }
            Note::Then(operation) => format!("then {}", self.operation(*operation)),
            Note::Spawns(spawned) => format!("spawns {}", self.who[*spawned]),
            Note::Wakes(woken) => format!("wakes {}", self.who[*woken]),
            Note::Ends(ended) if *ended == row.who => "ends".into(),
            Note::Ends(ended) => format!("{} ends", self.who[*ended]),
            Note::Panics(message, None) => format!("panics: {message}"),
            Note::Panics(message, Some(place)) => format!("panics at {place}: {message}"),
            Note::Waits => "waits".into(),
            Note::WaitsTo(operation) => format!("then {}", waits(&self.operation(*operation))),
        }
    }
}
