//! `syntax-rules`: patterns and templates.

use crate::expand::Expander;
use crate::scopes::{Env, name_id};
use crate::value::{Alias, PairRef as _, Result, Value, ValueView, cons, elements, error, handles, show};
use lisle_heap::{Global, Local, Scope};
use std::collections::HashMap;

pub(crate) struct Rules {
    /// The names that stand for themselves.
    literals: Vec<u32>,
    /// A list of pairs of patterns and templates.
    rules: Global<Value>,
    /// Where the macro was defined.
    env: Env,
}

/// What a variable of a pattern has matched.
enum Matched<'s> {
    One(Local<'s, Value>),
    Many(Vec<Matches<'s>>),
}

type Matches<'s> = HashMap<u32, Matched<'s>>;

fn is_named(value: ValueView<'_>, name: &str) -> bool {
    matches!(value, ValueView::Symbol(symbol) if symbol.name == name)
}

impl Rules {
    pub(crate) fn new(s: &mut Scope<'_>, form: Local<'_, Value>, env: Env) -> Result<Self> {
        let parts = elements(form.get(s))?;
        let [_, literals, ..] = parts[..] else {
            return error(format!(
                "expected `(syntax-rules (literal …) (pattern template) …)`, found {}",
                show(form.get(s))
            ));
        };
        let literals = elements(literals)?.into_iter().filter_map(name_id).collect();
        let ValueView::Pair(form) = form.get(s) else { return error("not rules") };
        let ValueView::Pair(rest) = form.cdr() else { return error("not rules") };
        Ok(Self { literals, rules: s.global(rest.cdr()), env })
    }

    /// Expands a use of the macro.
    pub(crate) fn expand<'s>(
        &self,
        expander: &mut Expander,
        s: &mut Scope<'s>,
        form: Local<'_, Value>,
        env: Env,
    ) -> Result<Local<'s, Value>> {
        let mut result = None;
        let expanded = s.escape(|s| {
            let rules = s.local::<Value>(&self.rules);
            let rules = match handles(s, rules) {
                Ok(rules) => rules,
                Err(why) => {
                    result = Some(why);
                    return s.local(ValueView::Nil);
                }
            };
            for rule in rules {
                let Ok([pattern, template]) =
                    handles(s, rule).map_or(Err(()), |parts| <[_; 2]>::try_from(parts).map_err(drop))
                else {
                    continue;
                };
                let mut matches = Matches::new();
                // The first element of a pattern is the name of the macro.
                let (ValueView::Pair(pattern), ValueView::Pair(arguments)) = (pattern.get(s), form.get(s))
                else {
                    continue;
                };
                let (pattern, arguments) =
                    (s.local::<Value>(pattern.cdr()), s.local::<Value>(arguments.cdr()));
                if self.matches(expander, s, pattern, arguments, env, &mut matches) {
                    let mut aliases = HashMap::new();
                    match self.fill(expander, s, template, &[&matches], &mut aliases) {
                        Ok(expanded) => return expanded,
                        Err(why) => {
                            result = Some(why);
                            return s.local(ValueView::Nil);
                        }
                    }
                }
            }
            result = Some(crate::value::Error(format!("no rule of the macro matches {}", show(form.get(s)))));
            s.local(ValueView::Nil)
        });
        result.map_or(Ok(expanded), Err)
    }

    fn matches<'s>(
        &self,
        expander: &Expander,
        s: &Scope<'s>,
        pattern: Local<'s, Value>,
        form: Local<'s, Value>,
        env: Env,
        matches: &mut Matches<'s>,
    ) -> bool {
        if let Some(id) = name_id(pattern.get(s)) {
            if self.literals.contains(&id) {
                let meaning = expander.scopes.meaning(form.get(s), env);
                return meaning.is_some() && meaning == expander.scopes.meaning(pattern.get(s), self.env);
            }
            if !is_named(pattern.get(s), "_") {
                matches.insert(id, Matched::One(form));
            }
            return true;
        }
        match pattern.get(s) {
            ValueView::Pair(pair) => {
                let (first, rest) = (s.local::<Value>(pair.car()), s.local::<Value>(pair.cdr()));
                if let ValueView::Pair(next) = rest.get(s)
                    && is_named(next.car(), "...")
                {
                    let after = s.local::<Value>(next.cdr());
                    return self.matches_many(expander, s, first, after, form, env, matches);
                }
                let ValueView::Pair(pair) = form.get(s) else { return false };
                let (car, cdr) = (s.local::<Value>(pair.car()), s.local::<Value>(pair.cdr()));
                self.matches(expander, s, first, car, env, matches)
                    && self.matches(expander, s, rest, cdr, env, matches)
            }
            ValueView::Nil => matches!(form.get(s), ValueView::Nil),
            constant => crate::equal::is_equal(constant, form.get(s)),
        }
    }

    /// Matches a pattern with an ellipsis, and the patterns after it.
    #[expect(clippy::too_many_arguments, reason = "two patterns, a form and where they are")]
    fn matches_many<'s>(
        &self,
        expander: &Expander,
        s: &Scope<'s>,
        pattern: Local<'s, Value>,
        after: Local<'s, Value>,
        mut form: Local<'s, Value>,
        env: Env,
        matches: &mut Matches<'s>,
    ) -> bool {
        let pairs = |mut value: ValueView<'_>| {
            let mut count = 0;
            while let ValueView::Pair(pair) = value {
                count += 1;
                value = pair.cdr();
            }
            count
        };
        let (all, last) = (pairs(form.get(s)), pairs(after.get(s)));
        let mut many = Vec::new();
        for _ in last..all {
            let ValueView::Pair(pair) = form.get(s) else { return false };
            let element = s.local::<Value>(pair.car());
            form = s.local::<Value>(pair.cdr());
            let mut one = Matches::new();
            if !self.matches(expander, s, pattern, element, env, &mut one) {
                return false;
            }
            many.push(one);
        }
        let mut names = Vec::new();
        self.variables(pattern.get(s), &mut names);
        for name in names {
            let each = many.iter_mut().map(|one| {
                one.remove(&name).map(|matched| Matches::from([(name, matched)])).unwrap_or_default()
            });
            matches.insert(name, Matched::Many(each.collect()));
        }
        self.matches(expander, s, after, form, env, matches)
    }

    /// Collects the variables of a pattern.
    fn variables(&self, pattern: ValueView<'_>, names: &mut Vec<u32>) {
        if let Some(id) = name_id(pattern) {
            if !self.literals.contains(&id) && !is_named(pattern, "...") && !is_named(pattern, "_") {
                names.push(id);
            }
        } else if let ValueView::Pair(pair) = pattern {
            self.variables(pair.car(), names);
            self.variables(pair.cdr(), names);
        }
    }

    /// Fills in a template. The innermost matches come last.
    fn fill<'s>(
        &self,
        expander: &mut Expander,
        s: &mut Scope<'s>,
        template: Local<'_, Value>,
        matches: &[&Matches<'s>],
        aliases: &mut HashMap<u32, Local<'s, Alias>>,
    ) -> Result<Local<'s, Value>> {
        if let Some(id) = name_id(template.get(s)) {
            return match matches.iter().rev().find_map(|matches| matches.get(&id)) {
                Some(Matched::One(form)) => Ok(*form),
                Some(Matched::Many(_)) => {
                    error(format!("`{}` stands without its ellipsis", show(template.get(s))))
                }
                None => {
                    let alias = match aliases.get(&id) {
                        Some(alias) => *alias,
                        None => {
                            let fresh = expander.symbols.fresh();
                            let alias = s.alloc::<Alias>(Alias::init(fresh, self.env, template));
                            aliases.insert(id, alias);
                            alias
                        }
                    };
                    Ok(s.local(alias.get(s)))
                }
            };
        }
        let ValueView::Pair(pair) = template.get(s) else { return Ok(s.local(template.get(s))) };
        let (first, mut rest) = (s.local::<Value>(pair.car()), s.local::<Value>(pair.cdr()));
        if is_named(first.get(s), "...")
            && let ValueView::Pair(escaped) = rest.get(s)
        {
            // `(... ...)` is an ellipsis.
            return Ok(s.local(escaped.car()));
        }
        if let ValueView::Pair(next) = rest.get(s)
            && is_named(next.car(), "...")
        {
            rest = s.local(next.cdr());
            let mut names = Vec::new();
            self.variables(first.get(s), &mut names);
            let many = |matches: &[&'_ Matches<'s>]| {
                names
                    .iter()
                    .filter_map(|name| match matches.iter().rev().find_map(|matches| matches.get(name)) {
                        Some(Matched::Many(many)) => Some(many.len()),
                        _ => None,
                    })
                    .max()
            };
            let Some(len) = many(matches) else { return error("an ellipsis after what does not repeat") };
            let mut filled = Vec::new();
            for index in 0..len {
                let inner: Vec<&Matches<'s>> = names
                    .iter()
                    .filter_map(|name| match matches.iter().rev().find_map(|matches| matches.get(name)) {
                        Some(Matched::Many(many)) => many.get(index),
                        _ => None,
                    })
                    .collect();
                let all: Vec<&Matches<'s>> = matches.iter().copied().chain(inner).collect();
                filled.push(self.fill(expander, s, first, &all, aliases)?);
            }
            let rest = self.fill(expander, s, rest, matches, aliases)?;
            return Ok(crate::value::list(s, &filled, rest));
        }
        let first = self.fill(expander, s, first, matches, aliases)?;
        let rest = self.fill(expander, s, rest, matches, aliases)?;
        Ok(cons(s, first, rest))
    }
}
