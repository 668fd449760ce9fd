//! Figure 7: the transitions of one thread, independent of the others. `LocalCommunication` is in
//! `global.rs`, with those between two threads.

use super::{Code, Env, Frame, Offer, Stack, Stacks, ThreadState, Value};
use crate::interchange::program::{Datum, Exp, Fate};
use std::rc::Rc;

impl<'p> ThreadState<'p> {
    /// Performs a control transition: the next step in the evaluation of `code` by `stack`.
    pub(super) fn control(
        code: Code<'p>,
        env: Env<'p>,
        mut stack: Stack<'p>,
        mut others: Stacks<'p>,
    ) -> Self {
        let (next, frame) = match code.0 {
            // (Constant), (Variable), (Closure)
            Exp::Constant(datum) => return Self::value(Value::Datum(*datum), stack, others),
            Exp::Variable(var) => return Self::value(env[var].clone(), stack, others),
            Exp::Lambda(var, body) => {
                return Self::value(Value::Closure(*var, Code(body), env), stack, others);
            }
            // (SpawnTask)
            Exp::Spawn(name, exp) => {
                stack.frames.push(Frame::Return(Value::Datum(Datum::Unit)));
                others.insert(stack.name, stack);
                return ThreadState::Control(Code(exp), env, Stack::new(*name), others);
            }
            // (Application), (Send), (Receive)
            Exp::Apply(function, argument) => (function, Frame::Argument(Code(argument), env.clone())),
            Exp::Send(channel, value) => (channel, Frame::SendValue(Code(value), env.clone())),
            Exp::Receive(channel) => (channel, Frame::Receive),
            // The first alternative.
            Exp::Choose(alternatives) => (&alternatives[0].0, Frame::Choosing(Vec::new(), code, env.clone())),
            Exp::Channel | Exp::Inflate(_) => unreachable!("these are global"),
        };
        stack.frames.push(frame);
        ThreadState::Control(Code(next), env, stack, others)
    }

    /// Performs a return transition of `stack`. Also returns the fate of the stack if that is its
    /// end.
    pub(super) fn returns(mut stack: Stack<'p>, others: Stacks<'p>) -> (Self, Option<Fate>) {
        let top = stack.frames.pop().expect("a stack is not empty");
        let (code, env) = match (top, stack.frames.pop()) {
            // (ThreadHalt), (TaskHalt)
            (Frame::Return(value), None) => {
                let fate = Fate { seen: stack.seen, value: Some(value.datum()) };
                return (ThreadState::Return(others), Some(fate));
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
                return (Self::with(blocked, stack, others), None);
            }
            // (ReceiveBlock)
            (Frame::Return(channel), Some(Frame::Receive)) => {
                let blocked = Frame::Blocked(Offer::Receive(channel.channel()));
                return (Self::with(blocked, stack, others), None);
            }
            // An alternative has been evaluated.
            (Frame::Blocked(offer), Some(Frame::Choosing(mut offers, choice, env))) => {
                let Exp::Choose(alternatives) = choice.0 else { unreachable!("it is a choice") };
                let Exp::Lambda(var, body) = &*alternatives[offers.len()].1 else {
                    unreachable!("an alternative comes with a function")
                };
                offers.push((offer, Value::Closure(*var, Code(body), env.clone())));
                let Some((next, _)) = alternatives.get(offers.len()) else {
                    return (Self::with(Frame::BlockedChoice(offers), stack, others), None);
                };
                stack.frames.push(Frame::Choosing(offers, choice, env.clone()));
                (Code(next), env)
            }
            (top, below) => unreachable!("no rule for {top:?} on {below:?}"),
        };
        (ThreadState::Control(code, env, stack, others), None)
    }

    /// Returns the state in which the expression has this value.
    pub(super) fn value(value: Value<'p>, stack: Stack<'p>, others: Stacks<'p>) -> Self {
        Self::with(Frame::Return(value), stack, others)
    }

    fn with(top: Frame<'p>, mut stack: Stack<'p>, mut others: Stacks<'p>) -> Self {
        stack.frames.push(top);
        others.insert(stack.name, stack);
        ThreadState::Return(others)
    }
}
