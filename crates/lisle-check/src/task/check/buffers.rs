//! Stores that have not reached memory.
//!
//! Under total store order each task has a buffer of its own. Its oldest store is an actor that can
//! go on by itself, and reaching memory counts as a store in the table of conflicts. *Invariant:*
//! under sequential consistency there are no buffers, and nothing here costs more than seeing that.

use super::machine::Machine;
use super::state::State;

/// A store that has not reached memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Stored {
    pub(super) cell: u32,
    pub(super) value: u32,
    /// The local state of the store.
    pub(super) local: u32,
}

impl Machine {
    /// Returns the value that `task` finds in the cell: the last value that it has stored itself,
    /// or the value in memory.
    pub(super) fn load(&self, state: &State, task: u32, cell: u32) -> u32 {
        let buffer = self.locals.slots.task(task).buffer;
        let stores = buffer.map_or(&[][..], |buffer| self.buffer(state, buffer));
        let own = stores.iter().rev().find(|stored| stored.cell == cell);
        own.map_or_else(|| state.number(cell).expect("a cell holds something"), |stored| stored.value)
    }

    /// Returns `true` if all stores of `task` have reached memory.
    pub(super) fn drained(&self, state: &State, task: u32) -> bool {
        self.locals.slots.task(task).buffer.is_none_or(|buffer| state.get(buffer) == 0)
    }

    /// Returns the stores in a buffer, the oldest first.
    pub(super) fn buffer(&self, state: &State, buffer: u32) -> &[Stored] {
        state.number(buffer).map_or(&[], |stores| &self.buffers[stores as usize])
    }

    fn set_buffer(&mut self, state: &mut State, buffer: u32, stores: Vec<Stored>) {
        if stores.is_empty() {
            return state.clear(buffer);
        }
        let number = self.buffers.insert_full(stores).0;
        state.set_number(buffer, u32::try_from(number).expect("fewer than 2^32 buffers"));
    }

    /// Lets the oldest store of a buffer reach memory.
    pub(super) fn drain(&mut self, state: &mut State, buffer: u32) {
        let stores = self.buffer(state, buffer);
        let (oldest, rest) = (stores[0], stores[1..].to_vec());
        state.set_number(oldest.cell, oldest.value);
        self.set_buffer(state, buffer, rest);
    }

    /// Puts a store into the buffer of `task`.
    pub(super) fn delay(&mut self, state: &mut State, task: u32, store: Stored) {
        let buffer = self.locals.slots.task(task).buffer.expect("every task has a buffer");
        let stores = [self.buffer(state, buffer), &[store]].concat();
        self.set_buffer(state, buffer, stores);
    }
}
