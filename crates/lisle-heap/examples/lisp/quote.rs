//! `quote` and `quasiquote`.

use crate::expand::{Expander, Node};
use crate::scopes::Env;
use crate::value::{AliasRef as _, PairRef as _, Result, Value, ValueView, elements, error, pair};
use lisle_heap::{Local, Scope};

impl Expander {
    /// Expands a quasiquoted datum to calls that make it.
    pub(crate) fn quasiquote(
        &mut self,
        s: &mut Scope<'_>,
        datum: Local<'_, Value>,
        env: Env,
        depth: usize,
    ) -> Result<Node> {
        s.scope(|s| {
            if let Some(name) = quotation(datum.get(s)) {
                let inner = s.local(elements(datum.get(s))?[1]);
                let deeper = match name.as_str() {
                    "unquote" if depth == 1 => return self.expand(s, inner, env),
                    "unquote-splicing" if depth == 1 => return error("`,@` where no list is"),
                    "quasiquote" => depth + 1,
                    _ => depth - 1,
                };
                let head = s.local(pair(datum.get(s))?.car());
                let head = strip(s, head);
                let head = Node::Constant(self.constant(s, head.get(s)));
                let inner = self.quasiquote(s, inner, env, deeper)?;
                let list = self.function(s, "list");
                return Ok(Node::Call(vec![list, head, inner]));
            }
            match datum.get(s) {
                ValueView::Pair(pair) => {
                    let (car, cdr) = (s.local::<Value>(pair.car()), s.local::<Value>(pair.cdr()));
                    let rest = self.quasiquote(s, cdr, env, depth)?;
                    if depth == 1 && quotation(car.get(s)).is_some_and(|name| name == "unquote-splicing") {
                        let inner = s.local(elements(car.get(s))?[1]);
                        let inner = self.expand(s, inner, env)?;
                        let append = self.function(s, "append");
                        return Ok(Node::Call(vec![append, inner, rest]));
                    }
                    let first = self.quasiquote(s, car, env, depth)?;
                    let cons = self.function(s, "cons");
                    Ok(Node::Call(vec![cons, first, rest]))
                }
                ValueView::Vector(vector) => {
                    let elements: Vec<_> = vector.iter().map(|slot| s.local::<Value>(slot.get())).collect();
                    let nil = s.local(ValueView::Nil);
                    let elements = crate::value::list(s, &elements, nil);
                    let inner = self.quasiquote(s, elements, env, depth)?;
                    let convert = self.function(s, "list->vector");
                    Ok(Node::Call(vec![convert, inner]))
                }
                _ => {
                    let datum = strip(s, datum);
                    Ok(Node::Constant(self.constant(s, datum.get(s))))
                }
            }
        })
    }
}

/// Returns which of the forms `(quasiquote x)`, `(unquote x)` and `(unquote-splicing x)` the datum is, if it is one.
fn quotation(datum: ValueView<'_>) -> Option<String> {
    let ValueView::Pair(pair) = datum else { return None };
    let ValueView::Symbol(symbol) = stripped_name(pair.car()) else { return None };
    let is_one = ["quasiquote", "unquote", "unquote-splicing"].contains(&symbol.name.as_str());
    (is_one && elements(datum).is_ok_and(|parts| parts.len() == 2)).then(|| symbol.name.clone())
}

/// Returns the symbol behind aliases.
pub(crate) fn stripped_name(mut name: ValueView<'_>) -> ValueView<'_> {
    while let ValueView::Alias(alias) = name {
        name = alias.of();
    }
    name
}

/// Returns a datum without aliases.
pub(crate) fn strip<'s>(s: &mut Scope<'s>, datum: Local<'_, Value>) -> Local<'s, Value> {
    fn has_aliases(value: ValueView<'_>) -> bool {
        match value {
            ValueView::Alias(_) => true,
            ValueView::Pair(pair) => has_aliases(pair.car()) || has_aliases(pair.cdr()),
            ValueView::Vector(vector) => vector.iter().any(|slot| has_aliases(slot.get())),
            _ => false,
        }
    }
    if !has_aliases(datum.get(s)) {
        return s.local(datum.get(s));
    }
    s.escape(|s| match datum.get(s) {
        ValueView::Pair(pair) => {
            let (car, cdr) = (s.local::<Value>(pair.car()), s.local::<Value>(pair.cdr()));
            let (car, cdr) = (strip(s, car), strip(s, cdr));
            crate::value::cons(s, car, cdr)
        }
        ValueView::Vector(vector) => {
            let copy = s.array::<Value>(vector.len(), Value::nil());
            for index in 0..copy.get(s).len() {
                s.scope(|s| {
                    let ValueView::Vector(vector) = datum.get(s) else { unreachable!("it is a vector") };
                    let element = s.local(vector.at(index).get());
                    let element = strip(s, element);
                    copy.get(s).at(index).set(s, element);
                });
            }
            s.local(copy.get(s))
        }
        name => s.local(stripped_name(name)),
    })
}
