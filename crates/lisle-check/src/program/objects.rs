//! The names of the objects of an execution.
//!
//! The library reports addresses. They differ from one execution to the next, and the engine
//! compares steps of different executions. So an object gets a name when it is *declared*, before
//! the step that first touches it. The name consists of the process that declares it first, the
//! place where the object was made (or its size, if it does not keep the place), and the number of
//! such objects that the process has met before. Each word of it is an object by itself. The values
//! that a process has read may decide which of two equal objects it meets first. Then two objects
//! have one name in some executions, and too many steps count as dependent. So the kind includes
//! the place.
//!
//! If two processes may declare an object first, it has two names in different executions. The
//! checker notices this when it knows an execution in which both declare it, and executions with
//! each of the names ([`names`]). From then on the names are one, and the exploration begins anew.
//!
//! Memory that belongs to a process, its stack and its cell, is one object: others touch there only
//! its waits, its end, and the request to end it. Objects on the stack may be declared on their
//! own, but not the cell. Memory that is neither declared nor owned is the scheduler's own, and
//! decides nothing.

mod names;

pub(super) use names::{Fact, Names};

use super::causes::Moment;
use crate::explore::{Mark, Object, Process};
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::panic::Location;

/// The bits of a name: the process, the kind of the object and its number within the kind, the
/// word.
const WORD_BITS: u32 = 16;
const DECLARATION_BITS: u32 = 24;
const KIND_BITS: u32 = 8;

#[derive(Debug, Default)]
pub(super) struct Objects {
    declared: Ranges,
    owned: Ranges,
    /// The objects that each process has met.
    met: Vec<Vec<Met>>,
    /// The names that belong to one object. They change only between two rounds.
    names: Names,
    /// The facts about names that its executions have shown, and the facts of the last ones alone.
    shown: FxHashSet<Fact>,
    fresh: Vec<Fact>,
    /// The objects that two processes have declared in this execution.
    pairs: Vec<Pair>,
    /// The address and size of the last object that each process has declared, as long as it is
    /// there.
    latest: Vec<(usize, usize)>,
    /// The last declared object that was found.
    found: Cell<Option<(usize, Object)>>,
}

/// An object without its name. The place where it was made is always the same; the declared part,
/// and so its size, may depend on the operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thing {
    pub(super) size: usize,
    pub(super) made: Option<&'static Location<'static>>,
}

impl Thing {
    /// Returns `true` if the other object is of the same kind.
    fn is_like(self, other: Thing) -> bool {
        self.made == other.made && (self.made.is_some() || self.size == other.size)
    }

    /// Returns a small number, which mostly differs for another kind.
    fn kind(self) -> u64 {
        let of_place = |made: &Location<'_>| u64::from(made.line()) * 37 + u64::from(made.column());
        self.made.map_or(self.size as u64, of_place) % (1 << KIND_BITS)
    }
}

/// An object that a process has met.
#[derive(Debug, Clone, Copy)]
struct Met {
    /// Zero if it is gone.
    address: usize,
    thing: Thing,
}

/// Two names of an object in one execution.
#[derive(Debug, Clone, Copy)]
struct Pair {
    /// The name that it has, and the name that it would have if the other process had come first.
    given: u64,
    other: u64,
    /// When the processes have declared it.
    declared: Moment,
    again: Moment,
}

/// A part of the memory, with a name.
#[derive(Debug)]
struct Range {
    begin: usize,
    end: usize,
    /// The greatest end of this range and all ranges before it.
    reach: usize,
    name: u64,
    /// When it was declared.
    declared: Moment,
}

/// Ranges by their beginnings. There are few: a sorted list is faster than a tree.
#[derive(Debug, Default)]
struct Ranges(Vec<Range>);

impl Ranges {
    /// Returns the smallest range that contains the address: an object may lie in another object.
    fn around(&self, address: usize) -> Option<&Range> {
        let (first, last) = (self.0.first()?, self.0.last()?);
        if address < first.begin || address >= last.reach {
            return None;
        }
        let after = self.0.partition_point(|range| range.begin <= address);
        let may_reach = self.0[..after].iter().rev().take_while(|range| address < range.reach);
        may_reach.into_iter().find(|range| address < range.end)
    }

    /// Returns `true` if this is one of the ranges.
    fn has(&self, begin: usize, end: usize) -> bool {
        let at = self.0.binary_search_by_key(&begin, |range| range.begin);
        at.is_ok_and(|at| self.0[at].end == end)
    }

    /// Removes the ranges that contain the address, and returns them.
    fn remove(&mut self, address: usize) -> impl Iterator<Item = Range> {
        self.0.extract_if(.., move |range| (range.begin..range.end).contains(&address))
    }

    /// Adds a range, unless one begins there.
    fn add(&mut self, range: Range) {
        if let Err(at) = self.0.binary_search_by_key(&range.begin, |range| range.begin) {
            let before = self.0[..at].last().map_or(0, |range| range.reach);
            let end = range.end;
            self.0.insert(at, Range { reach: before, ..range });
            self.reaches(at, end);
        }
    }

    /// Notes that the range at this place ends there.
    fn reaches(&mut self, at: usize, end: usize) {
        self.0[at..].iter_mut().for_each(|range| range.reach = range.reach.max(end));
    }

    /// Returns the range that begins here, after enlarging it up to `end` at least.
    fn enlarged(&mut self, begin: usize, end: usize) -> Option<&Range> {
        let at = self.0.binary_search_by_key(&begin, |range| range.begin).ok()?;
        if self.0[at].end < end {
            self.0[at].end = end;
            self.reaches(at, end);
        }
        Some(&self.0[at])
    }

    /// Removes the ranges that begin in this one.
    fn remove_within(&mut self, begin: usize, end: usize) {
        let first = self.0.partition_point(|range| range.begin < begin);
        let last = self.0.partition_point(|range| range.begin < end);
        self.0.drain(first..last);
    }
}

impl Objects {
    /// Forgets the objects, for the next execution.
    pub(super) fn clear(&mut self) {
        self.declared.0.clear();
        self.owned.0.clear();
        self.met.iter_mut().for_each(Vec::clear);
        self.pairs.clear();
        self.forget_latest();
    }

    /// Notes that objects may be gone.
    fn forget_latest(&mut self) {
        self.latest.fill((0, 0));
        self.found.set(None);
    }

    /// Returns `true` if this is the last object that the process has declared, and it is still
    /// there. To declare it again changes nothing.
    #[inline]
    pub(super) fn is_latest(&self, process: Process, address: usize, size: usize) -> bool {
        self.latest.get(process.index()) == Some(&(address, size))
    }

    /// Ends the execution. `happens_after` returns whether a step comes after an earlier one in each
    /// equivalent schedule. Otherwise the second process comes first in one of them.
    pub(super) fn end(&mut self, mut happens_after: impl FnMut(Mark, Mark) -> bool) {
        for Pair { given, other, declared, again } in std::mem::take(&mut self.pairs) {
            if !happens_after(again.mark(), declared.mark()) {
                self.shows(Fact::Given(other));
            }
            self.shows(Fact::Pair { given, other });
        }
    }

    /// Returns the facts about names that no earlier execution has shown, once.
    pub(super) fn take_facts(&mut self) -> Vec<Fact> {
        std::mem::take(&mut self.fresh)
    }

    /// Makes these names the known ones.
    pub(super) fn adopt(&mut self, names: Names) {
        self.names = names;
    }

    fn shows(&mut self, fact: Fact) {
        if self.shown.insert(fact) {
            self.fresh.push(fact);
        }
    }

    /// Notes that a process declares the object at an address, at this moment. `is_past` returns
    /// whether another moment must have come before this one. Takes time in proportion to the
    /// number of objects.
    pub(super) fn declare(
        &mut self,
        process: Process,
        address: usize,
        thing: Thing,
        now: Moment,
        is_past: impl FnOnce(Moment) -> bool,
    ) {
        // The scheduler, which declares nothing, touches the cell of a process as well.
        let end = address + thing.size.max(1);
        if thing.made.is_none() && self.owned.has(address, end) {
            return;
        }
        self.found.set(None);
        if self.latest.len() <= process.index() {
            self.latest.resize(process.index() + 1, (0, 0));
        }
        self.latest[process.index()] = (address, thing.size);
        let known = self.declared.enlarged(address, end).map(|known| (known.name, known.declared));
        if self.met.len() <= process.index() {
            self.met.resize_with(process.index() + 1, Vec::new);
        }
        let met = &mut self.met[process.index()];
        if known.is_some() && met.iter().any(|met| met.address == address) {
            return;
        }
        met.push(Met { address, thing });
        // Zero is the process's own memory.
        let nth = met.iter().filter(|met| met.thing.is_like(thing)).count() as u64;
        let declaration = ((nth << KIND_BITS) | thing.kind()) % (1 << DECLARATION_BITS);
        let own = (u64::from(process.0) << DECLARATION_BITS) | declaration;
        let own = self.names.one_of(own);
        match known {
            None => {
                self.declared.add(Range { begin: address, end, reach: end, name: own, declared: now });
                self.shows(Fact::Given(own));
            }
            Some((name, declared)) if name != own && !is_past(declared) => {
                self.pairs.push(Pair { given: name, other: own, declared, again: now });
            }
            Some(_) => {}
        }
    }

    /// Notes that memory belongs to a process. Objects that were declared there are gone.
    pub(super) fn own(&mut self, process: Process, address: usize, size: usize) {
        self.forget_latest();
        self.declared.remove_within(address, address + size);
        self.owned.remove_within(address, address + size);
        let (name, declared) = (u64::from(process.0) << DECLARATION_BITS, Moment { process, step: 0 });
        let end = address + size;
        self.owned.add(Range { begin: address, end, reach: end, name, declared });
    }

    /// Returns the object of a process's own memory.
    pub(super) fn of_process(&self, process: Process) -> Object {
        Object((u64::from(process.0) << DECLARATION_BITS) << WORD_BITS)
    }

    /// Notes that the objects at an address are gone.
    pub(super) fn remove(&mut self, address: usize) {
        self.forget_latest();
        for gone in self.declared.remove(address) {
            let met = self.met.iter_mut().flatten();
            met.filter(|met| met.address == gone.begin).for_each(|met| met.address = 0);
        }
    }

    /// Returns the object at an address, if it has a name.
    #[inline]
    pub(super) fn at(&self, address: usize) -> Option<Object> {
        match self.found.get() {
            Some((found, object)) if found == address => Some(object),
            _ => self.look_at(address),
        }
    }

    fn look_at(&self, address: usize) -> Option<Object> {
        if let Some(declared) = self.declared.around(address) {
            let word = (address - declared.begin) as u64 % (1 << WORD_BITS);
            let object = Object((declared.name << WORD_BITS) | word);
            self.found.set(Some((address, object)));
            return Some(object);
        }
        self.owned.around(address).map(|owned| Object(owned.name << WORD_BITS))
    }
}

#[cfg(test)]
mod tests {
    use super::{Moment, Names, Objects, Thing};
    use crate::explore::Process;

    fn declare(objects: &mut Objects, process: u32, address: usize, size: usize, is_past: bool) {
        let now = Moment { process: Process(process), step: 0 };
        objects.declare(Process(process), address, Thing { size, made: None }, now, |_| is_past);
    }

    #[test]
    fn words_of_one_object_differ_and_the_nearest_declaration_counts() {
        let mut objects = Objects::default();
        declare(&mut objects, 1, 100, 64, true);
        declare(&mut objects, 1, 132, 8, true);
        assert_eq!(objects.at(99), None);
        assert_ne!(objects.at(100), objects.at(108));
        assert_ne!(objects.at(132), objects.at(124));
        assert_eq!(objects.at(164), None);
        objects.remove(133);
        assert_eq!(objects.at(100), None);
    }

    #[test]
    fn what_is_on_a_stack_belongs_to_its_process_unless_it_is_declared() {
        let mut objects = Objects::default();
        declare(&mut objects, 1, 2_000, 8, true);
        objects.own(Process(3), 1_000, 4_000);
        assert_eq!(objects.at(2_000), objects.at(3_000));
        declare(&mut objects, 1, 2_000, 8, true);
        assert_ne!(objects.at(2_000), objects.at(3_000));
        assert_eq!(objects.at(5_000), None);
    }

    /// Notes what these executions have shown. Returns `true` if two names have become one.
    fn note(names: &mut Names, objects: &mut Objects) -> bool {
        objects.end(|_, _| true);
        let has_learnt = names.note(&objects.take_facts());
        objects.clear();
        objects.adopt(names.clone());
        has_learnt
    }

    #[test]
    fn an_object_that_two_declare_first_has_one_name() {
        let (mut names, mut objects) = (Names::default(), Objects::default());
        declare(&mut objects, 1, 100, 8, true);
        declare(&mut objects, 2, 100, 8, false);
        let name = objects.at(100);
        // The second has not come first.
        assert!(!note(&mut names, &mut objects));
        declare(&mut objects, 2, 200, 8, true);
        assert!(note(&mut names, &mut objects));
        declare(&mut objects, 2, 200, 8, true);
        assert_eq!(objects.at(200), name);
        declare(&mut objects, 1, 200, 8, false);
        assert!(!note(&mut names, &mut objects));
    }

    #[test]
    fn an_object_that_the_other_could_have_declared_first_has_one_name() {
        let (mut names, mut objects) = (Names::default(), Objects::default());
        declare(&mut objects, 1, 100, 8, true);
        declare(&mut objects, 2, 100, 8, false);
        objects.end(|_, _| false);
        assert!(names.note(&objects.take_facts()));
    }

    #[test]
    fn objects_that_another_meets_second_have_their_own_names() {
        let (mut names, mut objects) = (Names::default(), Objects::default());
        for met in [100, 200] {
            declare(&mut objects, 1, 100, 8, true);
            declare(&mut objects, 2, 200, 8, true);
            declare(&mut objects, 3, met, 8, false);
            assert_ne!(objects.at(100), objects.at(200));
            assert!(!note(&mut names, &mut objects));
        }
    }

    #[test]
    fn workers_share_what_each_has_seen() {
        let mut names = Names::default();
        let (mut one, mut other) = (Objects::default(), Objects::default());
        declare(&mut one, 1, 100, 8, true);
        declare(&mut one, 2, 100, 8, false);
        declare(&mut one, 3, 100, 8, false);
        let name = one.at(100);
        declare(&mut other, 3, 100, 8, true);
        declare(&mut other, 2, 100, 8, false);
        one.end(|_, _| true);
        other.end(|_, _| true);
        assert!(!names.note(&one.take_facts()) && names.note(&other.take_facts()));
        // The second is not known to come first.
        other.clear();
        other.adopt(names.clone());
        declare(&mut other, 3, 200, 8, true);
        declare(&mut other, 2, 200, 8, false);
        assert_eq!(other.at(200), name);
        assert!(!note(&mut names, &mut other));
    }

    #[test]
    fn an_object_that_one_declares_before_the_other_in_any_case_has_one_name() {
        let (mut names, mut objects) = (Names::default(), Objects::default());
        declare(&mut objects, 1, 100, 8, true);
        declare(&mut objects, 2, 100, 8, true);
        declare(&mut objects, 2, 200, 8, true);
        assert!(!note(&mut names, &mut objects));
    }
}
