//! Small random programs. They are typed: a value is used according to its type.

use super::program::{Datum, Exp, Name, Program, Term, Var, bind};
use crate::support::Random;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Type {
    Unit,
    Number,
    /// A channel for values of this type.
    Channel(Box<Type>),
}

/// The variables that may be used.
type Scope = Vec<(Var, Type)>;

/// The numbers of things that a program may still have.
pub(crate) struct Limits {
    pub(crate) threads: usize,
    pub(crate) channels: usize,
    /// Sends, receives, choices.
    pub(crate) operations: usize,
}

struct Generator<'r> {
    random: &'r mut Random,
    left: Limits,
    threads: Name,
    variables: Var,
    numbers: u8,
    /// The number of sends minus the number of receives.
    surplus: i32,
}

/// Returns a program with at least two threads.
pub(crate) fn program(random: &mut Random, limits: Limits) -> Program {
    let mut generator = Generator { random, left: limits, threads: 0, variables: 0, numbers: 0, surplus: 0 };
    let first = generator.thread();
    let channels = 1 + generator.random.below(3) / 2;
    let (body, threads) = (generator.beginning(first, channels, &mut Scope::new()), generator.threads);
    Program { body: body.into(), threads }
}

fn variable(var: Var) -> Exp {
    Exp::Variable(var)
}

impl Generator<'_> {
    fn thread(&mut self) -> Name {
        self.left.threads -= 1;
        self.threads += 1;
        self.threads - 1
    }

    fn variable(&mut self) -> Var {
        self.variables += 1;
        self.variables
    }

    /// Binds the value of `first`, which has this type, to a variable that is in scope in the
    /// result of `then`.
    fn bind(
        &mut self,
        scope: &mut Scope,
        (first, of): (Exp, Type),
        then: impl FnOnce(&mut Self, &mut Scope) -> Exp,
    ) -> Exp {
        let var = self.variable();
        let depth = scope.len();
        scope.push((var, of));
        let then = then(self, scope);
        scope.truncate(depth);
        bind(var, first, then)
    }

    /// The first thread creates some channels before it continues as all threads do.
    fn beginning(&mut self, first: Name, channels: usize, scope: &mut Scope) -> Exp {
        if channels == 0 {
            let operations = 1 + self.random.below(3);
            return self.rest(first, operations, scope);
        }
        let made = self.channel(scope);
        self.bind(scope, made, |this, scope| this.beginning(first, channels - 1, scope))
    }

    /// Returns the body of a thread: `operations` operations, and spawns in between. The first
    /// thread makes sure that there is another one.
    fn rest(&mut self, me: Name, operations: usize, scope: &mut Scope) -> Exp {
        let spawns = match me {
            0 => self.random.below(2) == 0 || self.threads == 1,
            _ => self.random.below(4) == 0,
        };
        if self.left.threads > 0 && spawns {
            let name = self.thread();
            let its = 1 + self.random.below(3);
            let body = self.rest(name, its, &mut scope.clone());
            let spawn = (Exp::Spawn(name, body.into()), Type::Unit);
            return self.bind(scope, spawn, |this, scope| this.rest(me, operations, scope));
        }
        if operations == 0 || self.left.operations == 0 {
            return self.number(scope);
        }
        let operation = self.operation(scope);
        self.bind(scope, operation, |this, scope| this.rest(me, operations - 1, scope))
    }

    fn operation(&mut self, scope: &Scope) -> (Exp, Type) {
        let (exp, of) = match self.random.below(12) {
            0 if self.left.channels > 0 => return self.channel(scope),
            0..6 => {
                self.left.operations -= 1;
                self.offer(scope)
            }
            _ => {
                self.left.operations -= 1;
                let count = 2 + self.random.below(2);
                (Exp::Choose((0..count).map(|_| self.alternative(scope)).collect()), Type::Number)
            }
        };
        match self.random.below(6) {
            0 => (Exp::Inflate(exp.into()), of),
            _ => (exp, of),
        }
    }

    /// Returns a new channel, now and then one for channels, if there is a channel that could be
    /// sent.
    fn channel(&mut self, scope: &Scope) -> (Exp, Type) {
        self.left.channels -= 1;
        let numbers = Type::Channel(Box::new(Type::Number));
        let of_channels = scope.iter().any(|(_, of)| *of == numbers) && self.random.below(3) == 0;
        let of = if of_channels { Type::Channel(Box::new(numbers)) } else { numbers };
        (Exp::Channel, of)
    }

    /// Returns a send or a receive.
    fn offer(&mut self, scope: &Scope) -> (Exp, Type) {
        let channels = scope.iter().filter_map(|(var, of)| match of {
            Type::Channel(of) => Some((*var, &**of)),
            _ => None,
        });
        let (channel, of) = self.one_of(channels.collect());
        // Prefers the kind that is missing. Otherwise even more threads would wait forever.
        let receives = self.random.below(6) < if self.surplus > 0 { 5 } else { 1 };
        self.surplus += if receives { -1 } else { 1 };
        if receives {
            return (Exp::Receive(variable(channel).into()), of.clone());
        }
        let value = match of {
            Type::Number => self.number(scope),
            of => {
                let values = scope.iter().filter(|(_, its)| its == of).map(|(var, _)| *var);
                variable(self.one_of(values.collect()))
            }
        };
        (Exp::Send(variable(channel).into(), value.into()), Type::Unit)
    }

    /// Returns an offer with a function that returns a number, sometimes after an operation of its
    /// own.
    fn alternative(&mut self, scope: &Scope) -> (Term, Term) {
        let (offer, of) = self.offer(scope);
        let var = self.variable();
        let mut inner = scope.clone();
        inner.push((var, of));
        let body = if self.left.operations > 0 && self.random.below(5) == 0 {
            let operation = self.operation(&inner);
            self.bind(&mut inner, operation, |this, scope| this.number(scope))
        } else {
            self.number(&inner)
        };
        (offer.into(), Exp::Lambda(var, body.into()).into())
    }

    /// Returns a number that has been received, or a new one. Each new number occurs once.
    fn number(&mut self, scope: &Scope) -> Exp {
        let numbers: Vec<Var> =
            scope.iter().filter(|(_, of)| *of == Type::Number).map(|(var, _)| *var).collect();
        if !numbers.is_empty() && self.random.below(2) == 0 {
            return variable(self.one_of(numbers));
        }
        self.numbers += 1;
        Exp::Constant(Datum::Number(self.numbers))
    }

    fn one_of<T: Clone>(&mut self, all: Vec<T>) -> T {
        all[self.random.below(all.len())].clone()
    }
}
