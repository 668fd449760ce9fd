//! Between a worker that runs the program and the strategy that chooses its schedule.

use super::division::Division;
use super::objects::{Moment, Objects};
use crate::explore::{Counts, Decision, Ending, Family, Kind, Object, Process, Recorded, Schedule, Strategy};
use lisle_core::shim::model::{Touch, set_report};
use lisle_runtime::model::Explorer;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Bridge>>> = const { RefCell::new(None) };
}

/// The time, as an object.
const TIME: Object = Object(u64::MAX);

/// Some steps of an execution that one process takes one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    /// Where the process was spawned; `None` for the program itself.
    pub(super) site: Option<&'static Location<'static>>,
    process: Process,
    pub(super) count: usize,
}

/// Where a process comes from.
#[derive(Debug, Clone, Copy)]
struct Birth {
    /// The step of its parent that has spawned it.
    moment: Moment,
    site: &'static Location<'static>,
}

pub(super) struct Bridge {
    strategy: RefCell<Recorded<Box<dyn Strategy>>>,
    family: RefCell<Family>,
    objects: RefCell<Objects>,
    /// How many children each process has had in this execution.
    children: RefCell<Vec<u32>>,
    /// Whose code runs: the process that takes the step in progress, or one that begins in it.
    running: Cell<Option<Process>>,
    births: RefCell<Vec<Option<Birth>>>,
    /// A step is in progress, and what it touches is reported.
    in_step: Cell<bool>,
    /// The objects that were declared last by each process.
    awaited: RefCell<Vec<usize>>,
    steps: RefCell<Vec<Process>>,
    longest: usize,
    division: Division,
    too_long: Cell<bool>,
    is_unwinding: Cell<bool>,
    offered: RefCell<Vec<Process>>,
}

impl Bridge {
    pub(super) fn new(
        strategy: Recorded<Box<dyn Strategy>>,
        family: Family,
        longest: usize,
        division: Division,
    ) -> Rc<Self> {
        Rc::new(Bridge {
            strategy: RefCell::new(strategy),
            family: RefCell::new(family),
            objects: RefCell::default(),
            children: RefCell::default(),
            running: Cell::new(None),
            births: RefCell::default(),
            in_step: Cell::new(false),
            awaited: RefCell::default(),
            steps: RefCell::default(),
            longest,
            division,
            too_long: Cell::new(false),
            is_unwinding: Cell::new(false),
            offered: RefCell::default(),
        })
    }

    /// Makes this what the library reports to on this thread, until the guard is dropped.
    pub(super) fn install(self: &Rc<Self>) -> Installed {
        CURRENT.set(Some(self.clone()));
        set_report(Some(touched));
        Installed
    }

    /// Begins an execution. Returns `false` if there is none to run.
    pub(super) fn begin(&self) -> bool {
        self.objects.borrow_mut().clear();
        self.children.borrow_mut().clear();
        self.awaited.borrow_mut().clear();
        self.steps.borrow_mut().clear();
        self.running.set(None);
        self.in_step.set(false);
        self.too_long.set(false);
        self.is_unwinding.set(false);
        self.strategy.borrow_mut().begin()
    }

    /// Ends the execution.
    pub(super) fn end(&self, ending: Ending) {
        self.strategy.borrow_mut().end(ending);
    }

    /// Returns the schedule of the execution.
    pub(super) fn schedule(&self) -> Schedule {
        self.strategy.borrow().schedule()
    }

    /// Returns how many executions there were.
    pub(super) fn counts(&self) -> Counts {
        self.strategy.borrow().counts()
    }

    /// Returns `true` if the execution was given up because it was too long.
    pub(super) fn was_too_long(&self) -> bool {
        self.too_long.get()
    }

    /// Returns the steps of the execution so far.
    pub(super) fn steps(&self) -> Vec<Steps> {
        let births = self.births.borrow();
        let site = |process: Process| births.get(process.index()).copied().flatten().map(|birth| birth.site);
        let mut all: Vec<Steps> = Vec::new();
        for &process in &*self.steps.borrow() {
            match all.last_mut() {
                Some(last) if last.process == process => last.count += 1,
                _ => all.push(Steps { site: site(process), process, count: 1 }),
            }
        }
        all
    }

    fn new_child(&self, parent: Process) -> Process {
        let mut children = self.children.borrow_mut();
        let count = of(&mut children, parent);
        let nth = *count;
        *count += 1;
        self.family.borrow_mut().child(parent, nth)
    }

    /// Returns `true` if an earlier moment comes before the running step of a process in every schedule,
    /// as far as that follows from who has spawned whom.
    fn is_past(&self, moment: Moment, mut process: Process, mut step: usize) -> bool {
        while moment.process != process || moment.step > step {
            let birth = self.births.borrow().get(process.index()).copied().flatten();
            let Some(Birth { moment: birth, .. }) = birth else { return false };
            (process, step) = (birth.process, birth.step);
        }
        true
    }

    /// Returns `true` if the exploration has to begin anew, since objects had two names.
    pub(super) fn has_learnt(&self) -> bool {
        self.objects.borrow().has_learnt()
    }

    /// Goes on with another strategy.
    pub(super) fn begin_anew(&self, strategy: Box<dyn Strategy>) {
        *self.strategy.borrow_mut() = Recorded::new(strategy);
    }

    fn touched(&self, address: usize, touch: Touch) {
        let kind = match touch {
            Touch::Gone => return self.objects.borrow_mut().remove(address),
            Touch::Read => Kind::Read,
            Touch::Write => Kind::Update,
            Touch::Store => Kind::Write,
            Touch::Count => Kind::Add,
            Touch::CountNearZero => Kind::AddNearZero,
            Touch::Acquire => Kind::Acquire,
            Touch::Release => Kind::Release,
        };
        if self.in_step.get()
            && let Some(object) = self.objects.borrow().at(address)
        {
            self.strategy.borrow_mut().access(object, kind);
        }
    }
}

/// Returns what a list has for this process.
fn of<T: Clone + Default>(list: &mut Vec<T>, process: Process) -> &mut T {
    if list.len() <= process.index() {
        list.resize(process.index() + 1, T::default());
    }
    &mut list[process.index()]
}

fn touched(address: usize, touch: Touch) {
    CURRENT.with_borrow(|bridge| {
        if let Some(bridge) = bridge {
            bridge.touched(address, touch);
        }
    });
}

/// Returns `true` if the execution of this thread is being unwound.
pub(super) fn is_unwinding() -> bool {
    CURRENT.with_borrow(|bridge| bridge.as_ref().is_some_and(|bridge| bridge.is_unwinding.get()))
}

/// Ends the reports of the library when it is dropped.
pub(super) struct Installed;

impl Drop for Installed {
    fn drop(&mut self) {
        set_report(None);
        CURRENT.set(None);
    }
}

impl Explorer for Bridge {
    fn spawned(&self, site: &'static Location<'static>) -> u32 {
        let Some(parent) = self.running.get() else { return Process::ROOT.0 };
        let child = self.new_child(parent);
        let moment = Moment { process: parent, step: self.steps.borrow().len() };
        *of(&mut self.births.borrow_mut(), child) = Some(Birth { moment, site });
        if self.in_step.get() {
            self.strategy.borrow_mut().enables(child);
        }
        child.0
    }

    fn begins(&self, process: u32) {
        self.running.set(Some(Process(process)));
    }

    fn woken(&self, process: u32) {
        if self.in_step.get() && self.running.get() != Some(Process(process)) {
            self.strategy.borrow_mut().enables(Process(process));
        }
    }

    fn time(&self, passes: bool) {
        if self.in_step.get() {
            let kind = if passes { Kind::Update } else { Kind::Read };
            self.strategy.borrow_mut().access(TIME, kind);
        }
    }

    fn unwinds(&self) {
        self.in_step.set(false);
        self.is_unwinding.set(true);
    }

    fn takes_the_impossible(&self) -> bool {
        self.strategy.borrow().reduces()
    }

    fn next(&self, ready: &[u32]) -> Option<u32> {
        let mut steps = self.steps.borrow_mut();
        if steps.len() >= self.longest {
            self.in_step.set(false);
            self.too_long.set(true);
            return None;
        }
        let mut offered = self.offered.borrow_mut();
        offered.clear();
        offered.extend(ready.iter().map(|ready| Process(*ready)));
        match self.strategy.borrow_mut().next(steps.last().copied(), &offered) {
            Decision::Run(process) => {
                self.running.set(Some(process));
                self.in_step.set(true);
                steps.push(process);
                Some(process.0)
            }
            Decision::Stop => {
                self.in_step.set(false);
                None
            }
        }
    }

    fn choose(&self, ways: usize) -> usize {
        let process = self.running.get().unwrap_or(Process::ROOT);
        self.strategy.borrow_mut().choose(process, ways as u32) as usize
    }

    fn about_to_touch(&self, address: usize, size: usize) {
        let process = self.running.get().unwrap_or(Process::ROOT);
        // What a step spawns begins in it.
        let steps = self.steps.borrow();
        let now = Moment { process: steps.last().copied().unwrap_or(Process::ROOT), step: steps.len() };
        let is_past = |moment| self.is_past(moment, process, now.step);
        self.objects.borrow_mut().declare(process, address, size, now, is_past);
        *of(&mut self.awaited.borrow_mut(), process) = address;
    }

    fn owns(&self, process: u32, address: usize, size: usize) {
        self.objects.borrow_mut().own(Process(process), address, size);
    }

    fn joined(&self, process: u32) {
        if self.in_step.get() {
            self.strategy.borrow_mut().after(Process(process));
        }
    }

    fn is_over(&self, waiting: &[u32]) {
        self.in_step.set(false);
        for &process in waiting {
            let awaited = self.awaited.borrow().get(process as usize).copied().unwrap_or(0);
            if let Some(object) = self.objects.borrow().at(awaited) {
                self.strategy.borrow_mut().waits(Process(process), object, Kind::Acquire);
            }
        }
    }

    fn most_parts(&self) -> usize {
        self.division.parts
    }

    fn division(&self, blocks: usize, _: usize) -> Option<usize> {
        self.division.first_part(blocks, |ways| self.choose(ways))
    }
}
