//! Which values are the same, which are equal, and hashes that fit that.

use crate::value::*;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Returns `true` for the same object, and for equal numbers of the same kind.
pub(crate) fn is_eqv(one: ValueView<'_>, other: ValueView<'_>) -> bool {
    match (one, other) {
        (ValueView::Float(one), ValueView::Float(other)) => one.0 == other.0,
        _ => one == other,
    }
}

/// Returns `true` for values that print alike.
pub(crate) fn is_equal(mut one: ValueView<'_>, mut other: ValueView<'_>) -> bool {
    while let (ValueView::Pair(pair), ValueView::Pair(other_pair)) = (one, other) {
        if !is_equal(pair.car(), other_pair.car()) {
            return false;
        }
        (one, other) = (pair.cdr(), other_pair.cdr());
    }
    match (one, other) {
        (ValueView::Vector(one), ValueView::Vector(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_equal(one.get(), other.get()))
        }
        (ValueView::Text(one), ValueView::Text(other)) => one.0 == other.0,
        _ => is_eqv(one, other),
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
