//! The expander: from data to [`Node`]s. It knows the scopes of names, and expands macros.
//!
//! A macro's expansion renames the names that its template inserts: it puts an alias in the place of
//! each. An alias that nothing binds means what its name means where the macro was defined. So neither
//! captures the other's names ("Macros that work", Clinger and Rees, POPL 1991).

use crate::macros::Rules;
use crate::quote::{strip, stripped_name};
use crate::read::Symbols;
use crate::scopes::{Env, Meaning, Scopes, TOP, name_id};
use crate::value::{PairRef as _, Result, Value, ValueView, elements, error, handles, pair, show};
use lisle_heap::{Global, Local, Scope};
use std::rc::Rc;

pub(crate) type Variable = usize;

/// An expression whose names are resolved. A constant is its number in [`Expander::constants`].
pub(crate) enum Node {
    Constant(usize),
    Local(Variable),
    SetLocal(Variable, Box<Node>),
    Global(usize),
    SetGlobal(usize, Box<Node>),
    Define(usize, Box<Node>),
    If(Box<[Node; 3]>),
    Let(Vec<(Variable, Node)>, Box<Node>),
    Lambda(Box<Lambda>),
    Sequence(Vec<Node>),
    Call(Vec<Node>),
}

pub(crate) struct Lambda {
    pub(crate) parameters: Vec<Variable>,
    pub(crate) rest: Option<Variable>,
    pub(crate) body: Node,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    Quote,
    Quasiquote,
    If,
    Define,
    Set,
    Lambda,
    Begin,
    Let,
    Letrec,
    LetrecInOrder,
    LetSyntax,
    DefineSyntax,
}

const SPECIALS: [(&str, Special); 13] = [
    ("quote", Special::Quote),
    ("quasiquote", Special::Quasiquote),
    ("if", Special::If),
    ("define", Special::Define),
    ("set!", Special::Set),
    ("lambda", Special::Lambda),
    ("begin", Special::Begin),
    ("let", Special::Let),
    ("letrec", Special::Letrec),
    ("letrec*", Special::LetrecInOrder),
    ("let-syntax", Special::LetSyntax),
    ("letrec-syntax", Special::LetSyntax),
    ("define-syntax", Special::DefineSyntax),
];

pub(crate) struct Expander {
    pub(crate) symbols: Symbols,
    /// The constants of all code.
    pub(crate) constants: Vec<Global<Value>>,
    /// For each variable, whether it is assigned.
    pub(crate) assigned: Vec<bool>,
    pub(crate) scopes: Scopes,
}

impl Expander {
    pub(crate) fn new(s: &mut Scope<'_>) -> Self {
        let mut expander = Self {
            symbols: Symbols::default(),
            constants: Vec::new(),
            assigned: Vec::new(),
            scopes: Scopes::new(),
        };
        for (name, special) in SPECIALS {
            s.scope(|s| {
                let id = expander.symbols.intern(s, name).get(s).id;
                expander.scopes.bind(TOP, id, Meaning::Special(special));
            });
        }
        expander
    }

    fn variable(&mut self) -> Variable {
        self.assigned.push(false);
        self.assigned.len() - 1
    }

    fn bind(&mut self, s: &Scope<'_>, env: Env, name: Local<'_, Value>) -> Result<Variable> {
        let Some(id) = name_id(name.get(s)) else {
            return error(format!("not a name: {}", show(name.get(s))));
        };
        let variable = self.variable();
        self.scopes.bind(env, id, Meaning::Variable(variable));
        Ok(variable)
    }

    pub(crate) fn constant<'a>(&mut self, s: &'a Scope<'_>, value: ValueView<'a>) -> usize {
        self.constants.push(s.global(value));
        self.constants.len() - 1
    }

    /// Returns the symbol of a global variable as a constant.
    fn global(&mut self, s: &Scope<'_>, name: Local<'_, Value>) -> usize {
        let symbol = stripped_name(name.get(s));
        self.constant(s, symbol)
    }

    /// Returns the global variable with this name as an expression.
    pub(crate) fn function(&mut self, s: &mut Scope<'_>, name: &str) -> Node {
        s.scope(|s| {
            let symbol = self.symbols.intern(s, name);
            Node::Global(self.constant(s, ValueView::Symbol(symbol.get(s))))
        })
    }

    fn unspecified(&mut self, s: &Scope<'_>) -> Node {
        Node::Constant(self.constant(s, ValueView::Unspecified))
    }

    /// Expands a form at the top of the program, where definitions are of global variables.
    pub(crate) fn top(&mut self, s: &mut Scope<'_>, form: Local<'_, Value>) -> Result<Node> {
        s.scope(|s| {
            let form = self.expanded_head(s, form, TOP)?;
            let special = self.special(s, form, TOP);
            let forms = if special.is_some() { handles(s, form)? } else { Vec::new() };
            match special {
                Some(Special::Begin) => {
                    let nodes = forms[1..].iter().map(|form| self.top(s, *form)).collect::<Result<_>>()?;
                    Ok(self.sequence(s, nodes))
                }
                Some(Special::Define) => {
                    let (name, value) = self.definition(s, &forms)?;
                    let node = self.definition_value(s, value, TOP)?;
                    Ok(Node::Define(self.global(s, name), Box::new(node)))
                }
                Some(Special::DefineSyntax) => {
                    self.define_syntax(s, &forms, TOP)?;
                    Ok(self.unspecified(s))
                }
                _ => self.expand(s, form, TOP),
            }
        })
    }

    fn special(&self, s: &Scope<'_>, form: Local<'_, Value>, env: Env) -> Option<Special> {
        let ValueView::Pair(form) = form.get(s) else { return None };
        match self.scopes.meaning(form.car(), env) {
            Some(Meaning::Special(special)) => Some(special),
            _ => None,
        }
    }

    /// Expands the form until its head is no macro.
    fn expanded_head<'s>(
        &mut self,
        s: &mut Scope<'s>,
        form: Local<'_, Value>,
        env: Env,
    ) -> Result<Local<'s, Value>> {
        let mut form = s.local(form.get(s));
        loop {
            let ValueView::Pair(head) = form.get(s) else { return Ok(form) };
            let Some(Meaning::Macro(rules)) = self.scopes.meaning(head.car(), env) else { return Ok(form) };
            form = rules.expand(self, s, form, env)?;
        }
    }

    pub(crate) fn expand(&mut self, s: &mut Scope<'_>, form: Local<'_, Value>, env: Env) -> Result<Node> {
        s.scope(|s| {
            let form = self.expanded_head(s, form, env)?;
            match form.get(s) {
                name @ (ValueView::Symbol(_) | ValueView::Alias(_)) => match self.scopes.meaning(name, env) {
                    Some(Meaning::Variable(variable)) => Ok(Node::Local(variable)),
                    Some(Meaning::Global(_)) => Ok(Node::Global(self.global(s, form))),
                    _ => error(format!("`{}` is syntax, and not a value", show(name))),
                },
                ValueView::Nil => error("`()` is no expression: write `'()` for the empty list"),
                ValueView::Pair(_) => match self.special(s, form, env) {
                    Some(special) => {
                        let forms = handles(s, form)?;
                        self.expand_special(s, special, &forms, env).map_err(|mut why| {
                            why.0 = format!("{} in {}", why.0, show(form.get(s)));
                            why
                        })
                    }
                    None => {
                        let forms = handles(s, form)?;
                        let call =
                            forms.iter().map(|form| self.expand(s, *form, env)).collect::<Result<_>>()?;
                        Ok(Node::Call(call))
                    }
                },
                constant => Ok(Node::Constant(self.constant(s, constant))),
            }
        })
    }

    fn expand_special(
        &mut self,
        s: &mut Scope<'_>,
        special: Special,
        forms: &[Local<'_, Value>],
        env: Env,
    ) -> Result<Node> {
        match (special, forms) {
            (Special::Quote, [_, datum]) => {
                let datum = strip(s, *datum);
                Ok(Node::Constant(self.constant(s, datum.get(s))))
            }
            (Special::Quasiquote, [_, datum]) => self.quasiquote(s, *datum, env, 1),
            (Special::If, [_, condition, then]) => {
                let nodes =
                    [self.expand(s, *condition, env)?, self.expand(s, *then, env)?, self.unspecified(s)];
                Ok(Node::If(Box::new(nodes)))
            }
            (Special::If, [_, condition, then, otherwise]) => {
                let nodes = [
                    self.expand(s, *condition, env)?,
                    self.expand(s, *then, env)?,
                    self.expand(s, *otherwise, env)?,
                ];
                Ok(Node::If(Box::new(nodes)))
            }
            (Special::Set, [_, name, value]) => {
                let value = Box::new(self.expand(s, *value, env)?);
                match self.scopes.meaning(name.get(s), env) {
                    Some(Meaning::Variable(variable)) => {
                        self.assigned[variable] = true;
                        Ok(Node::SetLocal(variable, value))
                    }
                    Some(Meaning::Global(_)) => Ok(Node::SetGlobal(self.global(s, *name), value)),
                    _ => error("not a variable"),
                }
            }
            (Special::Lambda, [_, parameters, body @ ..]) => {
                let lambda = self.lambda(s, *parameters, body, env)?;
                Ok(Node::Lambda(Box::new(lambda)))
            }
            (Special::Begin, [_, body @ ..]) => {
                let nodes = body.iter().map(|form| self.expand(s, *form, env)).collect::<Result<_>>()?;
                Ok(self.sequence(s, nodes))
            }
            (Special::Let, [_, name, bindings, body @ ..]) if name_id(name.get(s)).is_some() => {
                self.named_let(s, *name, *bindings, body, env)
            }
            (Special::Let, [_, bindings, body @ ..]) => {
                let (names, values) = self.bindings(s, *bindings)?;
                let inner = self.scopes.child(env);
                let values: Vec<_> =
                    values.iter().map(|value| self.expand(s, *value, env)).collect::<Result<_>>()?;
                let names: Vec<_> =
                    names.iter().map(|name| self.bind(s, inner, *name)).collect::<Result<_>>()?;
                let body = self.body(s, body, inner)?;
                Ok(Node::Let(names.into_iter().zip(values).collect(), Box::new(body)))
            }
            (Special::Letrec | Special::LetrecInOrder, [_, bindings, body @ ..]) => {
                let (names, values) = self.bindings(s, *bindings)?;
                let inner = self.scopes.child(env);
                let names: Vec<_> =
                    names.iter().map(|name| self.bind(s, inner, *name)).collect::<Result<_>>()?;
                let values: Vec<_> =
                    values.iter().map(|value| self.expand(s, *value, inner)).collect::<Result<_>>()?;
                let body = self.body(s, body, inner)?;
                let bindings: Vec<_> = names.into_iter().zip(values).collect();
                Ok(self.recursive(s, bindings, body, special == Special::LetrecInOrder))
            }
            (Special::LetSyntax, [_, bindings, body @ ..]) => {
                let (names, rules) = self.bindings(s, *bindings)?;
                let inner = self.scopes.child(env);
                for (name, rules) in names.iter().zip(rules) {
                    self.bind_syntax(s, *name, rules, inner)?;
                }
                self.body(s, body, inner)
            }
            (Special::Define | Special::DefineSyntax, _) => {
                error("a definition where an expression is expected")
            }
            _ => error("a special form of the wrong length"),
        }
    }

    fn sequence(&mut self, s: &Scope<'_>, mut nodes: Vec<Node>) -> Node {
        match nodes.len() {
            0 => self.unspecified(s),
            1 => nodes.remove(0),
            _ => Node::Sequence(nodes),
        }
    }

    /// Returns the names and the values of a list of bindings.
    #[expect(clippy::type_complexity, reason = "two lists of handles")]
    fn bindings<'s>(
        &self,
        s: &Scope<'s>,
        bindings: Local<'_, Value>,
    ) -> Result<(Vec<Local<'s, Value>>, Vec<Local<'s, Value>>)> {
        let mut both = (Vec::new(), Vec::new());
        for binding in elements(bindings.get(s))? {
            match elements(binding)?[..] {
                [name, value] => {
                    both.0.push(s.local(name));
                    both.1.push(s.local(value));
                }
                _ => return error(format!("a binding has a name and a value: {}", show(binding))),
            }
        }
        Ok(both)
    }

    /// Variables that see each other: they begin without a value, and then get theirs, `in_order`, or after all
    /// values have been computed.
    fn recursive(
        &mut self,
        s: &Scope<'_>,
        bindings: Vec<(Variable, Node)>,
        body: Node,
        in_order: bool,
    ) -> Node {
        let unassigned = self.constant(s, ValueView::Unassigned);
        let names = bindings.iter().map(|(name, _)| (*name, Node::Constant(unassigned))).collect();
        let (mut computed, mut nodes) = (Vec::new(), Vec::new());
        for (name, mut value) in bindings {
            self.assigned[name] = true;
            if !in_order {
                let temporary = self.variable();
                computed.push((temporary, value));
                value = Node::Local(temporary);
            }
            nodes.push(Node::SetLocal(name, Box::new(value)));
        }
        nodes.push(body);
        Node::Let(names, Box::new(Node::Let(computed, Box::new(Node::Sequence(nodes)))))
    }

    fn named_let(
        &mut self,
        s: &mut Scope<'_>,
        name: Local<'_, Value>,
        bindings: Local<'_, Value>,
        body: &[Local<'_, Value>],
        env: Env,
    ) -> Result<Node> {
        let (names, values) = self.bindings(s, bindings)?;
        let mut call: Vec<_> =
            values.iter().map(|value| self.expand(s, *value, env)).collect::<Result<_>>()?;
        let outer = self.scopes.child(env);
        let name = self.bind(s, outer, name)?;
        let inner = self.scopes.child(outer);
        let parameters = names.iter().map(|name| self.bind(s, inner, *name)).collect::<Result<_>>()?;
        let body = self.body(s, body, inner)?;
        let lambda = Node::Lambda(Box::new(Lambda { parameters, rest: None, body }));
        let function = self.recursive(s, vec![(name, lambda)], Node::Local(name), true);
        call.insert(0, function);
        Ok(Node::Call(call))
    }

    fn lambda(
        &mut self,
        s: &mut Scope<'_>,
        parameters: Local<'_, Value>,
        body: &[Local<'_, Value>],
        env: Env,
    ) -> Result<Lambda> {
        let inner = self.scopes.child(env);
        let mut names = Vec::new();
        let mut rest = s.local(parameters.get(s));
        while let ValueView::Pair(pair) = rest.get(s) {
            let name = s.local(pair.car());
            rest = s.local(pair.cdr());
            names.push(self.bind(s, inner, name)?);
        }
        let rest = match rest.get(s) {
            ValueView::Nil => None,
            _ => Some(self.bind(s, inner, rest)?),
        };
        let body = self.body(s, body, inner)?;
        Ok(Lambda { parameters: names, rest, body })
    }

    /// Returns the name and the value of a definition. The value of a function is a pair of its parameters and its
    /// body.
    fn definition<'s>(
        &self,
        s: &Scope<'s>,
        forms: &[Local<'_, Value>],
    ) -> Result<(Local<'s, Value>, DefinitionValue<'s>)> {
        match forms {
            [_, name, value] if name_id(name.get(s)).is_some() => {
                Ok((s.local(name.get(s)), DefinitionValue::Expression(s.local(value.get(s)))))
            }
            [_, head, body @ ..] => {
                let head = pair(head.get(s))?;
                let body = body.iter().map(|form| s.local(form.get(s))).collect();
                Ok((s.local(head.car()), DefinitionValue::Function(s.local(head.cdr()), body)))
            }
            _ => error("a definition has a name and a value"),
        }
    }

    fn definition_value(&mut self, s: &mut Scope<'_>, value: DefinitionValue<'_>, env: Env) -> Result<Node> {
        match value {
            DefinitionValue::Expression(value) => self.expand(s, value, env),
            DefinitionValue::Function(parameters, body) => {
                Ok(Node::Lambda(Box::new(self.lambda(s, parameters, &body, env)?)))
            }
        }
    }

    /// Expands a body: definitions, and then expressions.
    fn body(&mut self, s: &mut Scope<'_>, forms: &[Local<'_, Value>], env: Env) -> Result<Node> {
        if forms.is_empty() {
            return error("a body without an expression");
        }
        let env = self.scopes.child(env);
        let mut forms: Vec<_> = forms.iter().rev().map(|form| s.local(form.get(s))).collect();
        let mut definitions = Vec::new();
        let mut nodes = Vec::new();
        while let Some(form) = forms.pop() {
            let form = self.expanded_head(s, form, env)?;
            match self.special(s, form, env) {
                Some(Special::Begin) => {
                    let inner = handles(s, form)?;
                    forms.extend(inner[1..].iter().rev());
                }
                Some(Special::Define) => {
                    let inner = handles(s, form)?;
                    let (name, value) = self.definition(s, &inner)?;
                    definitions.push((self.bind(s, env, name)?, value));
                }
                Some(Special::DefineSyntax) => {
                    let inner = handles(s, form)?;
                    self.define_syntax(s, &inner, env)?;
                }
                _ => {
                    forms.push(form);
                    break;
                }
            }
        }
        let mut values = Vec::new();
        for (name, value) in definitions {
            values.push((name, self.definition_value(s, value, env)?));
        }
        while let Some(form) = forms.pop() {
            nodes.push(self.expand(s, form, env)?);
        }
        let body = self.sequence(s, nodes);
        Ok(if values.is_empty() { body } else { self.recursive(s, values, body, true) })
    }

    fn define_syntax(&mut self, s: &mut Scope<'_>, forms: &[Local<'_, Value>], env: Env) -> Result<()> {
        let [_, name, rules] = forms else { return error("`define-syntax` has a name and rules") };
        self.bind_syntax(s, *name, *rules, env)
    }

    fn bind_syntax(
        &mut self,
        s: &mut Scope<'_>,
        name: Local<'_, Value>,
        rules: Local<'_, Value>,
        env: Env,
    ) -> Result<()> {
        let rules = Rules::new(s, rules, env)?;
        let mut view = name.get(s);
        if env == TOP {
            view = stripped_name(view);
        }
        let Some(id) = name_id(view) else { return error("a macro has a name") };
        self.scopes.bind(env, id, Meaning::Macro(Rc::new(rules)));
        Ok(())
    }
}

enum DefinitionValue<'s> {
    Expression(Local<'s, Value>),
    Function(Local<'s, Value>, Vec<Local<'s, Value>>),
}
