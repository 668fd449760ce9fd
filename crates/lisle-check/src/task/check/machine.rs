//! The machine on which a program is checked: it finds the tasks that can go on, and performs a
//! step.
//!
//! Steps that others could not notice take no turn: making a cell, forking, reading a full IVar,
//! sleeping (if sleeping orders nothing), dying. The machine performs such *silent* steps as soon
//! as they are possible. They commute with all steps of others, so no outcome is lost. A conflict
//! is lost only where the silent step would have been the last one of its task.
//!
//! *Invariant:* between two steps no silent step is possible; and if time is modelled, some task
//! can go on, or all that are left wait for ever.

use super::buffers::Stored;
use super::locals::{Action, FALSE, Locals, TRUE, UNIT};
use super::slots::{ANSWER, INPUT, MAIN, Slots};
use super::state::State;
use super::{Clock, Memory};
use crate::task::conflict::Kind;
use crate::task::program::Task;
use crate::task::run::InMemory;
use crate::task::value::Datum;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::sync::Arc;
use std::time::Duration;

/// The number of silent steps in a row that counts as an endless loop.
const SILENT_STEPS: usize = 100_000;

/// Something that can go on: a task, or a store that can leave its task's buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Actor {
    /// The slot of the task, or of the buffer.
    pub(super) slot: u32,
    /// The local state of the task, now or when it stored.
    pub(super) local: u32,
    pub(super) kind: Kind,
    /// The slot that it concerns.
    pub(super) object: u32,
}

/// The reason why a program has ended itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stop {
    Exit(i32),
    /// The task of a local state broke a rule.
    Fault {
        local: u32,
        what: Arc<str>,
    },
}

/// The machine.
pub(super) struct Machine {
    pub(super) locals: Locals,
    pub(super) first: u32,
    /// Whether stores reach memory later.
    buffered: bool,
    /// Whether sleeping orders something.
    timed: bool,
    lines: Vec<String>,
    pub(super) times: IndexSet<Duration, FxBuildHasher>,
    pub(super) buffers: IndexSet<Vec<Stored>, FxBuildHasher>,
    /// Tasks that may be able to do a silent step.
    pub(super) ready: Vec<u32>,
}

impl Machine {
    pub(super) fn new(task: &Task, memory: Memory, clock: Clock, lines: Vec<String>) -> Self {
        let (buffered, timed) = (memory == Memory::TotalStoreOrder, clock == Clock::WhenIdle);
        let (locals, first) = Locals::new(task, Slots::new(task.name.clone(), buffered, timed));
        let times = [Duration::ZERO].into_iter().collect();
        let (buffers, ready) = (IndexSet::default(), Vec::new());
        Machine { locals, first, buffered, timed, lines, times, buffers, ready }
    }

    /// Returns the state in which the program begins.
    pub(super) fn begin(&mut self, world: &InMemory) -> (State, Option<Stop>) {
        let mut state = State::default();
        for (file, text) in world.files() {
            let slot = self.locals.slots.file(&file.into());
            let text = self.locals.intern(Datum::new(text));
            state.set_number(slot, text);
        }
        state.set_number(MAIN, self.first);
        self.ready.push(MAIN);
        let stop = self.settle(&mut state);
        (state, stop)
    }

    /// Adds to `actors` all actors that can go on in this state, in the order in which their slots
    /// were found.
    pub(super) fn actors(&self, state: &State, actors: &mut Vec<Actor>) {
        for &task in &self.locals.slots.tasks {
            let Some(local) = state.number(task) else { continue };
            let Some((kind, object)) = self.locals.get(local).action.concerns() else { continue };
            let blocked = kind == Kind::Lock && state.get(object) != 0;
            let waits_for_stores = !matches!(kind, Kind::Load | Kind::Fail);
            if !blocked && (!waits_for_stores || self.drained(state, task)) {
                actors.push(Actor { slot: task, local, kind, object });
            }
        }
        for &(buffer, _) in &self.locals.slots.buffers {
            if let Some(oldest) = self.buffer(state, buffer).first() {
                let Stored { cell, local, .. } = *oldest;
                actors.push(Actor { slot: buffer, local, kind: Kind::Store, object: cell });
            }
        }
    }

    /// Returns the number of the value, or the exit code, that `actor` would leave, if its rule
    /// needs it.
    pub(super) fn leaves(&mut self, state: &State, actor: Actor) -> Option<i64> {
        match self.locals.get(actor.local).action {
            Action::Store(_, value) | Action::Answer(value) => Some(value.into()),
            Action::Exit(code) => Some(code.into()),
            Action::Update(cell, _) => {
                let old = state.number(cell).expect("a cell holds something");
                self.locals.changed(actor.local, old).ok().flatten().map(i64::from)
            }
            _ => None,
        }
    }

    /// Performs the request of `actor`. Returns the number of the reply, or the reason why the
    /// program has ended.
    ///
    /// `actor` must be able to go on in `state`.
    pub(super) fn perform(&mut self, state: &mut State, actor: Actor) -> Result<u32, Stop> {
        let task = self.locals.get(actor.local).task;
        if actor.slot != task {
            self.drain(state, actor.slot);
            self.ready.push(task);
            return self.settle(state).map_or(Ok(UNIT), Err);
        }
        let reply = self.reply(state, actor)?;
        if actor.kind == Kind::Answer {
            state.clear(task);
        } else {
            let next = self.locals.after(actor.local, reply);
            state.set_number(task, next);
            self.ready.push(task);
        }
        self.settle(state).map_or(Ok(reply), Err)
    }

    fn reply(&mut self, state: &mut State, actor: Actor) -> Result<u32, Stop> {
        let Actor { slot: task, local, .. } = actor;
        match self.locals.get(local).action.clone() {
            Action::Exit(code) => return Err(Stop::Exit(code)),
            Action::Fail(what) => return Err(Stop::Fault { local, what }),
            Action::Answer(value) => state.set_number(ANSWER, value),
            Action::Load(cell) => return Ok(self.load(state, task, cell)),
            Action::Store(cell, value) => state.set_number(cell, value),
            Action::Update(cell, _) => {
                let old = state.number(cell).expect("a cell holds something");
                let new = self.locals.changed(local, old);
                if let Some(new) = new.map_err(|panic| fault(local, &format!("panicked: {panic}")))? {
                    state.set_number(cell, new);
                }
                return Ok(old);
            }
            Action::Fill(cell, value) => {
                if state.get(cell) != 0 {
                    return Err(fault(local, "writes an IVar that is full"));
                }
                state.set_number(cell, value);
                self.wake_readers(state, cell);
            }
            Action::Lock(mutex) => state.set_number(mutex, task),
            Action::TryLock(mutex) => {
                if state.get(mutex) != 0 {
                    return Ok(FALSE);
                }
                state.set_number(mutex, task);
                return Ok(TRUE);
            }
            Action::Unlock(mutex) => {
                if state.number(mutex) != Some(task) {
                    return Err(fault(local, "unlocks a mutex that it does not hold"));
                }
                state.clear(mutex);
            }
            Action::Append { file, text } => {
                let joined = self.locals.joined(state.number(file), &text);
                state.set_number(file, joined);
            }
            Action::ReadLine => {
                let line = self.lines.get(state.get(INPUT) as usize).cloned();
                state.set(INPUT, state.get(INPUT) + u32::from(line.is_some()));
                return Ok(self.locals.intern(Datum::new(line)));
            }
            Action::ReadFile(file) => {
                let text = state.number(file).map(|text| self.locals.value(text).take::<String>());
                return Ok(self.locals.intern(Datum::new(text)));
            }
            Action::Die | Action::New { .. } | Action::Fork { .. } | Action::Await(_) | Action::Sleep(_) => {
                unreachable!("silent steps take no turn")
            }
        }
        Ok(UNIT)
    }

    /// Performs all possible silent steps. Returns the reason if one of them ends the program.
    fn settle(&mut self, state: &mut State) -> Option<Stop> {
        let mut steps = 0;
        loop {
            while let Some(task) = self.ready.pop() {
                while let Some(local) = state.number(task) {
                    match self.silent(state, task, local) {
                        Ok(None) => break,
                        Ok(Some(reply)) => {
                            let next = self.locals.after(local, reply);
                            state.set_number(task, next);
                        }
                        Err(stop) => return Some(self.stopped(stop)),
                    }
                    steps += 1;
                    if steps > SILENT_STEPS {
                        let endless = "makes cells, forks or sleeps without end, and asks for nothing else";
                        let stop = fault(local, endless);
                        return Some(self.stopped(stop));
                    }
                }
            }
            if !self.timed || !self.pass_time(state) {
                return None;
            }
        }
    }

    fn stopped(&mut self, stop: Stop) -> Stop {
        self.ready.clear();
        stop
    }

    /// Performs the next step if it is silent and possible, and returns the reply.
    fn silent(&mut self, state: &mut State, task: u32, local: u32) -> Result<Option<u32>, Stop> {
        match &self.locals.get(local).action {
            Action::Die => state.clear(task),
            &Action::New { cell, holds } => {
                state.set(cell, holds.map_or(0, |value| value + 1));
                return Ok(Some(self.locals.intern(Datum::new(cell))));
            }
            Action::Fork { .. } if self.drained(state, task) => {
                let (child, first) = self.locals.child(local);
                state.set_number(child, first);
                self.ready.push(child);
                return Ok(Some(UNIT));
            }
            &Action::Await(cell) => return Ok(state.number(cell)),
            &Action::Store(cell, value) if self.buffered => {
                self.delay(state, task, Stored { cell, value, local });
                return Ok(Some(UNIT));
            }
            &Action::Sleep(duration) => return Ok(self.sleep(state, task, duration)),
            _ => {}
        }
        Ok(None)
    }

    fn wake_readers(&mut self, state: &State, cell: u32) {
        let waits = |&&task: &&u32| {
            let local = state.number(task).map(|local| &self.locals.get(local).action);
            matches!(local, Some(Action::Await(awaited)) if *awaited == cell)
        };
        self.ready.extend(self.locals.slots.tasks.iter().filter(waits));
    }

    /// Returns the local states of the tasks that have not died.
    pub(super) fn left(&self, state: &State) -> Vec<u32> {
        self.locals.slots.tasks.iter().filter_map(|&task| state.number(task)).collect()
    }
}

fn fault(local: u32, what: &str) -> Stop {
    Stop::Fault { local, what: what.into() }
}
