//! Which values are the same, which are equal, and hashes that fit that.

use crate::value::*;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr;

/// Returns `true` for the same object, and for equal numbers of the same kind.
pub(crate) fn is_eqv(one: ValueView<'_>, other: ValueView<'_>) -> bool {
    match (one, other) {
        (ValueView::Float(one), ValueView::Float(other)) => one.0 == other.0,
        _ => one == other,
    }
}

/// Returns `true` for values that print alike, circular ones too.
pub(crate) fn is_equal(one: ValueView<'_>, other: ValueView<'_>) -> bool {
    let mut left = vec![(one, other)];
    // After some steps, the objects that are compared with each other are noted, and not compared again.
    let (mut steps, mut compared) = (0, HashSet::new());
    while let Some((one, other)) = left.pop() {
        if let (Some(one), Some(other)) = (address(one), address(other)) {
            steps += 1;
            if one == other || (steps > 1_000 && !compared.insert((one, other))) {
                continue;
            }
        }
        match (one, other) {
            (ValueView::Pair(one), ValueView::Pair(other)) => {
                left.extend([(one.cdr(), other.cdr()), (one.car(), other.car())]);
            }
            (ValueView::Vector(one), ValueView::Vector(other)) if one.len() == other.len() => {
                left.extend(one.iter().zip(other).map(|(one, other)| (one.get(), other.get())));
            }
            (ValueView::Text(one), ValueView::Text(other)) if one.0 == other.0 => {}
            _ if is_eqv(one, other) => {}
            _ => return false,
        }
    }
    true
}

/// Returns the address of a value that has parts.
fn address(value: ValueView<'_>) -> Option<usize> {
    match value {
        ValueView::Pair(pair) => Some(ptr::from_ref(pair.get()).addr()),
        ValueView::Vector(vector) => Some(vector.as_slice().as_ptr().addr()),
        _ => None,
    }
}

/// Returns a hash that equal values share. Objects move, so it is not that of an address.
pub(crate) fn hash(value: ValueView<'_>) -> u64 {
    fn add(value: ValueView<'_>, hasher: &mut DefaultHasher, depth: usize) {
        match value {
            ValueView::Int(number) => number.hash(hasher),
            ValueView::Char(letter) => letter.hash(hasher),
            ValueView::Bool(truth) => truth.hash(hasher),
            ValueView::Symbol(symbol) => symbol.id.hash(hasher),
            ValueView::Float(float) => float.0.to_bits().hash(hasher),
            ValueView::Text(text) => text.0.hash(hasher),
            ValueView::Pair(pair) if depth < 8 => {
                add(pair.car(), hasher, depth + 1);
                add(pair.cdr(), hasher, depth + 1);
            }
            _ => {}
        }
    }
    let mut hasher = DefaultHasher::new();
    add(value, &mut hasher, 0);
    hasher.finish()
}
