//! The events of an execution: their clocks, the write that each reads from, and the order of the
//! writes of each location.
//!
//! Invariants: an event stands after the earlier events of its process, and after the write that it
//! reads from. `order` of a location begins with the first value; an update stands directly after
//! the write that it reads from. The clocks of an event contain the event.

use super::clock::{Clock, Moment};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::panic::Location as Site;
use std::sync::atomic::Ordering;

/// The order of an access or a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Orders {
    pub(super) acquires: bool,
    pub(super) releases: bool,
    /// It is sequentially consistent.
    pub(super) is_strong: bool,
}

impl From<Ordering> for Orders {
    fn from(order: Ordering) -> Orders {
        let is_strong = order == Ordering::SeqCst;
        let both = is_strong || order == Ordering::AcqRel;
        Orders {
            acquires: both || order == Ordering::Acquire,
            releases: both || order == Ordering::Release,
            is_strong,
        }
    }
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Load,
    Store,
    /// It reads, and writes directly after the write that it has read.
    Update,
    Fence,
}

/// The number of an event in its graph.
pub(super) type Id = u32;

/// No location.
pub(super) const NOWHERE: u32 = u32::MAX;

/// An access to an atomic, or a fence.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) moment: Moment,
    pub(super) does: Does,
    pub(super) orders: Orders,
    /// It is one instruction that reads and may write: an update, or an exchange that has failed.
    pub(super) is_exchange: bool,
    /// The location, or `NOWHERE` for a fence.
    pub(super) location: u32,
    /// The write that it reads from.
    pub(super) source: Option<Id>,
    /// The value that it has written.
    pub(super) value: u64,
    /// The events that happen before it, as the model defines that.
    pub(super) happens: Clock,
    /// The events that come before it in every schedule of the same graph with no more backward
    /// edges than this one.
    pub(super) forward: Clock,
    /// The events that happen before an acquire load that reads from it.
    pub(super) message: Clock,
    /// For each process, its first event that reads from it.
    pub(super) readers: SmallVec<[Moment; 2]>,
    /// The events before its readers, in the sense of `forward`.
    pub(super) read: Clock,
    pub(super) site: Option<&'static Site<'static>>,
}

impl Event {
    pub(super) fn writes(&self) -> bool {
        matches!(self.does, Does::Store | Does::Update)
    }

    pub(super) fn is_fence(&self) -> bool {
        self.does == Does::Fence
    }
}

/// An atomic.
#[derive(Debug, Default)]
pub(super) struct Location {
    /// Its writes, in the order on which all agree.
    pub(super) order: Vec<Id>,
    /// The events before its writes and reads, in the sense of `forward`.
    pub(super) touched: Clock,
}

/// The events of a process so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Thread {
    pub(super) count: u32,
    pub(super) events: Vec<Id>,
    pub(super) happens: Clock,
    pub(super) forward: Clock,
    /// The events that an acquire fence would add.
    pub(super) awaits_fence: Clock,
    /// The events that the last release fence has released.
    pub(super) fenced: Clock,
    /// The locations that it has accessed since it last asked again, with the write that it knows.
    pub(super) looked: SmallVec<[(u32, Id); 2]>,
    /// For some locations, the oldest write that it may still read.
    pub(super) floors: FxHashMap<u32, Id>,
}

impl Thread {
    /// Returns the moment of the next event.
    pub(super) fn next(&self, process: u32) -> Moment {
        Moment { process, count: self.count + 1 }
    }
}

/// The events of an execution.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) events: Vec<Event>,
    pub(super) locations: Vec<Location>,
    pub(super) threads: Vec<Thread>,
    places: FxHashMap<usize, u32>,
    /// The number of events before the step in progress.
    before_step: usize,
}

impl Graph {
    /// Forgets the execution.
    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.locations.clear();
        self.threads.clear();
        self.places.clear();
        self.before_step = 0;
    }

    pub(super) fn event(&self, id: Id) -> &Event {
        &self.events[id as usize]
    }

    /// Returns the events of a process.
    pub(super) fn thread(&mut self, process: u32) -> &mut Thread {
        if self.threads.len() <= process as usize {
            self.threads.resize_with(process as usize + 1, Thread::default);
        }
        &mut self.threads[process as usize]
    }

    /// Returns the location at an address, where `value` is now. A write without the model happened
    /// when no other process could know the address.
    pub(super) fn location_at(&mut self, address: usize, value: u64) -> u32 {
        if let Some(&known) = self.places.get(&address)
            && self.newest(known).value == value
        {
            return known;
        }
        let first = Event {
            moment: Moment::START,
            does: Does::Store,
            orders: Ordering::Relaxed.into(),
            is_exchange: false,
            location: self.locations.len() as u32,
            source: None,
            value,
            happens: Clock::default(),
            forward: Clock::default(),
            message: Clock::default(),
            readers: SmallVec::new(),
            read: Clock::default(),
            site: None,
        };
        self.events.push(first);
        let order = vec![self.events.len() as Id - 1];
        self.locations.push(Location { order, touched: Clock::default() });
        let location = self.locations.len() as u32 - 1;
        self.places.insert(address, location);
        location
    }

    /// Forgets the location at an address.
    pub(super) fn forget(&mut self, address: usize) {
        self.places.remove(&address);
    }

    /// Forgets the locations from `begin` up to `end`.
    pub(super) fn forget_within(&mut self, begin: usize, end: usize) {
        self.places.retain(|address, _| !(begin..end).contains(address));
    }

    pub(super) fn order(&self, location: u32) -> &[Id] {
        &self.locations[location as usize].order
    }

    /// Returns the last write of a location.
    pub(super) fn newest(&self, location: u32) -> &Event {
        self.event(*self.order(location).last().expect("a location has a first value"))
    }

    /// Returns the place of a write in the order of its location.
    pub(super) fn rank(&self, id: Id) -> usize {
        let order = self.order(self.event(id).location);
        order.iter().rposition(|write| *write == id).expect("a write is in the order of its location")
    }

    /// Returns the place of a write; for a load, the place of the write that it reads from.
    pub(super) fn rank_seen(&self, id: Id) -> usize {
        let event = self.event(id);
        self.rank(if event.writes() { id } else { event.source.expect("a load reads from a write") })
    }

    /// Returns `true` if the event `from` happens before another one.
    pub(super) fn happens_before(&self, from: Id, to: Id) -> bool {
        from != to && self.event(to).happens.has(self.event(from).moment)
    }

    /// Returns `true` if a process has read a value since it last asked that is not the newest now.
    pub(super) fn sees_old(&self, process: u32) -> bool {
        let looked = self.threads.get(process as usize).map_or(&[][..], |thread| &thread.looked[..]);
        looked.iter().any(|(location, write)| self.newest(*location).value != self.event(*write).value)
    }

    /// Notes that a process asks again. If it `looks`, this comes after all writes of the locations
    /// that it has read. If it `catches_up`, it reads nothing older than the newest of these writes
    /// from now on.
    pub(super) fn asks_again(&mut self, process: u32, looks: bool, catches_up: bool) {
        for (location, _) in std::mem::take(&mut self.thread(process).looked) {
            if !looks {
                continue;
            }
            let mut past = self.thread(process).forward.clone();
            self.order(location).iter().for_each(|write| past.join(&self.event(*write).forward));
            let newest = *self.order(location).last().expect("a location has a first value");
            self.events[newest as usize].read.join(&past);
            self.locations[location as usize].touched.join(&past);
            let thread = self.thread(process);
            thread.forward.join(&past);
            if catches_up {
                thread.floors.insert(location, newest);
            }
        }
    }

    /// Ends a step, in which the code of some processes ran. A step is not divided: in the sense of
    /// `forward`, all of it comes after the events before any part of it, and the enabled processes
    /// come after all of it. Returns these events.
    pub(super) fn end_step(&mut self, running: &[u32], enabled: &[u32]) -> Clock {
        let mut past = Clock::default();
        running.iter().for_each(|process| past.join(&self.thread(*process).forward));
        running.iter().chain(enabled).for_each(|process| self.thread(*process).forward.join(&past));
        for id in self.before_step..self.events.len() {
            let event = &mut self.events[id];
            if event.moment.count > 0 {
                event.forward.join(&past);
                let (location, source) = (event.location, event.source);
                if location != NOWHERE {
                    self.locations[location as usize].touched.join(&past);
                }
                if let Some(source) = source {
                    self.events[source as usize].read.join(&past);
                }
            }
        }
        self.before_step = self.events.len();
        past
    }

    /// Adds an event, and a write at this place of its location's order.
    pub(super) fn push(&mut self, event: Event, place: usize) -> Id {
        let id = self.events.len() as Id;
        if event.writes() {
            self.locations[event.location as usize].order.insert(place, id);
        }
        self.thread(event.moment.process).events.push(id);
        self.events.push(event);
        id
    }

    /// Takes the newest event back.
    pub(super) fn pop(&mut self, place: usize) -> Event {
        let event = self.events.pop().expect("there is an event");
        if event.writes() {
            self.locations[event.location as usize].order.remove(place);
        }
        self.thread(event.moment.process).events.pop();
        event
    }
}
