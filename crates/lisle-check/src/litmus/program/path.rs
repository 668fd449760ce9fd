//! One way of a thread through its code, as the events that it causes.
//!
//! Invariant: dependencies and expressions name only earlier reads of the same thread. Their
//! numbers count the events of the thread; [`Event::moved`] turns them into numbers of an
//! execution.

use super::expression::Expression;
use super::{Fence, Order, Register, Size};
use crate::litmus::error::SourcePosition;
use crate::litmus::execution::relation::Set;

/// A value that is an expression over the reads with these numbers.
pub(crate) type Symbol = Expression<usize>;

/// The reads on which a value depends by the text of the program.
///
/// Invariant: a read that is in `certain` is in `picked`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Taint {
    /// The reads whose values it is computed from.
    pub(crate) certain: Set,
    /// The same, and the reads that choose between two values (by CSEL or CAS). A processor may
    /// guess the choice, so these order less.
    pub(crate) picked: Set,
}

impl Taint {
    /// The taint of a read's value.
    pub(crate) fn of(read: usize) -> Taint {
        // A path with too many events is refused as soon as the step that made them ends.
        let read = Set::checked_shl(1, read as u32).unwrap_or(0);
        Taint { certain: read, picked: read }
    }

    /// Both together.
    pub(crate) fn or(self, other: Taint) -> Taint {
        Taint { certain: self.certain | other.certain, picked: self.picked | other.picked }
    }

    /// The taint of a value that may be guessed.
    pub(crate) fn guessed(self) -> Taint {
        Taint { certain: 0, ..self }
    }

    fn moved(self, offset: usize) -> Taint {
        self.map(|reads| reads << offset)
    }

    /// The taint with other numbers for its reads.
    pub(crate) fn map(self, reads: impl Fn(Set) -> Set) -> Taint {
        Taint { certain: reads(self.certain), picked: reads(self.picked) }
    }
}

/// A value and its dependencies.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub(crate) symbol: Symbol,
    pub(crate) taint: Taint,
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads a location.
    Read,
    /// Writes a location.
    Write,
    /// Orders others.
    Fence(Fence),
}

/// The read that a write forms one step with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    /// The read, or its parts.
    pub(crate) reads: Set,
    /// Whether both are one instruction, not an exclusive load and an exclusive store.
    pub(crate) single: bool,
}

/// A read, a write or a fence.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    pub(crate) order: Order,
    pub(crate) address: Symbol,
    pub(crate) size: Size,
    /// The number of the access that it is, or is a part of.
    pub(crate) access: usize,
    /// If it is a part: how far behind the address of the access it begins.
    pub(crate) part: usize,
    /// The size of the access.
    pub(crate) whole: Size,
    /// The value of a write. For a read it is the read itself.
    pub(crate) value: Symbol,
    pub(crate) address_taint: Taint,
    pub(crate) value_taint: Taint,
    /// The dependencies of the branches before it.
    pub(crate) control: Taint,
    pub(crate) pair: Option<Pair>,
    /// Whether it belongs to an instruction that locks the bus of an x86.
    pub(crate) locked: bool,
    /// Whether the value of the read goes nowhere.
    pub(crate) unused: bool,
    pub(crate) position: SourcePosition,
}

impl Event {
    /// The event with its numbers counted from `offset`.
    pub(crate) fn moved(&self, offset: usize) -> Event {
        let symbol = |symbol: &Symbol| symbol.replace(&mut |read| Expression::Leaf(read + offset));
        Event {
            address: symbol(&self.address),
            value: symbol(&self.value),
            address_taint: self.address_taint.moved(offset),
            value_taint: self.value_taint.moved(offset),
            control: self.control.moved(offset),
            pair: self.pair.map(|pair| Pair { reads: pair.reads << offset, ..pair }),
            ..*self
        }
    }
}

/// One way through a thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    pub(crate) events: Vec<Event>,
    /// The values that must be (not) 0 for the thread to go this way.
    pub(crate) conditions: Vec<(Symbol, bool)>,
    /// The registers at the end.
    pub(crate) registers: Vec<Symbol>,
}

impl Path {
    /// The register's value at the end. One that the thread does not know is 0.
    pub(crate) fn last(&self, register: Register) -> &Symbol {
        self.registers.get(register.0).unwrap_or(&Expression::Constant(0))
    }
}
