//! Which values are the same, which are equal, and hashes that fit that.

use crate::value::{PairRef as _, ValueView};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Returns `true` for the same object, and for equal numbers of the same kind.
pub(crate) fn is_eqv(one: ValueView<'_>, other: ValueView<'_>) -> bool {
    match (one, other) {
        (ValueView::Float(one), ValueView::Float(other)) => one.value == other.value,
        _ => one == other,
    }
}

/// Returns `true` for values that print alike.
pub(crate) fn is_equal(one: ValueView<'_>, other: ValueView<'_>) -> bool {
    match (one, other) {
        (ValueView::Pair(mut one), ValueView::Pair(mut other)) => loop {
            if !is_equal(one.car(), other.car()) {
                return false;
            }
            match (one.cdr(), other.cdr()) {
                (ValueView::Pair(next), ValueView::Pair(other_next)) => (one, other) = (next, other_next),
                (one, other) => return is_equal(one, other),
            }
        },
        (ValueView::Vector(one), ValueView::Vector(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_equal(one.get(), other.get()))
        }
        (ValueView::Text(one), ValueView::Text(other)) => {
            let one = one.text.lock().expect("no use of a text panics").clone();
            one == *other.text.lock().expect("no use of a text panics")
        }
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
            ValueView::Float(float) => float.value.to_bits().hash(hasher),
            ValueView::Text(text) => text.text.lock().expect("no use of a text panics").hash(hasher),
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
