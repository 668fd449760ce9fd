//! Gives a type to each location for which the test says none.

use std::collections::BTreeSet;

use crate::litmus::program::expression::Expression;
use crate::litmus::program::memory::{Memory, STRIDE};
use crate::litmus::program::path::{Event, Kind, Path};
use crate::litmus::program::{Architecture, Type};

/// A location without a type is an `int`, unless all accesses to it have 8 bytes.
pub(super) fn settle(memory: &mut Memory, architecture: Architecture, threads: &[Vec<Path>]) {
    if architecture == Architecture::C {
        return;
    }
    let events = threads.iter().flatten().flat_map(|path| &path.events);
    let accesses: Vec<&Event> = events.filter(|event| !matches!(event.kind, Kind::Fence(_))).collect();
    let sizes = |base: Option<i64>| -> BTreeSet<usize> {
        let goes = |event: &&&Event| match (&event.address, base) {
            (Expression::Constant(address), Some(base)) => (base..base + STRIDE as i64).contains(address),
            (Expression::Constant(_), None) | (_, Some(_)) => false,
            (_, None) => true,
        };
        accesses.iter().filter(goes).map(|event| event.size).collect()
    };
    for (number, location) in memory.locations.iter_mut().enumerate() {
        let known = sizes(Some(Memory::address(number)));
        let known = if known.is_empty() { sizes(None) } else { known };
        if location.declared.is_none() && known == BTreeSet::from([8]) {
            location.ty = Type::LONG;
        }
    }
}
