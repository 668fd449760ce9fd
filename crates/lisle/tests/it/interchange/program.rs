//! The programs: expressions as in Figure 6 of the paper, and the observable results of a run.

use std::fmt;
use std::sync::Arc;

/// Identifies a thread of a program. The `spawn` that starts it contains the name, and is evaluated
/// at most once.
pub(crate) type Name = usize;

/// The kind of a thread. It is not a part of the program: each thread may have either kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Fiber,
    Task,
}

/// A variable, bound in only one place of a program.
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
    /// The channel, and the value.
    Send(Term, Term),
    Receive(Term),
    Inflate(Term),
    /// Sends and receives, of which one happens. Each has a function that is applied to its value.
    Choose(Vec<(Term, Term)>),
}

/// Formats in the notation of the paper, with `let` for a function that is applied at once.
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

/// Identifies a channel by its creator, and the number of channels that this thread had created
/// before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ChannelName {
    pub(crate) maker: Name,
    pub(crate) earlier: u8,
}

/// A value that is not a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Datum {
    Unit,
    Number(u8),
    Channel(ChannelName),
}

/// Returns an expression that evaluates `first`, and then `then` with the value of `first` as
/// `var`.
pub(crate) fn bind(var: Var, first: Exp, then: Exp) -> Exp {
    Exp::Apply(Exp::Lambda(var, then.into()).into(), first.into())
}

/// A program: the expression that its first thread evaluates, and the largest number of threads.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) body: Term,
    pub(crate) threads: usize,
}

/// A communication as one of its two threads saw it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Seen {
    /// The alternative of a choice, or 0 for a single operation.
    pub(crate) alternative: usize,
    /// The received value. A sender gets the unit.
    pub(crate) value: Datum,
}

/// The fate of a thread: everything that it has seen, and its value, or `None` if it is stuck
/// forever.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Fate {
    pub(crate) seen: Vec<Seen>,
    pub(crate) value: Option<Datum>,
}

/// The fate of each thread, or `None` for one that was never spawned.
pub(crate) type Outcome = Vec<Option<Fate>>;
