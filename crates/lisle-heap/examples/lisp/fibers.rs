//! Fibers, channels and operations, which are events of Concurrent ML, and `pmap`.
//!
//! All fibers of a program share its data and its global variables. Each access to a variable, to a part of a pair or
//! a vector, and to a table is atomic, and a fiber that sees a value sees all of it. Nothing more is promised:
//! `(set! n (+ n 1))` in two fibers may count once. A fiber that owns what others change, and gets their wishes by a
//! channel, keeps it in order. A continuation goes on in the fiber that calls it.

use crate::machine::Machine;
use crate::natives::{Call, number};
use crate::value::*;
use lisle::event::BoxEvent;
use lisle::sync::IVar;
use lisle::time::after;
use lisle::{Event, channel, choose};
use lisle_heap::{Global, Scope};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// `(spawn-fiber thunk)`
pub(crate) fn spawn(call: &mut Call<'_, '_>, s: &mut Scope<'_>) -> Result<()> {
    let end = Arc::new(IVar::new());
    let fiber = s.alloc::<Fiber>(Fiber::init(end.clone(), Value::unspecified()));
    let (thunk, shared, program) =
        (s.global(call.view(s, 0)), s.global::<Fiber>(fiber), call.machine.program.clone());
    drop(lisle::spawn(move || {
        let outcome = program.heap.enter(|s| {
            let mut machine = Machine::new(s, &program);
            machine.begin(s, &thunk);
            machine.run(s, 0)?;
            s.take(shared).get(s).get().result.set(s, machine.regs.get(s, 0));
            Ok(())
        });
        if let Err(why) = &outcome
            && !program.has_ended.load(Relaxed)
        {
            eprintln!("a fiber has ended in an error: {why}");
        }
        end.put(outcome).expect("a fiber ends once");
    }));
    call.give(s, fiber)
}

/// `(make-channel)`
pub(crate) fn make_channel(call: &mut Call<'_, '_>, s: &mut Scope<'_>) -> Result<()> {
    let channel = s.alloc::<Channel>(Channel::init(Arc::new(channel())));
    call.give(s, channel)
}

/// An alternative of an operation, outside of the heap.
enum Alternative {
    Get(Arc<Ends>),
    Put(Arc<Ends>, Global<Value>),
    Join(Arc<IVar<Result<()>>>),
    Sleep(Duration),
}

impl Alternative {
    /// Makes an alternative of a function, and a channel, a channel and a message, a fiber or a number of seconds.
    fn of(s: &Scope<'_>, parts: &[Handle<'_>]) -> Result<Self> {
        match parts.iter().map(|part| part.get(s)).collect::<Vec<_>>()[..] {
            [_, ValueView::Channel(channel)] => Ok(Self::Get(channel.0.clone())),
            [_, ValueView::Channel(channel), message] => Ok(Self::Put(channel.0.clone(), s.global(message))),
            [_, ValueView::Fiber(fiber)] => Ok(Self::Join(fiber.end.clone())),
            [_, seconds] => match Duration::try_from_secs_f64(number(seconds)?.float()) {
                Ok(time) => Ok(Self::Sleep(time)),
                Err(_) => Err(format!("not a time: {}", show(seconds))),
            },
            _ => Err("not an operation".into()),
        }
    }

    /// Returns the event of an alternative, and a message that it has received.
    fn event(&self) -> BoxEvent<'_, Result<Option<Global<Value>>>> {
        match self {
            Self::Get(channel) => channel.1.recv_evt().wrap(|got| Ok(got.ok())).boxed(),
            Self::Put(channel, message) => channel.0.send_evt(message.clone()).wrap(|_| Ok(None)).boxed(),
            Self::Join(end) => end.get_evt().wrap(|end| end.clone().map(|()| None)).boxed(),
            Self::Sleep(time) => after(*time).wrap(|()| Ok(None)).boxed(),
        }
    }
}

/// `(%perform operation)`: an operation is a list of alternatives. Waits for one of them, and returns its function and a list of
/// the values for it.
pub(crate) fn perform(call: &mut Call<'_, '_>, s: &mut Scope<'_>) -> Result<()> {
    // Other fibers may change the lists during the wait.
    let (mut all, mut alternatives) = (Vec::new(), Vec::new());
    for list in handles(s, call.view(s, 0))? {
        let parts = handles(s, list.get(s))?;
        alternatives.push(Alternative::of(s, &parts)?);
        all.push(parts);
    }
    let numbered = alternatives.iter().enumerate();
    let events: Vec<_> = numbered.map(|(index, one)| one.event().wrap(move |got| (index, got))).collect();
    let (index, got) = s.wait(&choose(events));
    let values = match (got?, all[index][1].get(s)) {
        (Some(message), _) => vec![s.take(message)],
        (None, ValueView::Fiber(fiber)) => vec![s.local(fiber.result())],
        (None, _) => Vec::new(),
    };
    let nil = s.local(ValueView::Nil);
    let values = list(s, values.into_iter(), nil);
    let won = s.alloc::<Pair>(Pair::init(all[index][0], values));
    call.give(s, won)
}

/// `(%pmap function vector)`: calls the function for all elements, on all domains, and returns a vector of the values, or an
/// error of one call.
pub(crate) fn pmap(call: &mut Call<'_, '_>, s: &mut Scope<'_>) -> Result<()> {
    let (function, vector) = (s.global(call.view(s, 0)), s.local(vector(call.view(s, 1))?));
    let (program, error) = (call.machine.program.clone(), OnceLock::new());
    let values = s.par_map(vector, |s, element| {
        let mut machine = Machine::new(s, &program);
        machine.begin(s, &function);
        machine.push(s, element);
        if error.get().is_none()
            && let Err(why) = machine.run(s, 1)
        {
            _ = error.set(why);
        }
        s.local::<Value>(machine.regs.get(s, 0))
    });
    match error.into_inner() {
        Some(why) => Err(why),
        None => call.give(s, values),
    }
}
