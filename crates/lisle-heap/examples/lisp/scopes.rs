//! The scopes of names.

use crate::expand::{Special, Variable};
use crate::macros::Rules;
use crate::value::{AliasRef as _, ValueView};
use std::collections::HashMap;
use std::rc::Rc;

/// A scope, by its number.
pub(crate) type Env = usize;

/// The scope of the whole program.
pub(crate) const TOP: Env = 0;

/// What a name means.
#[derive(Clone)]
pub(crate) enum Meaning {
    Variable(Variable),
    Special(Special),
    Macro(Rc<Rules>),
    /// The global variable of the symbol with this number.
    Global(u32),
}

impl PartialEq for Meaning {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Variable(one), Self::Variable(other)) => one == other,
            (Self::Special(one), Self::Special(other)) => one == other,
            (Self::Macro(one), Self::Macro(other)) => Rc::ptr_eq(one, other),
            (Self::Global(one), Self::Global(other)) => one == other,
            _ => false,
        }
    }
}

#[derive(Default)]
struct Frame {
    parent: Option<Env>,
    names: HashMap<u32, Meaning>,
}

/// All scopes.
pub(crate) struct Scopes(Vec<Frame>);

/// Returns the number of a name, if the value is one.
pub(crate) fn name_id(value: ValueView<'_>) -> Option<u32> {
    match value {
        ValueView::Symbol(symbol) => Some(symbol.id),
        ValueView::Alias(alias) => Some(alias.id),
        _ => None,
    }
}

impl Scopes {
    pub(crate) fn new() -> Self {
        Self(vec![Frame::default()])
    }

    /// Begins a scope within another.
    pub(crate) fn child(&mut self, parent: Env) -> Env {
        self.0.push(Frame { parent: Some(parent), names: HashMap::new() });
        self.0.len() - 1
    }

    /// Gives a name a meaning in a scope.
    pub(crate) fn bind(&mut self, env: Env, name: u32, meaning: Meaning) {
        self.0[env].names.insert(name, meaning);
    }

    /// Returns the meaning of a name.
    pub(crate) fn meaning(&self, mut name: ValueView<'_>, mut env: Env) -> Option<Meaning> {
        loop {
            let id = name_id(name)?;
            let mut next = Some(env);
            while let Some(frame) = next.map(|env| &self.0[env]) {
                if let Some(meaning) = frame.names.get(&id) {
                    return Some(meaning.clone());
                }
                next = frame.parent;
            }
            match name {
                ValueView::Alias(alias) => (name, env) = (alias.of(), alias.env),
                _ => return Some(Meaning::Global(id)),
            }
        }
    }
}
