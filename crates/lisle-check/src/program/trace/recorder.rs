//! Records a schedule that runs once more.
//!
//! The bridge forwards the domain's reports. A step begins with the operation that its process was
//! about to do when it gave way, and goes up to the next one. At the end of each step the recorder
//! looks which processes can go on, so no process has to report that it waits.
//!
//! An execution may have as many steps as the checker allows. The recorder keeps the first and the
//! last ones.

use super::names::{Fragment, Objects, Text};
use super::places::{Places, is_in_library, stack};
use super::words::{Doings, Note, OR, Operation, Row, What, Words};
use super::{SourceLine, Trace, Wait, Who};
use indexmap::IndexSet;
use lisle_core::event::{Doing, Label};
use lisle_core::internal::shim::model::Touch;
use lisle_runtime::WaitGraph;
use lisle_runtime::internal::model::Nature;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::panic::Location;

/// The number of first steps that are kept, and of last steps.
const FIRST: usize = 500;
const LAST: usize = 2_000;

/// The name of the fiber that stands for the time.
pub(super) const TIME: &str = "time";

type Site = Option<&'static Location<'static>>;

#[derive(Debug, Default)]
pub(in crate::program) struct Recorder {
    people: Vec<Person>,
    numbers: FxHashMap<u32, usize>,
    /// The time at which each timer is due.
    timers: FxHashMap<u32, u64>,
    /// The deadline of the last timer that has fired.
    now: u64,
    /// The fiber that stands for the time, if there are timers.
    clock: Option<usize>,
    /// The memory of fibers and tasks.
    owned: Vec<(std::ops::Range<usize>, usize)>,
    objects: Objects,
    operations: IndexSet<Operation>,
    stacks: IndexSet<Vec<usize>>,
    /// The place where the next process was spawned.
    site: Site,
    row: Option<Row>,
    first: Vec<Row>,
    last: VecDeque<Row>,
    count: usize,
    /// The states that have changed in steps which are not kept.
    skipped: FxHashMap<usize, Doings>,
    is_over: bool,
}

/// A fiber or a task.
#[derive(Debug)]
struct Person {
    kind: &'static str,
    name: Option<String>,
    site: Site,
    /// The operation with which it goes on.
    pending: Option<usize>,
    /// The operation that it has begun last.
    current: Option<usize>,
    /// It has had to wait in the middle of this operation.
    has_waited: bool,
    doings: Doings,
}

impl Recorder {
    /// Notes the place where the next process was spawned.
    pub(in crate::program) fn spawned(&mut self, site: &'static Location<'static>) {
        self.site = Some(site);
    }

    pub(in crate::program) fn introduced(&mut self, process: u32, nature: Nature<'_>) {
        let (kind, name) = match nature {
            Nature::Fiber(name) => ("fiber", name.map(str::to_owned)),
            Nature::Task => ("task", None),
            Nature::Timer(due) => {
                self.timers.insert(process, due);
                let clock = *self.clock.get_or_insert(self.people.len());
                if clock == self.people.len() {
                    self.people.push(Person::new(TIME, None, None));
                }
                self.numbers.insert(process, clock);
                return;
            }
        };
        let number = self.people.len();
        self.numbers.insert(process, number);
        self.people.push(Person::new(kind, name, self.site.filter(|_| number > 0)));
        self.note(Note::Spawns(number));
    }

    /// Notes that the timer of the step in progress fires. A late timer does not turn the time
    /// back.
    pub(in crate::program) fn fires(&mut self) {
        if let Some(Row { what: What::Time(time), .. }) = &mut self.row {
            self.now = self.now.max(*time);
            *time = self.now;
        }
    }

    pub(in crate::program) fn owns(&mut self, process: u32, address: usize, size: usize) {
        if let Some(&who) = self.numbers.get(&process).filter(|_| !self.is_over) {
            self.owned.push((address..address + size, who));
        }
    }

    pub(in crate::program) fn ended(&mut self, process: u32) {
        if let Some(&who) = self.numbers.get(&process)
            && !self.is_over
        {
            self.note(Note::Ends(who));
            self.people[who].doings = Doings::Ended;
            if let Some(row) = &mut self.row {
                row.doings.push((who, Doings::Ended));
            }
        }
    }

    pub(in crate::program) fn woken(&mut self, process: u32) {
        if let Some(&who) = self.numbers.get(&process)
            && self.row.as_ref().is_some_and(|row| row.who != who)
        {
            self.note(Note::Wakes(who));
        }
    }

    pub(in crate::program) fn chose(&mut self, way: usize, ways: usize) {
        self.note(Note::Way(way, ways));
    }

    /// Notes a panic of the step in progress.
    pub(in crate::program) fn panicked(&mut self, message: String, site: Option<&Location<'_>>) {
        if !self.is_over {
            self.note(Note::Panics(message, site.map(SourceLine::from)));
        }
    }

    /// Notes the operation that a process is about to do. It has done its previous one without
    /// giving way.
    pub(in crate::program) fn about_to(&mut self, process: u32, doing: Doing<'_>) {
        let Some(&who) = self.numbers.get(&process).filter(|_| !self.is_over) else { return };
        let (text, nameless) = match doing {
            Doing::One(operation, object, address) => {
                (self.text(operation, object, address), operation.is_empty().then_some(address))
            }
            Doing::First(all) => {
                let mut text = Text::new();
                for on in all {
                    text.extend((!text.is_empty()).then_some(OR));
                    text.extend(self.text(on.operation, &on.object, on.id));
                }
                (text, None)
            }
        };
        let stack = self.stacks.insert_full(stack()).0;
        let operation = self.operations.insert_full(Operation { text, nameless, stack }).0;
        if let Some(done) = self.people[who].pending.replace(operation) {
            self.note(Note::Then(done));
        }
    }

    pub(in crate::program) fn about_to_touch(&mut self, address: usize, size: usize) {
        self.objects.has_size(address, size);
    }

    pub(in crate::program) fn touched(&mut self, address: usize, touch: Touch) {
        if self.is_over {
            return;
        }
        if touch == Touch::Gone {
            return self.objects.gone(address);
        }
        let Some(row) = &mut self.row else { return };
        if let What::Does(operation) = row.what
            && self.operations[operation].nameless == Some(address)
        {
            row.touched = Some(touch);
        }
    }

    /// Notes that a process takes the next step.
    pub(in crate::program) fn begins_step(&mut self, process: u32) {
        let Some(&who) = self.numbers.get(&process) else { return };
        self.count += 1;
        let person = &mut self.people[who];
        let has_waited = std::mem::take(&mut person.has_waited);
        let what = match (self.timers.get(&process), person.pending.take()) {
            (Some(due), _) => What::Time(*due),
            (None, Some(operation)) => {
                person.current = Some(operation);
                What::Does(operation)
            }
            (None, None) if self.count == 1 => What::Begins,
            (None, None) => What::GoesOn(person.current.filter(|_| has_waited)),
        };
        let (number, touched) = (self.count, None);
        self.row = Some(Row { number, who, what, touched, notes: Vec::new(), doings: Vec::new() });
    }

    /// Notes that the step in progress has ended, and the processes that can go on.
    pub(in crate::program) fn ends_step(&mut self, ready: &[u32]) {
        let Some(mut row) = self.row.take() else { return };
        for (who, person) in self.people.iter_mut().enumerate() {
            if person.doings == Doings::Ended || Some(who) == self.clock {
                continue;
            }
            let is_ready = ready.iter().any(|process| self.numbers.get(process) == Some(&who));
            let doings = match is_ready {
                true => Doings::Ready(person.pending),
                false => Doings::Waits(person.pending.or(person.current)),
            };
            if doings != std::mem::replace(&mut person.doings, doings) {
                row.doings.push((who, doings));
            }
            if who == row.who && !is_ready {
                row.notes.push(person.pending.map_or(Note::Waits, Note::WaitsTo));
                person.has_waited = person.pending.is_none();
            }
        }
        if self.first.len() < FIRST {
            return self.first.push(row);
        }
        self.last.push_back(row);
        if self.last.len() > LAST {
            self.skipped.extend(self.last.pop_front().into_iter().flat_map(|skipped| skipped.doings));
        }
    }

    /// Notes that nothing can go on any more, or that nothing shall.
    pub(in crate::program) fn is_over(&mut self) {
        self.ends_step(&[]);
        self.is_over = true;
    }

    fn note(&mut self, note: Note) {
        if let Some(row) = &mut self.row {
            row.notes.push(note);
        }
    }

    fn owner(&self, address: usize) -> Option<usize> {
        self.owned.iter().rev().find(|(range, _)| range.contains(&address)).map(|(_, who)| *who)
    }

    fn text(&mut self, operation: &'static str, object: &Label, address: usize) -> Text {
        let mut text = Text::new();
        if !operation.is_empty() {
            text.extend([Fragment::Words(operation), Fragment::Words(" ")]);
        }
        text.push(match self.owner(address).filter(|_| is_somebody(object)) {
            Some(who) => Fragment::Who(who),
            // A time, or a descriptor: it is made anew for each wait.
            None if object.site().is_none() && object.name().is_none() && !operation.is_empty() => {
                Fragment::Words(object.kind())
            }
            None => Fragment::Object(self.objects.at(address, object)),
        });
        text
    }

    /// Returns the trace. `left` has the waits that are left, if there are any.
    pub(in crate::program) fn finish(mut self, left: Option<&WaitGraph>) -> Trace {
        if let (Some(row), false) = (self.last.front_mut(), self.skipped.is_empty()) {
            let skipped = std::mem::take(&mut self.skipped).into_iter();
            let now: Vec<_> =
                skipped.filter(|(who, _)| row.doings.iter().all(|(other, _)| who != other)).collect();
            row.doings.extend(now);
        }
        let kept = self.first.len() + self.last.len();
        let left_out = (kept < self.count).then(|| (self.first.len(), self.count - kept));
        let words = Words {
            who: self.people.iter().scan([0; 2], |numbers, person| Some(person.called(numbers))).collect(),
            objects: self.objects.named(),
            operations: &self.operations,
        };
        let mut places = Places::default();
        let rows = self.first.iter().chain(&self.last);
        let steps = rows.map(|row| words.step(row, &mut places, &self.stacks)).collect();
        let (waits, cycle) = left.map(|left| self.left(left, &words)).unwrap_or_default();
        let sites = self.people.iter().map(|person| person.site.map(SourceLine::from));
        let who = words.who.iter().cloned().zip(sites).map(|(name, site)| Who { name, site }).collect();
        Trace { who, objects: words.objects, steps, left_out, waits, cycle }
    }

    /// Returns the waits that are left, and the cycle.
    fn left(&self, left: &WaitGraph, words: &Words<'_>) -> (Vec<Wait>, Vec<usize>) {
        let mut all = Vec::new();
        for blocked in left.fibers.iter().chain(&left.tasks) {
            let Some(who) = self.owner(blocked.id) else { continue };
            let what = blocked.waits.iter().map(|on| {
                let who = self.owner(on.id).filter(|_| is_somebody(&on.object));
                let text = match (who, self.objects.met(on.id)) {
                    (Some(who), _) => words.who[who].clone(),
                    (None, Some(object)) => words.objects[object].name.clone(),
                    (None, None) => on.object.to_string(),
                };
                let note = on.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
                format!("{} {text}{note}", on.operation)
            });
            let what = what.collect();
            let held_by = blocked.waits.iter().flat_map(|on| &on.held_by);
            let held_by = held_by.filter_map(|holder| self.owner(*holder)).collect();
            all.push(words.wait(who, what, held_by));
        }
        all.sort_by_key(|wait| wait.who);
        let cycle = left.cycle().unwrap_or_default();
        (all, cycle.into_iter().filter_map(|blocked| self.owner(blocked.id)).collect())
    }
}

impl Person {
    fn new(kind: &'static str, name: Option<String>, site: Site) -> Self {
        Person { kind, name, site, pending: None, current: None, has_waited: false, doings: Doings::New }
    }

    /// Returns its name. `numbers` has the numbers of fibers and tasks so far.
    fn called(&self, numbers: &mut [usize; 2]) -> String {
        let number = match self.kind {
            TIME => return TIME.into(),
            "fiber" if self.site.is_none() => {
                return self.name.clone().unwrap_or_else(|| "the program".into());
            }
            "fiber" => &mut numbers[0],
            _ => &mut numbers[1],
        };
        *number += 1;
        self.name.clone().unwrap_or_else(|| format!("{} {number}", self.kind))
    }
}

/// Returns `true` if the object is a fiber or a task, or a part of one that the library has made.
fn is_somebody(object: &Label) -> bool {
    match object.kind() {
        "fiber" | "task" => true,
        "source" => object.site().is_none_or(|site| is_in_library(site.file())),
        _ => false,
    }
}
