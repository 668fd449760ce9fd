//! The cells of the memory, and the accesses as parts of one cell each.
//!
//! Accesses of different sizes may go to the same bytes, but the models speak of accesses to one
//! location each. So the memory is cut into cells, as large as possible such that each access goes
//! to whole cells. An access of several cells has one part for each, and the model gets the parts
//! that belong together. A test with one size has a cell for each location, and no parts.
//!
//! If an address depends on a read, the touched bytes are not known beforehand. The access is
//! assumed to have whole cells of its own size. If a search finds otherwise, it begins again with
//! smaller cells ([`Cells::refine`]).

use std::collections::BTreeSet;

use super::relation::{Set, members};
use crate::litmus::program::expression::{Expression, Extension, Operator};
use crate::litmus::program::memory::{Memory, Range};
use crate::litmus::program::path::{Event, Kind, Pair, Path, Symbol};

/// The target of an access, or of a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// The cell with this number.
    Cell(usize),
    /// Bytes that are not all of one location, or an address that is no multiple of the size.
    Nowhere,
    /// Bytes of a location that are not one cell.
    Several(Range),
}

/// The memory, cut.
#[derive(Debug, Clone)]
pub(crate) struct Cells<'a> {
    memory: &'a Memory,
    /// The ranges that are accessed in one piece.
    touched: BTreeSet<Range>,
    pub(crate) cells: Vec<Range>,
    /// The largest part of an access whose address is not known beforehand.
    largest: usize,
}

impl<'a> Cells<'a> {
    /// The cells for the accesses of these threads.
    pub(crate) fn new(memory: &'a Memory, threads: &[Vec<Path>]) -> Cells<'a> {
        let events = threads.iter().flatten().flat_map(|path| &path.events);
        let touched = events.filter_map(|event| touched(memory, event)).collect();
        let mut cells = Cells { memory, touched, cells: Vec::new(), largest: 8 };
        cells.cut();
        cells
    }

    /// Makes the cells smaller, so that an access can go to this range.
    pub(crate) fn refine(&mut self, range: Range) {
        let within = self.cells.iter().filter(|cell| range.contains(**cell));
        // Each part is as large as the smallest, so all of them go to whole cells.
        if let Some(least) = within.map(|cell| cell.size).min().filter(|least| *least < range.size) {
            self.largest = self.largest.min(largest_power(least));
        }
        self.touched.insert(range);
        self.cut();
    }

    fn cut(&mut self) {
        let edges: BTreeSet<(usize, usize)> = self
            .touched
            .iter()
            .flat_map(|range| [(range.location, range.offset), (range.location, range.end())])
            .collect();
        let edges: Vec<(usize, usize)> = edges.into_iter().collect();
        let between = edges.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        let between =
            between.map(|pair| Range { location: pair[0].0, offset: pair[0].1, size: pair[1].1 - pair[0].1 });
        self.cells = between.filter(|cell| self.touched.iter().any(|range| range.contains(*cell))).collect();
    }

    /// The value of a cell at the start.
    pub(crate) fn first_value(&self, cell: usize) -> i64 {
        let Range { location, offset, size } = self.cells[cell];
        let location = &self.memory.locations[location];
        self.wrap(cell, location.first_value(offset, size))
    }

    /// A value converted by a write into a cell. A cell that is a whole element has the element's
    /// type; any other is unsigned.
    pub(crate) fn wrap(&self, cell: usize, value: i64) -> i64 {
        let Range { location, size, .. } = self.cells[cell];
        let ty = self.memory.locations[location].ty;
        if size == ty.size { ty.wrap(value) } else { Extension::Zero.apply(8 * size as u32, value) }
    }

    /// The target of an access to `size` bytes at `address`, if it is a part of an access to
    /// `whole` bytes that begins `part` bytes before.
    pub(crate) fn target(&self, address: i64, event: &Event) -> Target {
        let aligned = event.whole == 0 || (address - event.part as i64) % event.whole as i64 == 0;
        let Some(range) = self.memory.find(address, event.size).filter(|_| aligned) else {
            return Target::Nowhere;
        };
        match self.cells.iter().position(|cell| *cell == range) {
            Some(cell) => Target::Cell(cell),
            None => Target::Several(range),
        }
    }

    /// The value of some bytes of a location at the end. `last` gives the values of the cells.
    /// Bytes that nothing accesses are as they were.
    pub(crate) fn value(&self, range: Range, last: impl Fn(usize) -> Option<i64>) -> Option<i64> {
        let location = &self.memory.locations[range.location];
        let byte = |offset: usize| {
            let this = Range { location: range.location, offset, size: 1 };
            match self.cells.iter().position(|cell| cell.contains(this)) {
                Some(cell) => Some(last(cell)? >> (8 * (offset - self.cells[cell].offset)) & 0xff),
                None => Some(location.first_value(offset, 1)),
            }
        };
        (range.offset..range.end()).rev().try_fold(0, |value, offset| Some(value << 8 | byte(offset)?))
    }

    /// The path with each access of several cells in parts.
    pub(crate) fn divide(&self, path: &Path) -> Path {
        let parts: Vec<Vec<(usize, usize)>> = path.events.iter().map(|event| self.parts(event)).collect();
        if parts.iter().all(|parts| parts.len() == 1) {
            return path.clone();
        }
        let first = |event: usize| parts[..event].iter().map(Vec::len).sum::<usize>();
        let renamed = |set: Set| {
            let of = |event: usize| (first(event)..first(event) + parts[event].len()).map(bit).sum::<Set>();
            members(set).map(of).fold(0, |all, some| all | some)
        };
        let symbol = |symbol: &Symbol| symbol.replace(&mut |&read: &usize| joined(first(read), &parts[read]));
        let mut events = Vec::new();
        for (event, parts) in path.events.iter().zip(&parts) {
            let (address, value) = (symbol(&event.address), symbol(&event.value));
            for &(part, size) in parts {
                events.push(Event {
                    address: Expression::binary(
                        Operator::Add,
                        address.clone(),
                        Expression::Constant(part as i64),
                    ),
                    value: match event.kind {
                        Kind::Read => Expression::Leaf(events.len()),
                        _ if parts.len() == 1 => value.clone(),
                        _ => bytes(value.clone(), part, size),
                    },
                    part,
                    size,
                    address_taint: event.address_taint.map(renamed),
                    value_taint: event.value_taint.map(renamed),
                    control: event.control.map(renamed),
                    pair: event.pair.map(|pair| Pair { reads: renamed(pair.reads), ..pair }),
                    ..*event
                });
            }
        }
        Path {
            events,
            conditions: path
                .conditions
                .iter()
                .map(|(condition, truth)| (symbol(condition), *truth))
                .collect(),
            registers: path.registers.iter().map(symbol).collect(),
        }
    }

    /// For each part of an event, how far behind its address it begins, and its size.
    fn parts(&self, event: &Event) -> Vec<(usize, usize)> {
        let whole = vec![(0, event.size)];
        if matches!(event.kind, Kind::Fence(_)) || event.size == 0 {
            return whole;
        }
        let Expression::Constant(address) = event.address else {
            let largest = self.largest.min(event.size);
            return (0..event.size).step_by(largest).map(|part| (part, largest)).collect();
        };
        match self.target(address, event) {
            Target::Cell(_) | Target::Nowhere => whole,
            Target::Several(range) => {
                let within = self.cells.iter().filter(|cell| range.contains(**cell));
                within.map(|cell| (cell.offset - range.offset, cell.size)).collect()
            }
        }
    }
}

/// The bytes that an access touches, if that is known beforehand.
fn touched(memory: &Memory, event: &Event) -> Option<Range> {
    match event.address {
        _ if matches!(event.kind, Kind::Fence(_)) => None,
        Expression::Constant(address) if event.size == 0 || address % event.size as i64 == 0 => {
            memory.find(address, event.size)
        }
        _ => None,
    }
}

/// The largest power of two that is not larger.
fn largest_power(size: usize) -> usize {
    1 << size.ilog2()
}

fn bit(event: usize) -> Set {
    Set::checked_shl(1, event as u32).unwrap_or(0)
}

/// The value that an access read, from the values of its parts. A read of a part of a location is
/// unsigned.
fn joined(first: usize, parts: &[(usize, usize)]) -> Symbol {
    let [_] = parts else {
        return parts.iter().enumerate().fold(Expression::Constant(0), |low, (number, &(part, size))| {
            let high = Expression::extend(Extension::Zero, 8 * size as u32, Expression::Leaf(first + number));
            let by = Expression::Constant(8 * part as i64);
            let high = if part == 0 { high } else { Expression::binary(Operator::ShiftLeft, high, by) };
            Expression::binary(Operator::Or, low, high)
        });
    };
    Expression::Leaf(first)
}

/// The bytes of a value that go to one part.
fn bytes(value: Symbol, part: usize, size: usize) -> Symbol {
    let by = Expression::Constant(8 * part as i64);
    let shifted = if part == 0 { value } else { Expression::binary(Operator::ShiftRight, value, by) };
    Expression::extend(Extension::Zero, 8 * size as u32, shifted)
}
