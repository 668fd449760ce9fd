//! `syntax-rules`: patterns and templates.

use crate::depth::go_deeper;
use crate::equal::is_equal;
use crate::read::Symbols;
use crate::scopes::{Env, Scopes, name_id};
use crate::value::*;
use lisle_heap::{Global, Scope};
use std::collections::HashMap;
use std::rc::Rc;

/// A macro.
pub(crate) struct Rules {
    /// The names that stand for themselves.
    literals: Vec<u32>,
    /// Patterns, without the name of the macro at their head, and templates.
    rules: Vec<(Global<Value>, Global<Value>)>,
    /// Where the macro was defined.
    env: Env,
}

/// What a variable of a pattern has matched.
#[derive(Clone)]
enum Matched<'s> {
    One(Handle<'s>),
    /// Of a variable before an ellipsis: the matches of each round.
    Many(Rc<[Matches<'s>]>),
}

type Matches<'s> = HashMap<u32, Matched<'s>>;

/// An expansion of a macro.
pub(crate) struct Expansion<'e, 's> {
    rules: &'e Rules,
    scopes: &'e Scopes,
    symbols: &'e Symbols,
    /// Where the macro is used.
    env: Env,
    /// The aliases of the names that the template inserts.
    aliases: HashMap<u32, Handle<'s>>,
}

fn is_named(value: ValueView<'_>, name: &str) -> bool {
    matches!(value, ValueView::Symbol(symbol) if symbol.name == name)
}

impl Rules {
    pub(crate) fn new(s: &mut Scope<'_>, form: Handle<'_>, env: Env) -> Result<Self> {
        let parts = elements(form.get(s))?;
        let [_, literals, rules @ ..] = &parts[..] else {
            let found = show(form.get(s));
            return Err(format!("expected `(syntax-rules (literal …) (pattern template) …)`, found {found}"));
        };
        let literals = elements(*literals)?.into_iter().filter_map(name_id).collect();
        let rules = rules.iter().map(|rule| match elements(*rule)?[..] {
            [pattern, template] => Ok((s.global(pair(pattern)?.cdr()), s.global(template))),
            _ => Err(format!("a rule has a pattern and a template: {}", show(*rule))),
        });
        Ok(Self { literals, rules: rules.collect::<Result<_>>()?, env })
    }

    /// Returns the variables of a pattern.
    fn variables(&self, pattern: ValueView<'_>) -> Vec<u32> {
        let (mut variables, mut left) = (Vec::new(), vec![pattern]);
        while let Some(pattern) = left.pop() {
            match name_id(pattern) {
                Some(id) if self.literals.contains(&id) => {}
                Some(_) if is_named(pattern, "...") || is_named(pattern, "_") => {}
                Some(id) => variables.push(id),
                None => {
                    let (elements, end) = parts(pattern, usize::MAX);
                    left.extend(elements);
                    left.extend(name_id(end).map(|_| end));
                }
            }
        }
        variables
    }
}

impl<'e, 's> Expansion<'e, 's> {
    pub(crate) fn new(rules: &'e Rules, scopes: &'e Scopes, symbols: &'e Symbols, env: Env) -> Self {
        Self { rules, scopes, symbols, env, aliases: HashMap::new() }
    }

    /// Expands a use of the macro.
    pub(crate) fn expand(mut self, s: &mut Scope<'s>, form: Handle<'s>) -> Result<Handle<'s>> {
        for (pattern, template) in &self.rules.rules {
            let mut matches = Matches::new();
            let (pattern, template) = (s.local::<Value>(pattern), s.local::<Value>(template));
            if self.matches(s, pattern.get(s), pair(form.get(s))?.cdr(), &mut matches)? {
                return self.fill(s, template, &matches);
            }
        }
        Err(format!("no rule of the macro matches {}", show(form.get(s))))
    }

    /// Matches a pattern with a form, and adds what its variables have matched.
    fn matches(
        &self,
        s: &Scope<'s>,
        pattern: ValueView<'_>,
        form: ValueView<'_>,
        matches: &mut Matches<'s>,
    ) -> Result<bool> {
        go_deeper()?;
        if let Some(id) = name_id(pattern) {
            if self.rules.literals.contains(&id) {
                let meaning = self.scopes.meaning(form, self.env);
                return Ok(meaning.is_some() && meaning == self.scopes.meaning(pattern, self.rules.env));
            }
            if !is_named(pattern, "_") {
                matches.insert(id, Matched::One(s.local(form)));
            }
            return Ok(true);
        }
        let (patterns, pattern_end) = parts(pattern, usize::MAX);
        if patterns.is_empty() {
            return Ok(is_equal(pattern, form));
        }
        // A pattern with an ellipsis matches all forms but those for the patterns before and after it.
        let ellipsis = patterns.iter().skip(1).position(|pattern| is_named(*pattern, "..."));
        let (before, repeated, after) = match ellipsis {
            Some(at) => (&patterns[..at], Some(patterns[at]), &patterns[at + 2..]),
            None => (&patterns[..], None, &[][..]),
        };
        let (forms, form_end) = parts(form, if repeated.is_some() { usize::MAX } else { patterns.len() });
        let Some(count) = forms.len().checked_sub(before.len() + after.len()) else { return Ok(false) };
        if is_vector(pattern) != is_vector(form) || (repeated.is_none() && count > 0) {
            return Ok(false);
        }
        let (first, rest) = forms.split_at(before.len());
        let (middle, last) = rest.split_at(count);
        if let Some(repeated) = repeated {
            let mut rounds = vec![Matches::new(); count];
            for (round, form) in rounds.iter_mut().zip(middle) {
                if !self.matches(s, repeated, *form, round)? {
                    return Ok(false);
                }
            }
            let (names, rounds) = (self.rules.variables(repeated), Matched::Many(rounds.into()));
            matches.extend(names.into_iter().map(|name| (name, rounds.clone())));
        }
        for (pattern, form) in before.iter().zip(first).chain(after.iter().zip(last)) {
            if !self.matches(s, *pattern, *form, matches)? {
                return Ok(false);
            }
        }
        self.matches(s, pattern_end, form_end, matches)
    }

    /// Fills in a template.
    fn fill(&mut self, s: &mut Scope<'s>, template: Handle<'s>, matches: &Matches<'s>) -> Result<Handle<'s>> {
        go_deeper()?;
        if let Some(id) = name_id(template.get(s)) {
            return match matches.get(&id) {
                Some(Matched::One(form)) => Ok(*form),
                Some(Matched::Many(_)) => {
                    Err(format!("`{}` stands without its ellipsis", show(template.get(s))))
                }
                None => Ok(*self.aliases.entry(id).or_insert_with(|| {
                    let alias = s.alloc::<Alias>(Alias::init(self.symbols.fresh(), self.rules.env, template));
                    s.local(alias)
                })),
            };
        }
        let (elements, end) = handles_of_parts(s, template.get(s));
        match elements[..] {
            [] => return Ok(template),
            // `(... ...)` is an ellipsis.
            [first, escaped, ..] if is_named(first.get(s), "...") => return Ok(escaped),
            _ => {}
        }
        let mut filled = Vec::new();
        let mut elements = elements.into_iter().peekable();
        while let Some(element) = elements.next() {
            if elements.next_if(|next| is_named(next.get(s), "...")).is_none() {
                filled.push(self.fill(s, element, matches)?);
            } else {
                for round in self.rounds(element.get(s), matches)? {
                    filled.push(self.fill(s, element, &round)?);
                }
            }
        }
        let end = self.fill(s, end, matches)?;
        Ok(rebuild(s, template, &filled, end))
    }

    /// Returns the matches for each repetition of a template before an ellipsis.
    fn rounds(&self, template: ValueView<'_>, matches: &Matches<'s>) -> Result<Vec<Matches<'s>>> {
        let mut repeated = Vec::new();
        for name in self.rules.variables(template) {
            if let Some(Matched::Many(rounds)) = matches.get(&name) {
                repeated.push(rounds);
            }
        }
        let Some(count) = repeated.iter().map(|rounds| rounds.len()).max() else {
            return Err("an ellipsis after what does not repeat".into());
        };
        let mut all = vec![matches.clone(); count];
        for rounds in repeated {
            all.iter_mut().zip(rounds.iter()).for_each(|(round, matched)| round.extend(matched.clone()));
        }
        Ok(all)
    }
}

/// Returns a datum like another one, with other parts.
fn rebuild<'s>(s: &mut Scope<'s>, like: Handle<'_>, elements: &[Handle<'_>], end: Handle<'_>) -> Handle<'s> {
    if is_vector(like.get(s)) {
        let vector = array(s, elements);
        return s.local(vector);
    }
    list(s, elements.iter().copied(), end)
}

/// Returns a datum without aliases: each name is its symbol.
pub(crate) fn strip<'s>(s: &mut Scope<'s>, mut datum: Handle<'s>) -> Result<Handle<'s>> {
    while let ValueView::Alias(alias) = datum.get(s) {
        datum = s.local(alias.of());
    }
    let (mut elements, end) = handles_of_parts(s, datum.get(s));
    if elements.is_empty() {
        return Ok(datum);
    }
    go_deeper()?;
    for element in &mut elements {
        *element = strip(s, *element)?;
    }
    let end = strip(s, end)?;
    Ok(rebuild(s, datum, &elements, end))
}
