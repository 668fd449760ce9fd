//! The abstract machine of the paper, rule by rule: its states (Figure 6), its local (Figure 7) and its global
//! transitions (Figure 8), under the names that they have there.
//!
//! What is added, and why:
//!
//! - *Choice.* The paper has `send` and `recv` only, and builds events elsewhere. Here an alternative of a `choose` is
//!   evaluated like the `send` or `recv` that it is, until its blocked frame lies on the frame of the choice. That frame
//!   takes it, with the function of the alternative, and evaluates the next; when all are there, they are one blocked
//!   frame. A communication may pop it by any of its offers, and leaves the value on the function that belongs to that
//!   one. As two blocked frames are needed, a choice does not communicate with itself. A choice of one alternative is
//!   what a `send` or a `recv` is.
//! - *Names.* Each stack says which thread of the program it is, and has a log of what it has seen, which no rule
//!   looks at. What is "fresh" in the paper is named for the stack that made it, so that states which
//!   differ only in such names are the same.
//! - *Halted threads* and those that all stacks have left (by `inflate` or migration) are taken away: no rule applies to
//!   them. The value of each stack is kept, where the paper keeps that of the thread's last.

use super::program::{ChannelName, Datum, Exp, Fate, Kind, Name, Outcome, Seen, Term, Var};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A part of the program. There are no two alike, so it is its place.
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

/// What a blocked frame waits for.
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

/// A thread by the stack that it was made for, and how often that had been inflated before.
pub(crate) type ThreadId = (Name, u8);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State<'p> {
    threads: BTreeMap<ThreadId, ThreadState<'p>>,
    ended: BTreeMap<Name, Fate>,
}

/// A transition that is neither a communication nor a migration.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Silent {
    Control(ThreadId),
    /// By this stack of the thread.
    Return(ThreadId, Name),
}

/// A stack that is blocked, and one of its offers.
#[derive(Debug, Clone, Copy)]
struct Side {
    thread: ThreadId,
    stack: Name,
    alternative: usize,
}

/// Two that may communicate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meeting {
    receiver: Side,
    sender: Side,
    message: Datum,
}

impl Meeting {
    pub(crate) fn is_local(&self) -> bool {
        self.receiver.thread == self.sender.thread
    }
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

    /// Only a communication can go on with it.
    fn is_blocked(&self) -> bool {
        match &self.frames[..] {
            // The alternative of a choice that is not complete.
            [.., Frame::Choosing(..), Frame::Blocked(_)] => false,
            [.., Frame::Blocked(_) | Frame::BlockedChoice(_)] => true,
            _ => false,
        }
    }

    /// What it waits for, by alternative.
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
    /// A thread that has nothing to do but to spawn the first of the program.
    pub(crate) fn first(body: &'p Term, kind: Kind) -> Self {
        let env = Env::default();
        let mut state = State { threads: BTreeMap::new(), ended: BTreeMap::new() };
        let outside = (Name::MAX, 0);
        state.spawn(outside, 0, kind, Code(body), env, Stacks::new());
        state
    }

    /// All transitions but migrations and `LocalCommunication`.
    pub(crate) fn silent(&self) -> impl Iterator<Item = Silent> {
        self.threads.iter().flat_map(|(&id, thread)| {
            let (control, returns) = match thread {
                ThreadState::Control(..) => (Some(Silent::Control(id)), None),
                ThreadState::Return(stacks) => (None, Some(stacks.values())),
            };
            let ready = returns.into_iter().flatten().filter(|stack| !stack.is_blocked());
            control.into_iter().chain(ready.map(move |stack| Silent::Return(id, stack.name)))
        })
    }

    /// The state after that transition.
    pub(crate) fn after(self, silent: Silent, kinds: &[Kind]) -> Self {
        match silent {
            Silent::Control(id) => self.control(id, kinds),
            Silent::Return(id, stack) => self.returns(id, stack),
        }
    }

    fn place(&mut self, id: ThreadId, thread: ThreadState<'p>) {
        if !matches!(&thread, ThreadState::Return(stacks) if stacks.is_empty()) {
            self.threads.insert(id, thread);
        }
    }

    /// The control transitions of Figure 7, and those of Figure 8 that begin in a control state.
    fn control(mut self, id: ThreadId, kinds: &[Kind]) -> Self {
        let Some(ThreadState::Control(code, env, mut stack, mut others)) = self.threads.remove(&id) else {
            unreachable!("{id:?} is in a control state")
        };
        let mut go_on = |exp: &'p Term, frame: Frame<'p>, env: &Env<'p>, mut stack: Stack<'p>, others| {
            stack.frames.push(frame);
            self.threads.insert(id, ThreadState::Control(Code(exp), env.clone(), stack, others));
        };
        let value = match code.0 {
            // (Application), (Send), (Receive), and the same for a choice.
            Exp::Apply(function, argument) => {
                go_on(function, Frame::Argument(Code(argument), env.clone()), &env, stack, others);
                return self;
            }
            Exp::Send(channel, value) => {
                go_on(channel, Frame::SendValue(Code(value), env.clone()), &env, stack, others);
                return self;
            }
            Exp::Receive(channel) => {
                go_on(channel, Frame::Receive, &env, stack, others);
                return self;
            }
            Exp::Choose(alternatives) => {
                let frame = Frame::Choosing(Vec::new(), code, env.clone());
                go_on(&alternatives[0].0, frame, &env, stack, others);
                return self;
            }
            // (Inflate)
            Exp::Inflate(exp) => {
                stack.inflations += 1;
                let fresh = (stack.name, stack.inflations);
                self.place(id, ThreadState::Return(others));
                self.place(fresh, ThreadState::Control(Code(exp), env, stack, Stacks::new()));
                return self;
            }
            // (Spawn), (SpawnParasite)
            Exp::Spawn(name, exp) => {
                stack.frames.push(Frame::Return(Value::Datum(Datum::Unit)));
                others.insert(stack.name, stack);
                self.spawn(id, *name, kinds[*name], Code(exp), env, others);
                return self;
            }
            // (Constant), (Variable), (Closure)
            Exp::Constant(datum) => Value::Datum(*datum),
            Exp::Variable(var) => env[var].clone(),
            Exp::Lambda(var, body) => Value::Closure(*var, Code(body), env),
            // (Channel)
            Exp::Channel => {
                let fresh = ChannelName { maker: stack.name, earlier: stack.channels };
                stack.channels += 1;
                Value::Datum(Datum::Channel(fresh))
            }
        };
        stack.frames.push(Frame::Return(value));
        others.insert(stack.name, stack);
        self.threads.insert(id, ThreadState::Return(others));
        self
    }

    /// (Spawn) and (SpawnParasite), by the thread with these stacks.
    fn spawn(
        &mut self,
        spawner: ThreadId,
        name: Name,
        kind: Kind,
        code: Code<'p>,
        env: Env<'p>,
        stacks: Stacks<'p>,
    ) {
        match kind {
            Kind::Host => {
                self.place(spawner, ThreadState::Return(stacks));
                self.place((name, 0), ThreadState::Control(code, env, Stack::new(name), Stacks::new()));
            }
            Kind::Parasite => {
                self.place(spawner, ThreadState::Control(code, env, Stack::new(name), stacks));
            }
        }
    }

    /// The return transitions of Figure 7, but `LocalCommunication`, by one stack of the thread.
    fn returns(mut self, id: ThreadId, name: Name) -> Self {
        let Some(ThreadState::Return(mut others)) = self.threads.remove(&id) else {
            unreachable!("{id:?} is in a return state")
        };
        let mut stack = others.remove(&name).expect("it was found there");
        let top = stack.frames.pop().expect("a stack is not empty");
        let (code, env) = match (top, stack.frames.pop()) {
            // (ThreadHalt), (ParasiteHalt)
            (Frame::Return(value), None) => {
                let fate = Fate { seen: stack.seen, value: Some(value.datum()) };
                self.ended.insert(name, fate);
                self.place(id, ThreadState::Return(others));
                return self;
            }
            // (Argument)
            (Frame::Return(function), Some(Frame::Argument(code, env))) => {
                stack.frames.push(Frame::Function(function));
                (code, env)
            }
            // (Function)
            (Frame::Return(value), Some(Frame::Function(Value::Closure(var, body, mut env)))) => {
                Rc::make_mut(&mut env).insert(var, value);
                (body, env)
            }
            // (SendValue)
            (Frame::Return(channel), Some(Frame::SendValue(code, env))) => {
                stack.frames.push(Frame::Send(channel.channel()));
                (code, env)
            }
            // (SendBlock)
            (Frame::Return(value), Some(Frame::Send(channel))) => {
                let blocked = Frame::Blocked(Offer::Send(channel, value.datum()));
                return self.block(id, others, stack, blocked);
            }
            // (ReceiveBlock)
            (Frame::Return(channel), Some(Frame::Receive)) => {
                let blocked = Frame::Blocked(Offer::Receive(channel.channel()));
                return self.block(id, others, stack, blocked);
            }
            // An alternative of a choice has been evaluated.
            (Frame::Blocked(offer), Some(Frame::Choosing(mut offers, choice, env))) => {
                let Exp::Choose(alternatives) = choice.0 else { unreachable!("it is a choice") };
                let Exp::Lambda(var, body) = &*alternatives[offers.len()].1 else {
                    unreachable!("an alternative comes with a function")
                };
                offers.push((offer, Value::Closure(*var, Code(body), env.clone())));
                let Some((next, _)) = alternatives.get(offers.len()) else {
                    return self.block(id, others, stack, Frame::BlockedChoice(offers));
                };
                stack.frames.push(Frame::Choosing(offers, choice, env.clone()));
                (Code(next), env)
            }
            (top, below) => unreachable!("no rule for {top:?} on {below:?}"),
        };
        self.threads.insert(id, ThreadState::Control(code, env, stack, others));
        self
    }

    fn block(
        mut self,
        id: ThreadId,
        mut others: Stacks<'p>,
        mut stack: Stack<'p>,
        blocked: Frame<'p>,
    ) -> Self {
        stack.frames.push(blocked);
        others.insert(stack.name, stack);
        self.threads.insert(id, ThreadState::Return(others));
        self
    }

    /// All pairs of blocked stacks that could communicate, in one thread or in two.
    pub(crate) fn meetings(&self) -> Vec<Meeting> {
        let mut sides: Vec<(Side, &Offer)> = Vec::new();
        for (&thread, state) in &self.threads {
            let ThreadState::Return(stacks) = state else { continue };
            for stack in stacks.values() {
                let side = |alternative| Side { thread, stack: stack.name, alternative };
                let offers = stack.offers().enumerate();
                sides.extend(offers.map(|(alternative, offer)| (side(alternative), offer)));
            }
        }
        let mut meetings = Vec::new();
        for (receiver, offer) in &sides {
            let Offer::Receive(channel) = offer else { continue };
            for (sender, offer) in &sides {
                match offer {
                    Offer::Send(to, message) if to == channel && sender.stack != receiver.stack => {
                        meetings.push(Meeting { receiver: *receiver, sender: *sender, message: *message });
                    }
                    _ => {}
                }
            }
        }
        meetings
    }

    fn stacks(&mut self, thread: ThreadId) -> &mut Stacks<'p> {
        match self.threads.get_mut(&thread) {
            Some(ThreadState::Return(stacks)) => stacks,
            _ => unreachable!("{thread:?} is in a return state"),
        }
    }

    fn migrate(&self, from: Side, to: ThreadId) -> Self {
        let mut next = self.clone();
        let stacks = next.stacks(from.thread);
        let stack = stacks.remove(&from.stack).expect("it was found there");
        if stacks.is_empty() {
            next.threads.remove(&from.thread);
        }
        next.stacks(to).insert(from.stack, stack);
        next
    }

    /// (MigrateLeft), (MigrateRight): the receiver goes to the sender's thread, or the sender to the receiver's. The
    /// same two meet there.
    pub(crate) fn migrations(&self, meeting: Meeting) -> [(Self, Meeting); 2] {
        let Meeting { receiver, sender, message } = meeting;
        let (left, right) = (sender.thread, receiver.thread);
        let meets_in = |thread| Meeting {
            receiver: Side { thread, ..receiver },
            sender: Side { thread, ..sender },
            message,
        };
        [(self.migrate(receiver, left), meets_in(left)), (self.migrate(sender, right), meets_in(right))]
    }

    /// (LocalCommunication)
    pub(crate) fn communicate(&self, meeting: Meeting) -> Self {
        assert!(meeting.is_local(), "they are in one thread by now");
        let mut next = self.clone();
        let stacks = next.stacks(meeting.receiver.thread);
        let mut resume = |side: Side, value| {
            let stack = stacks.get_mut(&side.stack).expect("it was found there");
            stack.resume(side.alternative, value);
        };
        resume(meeting.receiver, meeting.message);
        resume(meeting.sender, Datum::Unit);
        next
    }

    /// What has become of so many threads, if nothing can happen any more.
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
