//! The abstract machine of the paper, rule by rule: its states (Figure 6), its local (Figure 7) and
//! its global transitions (Figure 8), with the names of the paper.
//!
//! Additions, and the reasons for them:
//!
//! - *Choice.* The paper has only `send` and `recv`, and builds events elsewhere. Here an
//!   alternative of a `choose` is evaluated like the `send` or `recv` that it is, until its blocked
//!   frame lies on the frame of the choice. The frame of the choice takes the blocked frame, with
//!   the function of the alternative, and evaluates the next one. When all are there, they are one
//!   blocked frame. A communication may pop it by any of its offers, and leaves the value on the
//!   function that belongs to that offer. A communication needs two blocked frames, so a choice
//!   does not communicate with itself. A `send` or a `recv` is a choice of one alternative.
//! - *Names.* Each stack has the name of its thread in the program, and a log of its observations,
//!   which no rule reads. Things that are "fresh" in the paper are named after the stack that
//!   created them, so states that differ only in such names are equal.
//! - *Halted threads*, and those that all stacks have left (by `inflate` or migration), are
//!   removed: no rule applies to them. The value of each stack is kept; the paper keeps the value
//!   of the thread's last stack.

mod global;
mod local;

use super::program::{ChannelName, Datum, Exp, Fate, Name, Outcome, Seen, Term, Var};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A part of the program, equal only to itself: equal text in two places is two parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Code<'p>(&'p Exp);

impl PartialEq for Code<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Code<'_> {}

impl Hash for Code<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Value<'p> {
    Datum(Datum),
    Closure(Var, Code<'p>, Env<'p>),
}

type Env<'p> = Rc<BTreeMap<Var, Value<'p>>>;

/// The operation that a blocked frame waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Offer {
    Receive(ChannelName),
    Send(ChannelName, Datum),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Frame<'p> {
    Return(Value<'p>),
    Argument(Code<'p>, Env<'p>),
    Function(Value<'p>),
    Receive,
    SendValue(Code<'p>, Env<'p>),
    Send(ChannelName),
    /// `rblock` and `sblock`.
    Blocked(Offer),
    /// The alternatives of a choice that have been evaluated, with their functions.
    Choosing(Vec<(Offer, Value<'p>)>, Code<'p>, Env<'p>),
    BlockedChoice(Vec<(Offer, Value<'p>)>),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Stack<'p> {
    name: Name,
    /// The top is the last.
    frames: Vec<Frame<'p>>,
    seen: Vec<Seen>,
    channels: u8,
    inflations: u8,
}

type Stacks<'p> = BTreeMap<Name, Stack<'p>>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ThreadState<'p> {
    Control(Code<'p>, Env<'p>, Stack<'p>, Stacks<'p>),
    Return(Stacks<'p>),
}

/// Identifies a thread by the stack that it was created for, and the number of times that this
/// stack had been inflated before.
pub(crate) type ThreadId = (Name, u8);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State<'p> {
    threads: BTreeMap<ThreadId, ThreadState<'p>>,
    ended: BTreeMap<Name, Fate>,
}

impl<'p> Value<'p> {
    fn datum(&self) -> Datum {
        match self {
            Value::Datum(datum) => *datum,
            Value::Closure(..) => unreachable!("functions are neither sent nor results"),
        }
    }

    fn channel(&self) -> ChannelName {
        match self.datum() {
            Datum::Channel(name) => name,
            other => unreachable!("{other:?} is used as a channel"),
        }
    }
}

impl<'p> Stack<'p> {
    fn new(name: Name) -> Self {
        Stack { name, frames: Vec::new(), seen: Vec::new(), channels: 0, inflations: 0 }
    }

    /// Returns `true` if only a communication can resume the stack.
    fn is_blocked(&self) -> bool {
        match &self.frames[..] {
            // An alternative of a choice that is not complete.
            [.., Frame::Choosing(..), Frame::Blocked(_)] => false,
            [.., Frame::Blocked(_) | Frame::BlockedChoice(_)] => true,
            _ => false,
        }
    }

    /// Returns the offers that the stack waits for, by alternative.
    fn offers(&self) -> impl Iterator<Item = &Offer> {
        let (one, several) = match self.frames.last().filter(|_| self.is_blocked()) {
            Some(Frame::Blocked(offer)) => (Some(offer), None),
            Some(Frame::BlockedChoice(offers)) => (None, Some(offers)),
            _ => (None, None),
        };
        one.into_iter().chain(several.into_iter().flatten().map(|(offer, _)| offer))
    }

    /// Pops the blocked frame.
    fn resume(&mut self, alternative: usize, value: Datum) {
        self.seen.push(Seen { alternative, value });
        if let Some(Frame::BlockedChoice(mut offers)) = self.frames.pop() {
            self.frames.push(Frame::Function(offers.swap_remove(alternative).1));
        }
        self.frames.push(Frame::Return(Value::Datum(value)));
    }
}

impl<'p> State<'p> {
    /// Returns a state with one thread of one stack. The kind that it was spawned as does not
    /// matter.
    pub(crate) fn first(body: &'p Term) -> Self {
        let first = ThreadState::Control(Code(body), Env::default(), Stack::new(0), Stacks::new());
        State { threads: BTreeMap::from([((0, 0), first)]), ended: BTreeMap::new() }
    }

    /// Returns the fates of `threads` threads, if nothing can happen any more.
    pub(crate) fn outcome(mut self, threads: usize) -> Outcome {
        for (id, state) in std::mem::take(&mut self.threads) {
            let ThreadState::Return(stacks) = state else { unreachable!("{id:?} could go on") };
            for stack in stacks.into_values() {
                self.ended.insert(stack.name, Fate { seen: stack.seen, value: None });
            }
        }
        (0..threads).map(|name| self.ended.remove(&name)).collect()
    }
}
