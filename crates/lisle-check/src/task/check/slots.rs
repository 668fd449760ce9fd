//! The slots of states, and their names.
//!
//! *Invariant:* the number of a slot depends on its name, and not on the schedule that has first
//! met it: a task's number on its path of forks, a cell's on its maker.

use crate::task::names::{CellName, Path, TaskName};
use crate::task::program::Site;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The clock.
pub(super) const NOW: u32 = 0;
/// Standard output.
pub(super) const OUTPUT: u32 = 1;
/// The number of lines read from standard input.
pub(super) const INPUT: u32 = 2;
/// The program's answer.
pub(super) const ANSWER: u32 = 3;
/// The main task.
pub(super) const MAIN: u32 = 4;

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CellKind {
    Memory,
    IVar,
    Mutex,
}

/// The meaning of a slot.
#[derive(Debug)]
enum Slot {
    /// One of the slots above.
    Fixed,
    Task(TaskSlot),
    Cell {
        name: CellName,
        kind: CellKind,
    },
    File(Arc<str>),
    /// Belongs to a task.
    Part,
}

/// A task, and the slots that belong to it.
#[derive(Clone, Debug)]
pub(super) struct TaskSlot {
    pub(super) name: TaskName,
    /// The stores that have not reached memory. There is none under sequential consistency.
    pub(super) buffer: Option<u32>,
    /// When its sleep is over. There is none if sleeping orders nothing.
    pub(super) due: Option<u32>,
}

/// The identity of a slot. After different replies a task may fork and make different things, so
/// the replies count as well.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Task { parent: u32, forks: u32, name: Option<Arc<str>>, site: Site },
    Cell { maker: u32, cells: u32, kind: CellKind, site: Site },
    File(Arc<str>),
}

/// All slots that were met.
pub(super) struct Slots {
    slots: Vec<Slot>,
    numbers: FxHashMap<Key, u32>,
    buffered: bool,
    timed: bool,
    /// All tasks that were met.
    pub(super) tasks: Vec<u32>,
    /// All buffers, with their tasks.
    pub(super) buffers: Vec<(u32, u32)>,
}

impl Slots {
    /// Creates the fixed slots and the main task's.
    pub(super) fn new(main: Option<Arc<str>>, buffered: bool, timed: bool) -> Self {
        let slots = (0..MAIN).map(|_| Slot::Fixed).collect();
        let (tasks, buffers) = (Vec::new(), Vec::new());
        let mut slots = Slots { slots, numbers: FxHashMap::default(), buffered, timed, tasks, buffers };
        slots.add_task(TaskName { path: Path::default(), name: main, forked_at: None });
        slots
    }

    fn add(&mut self, slot: Slot) -> u32 {
        self.slots.push(slot);
        u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 things are in a program")
    }

    fn add_task(&mut self, name: TaskName) -> u32 {
        let task = self.add(Slot::Task(TaskSlot { name, buffer: None, due: None }));
        let buffer = self.buffered.then(|| self.add(Slot::Part));
        let due = self.timed.then(|| self.add(Slot::Part));
        if let Slot::Task(slot) = &mut self.slots[task as usize] {
            (slot.buffer, slot.due) = (buffer, due);
        }
        self.tasks.push(task);
        self.buffers.extend(buffer.map(|buffer| (buffer, task)));
        task
    }

    /// Returns the slot of the task that `parent` forks after `forks` others.
    pub(super) fn fork(&mut self, parent: u32, forks: u32, name: Option<Arc<str>>, site: Site) -> u32 {
        let key = Key::Task { parent, forks, name: name.clone(), site };
        if let Some(&slot) = self.numbers.get(&key) {
            return slot;
        }
        let path = self.task(parent).name.path.child(forks);
        let slot = self.add_task(TaskName { path, name, forked_at: Some(site) });
        self.numbers.insert(key, slot);
        slot
    }

    /// Returns the slot of the cell that `maker` makes after `cells` others.
    pub(super) fn make(&mut self, maker: u32, cells: u32, kind: CellKind, site: Site) -> u32 {
        let key = Key::Cell { maker, cells, kind, site };
        if let Some(&slot) = self.numbers.get(&key) {
            return slot;
        }
        let maker = self.task(maker).name.path.clone();
        let slot = self.add(Slot::Cell { name: CellName { maker, index: cells, made_at: site }, kind });
        self.numbers.insert(key, slot);
        slot
    }

    /// Returns the slot of a file.
    pub(super) fn file(&mut self, name: &Arc<str>) -> u32 {
        if let Some(&slot) = self.numbers.get(&Key::File(name.clone())) {
            return slot;
        }
        let slot = self.add(Slot::File(name.clone()));
        self.numbers.insert(Key::File(name.clone()), slot);
        slot
    }

    /// Returns the entry of a task.
    pub(super) fn task(&self, slot: u32) -> &TaskSlot {
        match &self.slots[slot as usize] {
            Slot::Task(task) => task,
            other => unreachable!("slot {slot} is {other:?} and no task"),
        }
    }

    /// Returns the name of the cell in this slot, if there is one of this kind.
    pub(super) fn cell(&self, slot: u32, kind: CellKind) -> Option<&CellName> {
        match self.slots.get(slot as usize)? {
            Slot::Cell { name, kind: is } if *is == kind => Some(name),
            _ => None,
        }
    }

    /// Returns the name of a file, or `None` for standard output.
    pub(super) fn file_name(&self, slot: u32) -> Option<&Arc<str>> {
        match &self.slots[slot as usize] {
            Slot::File(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the slots of all memory cells.
    pub(super) fn memory(&self) -> impl Iterator<Item = (u32, &CellName)> {
        self.slots.iter().zip(0..).filter_map(|(slot, number)| match slot {
            Slot::Cell { name, kind: CellKind::Memory } => Some((number, name)),
            _ => None,
        })
    }

    /// Returns the slots of all files.
    pub(super) fn files(&self) -> impl Iterator<Item = (u32, &Arc<str>)> {
        self.slots.iter().zip(0..).filter_map(|(slot, number)| match slot {
            Slot::File(name) => Some((number, name)),
            _ => None,
        })
    }
}
