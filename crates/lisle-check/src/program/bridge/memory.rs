//! The calls of a program's atomics and cells.

use super::Bridge;
use crate::explore::{Kind, Process, Strategy};
use crate::program::memory::{Access, CellAccess, DataRace, Detail, Done, Modelled, Operation};
use crate::program::read_at;
use lisle_core::internal::shim::model::Touch;
use std::cell::Ref;
use std::panic::Location;
use std::sync::atomic::Ordering;

impl Bridge {
    /// Returns the detail of the memory that the program needs, if that is more than was known.
    pub(in crate::program) fn learnt_detail(&self) -> Option<Detail> {
        self.memory.borrow().learnt()
    }

    /// Returns the model of the memory.
    pub(in crate::program) fn memory(&self) -> Ref<'_, Modelled> {
        self.memory.borrow()
    }

    /// Returns the race that the execution has shown.
    pub(in crate::program) fn race(&self) -> Option<DataRace> {
        let sites = self.sites.borrow();
        self.memory.borrow().race(|process| *sites.get(process as usize)?)
    }

    /// Performs an access to an atomic in the memory model.
    pub(in crate::program) fn access(&self, operation: Operation, access: Access<'_>) -> Done {
        let (kind, touch) = match access {
            Access::Load => (Kind::Read, Touch::Read),
            Access::Store(_) => (Kind::Write, Touch::Store),
            Access::Update(_) => (Kind::Update, Touch::Write),
        };
        let object = self.objects.borrow().at(operation.address);
        let stored = if let Access::Store(value) = access { Some(value) } else { None };
        let choose = |ways: usize| {
            // The access is reported before the choice, whose ways depend on the object.
            if let Some(object) = object {
                self.strategy.borrow_mut().access(object, Kind::Read);
            }
            self.choose_of(Process(operation.process), ways)
        };
        let done = self.memory.borrow_mut().access(operation, access, choose);
        let (kind, touch) = if done.has_written { (kind, touch) } else { (Kind::Read, Touch::Read) };
        self.note(|recorder| recorder.touched(operation.address, touch));
        if let Some(object) = object {
            // An update that leaves the value as it is has only read it, unless it orders
            // something. A store of the same value has still replaced other writes.
            let is_same = stored.unwrap_or(done.newest) == operation.value;
            let has_read = is_same && stored.is_none() && !self.memory.borrow().is_modelled();
            let told = if is_same { Kind::Read } else { kind };
            if !self.asking.borrow().has_told(Process(operation.process), object, told) {
                self.strategy.borrow_mut().access(object, if has_read { Kind::Read } else { kind });
            }
            read_at(operation.site);
            // A store below the newest one changes the graph for good.
            let was = stored.filter(|stored| *stored != done.newest).unwrap_or(operation.value);
            let saw = stored.is_none().then_some(done.read);
            self.asked_or_set(object, told, Some((was, done.newest)), saw);
        }
        done
    }

    /// Performs a fence.
    pub(in crate::program) fn fence(
        &self,
        process: Process,
        order: Ordering,
        site: &'static Location<'static>,
    ) {
        self.memory.borrow_mut().fence(process.0, order, site);
    }

    /// Returns a name for a cell that is made.
    pub(in crate::program) fn make_cell(&self, process: Process, site: &'static Location<'static>) -> u64 {
        self.memory.borrow_mut().make_cell(process.0, site)
    }

    /// Notes an access to a cell.
    pub(in crate::program) fn access_cell(
        &self,
        process: Process,
        (name, address): (u64, usize),
        access: CellAccess,
        site: Option<&'static Location<'static>>,
    ) {
        self.memory.borrow_mut().access_cell(name, address, process.0, access, site);
    }
}
