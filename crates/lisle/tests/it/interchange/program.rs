//! The programs: expressions as in Figure 6 of the paper, and what can be seen of a run.

use std::fmt;
use std::sync::Arc;

/// Which thread of a program. The `spawn` that begins it says which, and is evaluated at most once.
pub(crate) type Name = usize;

/// What a thread is. No part of the program: each of its threads may be either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Fiber,
    Task,
}

/// A variable, bound in one place of a program only.
pub(crate) type Var = usize;

pub(crate) type Term = Arc<Exp>;

/// An expression.
pub(crate) enum Exp {
    Constant(Datum),
    Variable(Var),
    Lambda(Var, Term),
    Apply(Term, Term),
    /// `spawn(e)` or `taskSpawn(e)`, by the kind of the thread.
    Spawn(Name, Term),
    Channel,
    /// To a channel, a value.
    Send(Term, Term),
    Receive(Term),
    Inflate(Term),
    /// Sends and receives, of which one happens, each with the function that is then applied to its value.
    Choose(Vec<(Term, Term)>),
}

/// In the notation of the paper, with `let` for a function that is applied at once.
impl fmt::Debug for Exp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exp::Constant(datum) => write!(f, "{datum:?}"),
            Exp::Variable(var) => write!(f, "x{var}"),
            Exp::Lambda(var, body) => write!(f, "λx{var}. {body:?}"),
            Exp::Apply(function, argument) => match &**function {
                Exp::Lambda(var, body) => write!(f, "let x{var} = {argument:?}; {body:?}"),
                function => write!(f, "({function:?})({argument:?})"),
            },
            Exp::Spawn(name, body) => write!(f, "spawn {name} ({body:?})"),
            Exp::Channel => write!(f, "Chan()"),
            Exp::Send(channel, value) => write!(f, "send({channel:?}, {value:?})"),
            Exp::Receive(channel) => write!(f, "recv({channel:?})"),
            Exp::Inflate(body) => write!(f, "inflate({body:?})"),
            Exp::Choose(alternatives) => {
                let alternative = |(offer, function): &(Term, Term)| format!("{offer:?} => {function:?}");
                let alternatives: Vec<_> = alternatives.iter().map(alternative).collect();
                write!(f, "choose({})", alternatives.join(" | "))
            }
        }
    }
}

/// A channel by who made it, and how many channels that thread had made before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ChannelName {
    pub(crate) maker: Name,
    pub(crate) earlier: u8,
}

/// A value that is no function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Datum {
    Unit,
    Number(u8),
    Channel(ChannelName),
}

/// `first` is evaluated, then `then` with its value as `var`.
pub(crate) fn bind(var: Var, first: Exp, then: Exp) -> Exp {
    Exp::Apply(Exp::Lambda(var, then.into()).into(), first.into())
}

/// A program: what its first thread evaluates, and how many threads there are at most.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) body: Term,
    pub(crate) threads: usize,
}

/// What a communication was for one of the two.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Seen {
    /// Which alternative of a choice; 0 where there was none.
    pub(crate) alternative: usize,
    /// What was received. A sender gets the unit.
    pub(crate) value: Datum,
}

/// What became of a thread: all that it has seen, and its value, if it is not stuck for ever.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Fate {
    pub(crate) seen: Vec<Seen>,
    pub(crate) value: Option<Datum>,
}

/// What became of each thread; `None` of one that was never spawned.
pub(crate) type Outcome = Vec<Option<Fate>>;
