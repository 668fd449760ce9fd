//! Small tables of each thread, which remember facts about pieces of code.
//!
//! The same code mostly behaves as it did before. A piece of code is known by the address of a function that was
//! instantiated for it. Of two pieces of code that fall on the same slot, the later one wins.

use std::cell::Cell;

/// The number of pieces of code that are remembered at a time; a power of two.
pub const SLOTS: usize = 64;

/// A table.
pub type Table<T> = [Cell<Slot<T>>; SLOTS];

/// A piece of code, and the facts about it.
#[derive(Debug, Clone, Copy)]
pub struct Slot<T> {
    code: usize,
    facts: T,
}

impl<T> Slot<T> {
    /// Creates a slot of no code, whose facts are never read.
    pub const fn empty(facts: T) -> Self {
        Slot { code: 0, facts }
    }
}

#[inline]
fn slot_of<T>(table: &Table<T>, code: usize) -> &Cell<Slot<T>> {
    &table[(code >> 4 ^ code >> 10) % SLOTS]
}

/// Returns the facts about `code`, if it is remembered.
#[inline]
pub(crate) fn get<T: Copy>(table: &Table<T>, code: usize) -> Option<T> {
    let slot = slot_of(table, code).get();
    (slot.code == code).then_some(slot.facts)
}

/// Calls `f` with the facts about `code`, or with `new` if it is not remembered. `f` must not use the table.
#[inline]
pub fn with<T: Copy, R>(table: &Table<T>, code: usize, new: T, f: impl FnOnce(&mut T) -> R) -> R {
    let mut facts = get(table, code).unwrap_or(new);
    let result = f(&mut facts);
    slot_of(table, code).set(Slot { code, facts });
    result
}
