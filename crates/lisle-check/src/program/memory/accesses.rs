//! The accesses of a program to its atomics and cells.

use super::cells::Name;
use super::graph::{Does, Orders};
use super::ways::{Access, Request, Ways};
use super::{CellAccess, Detail, Memory, Modelled};
use std::panic::Location as Site;
use std::sync::atomic::Ordering;

/// The outcome of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    /// The value that it has read.
    pub(crate) read: u64,
    /// The newest value in the order of writes now.
    pub(crate) newest: u64,
    /// Whether it has written.
    pub(crate) has_written: bool,
}

/// An access to an atomic.
#[derive(Debug, Clone, Copy)]
pub(in crate::program) struct Operation {
    pub(in crate::program) process: u32,
    pub(in crate::program) address: usize,
    /// The value in the atomic itself.
    pub(in crate::program) value: u64,
    pub(in crate::program) order: Ordering,
    /// The order of an update that writes nothing.
    pub(in crate::program) otherwise: Ordering,
    /// The update may fail although it could write.
    pub(in crate::program) may_fail: bool,
    pub(in crate::program) site: &'static Site<'static>,
}

impl Modelled {
    fn orders(&self, order: Ordering) -> Orders {
        let orders = Orders::from(order);
        match self.memory {
            Memory::Rc11 => orders,
            Memory::Sc | Memory::Tso => Orders { acquires: true, releases: true, ..orders },
        }
    }

    /// Performs an access. `choose` gets the number of ways in which it can go on, and returns one.
    pub(in crate::program) fn access(
        &mut self,
        operation: Operation,
        mut access: Access<'_>,
        choose: impl FnOnce(usize) -> usize,
    ) -> Done {
        let Operation { process, address, value, order, otherwise, site, .. } = operation;
        let is_weak = match self.memory {
            Memory::Sc => false,
            Memory::Tso => order != Ordering::SeqCst && matches!(access, Access::Store(_)),
            Memory::Rc11 => order != Ordering::SeqCst || otherwise != Ordering::SeqCst,
        };
        if is_weak {
            self.need(Detail::Weak);
        }
        self.has_weaker_orders |= order != Ordering::SeqCst;
        let may_fail = operation.may_fail && !self.failed.contains(&(process, address));
        if self.detail == Detail::None || self.is_impossible {
            return self.access_newest(operation, access, may_fail, choose);
        }
        let location = self.graph.location_at(address, value);
        let (orders, otherwise) = (self.orders(order), self.orders(otherwise));
        let request = Request { process, location, orders, otherwise, may_fail, site };
        let memory = if self.detail == Detail::Weak { self.memory } else { Memory::Sc };
        let ways: Ways = self.graph.ways(memory, &request, &mut access);
        let way = &ways[if ways.len() > 1 { choose(ways.len()) } else { 0 }];
        let (read, is_allowed) = self.graph.take(memory, &request, way);
        if !is_allowed {
            self.is_impossible = true;
            return self.access_newest(operation, access, false, |_| 0);
        }
        self.note_failure(operation, way.has_failed);
        Done { read, newest: self.graph.newest(location).value, has_written: way.does != Does::Load }
    }

    /// Performs an access to the newest value.
    fn access_newest(
        &mut self,
        operation: Operation,
        access: Access<'_>,
        may_fail: bool,
        choose: impl FnOnce(usize) -> usize,
    ) -> Done {
        let read = operation.value;
        let written = match access {
            Access::Load => None,
            Access::Store(value) => Some(value),
            Access::Update(change) => change(read),
        };
        let has_failed = may_fail && written.is_some() && choose(2) == 1;
        self.note_failure(operation, has_failed);
        let written = written.filter(|_| !has_failed);
        Done { read, newest: written.unwrap_or(read), has_written: written.is_some() }
    }

    /// Notes whether an exchange has failed without a reason. The next one of its process does not.
    fn note_failure(&mut self, operation: Operation, has_failed: bool) {
        if has_failed {
            self.failed.insert((operation.process, operation.address));
        } else if operation.may_fail {
            self.failed.remove(&(operation.process, operation.address));
        }
    }

    /// Performs a fence.
    pub(in crate::program) fn fence(&mut self, process: u32, order: Ordering, site: &'static Site<'static>) {
        if self.detail > Detail::None {
            let orders = match self.memory {
                Memory::Rc11 => Orders::from(order),
                // A fence that orders no more than the accesses do is left out.
                Memory::Sc | Memory::Tso if order != Ordering::SeqCst => return,
                Memory::Sc | Memory::Tso => Orders::from(order),
            };
            self.graph.fence(process, orders, site);
        }
    }

    /// Returns a name for a cell that is made now.
    pub(in crate::program) fn make_cell(&mut self, process: u32, site: &'static Site<'static>) -> Name {
        self.need(Detail::Clocks);
        self.made += 1;
        let name = (u64::from(self.execution) << 32) | u64::from(self.made);
        if self.detail > Detail::None {
            self.cells.access(&mut self.graph, name, process, CellAccess::Made, Some(site));
        }
        name
    }

    /// Notes an access to a cell. `name` is the name from `make_cell`, or zero.
    pub(in crate::program) fn access_cell(
        &mut self,
        name: Name,
        address: usize,
        process: u32,
        access: CellAccess,
        site: Option<&'static Site<'static>>,
    ) {
        self.need(Detail::Clocks);
        let name = if (name >> 32) as u32 == self.execution && name != 0 { name } else { address as u64 };
        if self.detail > Detail::None && !self.is_over() {
            self.race = self.cells.access(&mut self.graph, name, process, access, site);
            if access == CellAccess::Dropped {
                self.cells.forget(name);
            }
        }
    }

    /// Notes that the objects at an address are gone.
    pub(in crate::program) fn forget(&mut self, address: usize) {
        if self.detail > Detail::None {
            self.graph.forget(address);
        }
    }

    /// Notes that the objects at these addresses are gone.
    pub(in crate::program) fn forget_within(&mut self, begin: usize, size: usize) {
        if self.detail > Detail::None {
            self.graph.forget_within(begin, begin + size);
        }
    }
}
