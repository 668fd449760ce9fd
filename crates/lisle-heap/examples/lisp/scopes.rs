//! Names, and the scopes in which they have a meaning.

use crate::expand::Variable;
use crate::value::*;
use std::collections::HashMap;
use std::iter::successors;

/// A scope, by its number.
pub(crate) type Env = usize;

/// The scope of the whole program.
pub(crate) const TOP: Env = 0;

/// What a name means.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Meaning {
    Variable(Variable),
    /// The special form with this name.
    Special(&'static str),
    /// The macro with this number.
    Macro(usize),
    /// The global variable of the symbol with this number.
    Global(u32),
}

/// All scopes.
pub(crate) struct Scopes {
    /// The scope around each.
    parents: Vec<Option<Env>>,
    meanings: HashMap<(Env, u32), Meaning>,
}

impl Scopes {
    pub(crate) fn new() -> Self {
        Self { parents: vec![None], meanings: HashMap::new() }
    }

    /// Begins a scope within another.
    pub(crate) fn child(&mut self, parent: Env) -> Env {
        self.parents.push(Some(parent));
        self.parents.len() - 1
    }

    /// Gives a name a meaning in a scope.
    pub(crate) fn bind(&mut self, env: Env, name: u32, meaning: Meaning) {
        self.meanings.insert((env, name), meaning);
    }

    /// Returns the meaning of a name, or `None` if the value is no name.
    pub(crate) fn meaning(&self, mut name: ValueView<'_>, mut env: Env) -> Option<Meaning> {
        loop {
            let id = name_id(name)?;
            let mut envs = successors(Some(env), |env| self.parents[*env]);
            if let Some(found) = envs.find_map(|env| self.meanings.get(&(env, id))) {
                return Some(*found);
            }
            let ValueView::Alias(alias) = name else { return Some(Meaning::Global(id)) };
            (name, env) = (alias.of(), alias.env);
        }
    }
}

/// Returns the number of a name, if the value is one.
pub(crate) fn name_id(value: ValueView<'_>) -> Option<u32> {
    match value {
        ValueView::Symbol(symbol) => Some(symbol.id),
        ValueView::Alias(alias) => Some(alias.id),
        _ => None,
    }
}

/// Returns the number of a name.
pub(crate) fn name_of(value: ValueView<'_>) -> Result<u32> {
    name_id(value).ok_or_else(|| format!("not a name: {}", show(value)))
}
