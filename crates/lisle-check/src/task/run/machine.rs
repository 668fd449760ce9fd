//! Tasks as fibers.
//!
//! *Invariant:* every task that has not died is counted before its fiber exists, so the count
//! reaches 0 once, when all have died; and a task notes the cell for which it waits before it
//! waits.

use super::cells::{Cells, locked};
use super::{Record, World};
use crate::task::guarded::guarded;
use crate::task::names::{CellName, Path, TaskName};
use crate::task::outcome::{End, Fault, Outcome, Waiting, Wants};
use crate::task::program::{Node, Request, Site, Task};
use crate::task::value::Datum;
use lisle::sync::IVar;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::available_parallelism;

/// The state that all tasks of a program share.
pub(super) struct Machine<W> {
    world: W,
    cells: Cells,
    /// `true` once the program has ended. Effects are performed while it is locked for reading.
    gate: RwLock<bool>,
    end: IVar<End>,
    answer: Mutex<Option<Datum>>,
    memory: Mutex<BTreeMap<CellName, Datum>>,
    /// Tasks that have not died.
    living: AtomicUsize,
    waiting: Mutex<BTreeMap<Path, Wait>>,
    domains: usize,
}

/// A task that may be waiting.
struct Wait {
    task: TaskName,
    wants: Wants,
    cell: u32,
    at: Site,
}

/// A task, in the eyes of its fiber.
struct Performer {
    name: TaskName,
    forks: u32,
    cells: u32,
}

/// The reason why a task does not go on.
enum Stop {
    /// The program has ended.
    Ended,
    /// The task has broken a rule.
    Broken(String),
}

impl From<String> for Stop {
    fn from(what: String) -> Self {
        Stop::Broken(what)
    }
}

impl<W: World> Machine<W> {
    /// Runs the program until it has ended.
    pub(super) fn start(world: W, task: Task) -> Outcome {
        let domains = available_parallelism().map_or(1, usize::from);
        let machine = Arc::new(Machine {
            world,
            cells: Cells::default(),
            gate: RwLock::new(false),
            end: IVar::new().named("the end of the program"),
            answer: Mutex::new(None),
            memory: Mutex::new(BTreeMap::new()),
            living: AtomicUsize::new(1),
            waiting: Mutex::new(BTreeMap::new()),
            domains,
        });
        let name = TaskName { path: Path::default(), name: task.name.clone(), forked_at: None };
        let ended = lisle::Runtime::builder().domains(domains).closed_world(true).try_run(|| {
            let main = machine.clone();
            drop(lisle::spawn(move || main.interpret(name, task)));
            machine.end.get().clone()
        });
        let end = ended.unwrap_or_else(|_| {
            machine.end(|| End::Deadlock(machine.all_waiting()));
            machine.end.get().clone()
        });
        let Record { output, files } = machine.world.record();
        let memory = locked(&machine.memory).clone();
        Outcome { end, answer: locked(&machine.answer).clone(), output, files, memory }
    }

    /// Ends the program, unless it has ended.
    fn end(&self, how: impl FnOnce() -> End) {
        let mut ended = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        if *ended {
            return;
        }
        *ended = true;
        locked(&self.memory).extend(self.cells.memory());
        self.end.put(how()).expect("a program ends once");
    }

    /// Performs an effect, which must not wait, unless the program has ended.
    fn effect<T>(&self, effect: impl FnOnce() -> Result<T, String>) -> Result<T, Stop> {
        let ended = self.gate.read().unwrap_or_else(PoisonError::into_inner);
        if *ended {
            return Err(Stop::Ended);
        }
        guarded(effect).map_err(|panic| panicked(&panic))?.map_err(Stop::Broken)
    }

    /// Performs a task, until it dies or the program ends.
    fn interpret(self: &Arc<Self>, name: TaskName, mut task: Task) {
        let mut performer = Performer { name, forks: 0, cells: 0 };
        loop {
            // A task that never waits lets the others of its domain pass.
            lisle::fiber::checkpoint();
            let rest = match &*task.node {
                Node::Die => break,
                Node::Exit { code, .. } => return self.end(|| End::Exit(*code)),
                Node::Answer { value, .. } => {
                    // If the program has ended, it has another answer, or none.
                    let _ = self.effect(|| {
                        *locked(&self.answer) = Some(value.clone());
                        Ok(())
                    });
                    break;
                }
                Node::Ask { request, site, then } => {
                    let reply = self.perform(&mut performer, request, site);
                    match reply.and_then(|reply| guarded(|| then(reply)).map_err(|panic| panicked(&panic))) {
                        Ok(rest) => rest,
                        Err(Stop::Ended) => return,
                        Err(Stop::Broken(what)) => {
                            let fault = Fault { task: performer.name, what, at: Some(site) };
                            return self.end(|| End::Fault(fault));
                        }
                    }
                }
            };
            task = rest;
        }
        if self.living.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end(|| End::Finished);
        }
    }

    fn perform(
        self: &Arc<Self>,
        performer: &mut Performer,
        request: &Request,
        site: Site,
    ) -> Result<Datum, Stop> {
        match request {
            Request::New(content) => {
                let maker = performer.name.path.clone();
                let name = CellName { maker, index: performer.cells, made_at: site };
                performer.cells += 1;
                return Ok(Datum::new(self.cells.make(name, content)));
            }
            Request::Fork { task, domain } => self.fork(performer, task.clone(), *domain, site),
            Request::Load(cell) => return self.effect(|| self.cells.get(*cell)?.load()),
            Request::Store(cell, value) => self.effect(|| self.cells.get(*cell)?.store(value))?,
            Request::Update(cell, change) => return self.effect(|| self.cells.get(*cell)?.update(change)),
            Request::Fill(cell, value) => self.effect(|| {
                let full = |_| "writes an IVar that is full".to_owned();
                self.cells.get(*cell)?.ivar()?.put(value.clone()).map_err(full)
            })?,
            Request::Await(number) => {
                let cell = self.cells.get(*number)?;
                return self.wait(performer, Wants::Value, *number, site, || Ok(cell.ivar()?.get().clone()));
            }
            Request::Lock(number) => {
                let cell = self.cells.get(*number)?;
                self.wait(performer, Wants::Lock, *number, site, || {
                    cell.lock()?.acquire(&performer.name);
                    Ok(())
                })?;
            }
            Request::TryLock(cell) => {
                // Not as an effect: asking in vain again and again lets other fibers pass.
                return Ok(Datum::new(self.cells.get(*cell)?.lock()?.try_acquire(&performer.name)));
            }
            Request::Unlock(cell) => {
                self.effect(|| self.cells.get(*cell)?.lock()?.release(&performer.name))?
            }
            Request::Print(text) => {
                self.effect(|| self.world.print(text).map_err(|error| format!("cannot print: {error}")))?;
            }
            Request::Append { file, text } => self.effect(|| {
                self.world.append(file, text).map_err(|error| format!("cannot append to {file:?}: {error}"))
            })?,
            Request::ReadLine => {
                let machine = self.clone();
                let line = lisle::blocking(move || machine.world.read_line());
                return Ok(Datum::new(line.map_err(|error| format!("cannot read a line: {error}"))?));
            }
            Request::ReadFile(file) => {
                let (machine, name) = (self.clone(), file.clone());
                let text = lisle::blocking(move || machine.world.read_file(&name));
                return Ok(Datum::new(text.map_err(|error| format!("cannot read file {file:?}: {error}"))?));
            }
            Request::Sleep(duration) => lisle::time::sleep(*duration),
        }
        Ok(Datum::new(()))
    }

    fn fork(self: &Arc<Self>, performer: &mut Performer, task: Task, domain: Option<usize>, site: Site) {
        let path = performer.name.path.child(performer.forks);
        performer.forks += 1;
        let name = TaskName { path, name: task.name.clone(), forked_at: Some(site) };
        self.living.fetch_add(1, Ordering::Relaxed);
        let machine = self.clone();
        let body = move || machine.interpret(name, task);
        drop(match domain {
            Some(domain) => lisle::fiber::spawn_on(domain % self.domains, body),
            None => lisle::spawn(body),
        });
    }

    /// Waits. The wait is reported if it lasts for ever.
    fn wait<T>(
        &self,
        performer: &Performer,
        wants: Wants,
        cell: u32,
        at: Site,
        wait: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, Stop> {
        let path = performer.name.path.clone();
        locked(&self.waiting).insert(path.clone(), Wait { task: performer.name.clone(), wants, cell, at });
        let result = wait();
        locked(&self.waiting).remove(&path);
        Ok(result?)
    }

    fn all_waiting(&self) -> Vec<Waiting> {
        let waiting = locked(&self.waiting);
        let told = waiting.values().filter_map(|wait| {
            let cell = self.cells.get(wait.cell).ok()?;
            let (task, name) = (wait.task.clone(), cell.name.clone());
            Some(Waiting { task, wants: wait.wants, cell: name, at: wait.at, holder: cell.holder() })
        });
        told.collect()
    }
}

fn panicked(message: &str) -> Stop {
    Stop::Broken(format!("panicked: {message}"))
}
