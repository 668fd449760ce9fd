//! Small tables of each thread, which remember something of pieces of code.
//!
//! The same code mostly behaves as it did before. A piece of code is known by the address of a function that was
//! instantiated for it. Of two pieces of code that fall on the same place, the later one wins.

use std::cell::Cell;

/// The number of pieces of code that are remembered at a time; a power of two.
pub const PLACES: usize = 64;

/// A table.
pub type Table<T> = [Cell<Place<T>>; PLACES];

/// What is known of a piece of code.
#[derive(Debug, Clone, Copy)]
pub struct Place<T> {
    code: usize,
    known: T,
}

impl<T> Place<T> {
    /// Creates a place of no code, with something that is never looked at.
    pub const fn empty(known: T) -> Self {
        Place { code: 0, known }
    }
}

/// Returns the number of the place of a piece of code.
#[inline]
pub(crate) fn place_of(code: usize) -> usize {
    (code >> 4 ^ code >> 10) % PLACES
}

/// Calls `f` with what is known of `code`, or with `new` if nothing is. `f` must not use the table.
#[inline]
pub fn with<T: Copy, R>(table: &Table<T>, code: usize, new: T, f: impl FnOnce(&mut T) -> R) -> R {
    let place = &table[place_of(code)];
    let mut known = match place.get() {
        there if there.code == code => there.known,
        _ => new,
    };
    let result = f(&mut known);
    place.set(Place { code, known });
    result
}
