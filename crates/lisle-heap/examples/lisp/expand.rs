//! The expander: from data to [`Node`]s. It knows the scopes of names, and expands macros.
//!
//! A macro's expansion renames the names that its template inserts: it puts an alias in the place of
//! each. An alias that nothing binds means what its name means where the macro was defined. So neither
//! captures the other's names ("Macros that work", Clinger and Rees, POPL 1991).

use crate::depth::go_deeper;
use crate::macros::{Expansion, Rules, strip};
use crate::program::Program;
use crate::scopes::{Env, Meaning, Scopes, TOP, name_of};
use crate::value::*;
use lisle_heap::Scope;
use std::sync::Arc;

pub(crate) type Variable = usize;

/// An expression whose names are resolved. A global variable is its symbol.
pub(crate) enum Node<'s> {
    Constant(Handle<'s>),
    Local(Variable),
    SetLocal(Variable, Box<Self>),
    Global(Handle<'s>),
    SetGlobal(Handle<'s>, Box<Self>),
    Define(Handle<'s>, Box<Self>),
    /// The condition, and the expressions for true and for false.
    If(Vec<Self>),
    Let(Vec<(Variable, Self)>, Box<Self>),
    Lambda(Box<Lambda<'s>>),
    /// The value is that of the last, or unspecified if there is none.
    Sequence(Vec<Self>),
    /// The function and its arguments.
    Call(Vec<Self>),
}

pub(crate) struct Lambda<'s> {
    pub(crate) parameters: Vec<Variable>,
    pub(crate) rest: Option<Variable>,
    pub(crate) body: Node<'s>,
}

/// The special forms. The prelude defines all other syntax; `%define` is for its `define`.
const SPECIALS: [&str; 8] =
    ["quote", "if", "%define", "set!", "lambda", "begin", "define-syntax", "syntax-error"];

pub(crate) struct Expander {
    pub(crate) program: Arc<Program>,
    /// For each variable, whether it is assigned.
    pub(crate) assigned: Vec<bool>,
    scopes: Scopes,
    macros: Vec<Rules>,
}

/// A form without a macro at its head, and which special form it is, if it is one.
type Head<'s> = (Handle<'s>, Option<&'static str>);

impl Expander {
    pub(crate) fn new(s: &mut Scope<'_>, program: Arc<Program>) -> Self {
        let mut scopes = Scopes::new();
        for name in SPECIALS {
            scopes.bind(TOP, program.symbols.intern(s, name).get(s).id, Meaning::Special(name));
        }
        Self { program, assigned: Vec::new(), scopes, macros: Vec::new() }
    }

    /// Expands a form at the top of the program, where definitions are of global variables.
    pub(crate) fn top<'s>(&mut self, s: &mut Scope<'s>, form: Handle<'s>) -> Result<Node<'s>> {
        // The forms that are left, the next one last.
        let (mut forms, mut nodes) = (vec![form], Vec::new());
        while let Some(form) = forms.pop() {
            let (form, special) = self.head(s, form, TOP)?;
            match special {
                Some("begin") => forms.extend(handles(s, form.get(s))?[1..].iter().rev()),
                Some("%define") => {
                    let (name, value) = definition(s, form)?;
                    let value = self.expand(s, value, TOP)?;
                    nodes.push(Node::Define(strip(s, name)?, Box::new(value)));
                }
                Some("define-syntax") => self.define_syntax(s, form, TOP)?,
                _ => nodes.push(self.expand(s, form, TOP)?),
            }
        }
        Ok(Node::Sequence(nodes))
    }

    /// Expands a form until its head is no macro.
    fn head<'s>(&mut self, s: &mut Scope<'s>, mut form: Handle<'s>, env: Env) -> Result<Head<'s>> {
        for _ in 0..1_000 {
            let ValueView::Pair(pair) = form.get(s) else { return Ok((form, None)) };
            match self.scopes.meaning(pair.car(), env) {
                Some(Meaning::Macro(number)) => {
                    let rules = &self.macros[number];
                    form = Expansion::new(rules, &self.scopes, &self.program.symbols, env).expand(s, form)?;
                }
                Some(Meaning::Special("syntax-error")) => return Err(message(elements(pair.cdr())?)),
                Some(Meaning::Special(special)) => return Ok((form, Some(special))),
                _ => return Ok((form, None)),
            }
        }
        Err(wrong(s, form, "a macro that expands to a macro again and again"))
    }

    fn expand<'s>(&mut self, s: &mut Scope<'s>, form: Handle<'s>, env: Env) -> Result<Node<'s>> {
        go_deeper()?;
        let (expanded, special) = self.head(s, form, env)?;
        match expanded.get(s) {
            name @ (ValueView::Symbol(_) | ValueView::Alias(_)) => match self.scopes.meaning(name, env) {
                Some(Meaning::Variable(variable)) => Ok(Node::Local(variable)),
                Some(Meaning::Global(_)) => Ok(Node::Global(strip(s, expanded)?)),
                _ => Err(format!("`{}` is syntax, and not a value", show(name))),
            },
            ValueView::Nil => Err("`()` is no expression: write `'()` for the empty list".into()),
            list @ ValueView::Pair(_) => {
                let forms = handles(s, list)?;
                match special {
                    Some(special) => self.special(s, special, form, &forms, env),
                    None => self.call(s, &forms, env),
                }
            }
            _ => Ok(Node::Constant(expanded)),
        }
    }

    fn expand_all<'s>(&mut self, s: &mut Scope<'s>, forms: &[Handle<'s>], env: Env) -> Result<Vec<Node<'s>>> {
        let mut nodes = Vec::new();
        for form in forms {
            nodes.push(self.expand(s, *form, env)?);
        }
        Ok(nodes)
    }

    fn call<'s>(&mut self, s: &mut Scope<'s>, forms: &[Handle<'s>], env: Env) -> Result<Node<'s>> {
        let mut parts = self.expand_all(s, forms, env)?;
        Ok(match parts.remove(0) {
            // A `lambda` that is called needs no closure: its variables become variables of the function around it.
            Node::Lambda(lambda) if lambda.rest.is_none() && lambda.parameters.len() == parts.len() => {
                Node::Let(lambda.parameters.into_iter().zip(parts).collect(), Box::new(lambda.body))
            }
            function => {
                parts.insert(0, function);
                Node::Call(parts)
            }
        })
    }

    /// Expands a special form, whose head was that of `form`.
    fn special<'s>(
        &mut self,
        s: &mut Scope<'s>,
        special: &str,
        form: Handle<'s>,
        forms: &[Handle<'s>],
        env: Env,
    ) -> Result<Node<'s>> {
        match (special, forms) {
            ("quote", [_, datum]) => Ok(Node::Constant(strip(s, *datum)?)),
            ("if", [_, _, _] | [_, _, _, _]) => {
                let mut parts = self.expand_all(s, &forms[1..3], env)?;
                parts.push(Node::Sequence(self.expand_all(s, &forms[3..], env)?));
                Ok(Node::If(parts))
            }
            ("set!", [_, name, value]) => {
                let value = Box::new(self.expand(s, *value, env)?);
                match self.scopes.meaning(name.get(s), env) {
                    Some(Meaning::Variable(variable)) => {
                        self.assigned[variable] = true;
                        Ok(Node::SetLocal(variable, value))
                    }
                    Some(Meaning::Global(_)) => Ok(Node::SetGlobal(strip(s, *name)?, value)),
                    _ => Err(wrong(s, form, "not a variable")),
                }
            }
            ("lambda", [_, _]) => Err(wrong(s, form, "a body without an expression")),
            ("lambda", [_, _, ..]) => self.lambda(s, forms, env),
            ("begin", [_, body @ ..]) => Ok(Node::Sequence(self.expand_all(s, body, env)?)),
            ("%define" | "define-syntax", _) => {
                Err(wrong(s, form, "a definition where an expression is expected"))
            }
            _ => Err(wrong(s, form, "a special form of the wrong length")),
        }
    }

    fn lambda<'s>(&mut self, s: &mut Scope<'s>, forms: &[Handle<'s>], env: Env) -> Result<Node<'s>> {
        let env = self.scopes.child(env);
        let (names, rest) = split(forms[1].get(s), usize::MAX);
        let parameters = names.into_iter().map(|name| self.bind(env, name)).collect::<Result<_>>()?;
        let rest = if rest == ValueView::Nil { None } else { Some(self.bind(env, rest)?) };
        let body = self.body(s, &forms[2..], env)?;
        Ok(Node::Lambda(Box::new(Lambda { parameters, rest, body })))
    }

    /// Gives a name the meaning of a new variable.
    fn bind(&mut self, env: Env, name: ValueView<'_>) -> Result<Variable> {
        let variable = self.assigned.len();
        self.scopes.bind(env, name_of(name)?, Meaning::Variable(variable));
        self.assigned.push(false);
        Ok(variable)
    }

    /// Expands a body: definitions, and then expressions.
    fn body<'s>(&mut self, s: &mut Scope<'s>, forms: &[Handle<'s>], env: Env) -> Result<Node<'s>> {
        let env = self.scopes.child(env);
        // The forms that are left, the next one last.
        let mut forms: Vec<_> = forms.iter().rev().copied().collect();
        let mut definitions = Vec::new();
        while let Some(form) = forms.pop() {
            let (form, special) = self.head(s, form, env)?;
            match special {
                Some("begin") => forms.extend(handles(s, form.get(s))?[1..].iter().rev()),
                Some("%define") => {
                    let (name, value) = definition(s, form)?;
                    definitions.push((self.bind(env, name.get(s))?, value));
                }
                Some("define-syntax") => self.define_syntax(s, form, env)?,
                _ => {
                    forms.push(form);
                    break;
                }
            }
        }
        // The variables see each other: they begin without a value, and then get theirs in order.
        let (mut variables, mut nodes) = (Vec::new(), Vec::new());
        for (variable, value) in definitions {
            self.assigned[variable] = true;
            variables.push((variable, Node::Constant(s.local(ValueView::Unassigned))));
            nodes.push(Node::SetLocal(variable, Box::new(self.expand(s, value, env)?)));
        }
        forms.reverse();
        nodes.extend(self.expand_all(s, &forms, env)?);
        Ok(Node::Let(variables, Box::new(Node::Sequence(nodes))))
    }

    fn define_syntax<'s>(&mut self, s: &mut Scope<'s>, form: Handle<'s>, env: Env) -> Result<()> {
        let (mut name, rules) = definition(s, form)?;
        if env == TOP {
            name = strip(s, name)?;
        }
        let (name, rules) = (name_of(name.get(s))?, Rules::new(s, rules, env)?);
        self.scopes.bind(env, name, Meaning::Macro(self.macros.len()));
        self.macros.push(rules);
        Ok(())
    }
}

/// Returns the error message of a form.
fn wrong(s: &Scope<'_>, form: Handle<'_>, why: &str) -> String {
    format!("{why} in {}", show(form.get(s)))
}

/// Returns the name and the value of a definition.
fn definition<'s>(s: &Scope<'s>, form: Handle<'_>) -> Result<(Handle<'s>, Handle<'s>)> {
    match handles(s, form.get(s))?[..] {
        [_, name, value] => name_of(name.get(s)).map(|_| (name, value)),
        _ => Err(format!("a definition has a name and a value: {}", show(form.get(s)))),
    }
}
