//! The cells of a program that runs.
//!
//! A handle is a number, so the cells are in a table. It only grows. *Invariant:* no lock of the
//! standard library is held while a fiber waits.

use crate::task::names::{CellName, TaskName};
use crate::task::program::{Change, Content};
use crate::task::value::Datum;
use lisle::sync::{IVar, Semaphore};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The message for a handle that belongs to another table.
pub(super) const FOREIGN: &str = "uses a cell that another run of the program has made";

/// A cell and its name.
pub(super) struct Cell {
    pub(super) name: CellName,
    contents: Contents,
}

enum Contents {
    Memory(Mutex<Datum>),
    IVar(IVar<Datum>),
    Mutex(Lock),
}

/// A mutex that an operation unlocks, and not the end of a scope: a semaphore of one token, and its
/// holder.
pub(super) struct Lock {
    token: Semaphore,
    holder: Mutex<Option<TaskName>>,
}

/// All cells of a program.
#[derive(Default)]
pub(super) struct Cells(RwLock<Vec<Arc<Cell>>>);

impl Cells {
    pub(super) fn make(&self, name: CellName, content: &Content) -> u32 {
        let contents = match content {
            Content::Memory(value) => Contents::Memory(Mutex::new(value.clone())),
            Content::IVar => Contents::IVar(IVar::new()),
            Content::Mutex => Contents::Mutex(Lock { token: Semaphore::new(1), holder: Mutex::new(None) }),
        };
        let mut cells = self.0.write().unwrap_or_else(PoisonError::into_inner);
        cells.push(Arc::new(Cell { name, contents }));
        u32::try_from(cells.len() - 1).expect("fewer than 2^32 cells are in a program")
    }

    /// Returns the cell with this number.
    ///
    /// # Errors
    ///
    /// Returns a message if there is none.
    pub(super) fn get(&self, number: u32) -> Result<Arc<Cell>, String> {
        let cells = self.0.read().unwrap_or_else(PoisonError::into_inner);
        cells.get(number as usize).cloned().ok_or_else(|| FOREIGN.to_owned())
    }

    /// Returns the content of each place.
    pub(super) fn memory(&self) -> impl Iterator<Item = (CellName, Datum)> {
        let cells = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        cells.into_iter().filter_map(|cell| match &cell.contents {
            Contents::Memory(value) => Some((cell.name.clone(), locked(value).clone())),
            Contents::IVar(_) | Contents::Mutex(_) => None,
        })
    }
}

impl Cell {
    fn memory(&self) -> Result<&Mutex<Datum>, String> {
        match &self.contents {
            Contents::Memory(value) => Ok(value),
            _ => Err(FOREIGN.to_owned()),
        }
    }

    pub(super) fn ivar(&self) -> Result<&IVar<Datum>, String> {
        match &self.contents {
            Contents::IVar(ivar) => Ok(ivar),
            _ => Err(FOREIGN.to_owned()),
        }
    }

    pub(super) fn lock(&self) -> Result<&Lock, String> {
        match &self.contents {
            Contents::Mutex(lock) => Ok(lock),
            _ => Err(FOREIGN.to_owned()),
        }
    }

    pub(super) fn load(&self) -> Result<Datum, String> {
        Ok(locked(self.memory()?).clone())
    }

    pub(super) fn store(&self, value: &Datum) -> Result<(), String> {
        *locked(self.memory()?) = value.clone();
        Ok(())
    }

    /// Changes the value in one step, and returns the old one.
    pub(super) fn update(&self, change: &Change) -> Result<Datum, String> {
        let mut value = locked(self.memory()?);
        let old = value.clone();
        if let Some(new) = change(&old) {
            *value = new;
        }
        Ok(old)
    }

    /// Returns the holder, if this is a mutex that is held.
    pub(super) fn holder(&self) -> Option<TaskName> {
        self.lock().ok().and_then(|lock| locked(&lock.holder).clone())
    }
}

impl Lock {
    /// Waits for the mutex.
    pub(super) fn acquire(&self, task: &TaskName) {
        self.token.wait();
        *locked(&self.holder) = Some(task.clone());
    }

    pub(super) fn try_acquire(&self, task: &TaskName) -> bool {
        let taken = self.token.try_wait();
        if taken {
            *locked(&self.holder) = Some(task.clone());
        }
        taken
    }

    /// # Errors
    ///
    /// Returns a message if `task` does not hold the mutex.
    pub(super) fn release(&self, task: &TaskName) -> Result<(), String> {
        let mut holder = locked(&self.holder);
        if holder.as_ref() != Some(task) {
            return Err("unlocks a mutex that it does not hold".to_owned());
        }
        *holder = None;
        drop(holder);
        self.token.post();
        Ok(())
    }
}

/// Locks a mutex, ignoring poison: a value is replaced as a whole, so no panic can leave it half
/// done.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
