//! The condition of a test, and the parts of a final state that it looks at.

use std::fmt;

use super::error::SourcePosition;
use super::program::memory::Range;
use super::program::{Memory, Register, Type};

/// The quantifier of a condition over the executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantifier {
    /// `exists`: some execution ends in such a state.
    Exists,
    /// `~exists`: none does.
    NotExists,
    /// `forall`: all do.
    ForAll,
}

impl fmt::Display for Quantifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::ForAll => "forall",
        })
    }
}

/// A part of the final state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    /// A register, by the name that the test uses for it, and the type of its value. Without a
    /// type, a value that fits into an `int` or an `unsigned` is an `int`, as in herd7.
    Register { thread: usize, register: Register, name: String, ty: Option<Type> },
    /// A location, or an element of an array, by the name that the test uses for it.
    Location { range: Range, name: String, ty: Type },
}

impl Item {
    /// The order in which herd7 prints the parts of a state: registers by thread, then locations.
    fn rank(&self) -> (bool, usize, usize, &str) {
        match self {
            Item::Register { thread, name, .. } => (false, *thread, 0, name),
            Item::Location { range, .. } => (true, range.location, range.offset, ""),
        }
    }

    /// The part as a test writes it.
    pub(crate) fn show(&self) -> String {
        match self {
            Item::Register { thread, name, .. } => format!("{thread}:{name}"),
            Item::Location { name, .. } if name.ends_with(']') => name.clone(),
            Item::Location { name, .. } => format!("[{name}]"),
        }
    }

    /// The value as it is looked at.
    pub(crate) fn view(&self, value: i64) -> i64 {
        match self {
            Item::Register { ty: Some(ty), .. } | Item::Location { ty, .. } => ty.wrap(value),
            Item::Register { ty: None, .. } if u32::try_from(value).is_ok() => Type::INT.wrap(value),
            Item::Register { ty: None, .. } => value,
        }
    }

    /// How many bits are looked at.
    pub(crate) fn bits(&self) -> u32 {
        match self {
            Item::Register { ty: None, .. } => 64,
            Item::Register { ty: Some(ty), .. } | Item::Location { ty, .. } => 8 * ty.size as u32,
        }
    }
}

/// A statement on a final state, which is a list of the values of the items.
#[derive(Debug, Clone)]
pub(crate) enum Proposition {
    /// Always true, or always false.
    Known(bool),
    /// The item with this index has this value.
    Equal(usize, i64),
    /// The items with these indices have the same value.
    Same(usize, usize),
    /// Not so.
    Not(Box<Proposition>),
    /// All of them.
    All(Vec<Proposition>),
    /// At least one.
    Any(Vec<Proposition>),
}

impl Proposition {
    /// Returns `true` if the statement is true of the state.
    pub(crate) fn holds(&self, state: &[i64]) -> bool {
        match self {
            Proposition::Known(truth) => *truth,
            Proposition::Equal(item, value) => state[*item] == *value,
            Proposition::Same(left, right) => state[*left] == state[*right],
            Proposition::Not(inner) => !inner.holds(state),
            Proposition::All(parts) => parts.iter().all(|part| part.holds(state)),
            Proposition::Any(parts) => parts.iter().any(|part| part.holds(state)),
        }
    }

    /// The same statement of items that have other indices.
    fn renumber(&mut self, index: &[usize]) {
        match self {
            Proposition::Known(_) => {}
            Proposition::Equal(item, _) => *item = index[*item],
            Proposition::Same(left, right) => (*left, *right) = (index[*left], index[*right]),
            Proposition::Not(inner) => inner.renumber(index),
            Proposition::All(parts) | Proposition::Any(parts) => {
                parts.iter_mut().for_each(|part| part.renumber(index));
            }
        }
    }

    fn show(&self, items: &[String], memory: &Memory) -> String {
        let joined = |parts: &[Proposition], between: &str| {
            let parts: Vec<String> = parts.iter().map(|part| part.show(items, memory)).collect();
            format!("({})", parts.join(between))
        };
        match self {
            Proposition::Known(truth) => truth.to_string(),
            Proposition::Equal(item, value) => format!("{}={}", items[*item], memory.show(*value)),
            Proposition::Same(left, right) => format!("{}={}", items[*left], items[*right]),
            Proposition::Not(inner) => format!("not ({})", inner.show(items, memory)),
            Proposition::All(parts) => joined(parts, " /\\ "),
            Proposition::Any(parts) => joined(parts, " \\/ "),
        }
    }
}

/// The condition of a test.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub(crate) quantifier: Quantifier,
    pub(crate) proposition: Proposition,
    /// The condition on executions that count.
    pub(crate) filter: Option<Proposition>,
    /// Where the condition and the filter stand.
    pub(crate) position: SourcePosition,
    pub(crate) filter_position: Option<SourcePosition>,
    /// The items that the condition, the filter and `locations` name.
    pub(crate) items: Vec<Item>,
}

impl Condition {
    /// Puts the items into the order of printing.
    pub(crate) fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by(|a, b| self.items[*a].rank().cmp(&self.items[*b].rank()));
        let mut index = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| index[old] = new);
        self.items = order.iter().map(|&old| self.items[old].clone()).collect();
        self.proposition.renumber(&index);
        if let Some(filter) = &mut self.filter {
            filter.renumber(&index);
        }
    }

    /// The condition as a test writes it.
    pub(crate) fn show(&self, memory: &Memory) -> String {
        let items: Vec<String> = self.items.iter().map(Item::show).collect();
        let text = self.proposition.show(&items, memory);
        let bare = !text.starts_with('(');
        if bare { format!("{} ({text})", self.quantifier) } else { format!("{} {text}", self.quantifier) }
    }
}
