//! Between a worker that runs the program and the strategy that chooses its schedule.

use super::asking::Asking;
use super::division::Division;
use super::objects::{Moment, Objects};
use crate::explore::{Counts, Decision, Ending, Family, Kind, Object, Process, Recorded, Schedule, Strategy};
use lisle_core::shim::model::{Touch, set_report};
use lisle_runtime::model::{Again, Explorer};
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Bridge>>> = const { RefCell::new(None) };
}

/// A part of a schedule that is repeated is looked for up to this length.
const LONGEST_PERIOD: usize = 1_000;

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
    pub(super) strategy: RefCell<Recorded<Box<dyn Strategy>>>,
    family: RefCell<Family>,
    pub(super) objects: RefCell<Objects>,
    /// How many children each process has had in this execution.
    children: RefCell<Vec<u32>>,
    /// Whose code runs: the process that takes the step in progress, or one that begins in it.
    pub(super) running: Cell<Option<Process>>,
    births: RefCell<Vec<Option<Birth>>>,
    /// A step is in progress, and what it touches is reported.
    pub(super) in_step: Cell<bool>,
    /// The objects that were declared last by each process.
    awaited: RefCell<Vec<usize>>,
    steps: RefCell<Vec<Process>>,
    longest: usize,
    division: Division,
    pub(super) asking: RefCell<Asking>,
    /// Parts of loops that have not begun, if nothing else can run.
    unbegun: RefCell<Vec<Process>>,
    /// The next step is taken since nothing else can run.
    is_last: Cell<bool>,
    /// Something outside of the program has woken a part of it.
    pub(super) is_disturbed: Cell<bool>,
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
        asking: Asking,
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
            asking: RefCell::new(asking),
            unbegun: RefCell::default(),
            is_last: Cell::new(false),
            is_disturbed: Cell::new(false),
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
        self.asking.borrow_mut().clear();
        self.unbegun.borrow_mut().clear();
        self.is_last.set(false);
        self.is_disturbed.set(false);
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
        self.together(&self.steps.borrow())
    }

    /// Returns what the last steps of the execution repeat, or nothing.
    pub(super) fn repeated(&self) -> Vec<Steps> {
        self.together(period(&self.steps.borrow()))
    }

    fn together(&self, steps: &[Process]) -> Vec<Steps> {
        let by_process = steps.chunk_by(|one, other| one == other);
        by_process
            .map(|steps| Steps { site: self.site_of(steps[0]), process: steps[0], count: steps.len() })
            .collect()
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

    /// Returns `true` if the execution was given up, since others are to be run instead of it.
    pub(super) fn was_abandoned(&self) -> bool {
        self.asking.borrow().has_learnt()
    }

    /// Returns where a process was spawned; `None` for the program itself.
    pub(super) fn site_of(&self, process: Process) -> Option<&'static Location<'static>> {
        self.births.borrow().get(process.index()).copied().flatten().map(|birth| birth.site)
    }

    /// Returns where the loops are whose parts have not begun, if nothing else could run.
    pub(super) fn unbegun(&self) -> Vec<&'static Location<'static>> {
        let mut sites: Vec<_> = self.unbegun.borrow().iter().filter_map(|part| self.site_of(*part)).collect();
        sites.dedup();
        sites
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
            self.asked_or_changed(object, kind);
        }
    }
}

/// Returns the shortest part that the end of a list repeats for half of it at least, or nothing.
fn period(steps: &[Process]) -> &[Process] {
    let end = &steps[steps.len() / 2..];
    let most = end.len() / 3;
    let is_period = |period: &usize| end[*period..] == end[..end.len() - period];
    let period = (1..=most.min(LONGEST_PERIOD)).find(is_period).unwrap_or(0);
    &steps[steps.len() - period..]
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
            self.asked_or_changed(TIME, kind);
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
        self.asking.borrow_mut().stops();
        if self.was_abandoned() {
            self.in_step.set(false);
            return None;
        }
        let mut steps = self.steps.borrow_mut();
        if steps.len() >= self.longest {
            self.in_step.set(false);
            self.too_long.set(true);
            return None;
        }
        let mut offered = self.offered.borrow_mut();
        offered.clear();
        offered.extend(ready.iter().map(|ready| Process(*ready)));
        let decision = self.strategy.borrow_mut().next(steps.last().copied(), &offered);
        match decision {
            Decision::Run(process) => {
                self.running.set(Some(process));
                self.in_step.set(true);
                if self.is_last.take() {
                    Asking::comes_last(&steps, process, &mut *self.strategy.borrow_mut());
                    self.asking.borrow_mut().goes_last(process);
                }
                let touched = self.asking.borrow_mut().takes_step(process);
                self.touch_those_that_wait(touched);
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

    fn asks_again(&self, process: u32, site: &'static Location<'static>, can_be_alone: bool) -> Again {
        self.end_round(Process(process), site, can_be_alone)
    }

    fn may_ask(&self, process: u32) -> bool {
        self.asking.borrow().may_go_on(Process(process))
    }

    fn is_alone(&self) -> bool {
        self.running.get().is_some_and(|process| self.asking.borrow().is_alone(process))
    }

    fn asks_last(&self) -> Option<u32> {
        let process = self.asking.borrow().last()?;
        self.is_last.set(true);
        Some(process.0)
    }

    fn rests_on_parts(&self, parts: &[u32]) {
        self.unbegun.borrow_mut().extend(parts.iter().map(|part| Process(*part)));
    }

    fn is_disturbed(&self) {
        self.in_step.set(false);
        self.is_disturbed.set(true);
    }
}
