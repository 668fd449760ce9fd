//! The ways of an access: the writes that it may read, and the places of its own write.
//!
//! The first way is sequentially consistent: to read the newest write, and to write after it. Each
//! other way goes against the order of writes, and is offered only where it has to be; `README.md`
//! says where that is, and why nothing is missed.

use super::clock::{Clock, Moment};
use super::graph::{Does, Event, Graph, Id, NOWHERE, Orders};
use super::{Memory, rc11, tso};
use smallvec::SmallVec;
use std::panic::Location as Site;

/// The kind of an access, with its values.
pub(crate) enum Access<'a> {
    Load,
    Store(u64),
    /// Writes the result of the function for the value before, unless this is `None`.
    Update(&'a mut dyn FnMut(u64) -> Option<u64>),
}

/// An access that a program asks for.
pub(super) struct Request {
    pub(super) process: u32,
    pub(super) location: u32,
    pub(super) orders: Orders,
    /// The orders of an update that writes nothing.
    pub(super) otherwise: Orders,
    /// The update may fail although it could write.
    pub(super) may_fail: bool,
    pub(super) site: &'static Site<'static>,
}

/// A way in which an access can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AccessChoice {
    pub(super) does: Does,
    orders: Orders,
    /// The place of the write that it reads, and after which it writes, in the order of the
    /// location.
    after: usize,
    /// The value that it writes.
    value: u64,
    is_exchange: bool,
    /// It could have written.
    pub(super) has_failed: bool,
    /// It goes against the order in which the writes were made.
    pub(super) is_backward: bool,
}

/// All ways of an access.
pub(super) type Ways = SmallVec<[AccessChoice; 4]>;

impl Graph {
    /// Returns the ways of an access, as far as they follow from the events before it in each
    /// equivalent schedule.
    pub(super) fn ways(&mut self, memory: Memory, request: &Request, access: &mut Access<'_>) -> Ways {
        let newest = self.order(request.location).len() - 1;
        let floor = if memory == Memory::Sc { newest } else { self.floor(request) };
        let is_exchange = matches!(access, Access::Update(_));
        let mut ways = Ways::new();
        for after in (floor..=newest).rev() {
            let is_backward = after < newest;
            let mut offer = |does: Does, value: u64, has_failed: bool| {
                let fails = does == Does::Load && is_exchange;
                let orders = if fails { request.otherwise } else { request.orders };
                ways.push(AccessChoice { does, orders, after, value, is_exchange, has_failed, is_backward });
            };
            match access {
                Access::Load => offer(Does::Load, 0, false),
                Access::Store(value) => offer(Does::Store, *value, false),
                Access::Update(change) => {
                    let before = self.event(self.order(request.location)[after]).value;
                    match change(before) {
                        Some(value) => {
                            offer(Does::Update, value, false);
                            if request.may_fail {
                                offer(Does::Load, 0, true);
                            }
                        }
                        None => offer(Does::Load, 0, false),
                    }
                }
            }
        }
        ways.retain(|way| {
            !way.is_backward || self.is_asked_for(request, way) && self.allows_past(memory, request, way)
        });
        ways
    }

    /// Returns the place of the oldest write that the process may still see: the newest write that
    /// happened before, or that an event before has read.
    fn floor(&mut self, request: &Request) -> usize {
        self.thread(request.process);
        let happens = &self.threads[request.process as usize].happens;
        let is_known = |write: &Id| {
            let write = self.event(*write);
            happens.has(write.moment) || write.readers.iter().any(|reader| happens.has(*reader))
        };
        let floors = &self.threads[request.process as usize].floors;
        let caught_up = floors.get(&request.location).map_or(0, |write| self.rank(*write));
        self.order(request.location).iter().rposition(is_known).unwrap_or(0).max(caught_up)
    }

    /// Returns `true` if a schedule has to go against the order of writes to have the graph of this
    /// way, and the write's place is free.
    fn is_asked_for(&self, request: &Request, way: &AccessChoice) -> bool {
        let order = self.order(request.location);
        let later = &order[way.after + 1..];
        if way.does != Does::Load && self.event(later[0]).does == Does::Update {
            return false; // it belongs to the write before it
        }
        let past = self.forward_of(request, way);
        later.iter().all(|write| past.has(self.event(*write).moment))
    }

    /// Returns the events before the access by forward edges.
    fn forward_of(&self, request: &Request, way: &AccessChoice) -> Clock {
        let mut past = self.threads[request.process as usize].forward.clone();
        let location = &self.locations[request.location as usize];
        if way.does == Does::Load {
            past.join(&self.event(location.order[way.after]).forward);
        } else if way.is_backward {
            for write in &location.order[..=way.after] {
                past.join(&self.event(*write).forward);
                past.join(&self.event(*write).read);
            }
        } else {
            past.join(&location.touched);
        }
        past
    }

    /// Returns the event that the access becomes in this way.
    fn event_of(&self, request: &Request, way: &AccessChoice) -> Event {
        let thread = &self.threads[request.process as usize];
        let moment = thread.next(request.process);
        let source = self.order(request.location)[way.after];
        let reads = way.does != Does::Store;
        let mut happens = thread.happens.clone();
        let mut message = Clock::default();
        if reads {
            // A release sequence goes on by updates.
            message = self.event(source).message.clone();
        }
        if reads && way.orders.acquires {
            happens.join(&message);
        }
        happens.add(moment);
        if way.does == Does::Load {
            message = Clock::default();
        } else {
            message.join(if way.orders.releases { &happens } else { &thread.fenced });
        }
        let mut forward = self.forward_of(request, way);
        forward.add(moment);
        Event {
            moment,
            does: way.does,
            orders: way.orders,
            is_exchange: way.is_exchange,
            location: request.location,
            source: reads.then_some(source),
            value: way.value,
            happens,
            forward,
            message,
            readers: SmallVec::new(),
            read: Clock::default(),
            site: Some(request.site),
        }
    }

    /// Returns `true` if the events before the access allow this way, whatever else there is.
    fn allows_past(&mut self, memory: Memory, request: &Request, way: &AccessChoice) -> bool {
        let event = self.event_of(request, way);
        let past = event.forward.clone();
        self.push(event, way.after + 1);
        let allows = self.is_consistent(memory, Some(&past));
        self.pop(way.after + 1);
        allows
    }

    /// Returns `true` if the model allows the graph, or the part of it in `within`. All but the
    /// newest event are known to be allowed.
    fn is_consistent(&self, memory: Memory, within: Option<&Clock>) -> bool {
        match memory {
            Memory::Sc => true,
            Memory::Tso => tso::is_consistent(self, within),
            Memory::Rc11 => rc11::is_consistent(self, within),
        }
    }

    /// Lets the access go on in this way. Returns the value that it has read, and whether the model
    /// allows that.
    pub(super) fn take(&mut self, memory: Memory, request: &Request, way: &AccessChoice) -> (u64, bool) {
        let event = self.event_of(request, way);
        let (moment, source) = (event.moment, event.source);
        let (forward, happens) = (event.forward.clone(), event.happens.clone());
        let (own, writes) = (self.push(event, way.after + 1), way.does != Does::Load);
        let allowed = !way.is_backward || self.is_consistent(memory, None);
        let read = source.map_or(0, |source| self.event(source).value);
        let thread = self.thread(moment.process);
        thread.count = moment.count;
        thread.happens = happens;
        thread.forward.join(&forward);
        if let Some(seen) = if writes { Some(own) } else { source } {
            let looked = &mut self.thread(moment.process).looked;
            match looked.iter_mut().find(|looked| looked.0 == request.location) {
                Some(known) => known.1 = seen,
                None => looked.push((request.location, seen)),
            }
        }
        if let Some(source) = source {
            if !way.orders.acquires {
                let message = self.event(source).message.clone();
                self.thread(moment.process).awaits_fence.join(&message);
            }
            self.is_read(source, moment, &forward);
        }
        self.locations[request.location as usize].touched.join(&forward);
        (read, allowed)
    }

    /// Notes a reader of a write.
    fn is_read(&mut self, write: Id, reader: Moment, forward: &Clock) {
        let write = &mut self.events[write as usize];
        write.read.join(forward);
        if write.readers.iter().all(|known| known.process != reader.process) {
            write.readers.push(reader);
        }
    }

    /// Adds a fence of a process.
    pub(super) fn fence(&mut self, process: u32, orders: Orders, site: &'static Site<'static>) {
        let thread = self.thread(process);
        let moment = thread.next(process);
        thread.count = moment.count;
        if orders.acquires {
            let awaited = std::mem::take(&mut thread.awaits_fence);
            thread.happens.join(&awaited);
        }
        thread.happens.add(moment);
        thread.forward.add(moment);
        if orders.releases {
            thread.fenced = thread.happens.clone();
        }
        let event = Event {
            moment,
            does: Does::Fence,
            orders,
            is_exchange: false,
            location: NOWHERE,
            source: None,
            value: 0,
            happens: thread.happens.clone(),
            forward: thread.forward.clone(),
            message: Clock::default(),
            readers: SmallVec::new(),
            read: Clock::default(),
            site: Some(site),
        };
        self.push(event, 0);
    }
}
