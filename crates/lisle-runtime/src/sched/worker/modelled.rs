//! A worker whose turns a model decides: the same program, in a schedule of the model's choice.
//!
//! The worker is the only one of its runtime. Each operation that others can see gives the worker
//! back (`Context::visible`), and each turn is one step of a *process*: a fiber, or a task that has
//! had to wait. Between two turns everything that is ready is collected, and an [`Explorer`] says
//! what runs. Time passes only when it says so. So an execution depends on its answers alone.
//!
//! An execution that is not to go on is unwound like a runtime that shuts down, and the worker is
//! used again.

use super::Worker;
use super::either::{Either, either};
use super::parts::Parts;
use super::runner::Load;
use crate::event::awaited::Awaited;
use crate::event::parker::{self, Parker, Suspend};
use crate::event::{Context, Doing, Label, Timer, step, suspend};
use crate::report::WaitGraph;
use crate::shim::atomic::Ordering;
use crate::shim::clock;
use crate::shim::model::{Report, set_report};
use crate::spawned::fiber_cell::{self, Fiber, Traits};
use crate::spawned::runnable::Runnable;
use crate::spawned::task_cell::Task;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr::NonNull;

/// A process of an execution: its number, which the explorer has given.
pub type Process = u32;

/// What decides how an execution goes. Everything is called on the thread of the execution.
pub trait Explorer {
    /// Returns the number of a process that the running step has spawned at `site`.
    fn spawned(&self, site: &'static Location<'static>) -> Process;
    /// Is told what a process is, as soon as it has its number.
    fn introduced(&self, process: Process, nature: Nature<'_>);
    /// Is told that a process has come to its end.
    fn ended(&self, process: Process);
    /// Is told what the running code does when it goes on.
    fn about_to(&self, doing: Doing<'_>);
    /// Is told that a process, which the running step has spawned, begins as a part of this step.
    fn begins(&self, process: Process);
    /// Is told that the running step has woken a process.
    fn woken(&self, process: Process);
    /// Returns `true` if timers are to be offered that cannot fire yet, since another one comes before. An
    /// execution in which one fires nevertheless is given up, after it has told what it would have touched.
    /// So an explorer learns that it could fire if what came before had come later.
    fn takes_the_impossible(&self) -> bool;
    /// Returns which of `ready` takes the next step, or `None` to give up the execution. `ready` is not
    /// empty.
    fn next(&self, ready: &[Process]) -> Option<Process>;
    /// Is told that the running step reads the time, or that time passes in it.
    fn time(&self, passes: bool);
    /// Is told that a process is a timer, which decides the record at this address if it comes first.
    fn armed(&self, timer: Process, decides: usize);
    /// Is told that the running step is that of a timer that has come too late. What it would have decided
    /// may be gone.
    fn comes_too_late(&self, timer: Process);
    /// Returns one of so many ways in which the running step may go on.
    fn choose(&self, ways: usize) -> usize;
    /// Is told of an object that the running step may touch when it goes on.
    fn about_to_touch(&self, address: usize, size: usize);
    /// Is told that the running step could not have been taken before a process had ended.
    fn joined(&self, process: Process);
    /// Is told that the execution is being unwound. What goes wrong from now on is no part of it.
    fn unwinds(&self);
    /// Is told that nothing can run any more, and which processes wait, and for what. What is touched from
    /// now on is no part of the execution.
    fn is_over(&self, waiting: &[(Process, Awaited)]);
    /// Is told that another thread has woken something, and the execution is given up.
    fn is_disturbed(&self);
    /// Is told of memory that belongs to a process: its cell, its stack.
    fn owns(&self, process: Process, address: usize, size: usize);
    /// Returns the number of parts that a loop is divided into at most.
    fn most_parts(&self) -> usize;
    /// Returns how many of the blocks of a loop, two at least, go to its first part, or `None` if it is not
    /// divided. It may have so many parts, two at least.
    fn division(&self, blocks: usize, parts: usize) -> Option<usize>;
    /// Is told that a process asks again what it has asked before, at `site`, and whether it could go on
    /// alone. Returns what it does.
    fn asks_again(&self, process: Process, site: &'static Location<'static>, can_be_alone: bool) -> Again;
    /// Returns `true` if a process that has been told to [wait](Again::Wait) may go on.
    fn may_ask(&self, process: Process) -> bool;
    /// Returns `true` if the running process goes on whatever it does.
    fn is_alone(&self) -> bool;
    /// Returns a process that is to ask once more, when nothing else can run.
    fn asks_last(&self) -> Option<Process>;
    /// Is told that nothing can run but parts of loops that have not begun, while those that have put them
    /// off wait for something else.
    fn rests_on_parts(&self, parts: &[Process]);
}

/// What a process does that asks again what it has asked before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// It lets others run, and goes on.
    GoOn,
    /// It goes on when the explorer [says so](Explorer::may_ask).
    Wait,
    /// It goes on at once.
    GoOnAlone,
}

/// What a process is.
#[derive(Debug, Clone, Copy)]
pub enum Nature<'a> {
    /// A fiber, with its name.
    Fiber(Option<&'a str>),
    /// A task.
    Task,
    /// A timer that is due so many nanoseconds after the execution has begun.
    Timer(u64),
}

/// How an execution has ended.
#[derive(Debug)]
pub enum Ended {
    /// All processes have ended.
    Complete,
    /// These processes wait, and nothing can wake them.
    Blocked(WaitGraph),
    /// The explorer has given it up.
    GivenUp,
}

type IsSo = *const (dyn Fn() -> bool + 'static);

/// So many times fibers are unwound before one of them has to give the worker back.
const CAUGHT: u32 = 100;
/// So often all that can run is run before what is left counts as not to be unwound.
const TURNS: u32 = 1_000;

/// What waits until something is so, such as that a lock is free.
struct Waits {
    who: NonNull<Runnable>,
    awaited: Awaited,
    is_so: IsSo,
}

/// What a worker keeps for a model.
#[derive(Default)]
pub(super) struct Modelled {
    explorer: Cell<Option<NonNull<dyn Explorer>>>,
    ready: RefCell<Vec<NonNull<Runnable>>>,
    /// The fibers that the step in progress has spawned.
    spawned: RefCell<Vec<NonNull<Runnable>>>,
    /// What waits until something is so, such as that a lock is free, with the question whether it is.
    waiting: RefCell<Vec<Waits>>,
    /// What waits until it is to ask again.
    asking: RefCell<Vec<NonNull<Runnable>>>,
    /// The parts of loops that have taken no step.
    pub(super) parts: Parts,
    /// The execution is being unwound.
    is_ending: Cell<bool>,
    /// What is told what the processes touch. What the scheduler touches decides nothing.
    report: Cell<Option<Report>>,
    /// Something could not be unwound.
    is_stuck: Cell<bool>,
    /// How often a fiber has been unwound in this execution.
    unwound: Cell<u32>,
    timers: RefCell<Vec<Armed>>,
    now: Cell<u64>,
    /// When the execution has begun.
    begun: Cell<u64>,
}

/// Reports what is touched, until it is dropped.
pub(super) struct Reported;

impl Drop for Reported {
    fn drop(&mut self) {
        set_report(None);
    }
}

/// Takes the explorer back when it is dropped.
struct Explored<'a>(&'a Modelled);

impl Drop for Explored<'_> {
    fn drop(&mut self) {
        self.0.explorer.set(None);
        set_report(self.0.report.take());
    }
}

/// A timer, which is a process that takes one step: it fires, or comes too late. It takes that step
/// even if it is disarmed before: otherwise nobody would know that it could have come first.
struct Armed {
    process: Process,
    deadline: u64,
    /// `None` if it has been disarmed.
    timer: Option<NonNull<Timer>>,
}

/// Returns the deadline of the timer that is due first.
fn first_deadline(timers: &[Armed]) -> Option<u64> {
    timers.iter().filter(|armed| armed.timer.is_some()).map(|armed| armed.deadline).min()
}

impl Worker {
    /// Returns what decides about the execution under way.
    pub(super) fn explorer(&self) -> Option<&dyn Explorer> {
        // SAFETY: `execute` keeps it while it is here.
        self.modelled.explorer.get().map(|explorer| unsafe { explorer.as_ref() })
    }

    /// Reports what the process touches that runs from now on.
    pub(super) fn report(&self) -> Reported {
        set_report(self.modelled.report.get());
        Reported
    }

    /// Returns `true` if a model decides what runs here.
    pub(crate) fn is_modelled(&self) -> bool {
        self.explorer().is_some()
    }

    /// Returns the time of the execution under way.
    pub(super) fn modelled_now(&self) -> Option<u64> {
        let explorer = self.explorer()?;
        explorer.time(false);
        Some(self.modelled.now.get())
    }

    /// Notes that the running code has spawned a fiber, or has made a task a thread.
    pub(crate) fn has_spawned(&self, spawned: NonNull<Runnable>, site: &'static Location<'static>) {
        if let Some(explorer) = self.explorer() {
            let process = explorer.spawned(site);
            // SAFETY: what has just been spawned is alive.
            let (size, nature) = match unsafe { either(spawned) } {
                Either::Fiber(fiber) => {
                    // SAFETY: as above.
                    let name = unsafe { fiber.as_ref() }.name.as_deref();
                    (size_of::<Fiber>(), Nature::Fiber(name))
                }
                Either::Task(_) => (size_of::<Task>(), Nature::Task),
            };
            explorer.introduced(process, nature);
            explorer.owns(process, spawned.addr().get(), size);
            // SAFETY: as above.
            unsafe { spawned.as_ref() }.process.set(process);
            // SAFETY: as above.
            if let Either::Fiber(fiber) = unsafe { either(spawned) } {
                self.modelled.spawned.borrow_mut().push(fiber.cast());
            }
        }
    }

    /// Notes that the running code has woken a fiber or a task.
    pub(super) fn has_woken(&self, woken: NonNull<Runnable>) {
        if let Some(explorer) = self.explorer()
            && !self.modelled.is_ending.get()
        {
            explorer.woken(self.process_of(woken));
        }
    }

    /// Notes that a fiber or a task has come to its end.
    pub(crate) fn has_ended(&self, ended: &Runnable) {
        if let Some(explorer) = self.explorer() {
            explorer.ended(ended.process.get());
        }
    }

    /// Notes that a fiber has been given its stack.
    pub(super) fn has_stack(&self, fiber: &Fiber, stack: std::ops::Range<usize>) {
        if let Some(explorer) = self.explorer()
            && !fiber.is_runner()
        {
            explorer.owns(self.process_of(NonNull::from(fiber).cast()), stack.start, stack.len());
        }
    }

    /// Waits until a fiber or a task has ended, if a model runs this code and that can be.
    pub(crate) fn await_end(&self, who: &Runnable, has_ended: &dyn Fn() -> bool) {
        if let Some(explorer) = self.explorer() {
            let address = std::ptr::from_ref(who).addr();
            explorer.about_to(Doing::One(
                "wait for the end of",
                const { &Label::anywhere("fiber") },
                address,
            ));
            self.visible_step(Some((Awaited::Free, has_ended)));
            if has_ended() {
                explorer.joined(who.process.get());
            }
        }
    }

    pub(super) fn process_of(&self, runnable: NonNull<Runnable>) -> Process {
        // SAFETY: what is ready is alive.
        let bearer = match unsafe { either(runnable) } {
            // SAFETY: as above.
            Either::Fiber(fiber) => Task::borne_by(unsafe { fiber.as_ref() }).map(NonNull::from),
            Either::Task(_) => None,
        };
        let runnable = bearer.map_or(runnable, NonNull::cast::<Runnable>);
        // SAFETY: as above.
        unsafe { runnable.as_ref() }.process.get()
    }

    /// Runs a program in the schedule that `explorer` chooses, until all of its fibers and tasks have
    /// ended, nothing can run, or the explorer gives it up. What is left then is unwound. Returns also
    /// what cannot be.
    ///
    /// # Panics
    ///
    /// If an earlier execution has left what cannot be unwound.
    pub fn execute(
        &self,
        explorer: &dyn Explorer,
        site: &'static Location<'static>,
        program: Box<dyn FnOnce() + Send>,
    ) -> (Ended, Option<String>) {
        let modelled = &self.modelled;
        assert!(!modelled.is_stuck.get(), "an earlier execution still holds this thread");
        // SAFETY: the guard takes it back before the borrow ends.
        let erased = unsafe { std::mem::transmute::<&dyn Explorer, &'static dyn Explorer>(explorer) };
        modelled.explorer.set(Some(NonNull::from(erased)));
        modelled.report.set(set_report(None));
        let _explored = Explored(modelled);
        modelled.begun.set(clock::now());
        modelled.now.set(modelled.begun.get());
        let fiber = Fiber::new(program, Traits::default(), site);
        self.spawn(fiber, None);
        // Nobody's step has spawned it.
        modelled.spawned.borrow_mut().clear();
        // SAFETY: this is the reference of a handle, and there is no handle.
        unsafe { fiber_cell::release(fiber) };
        let ended = self.explore(explorer);
        let stuck = if matches!(ended, Ended::Complete) { None } else { self.unwind_all() };
        modelled.is_stuck.set(stuck.is_some());
        (ended, stuck)
    }

    fn explore(&self, explorer: &dyn Explorer) -> Ended {
        let mut offered = Vec::new();
        self.modelled.parts.clear();
        self.domain.woken_from_outside.store(false, Ordering::Relaxed);
        loop {
            self.collect();
            if self.domain.woken_from_outside.swap(false, Ordering::Relaxed) {
                explorer.is_disturbed();
                return Ended::GivenUp;
            }
            offered.clear();
            offered.extend(
                self.modelled
                    .ready
                    .borrow()
                    .iter()
                    .filter(|ready| self.can_go_on(**ready))
                    .map(|ready| self.process_of(*ready)),
            );
            self.offer_timers(explorer, &mut offered);
            let rests = self.modelled.parts.are_all(&offered);
            if rests {
                explorer.rests_on_parts(&offered);
            } else if offered.is_empty() {
                offered.extend(explorer.asks_last());
            }
            if offered.is_empty() || rests {
                return self.end_blocked(explorer);
            }
            let Some(process) = explorer.next(&offered) else { return Ended::GivenUp };
            let ready = &self.modelled.ready;
            let at = ready.borrow().iter().position(|ready| self.process_of(*ready) == process);
            let next = at.map(|at| ready.borrow_mut().swap_remove(at));
            self.modelled.parts.begins(process);
            match next {
                Some(next) => self.take_step(next),
                None if self.fire(process, explorer) => {}
                None => return Ended::GivenUp,
            }
        }
    }

    /// Takes everything that is ready out of the worker's queues.
    fn collect(&self) {
        self.take_inbox();
        let mut ready = self.modelled.ready.borrow_mut();
        let next = || {
            let queued = self.queues.take_any().or_else(|| self.domain.stealable.take_oldest());
            queued.or_else(|| self.shared.common.take())
        };
        while let Some(next) = next() {
            ready.push(next);
        }
    }

    fn can_go_on(&self, ready: NonNull<Runnable>) -> bool {
        let waiting = self.modelled.waiting.borrow();
        let Some(Waits { is_so, .. }) = waiting.iter().find(|waits| waits.who == ready) else {
            let asks = self.modelled.asking.borrow().contains(&ready);
            return !asks || self.explorer().is_none_or(|explorer| explorer.may_ask(self.process_of(ready)));
        };
        // SAFETY: the process is suspended in the call that has asked, which keeps the closure.
        unsafe { (**is_so)() }
    }

    fn take_step(&self, next: NonNull<Runnable>) {
        let turn = self.next_turn();
        self.modelled.asking.borrow_mut().retain(|asking| *asking != next);
        // SAFETY: what was queued is alive, and the worker that takes it runs it.
        match unsafe { either(next) } {
            Either::Fiber(fiber) => self.run(fiber, turn),
            Either::Task(task) => self.run_on_runner(Load::Task(task), turn),
        }
        self.begin_spawned();
    }

    /// Runs the fibers that the step has spawned up to the first thing that others see. It is a part of
    /// the step: nobody can tell when they begin.
    fn begin_spawned(&self) {
        loop {
            let spawned = self.modelled.spawned.take();
            if spawned.is_empty() {
                return;
            }
            self.collect();
            for fiber in spawned {
                self.modelled.ready.borrow_mut().retain(|ready| *ready != fiber);
                if let Some(explorer) = self.explorer() {
                    explorer.begins(self.process_of(fiber));
                }
                self.run(fiber.cast(), self.next_turn());
            }
        }
    }

    /// Ends an execution in which nothing can go on.
    fn end_blocked(&self, explorer: &dyn Explorer) -> Ended {
        let waiting = self.take_waiting();
        let is_ready = |waits: &&Waits| waiting.contains(&waits.who);
        let of_waits = |waits: &Waits| (self.process_of(waits.who), waits.awaited);
        let waiting: Vec<_> = self.modelled.waiting.borrow().iter().filter(is_ready).map(of_waits).collect();
        explorer.is_over(&waiting);
        self.wait_in_earnest();
        self.end_of_all()
    }

    /// Lets those that wait for locks wait as they would without a model, so that they can be named.
    fn wait_in_earnest(&self) {
        loop {
            let waiting = self.take_waiting();
            if waiting.is_empty() {
                return;
            }
            self.modelled.ready.borrow_mut().retain(|ready| !waiting.contains(ready));
            waiting.into_iter().for_each(|next| self.take_step(next));
            self.collect();
        }
    }

    /// Returns what is ready to wait: neither what asks again and again, nor what has not begun.
    fn take_waiting(&self) -> Vec<NonNull<Runnable>> {
        let (ready, asking) = (self.modelled.ready.borrow(), self.modelled.asking.borrow());
        let waits = |ready: &&NonNull<Runnable>| {
            !asking.contains(ready) && !self.modelled.parts.has(self.process_of(**ready))
        };
        ready.iter().filter(waits).copied().collect()
    }

    /// Arms a timer of the execution.
    pub(super) fn arm_modelled(&self, timer: NonNull<Timer>, deadline: u64) {
        // The end of all time never comes.
        if let Some(explorer) = self.explorer()
            && deadline != u64::MAX
        {
            explorer.time(false);
            let process = explorer.spawned(Location::caller());
            explorer.introduced(process, Nature::Timer(deadline.saturating_sub(self.modelled.begun.get())));
            // SAFETY: what is armed is alive.
            let decides = unsafe { Timer::decides(timer) };
            explorer.armed(process, decides);
            let armed = Armed { process, deadline, timer: Some(timer) };
            self.modelled.timers.borrow_mut().push(armed);
        }
    }

    pub(super) fn disarm_modelled(&self, timer: NonNull<Timer>) {
        let mut timers = self.modelled.timers.borrow_mut();
        let Some(at) = timers.iter().position(|armed| armed.timer == Some(timer)) else { return };
        timers[at].timer = None;
        // Those that are due later may fire now.
        let deadline = timers[at].deadline;
        if let Some(explorer) = self.explorer()
            && timers.iter().any(|armed| armed.timer.is_some() && armed.deadline > deadline)
        {
            explorer.time(false);
        }
    }

    /// Adds the timers that may take their step to `offered`: they fire in their order, and as late as they
    /// like. The others come after these, for explorers that take them.
    fn offer_timers(&self, explorer: &dyn Explorer, offered: &mut Vec<Process>) {
        let timers = self.modelled.timers.borrow();
        let can_step =
            |armed: &&Armed| armed.timer.is_none() || Some(armed.deadline) == first_deadline(&timers);
        offered.extend(timers.iter().filter(can_step).map(|armed| armed.process));
        if explorer.takes_the_impossible() {
            offered.extend(timers.iter().filter(|armed| !can_step(armed)).map(|armed| armed.process));
        }
    }

    /// Takes the step of a timer. Returns `false` if it cannot fire yet.
    fn fire(&self, process: Process, explorer: &dyn Explorer) -> bool {
        let (armed, can_fire) = {
            let mut timers = self.modelled.timers.borrow_mut();
            let at = timers.iter().position(|armed| armed.process == process);
            let first = first_deadline(&timers);
            let armed = timers.remove(at.expect("the explorer names what is ready"));
            let can_fire = Some(armed.deadline) == first;
            (armed, can_fire)
        };
        let _reported = self.report();
        let Some(timer) = armed.timer else {
            explorer.comes_too_late(process);
            return true;
        };
        explorer.time(true);
        if !can_fire {
            return false;
        }
        self.modelled.now.set(self.modelled.now.get().max(armed.deadline));
        // SAFETY: it is armed, and hence alive.
        let entry = unsafe { Timer::entry(timer) };
        // SAFETY: as above; it is not armed any more.
        if let Some(waker) = unsafe { Timer::expire(entry) } {
            waker.wake();
        }
        true
    }

    fn end_of_all(&self) -> Ended {
        if self.shared.live() == 0 {
            return Ended::Complete;
        }
        Ended::Blocked(self.shared.snapshot().graph)
    }

    /// Unwinds all processes. Returns those that cannot be, if any.
    fn unwind_all(&self) -> Option<String> {
        self.modelled.is_ending.set(true);
        self.modelled.unwound.set(0);
        if let Some(explorer) = self.explorer() {
            explorer.unwinds();
        }
        self.stop(true);
        let (mut looks, mut turns) = (0, 0);
        while self.shared.live() > 0 && looks < 100 && turns < TURNS {
            self.collect();
            let ready = self.modelled.ready.take();
            let was_ready = !ready.is_empty();
            ready.into_iter().for_each(|next| self.take_step(next));
            let mut was_parked = false;
            while let Some(fiber) = self.begun.next_interrupted() {
                was_parked = true;
                self.run(fiber, self.next_turn());
            }
            looks = if was_ready || was_parked { 0 } else { looks + 1 };
            turns += 1;
            self.stop(true);
        }
        let stuck = (self.shared.live() > 0).then(|| self.begun(8).join(", "));
        self.modelled.timers.borrow_mut().clear();
        self.begun.go_on();
        self.modelled.is_ending.set(false);
        stuck
    }

    /// Lets the explorer decide what runs before the running code does something that others see.
    pub(super) fn visible_step(&self, until: Option<(Awaited, &dyn Fn() -> bool)>) {
        let modelled = &self.modelled;
        let Some(parker) = parker::running().filter(|_| self.explorer().is_some()) else { return };
        self.step_of(parker, until);
        if modelled.is_ending.get()
            && !std::thread::panicking()
            && parker::can_be_unwound()
            && !parker::is_masked()
        {
            // Who catches it again and again does not keep the worker.
            modelled.unwound.set(modelled.unwound.get() + 1);
            if modelled.unwound.get().is_multiple_of(CAUGHT) && step::is_free() {
                // SAFETY: it is the parker of the running fiber.
                let _ = suspend(|| unsafe { parker.suspend(Suspend::Yielded) });
            }
            Context::unwind(self);
        }
    }

    /// Does the same as [`yield_now`](super::way::yield_now) for a process of a model. Returns `false` if
    /// none runs here, or if it must not be suspended.
    pub(super) fn ask_again(&self, site: &'static Location<'static>) -> bool {
        let (Some(parker), Some(explorer)) = (parker::running(), self.explorer()) else { return false };
        if self.modelled.is_ending.get() || !step::is_free() || std::thread::panicking() {
            return false;
        }
        let current = self.current_fiber().expect("a fiber runs here").cast();
        let process = self.process_of(current);
        match explorer.asks_again(process, site, true) {
            Again::GoOnAlone => {}
            Again::GoOn => self.step_of(parker, None),
            Again::Wait => {
                self.modelled.asking.borrow_mut().push(current);
                self.step_of(parker, Some((Awaited::Free, &|| explorer.may_ask(process))));
                self.modelled.asking.borrow_mut().retain(|asking| *asking != current);
            }
        }
        true
    }

    /// Notes that a task yields: it asks again in its next turn.
    pub(crate) fn task_asks_again(&self, task: NonNull<Task>, site: &'static Location<'static>) {
        let Some(explorer) = self.explorer() else { return };
        let process = self.process_of(task.cast());
        if !self.modelled.is_ending.get() && explorer.asks_again(process, site, false) == Again::Wait {
            self.modelled.asking.borrow_mut().push(task.cast());
        }
    }

    /// Lets the explorer decide what runs before the running code goes on, once what it waits for is so.
    pub(super) fn step_of(&self, parker: &Parker, until: Option<(Awaited, &dyn Fn() -> bool)>) {
        let modelled = &self.modelled;
        if self.explorer().is_some_and(Explorer::is_alone) && until.is_none_or(|(_, is_so)| is_so()) {
            return;
        }
        if !modelled.is_ending.get() && step::is_free() && !std::thread::panicking() {
            let waits = until.map(|(awaited, is_so)| {
                // SAFETY: it is taken out again below, when this fiber goes on.
                let erased = unsafe {
                    std::mem::transmute::<*const (dyn Fn() -> bool + '_), IsSo>(std::ptr::from_ref(is_so))
                };
                let current = self.current_fiber().expect("a fiber runs here").cast();
                modelled.waiting.borrow_mut().push(Waits { who: current, awaited, is_so: erased });
                current
            });
            // SAFETY: it is the parker of the running fiber.
            let _ = suspend(|| unsafe { parker.suspend(Suspend::Yielded) });
            if let Some(current) = waits {
                modelled.waiting.borrow_mut().retain(|waits| waits.who != current);
            }
        }
    }

    /// Returns `true` if tasks are not to go on.
    pub(crate) fn is_unwinding_all(&self) -> bool {
        self.modelled.is_ending.get()
    }
}
