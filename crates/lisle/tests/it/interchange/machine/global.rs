//! Figure 8: the transitions that involve several threads.

use super::{Code, Offer, Stack, Stacks, State, ThreadId, ThreadState, Value};
use crate::interchange::program::{ChannelName, Datum, Exp, Kind, Name};

/// A transition of a stack that is neither a communication nor a migration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Silent {
    thread: ThreadId,
    stack: Name,
}

/// A blocked stack, and one of its offers.
#[derive(Debug, Clone, Copy)]
struct Side {
    thread: ThreadId,
    stack: Name,
    alternative: usize,
}

/// Two sides that may communicate.
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

impl<'p> State<'p> {
    /// Returns all possible next transitions that are neither a communication nor a migration.
    pub(crate) fn silent(&self) -> impl Iterator<Item = Silent> {
        self.threads.iter().flat_map(|(&thread, state)| {
            let (evaluating, returned) = match state {
                ThreadState::Control(_, _, stack, _) => (Some(stack), None),
                ThreadState::Return(stacks) => (None, Some(stacks)),
            };
            let returned = returned.into_iter().flat_map(Stacks::values);
            let ready = evaluating.into_iter().chain(returned.filter(|stack| !stack.is_blocked()));
            ready.map(move |stack| Silent { thread, stack: stack.name })
        })
    }

    /// Returns the state after this transition: (LocalEvaluation), (Channel), (Spawn) or (Inflate).
    pub(crate) fn after(mut self, silent: Silent, kinds: &[Kind]) -> Self {
        let Silent { thread, stack: name } = silent;
        match self.threads.remove(&thread).expect("it was found there") {
            ThreadState::Control(code, env, mut stack, others) => match code.0 {
                Exp::Channel => {
                    let fresh = ChannelName { maker: name, earlier: stack.channels };
                    stack.channels += 1;
                    let value = Value::Datum(Datum::Channel(fresh));
                    self.place(thread, ThreadState::value(value, stack, others));
                }
                Exp::Spawn(fresh, exp) if kinds[*fresh] == Kind::Fiber => {
                    self.place(thread, ThreadState::value(Value::Datum(Datum::Unit), stack, others));
                    let begins = ThreadState::Control(Code(exp), env, Stack::new(*fresh), Stacks::new());
                    self.place((*fresh, 0), begins);
                }
                Exp::Inflate(exp) => {
                    stack.inflations += 1;
                    let fresh = (name, stack.inflations);
                    self.place(thread, ThreadState::Return(others));
                    self.place(fresh, ThreadState::Control(Code(exp), env, stack, Stacks::new()));
                }
                _ => self.place(thread, ThreadState::control(code, env, stack, others)),
            },
            ThreadState::Return(mut others) => {
                let stack = others.remove(&name).expect("it was found there");
                let (next, fate) = ThreadState::returns(stack, others);
                self.place(thread, next);
                self.ended.extend(fate.map(|fate| (name, fate)));
            }
        }
        self
    }

    fn place(&mut self, id: ThreadId, thread: ThreadState<'p>) {
        if !matches!(&thread, ThreadState::Return(stacks) if stacks.is_empty()) {
            self.threads.insert(id, thread);
        }
    }

    /// Returns all pairs of blocked stacks that could communicate, in one thread or in two.
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

    /// Returns the states after (MigrateLeft) and (MigrateRight): the receiver moves to the
    /// sender's thread, or the sender to the receiver's. The same two sides meet there.
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

    /// Returns the state after (LocalCommunication).
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
}
