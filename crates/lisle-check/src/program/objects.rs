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
//! checker notices this in the first execution in which both declare it. From then on the names are
//! one, and the exploration begins anew.
//!
//! Memory that belongs to a process, its stack and its cell, is one object: others touch there only
//! its waits, its end, and the request to end it. Objects on the stack may be declared on their
//! own, but not the cell. Memory that is neither declared nor owned is the scheduler's own, and
//! decides nothing.

use super::causes::Moment;
use crate::explore::{Object, Process};
use rustc_hash::FxHashMap;
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
    /// For a name of an object with two names: the other name.
    same: FxHashMap<u64, u64>,
    has_learnt: bool,
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
        self.has_learnt = false;
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

    /// Returns `true` if this execution has shown that two names belong to one object.
    pub(super) fn has_learnt(&self) -> bool {
        self.has_learnt
    }

    /// Returns the known pairs of names that belong to one object.
    pub(super) fn same(&self) -> Vec<(u64, u64)> {
        self.same.iter().map(|(&one, &other)| (one, other)).collect()
    }

    /// Notes pairs of names that belong to one object, as others have found. Returns `true` if one
    /// of them was new. The result does not depend on the order of the pairs.
    pub(super) fn adopt(&mut self, same: &[(u64, u64)]) -> bool {
        let had_learnt = std::mem::take(&mut self.has_learnt);
        same.iter().for_each(|&(one, other)| self.learn(one, other));
        std::mem::replace(&mut self.has_learnt, had_learnt)
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
        let own = self.one_of(own);
        match known {
            None => {
                self.declared.add(Range { begin: address, end, reach: end, name: own, declared: now });
            }
            Some((name, declared)) if name != own && !is_past(declared) => self.learn(name, own),
            Some(_) => {}
        }
    }

    /// Returns the representative of all names of the same object.
    fn one_of(&self, mut name: u64) -> u64 {
        while let Some(other) = self.same.get(&name) {
            name = *other;
        }
        name
    }

    fn learn(&mut self, one: u64, other: u64) {
        let (one, other) = (self.one_of(one), self.one_of(other));
        if one != other {
            self.same.insert(one.max(other), one.min(other));
            self.has_learnt = true;
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
    use super::{Moment, Objects, Thing};
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

    #[test]
    fn an_object_that_two_may_declare_first_has_one_name() {
        let mut objects = Objects::default();
        declare(&mut objects, 1, 100, 8, true);
        declare(&mut objects, 2, 100, 8, false);
        assert!(objects.has_learnt());
        let name = objects.at(100);
        objects.clear();
        declare(&mut objects, 2, 200, 8, true);
        assert_eq!(objects.at(200), name);
        declare(&mut objects, 1, 200, 8, false);
        assert!(!objects.has_learnt());
    }

    #[test]
    fn what_others_have_learnt_is_known() {
        let mut objects = Objects::default();
        declare(&mut objects, 1, 100, 8, true);
        declare(&mut objects, 2, 100, 8, false);
        declare(&mut objects, 3, 100, 8, false);
        let name = objects.at(100);
        let mut others = Objects::default();
        let mut pairs = objects.same();
        pairs.reverse();
        assert!(others.adopt(&pairs) && !others.adopt(&pairs) && !others.has_learnt());
        declare(&mut others, 3, 200, 8, true);
        declare(&mut others, 2, 200, 8, false);
        assert_eq!(others.at(200), name);
        assert!(!others.has_learnt());
    }

    #[test]
    fn an_object_that_one_declares_before_the_other_in_any_case_has_one_name() {
        let mut objects = Objects::default();
        declare(&mut objects, 1, 100, 8, true);
        declare(&mut objects, 2, 100, 8, true);
        assert!(!objects.has_learnt());
    }
}
