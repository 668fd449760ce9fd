//! The bridge between the domain that runs the program and the strategy that chooses its schedule.

mod course;
mod explorer;
mod installed;
mod memory;

pub(super) use installed::{in_step, is_unwinding, leave, panicked, why_unwound};

use super::asking::Asking;
use super::division::Division;
use super::memory::{Memory, Modelled};
use super::objects::{Fact, Names, Objects, Thing};
use super::queues::{By, Queues};
use super::timers::{Holding, Timers};
use super::trace::Trace;
use super::trace::recorder::Recorder;
use super::watch::Pulse;
use crate::explore::{Counts, Ending, Family, Kind, Object, Process, Recorded, Schedule, Strategy};
use course::Course;
use lisle_core::internal::shim::model::Touch;
use lisle_runtime::WaitGraph;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// The greatest length of a repeated part for which the bridge looks.
const LONGEST_PERIOD: usize = 1_000;

/// The time, as an object.
pub(super) const TIME: Object = Object(u64::MAX);

/// Some steps of an execution that one process takes in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    /// Where the process was spawned; `None` for the program itself.
    pub(super) site: Option<&'static Location<'static>>,
    pub(super) count: usize,
}

/// The condition on which an execution is given up.
#[derive(Debug, Clone)]
pub(super) struct Cut {
    /// At once, if this is set.
    pub(super) over: Arc<AtomicBool>,
    /// At this point, or some steps later.
    pub(super) at: Option<Instant>,
}

impl Cut {
    /// Returns `true` if an execution that has taken `steps` steps is to be given up.
    #[inline]
    fn is_now(&self, steps: usize) -> bool {
        self.over.load(Relaxed)
            || self.at.is_some_and(|at| steps.is_multiple_of(STEPS_BETWEEN_LOOKS) && Instant::now() >= at)
    }
}

/// The number of steps between two looks at the clock.
const STEPS_BETWEEN_LOOKS: usize = 32;

pub(super) struct Bridge {
    pub(super) strategy: RefCell<Recorded<Box<dyn Strategy>>>,
    family: RefCell<Family>,
    pub(super) objects: RefCell<Objects>,
    queues: RefCell<Queues>,
    /// How many children each process has had in this execution.
    children: RefCell<Vec<u32>>,
    /// The process whose code runs: it takes the step in progress, or begins in it.
    pub(super) running: Cell<Option<Process>>,
    course: RefCell<Course>,
    /// Where each process was spawned.
    sites: RefCell<Vec<Option<&'static Location<'static>>>>,
    /// A step is in progress, and its accesses are reported.
    pub(super) in_step: Cell<bool>,
    /// The objects that were declared last by each process.
    awaited: RefCell<Vec<usize>>,
    timers: RefCell<Timers>,
    longest: usize,
    division: Division,
    pub(super) asking: RefCell<Asking>,
    /// Parts of loops that have not begun, if nothing else can run.
    unbegun: RefCell<Vec<Process>>,
    /// The strategy has chosen between several ways in this exploration.
    has_chosen: Cell<bool>,
    /// The next step runs since nothing else can run.
    is_last: Cell<bool>,
    /// Something outside of the program has woken a part of it.
    pub(super) is_disturbed: Cell<bool>,
    too_long: Cell<bool>,
    /// Shows others the work of this thread.
    pulse: Arc<Pulse>,
    /// The condition on which executions are given up.
    cut: Option<Cut>,
    was_cut: Cell<bool>,
    is_unwinding: Cell<bool>,
    /// Nothing could go on.
    is_blocked: Cell<bool>,
    /// The result of the program.
    result: RefCell<Option<Box<dyn Any + Send>>>,
    /// The execution is recorded for a report.
    is_recorded: Cell<bool>,
    recorder: RefCell<Option<Box<Recorder>>>,
    pub(super) memory: RefCell<Modelled>,
}

impl Bridge {
    pub(super) fn new(
        strategy: Recorded<Box<dyn Strategy>>,
        family: Family,
        longest: usize,
        division: Division,
        asking: Asking,
        memory: Modelled,
        (pulse, cut): (Arc<Pulse>, Option<Cut>),
    ) -> Rc<Self> {
        pulse.decides(strategy.codes());
        Rc::new(Bridge {
            strategy: RefCell::new(strategy),
            family: RefCell::new(family),
            objects: RefCell::default(),
            queues: RefCell::default(),
            children: RefCell::default(),
            running: Cell::new(None),
            course: RefCell::default(),
            sites: RefCell::default(),
            in_step: Cell::new(false),
            awaited: RefCell::default(),
            timers: RefCell::default(),
            longest,
            division,
            asking: RefCell::new(asking),
            unbegun: RefCell::default(),
            has_chosen: Cell::new(false),
            is_last: Cell::new(false),
            is_disturbed: Cell::new(false),
            too_long: Cell::new(false),
            pulse,
            cut,
            was_cut: Cell::new(false),
            is_unwinding: Cell::new(false),
            is_blocked: Cell::new(false),
            result: RefCell::default(),
            is_recorded: Cell::new(false),
            recorder: RefCell::default(),
            memory: RefCell::new(memory),
        })
    }

    /// Returns the result of the program in the last execution, if there is one.
    pub(super) fn left(&self) -> Option<Box<dyn Any + Send>> {
        self.result.take()
    }

    /// Records the next execution.
    pub(super) fn record(&self) {
        self.is_recorded.set(true);
        *self.recorder.borrow_mut() = Some(Box::default());
    }

    /// Returns the record of the execution, with the waits in `left`.
    pub(super) fn trace(&self, left: Option<&WaitGraph>) -> Option<Trace> {
        self.is_recorded.set(false);
        self.recorder.take().map(|recorder| recorder.finish(left))
    }

    #[inline]
    fn note(&self, note: impl FnOnce(&mut Recorder)) {
        if self.is_recorded.get()
            && let Ok(mut recorder) = self.recorder.try_borrow_mut()
            && let Some(recorder) = &mut *recorder
        {
            note(recorder);
        }
    }

    /// Begins an execution. Returns `false` if there is none to run.
    pub(super) fn begin(&self) -> bool {
        self.objects.borrow_mut().clear();
        self.queues.borrow_mut().clear();
        self.children.borrow_mut().clear();
        self.awaited.borrow_mut().clear();
        self.timers.borrow_mut().clear();
        self.course.borrow_mut().begin();
        self.running.set(None);
        self.in_step.set(false);
        self.asking.borrow_mut().clear();
        self.unbegun.borrow_mut().clear();
        self.is_last.set(false);
        self.is_disturbed.set(false);
        self.too_long.set(false);
        self.was_cut.set(false);
        self.is_unwinding.set(false);
        if self.is_recorded.get() {
            // The record of an execution that was given up is dropped.
            self.record();
        }
        self.is_blocked.set(false);
        drop(self.left());
        self.memory.borrow_mut().begin();
        self.pulse.begins(self.memory.borrow().weak().map(Memory::name));
        self.strategy.borrow_mut().begin()
    }

    /// Ends the execution.
    pub(super) fn end(&self, ending: Ending) {
        if ending == Ending::Complete {
            self.memory.borrow_mut().complete();
        }
        let mut strategy = self.strategy.borrow_mut();
        self.objects.borrow_mut().end(|step, earlier| strategy.happens_after(step, earlier));
        strategy.end(ending);
    }

    /// Returns the schedule of the execution.
    pub(super) fn schedule(&self) -> Schedule {
        let memory = self.memory.borrow().weak();
        self.strategy.borrow().schedule().under(memory.map(Memory::name))
    }

    /// Returns the counts of executions.
    pub(super) fn counts(&self) -> Counts {
        self.strategy.borrow().counts()
    }

    /// Returns `true` if the execution was given up because it was too long.
    pub(super) fn was_too_long(&self) -> bool {
        self.too_long.get()
    }

    /// Returns the number of steps that the execution has had, with the one in progress.
    pub(super) fn steps(&self) -> usize {
        self.course.borrow().steps.len()
    }

    /// Returns `true` if the execution was given up since there is no time left for it.
    pub(super) fn was_cut(&self) -> bool {
        self.was_cut.get()
    }

    /// Returns the steps that the end of the execution repeats, or nothing.
    pub(super) fn repeated(&self) -> Vec<Steps> {
        let steps = &self.course.borrow().steps;
        let by_process = period(steps).chunk_by(|one, other| one == other);
        by_process.map(|steps| Steps { site: self.site_of(steps[0]), count: steps.len() }).collect()
    }

    fn new_child(&self, parent: Process) -> Process {
        let mut children = self.children.borrow_mut();
        let count = of(&mut children, parent);
        let nth = *count;
        *count += 1;
        self.family.borrow_mut().child(parent, nth)
    }

    /// Returns the facts about names that no earlier execution has shown, once.
    pub(super) fn take_facts(&self) -> Vec<Fact> {
        self.objects.borrow_mut().take_facts()
    }

    /// Has the strategy choose between several ways.
    fn choose_of(&self, process: Process, ways: usize) -> usize {
        self.has_chosen.set(true);
        let way = self.strategy.borrow_mut().choose(process, ways as u32) as usize;
        self.note(|recorder| recorder.chose(way, ways));
        way
    }

    /// Returns `true` if a step has chosen since this bridge was made.
    pub(super) fn has_chosen(&self) -> bool {
        self.has_chosen.get()
    }

    /// Returns `true` if the execution was given up, since others run instead of it.
    pub(super) fn was_abandoned(&self) -> bool {
        self.asking.borrow().has_learnt()
    }

    /// Returns where a process was spawned; `None` for the program itself.
    pub(super) fn site_of(&self, process: Process) -> Option<&'static Location<'static>> {
        self.sites.borrow().get(process.index()).copied().flatten()
    }

    /// Returns the places of the loops whose parts have not begun, if nothing else could run.
    pub(super) fn unbegun(&self) -> Vec<&'static Location<'static>> {
        let mut sites: Vec<_> = self.unbegun.borrow().iter().filter_map(|part| self.site_of(*part)).collect();
        sites.dedup();
        sites
    }

    /// Makes these names of objects the known ones.
    pub(super) fn adopt(&self, names: Names) {
        self.objects.borrow_mut().adopt(names);
    }

    /// Returns a check sum of the processes of the steps, and of the places where they were
    /// spawned.
    pub(super) fn sum_of_steps(&self) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        for process in &self.course.borrow().steps {
            sum.update(&process.0.to_le_bytes());
            let site = self.site_of(*process).map_or_else(String::new, ToString::to_string);
            sum.update(site.as_bytes());
        }
        sum.finalize()
    }

    /// Goes on with another strategy.
    pub(super) fn begin_anew(&self, strategy: Box<dyn Strategy>) {
        let strategy = Recorded::new(strategy);
        self.pulse.decides(strategy.codes());
        *self.strategy.borrow_mut() = strategy;
        self.memory.borrow_mut().begin_anew();
    }

    #[inline]
    fn touched(&self, address: usize, touch: Touch) {
        self.note(|recorder| recorder.touched(address, touch));
        let Some(kind) = kind_of(touch) else {
            self.memory.borrow_mut().forget(address);
            return self.objects.borrow_mut().remove(address);
        };
        if self.in_step.get() {
            if self.timers.borrow().are_of(address) {
                self.learns(Holding::All);
            }
            // Most touched addresses have no name.
            let object = self.objects.borrow().at(address);
            object.into_iter().for_each(|object| self.touched_object(object, kind, touch));
        }
    }

    /// Notes which timers are known to hold up others.
    fn learns(&self, holding: Holding) {
        self.asking.borrow_mut().learns(holding);
    }

    /// Notes that the step in progress accesses the time, or a timer.
    fn touches_time(&self, process: Process, object: Object, kind: Kind) {
        self.strategy.borrow_mut().access(object, kind);
        self.memory.borrow_mut().touch(process.0, object, kind, false);
    }

    /// Notes that a process declares an object.
    #[inline(never)]
    fn declare(&self, process: Process, address: usize, thing: Thing) {
        let course = self.course.borrow();
        let is_past = |moment| course.causes.must_precede(moment, process);
        self.objects.borrow_mut().declare(process, address, thing, course.now(), is_past);
        *of(&mut self.awaited.borrow_mut(), process) = address;
    }

    /// Notes that the step in progress touches an object.
    #[inline(never)]
    fn touched_object(&self, object: Object, kind: Kind, touch: Touch) {
        let mut strategy = self.strategy.borrow_mut();
        let process = self.running.get().unwrap_or(Process::ROOT);
        let mut memory = self.memory.borrow_mut();
        let mut by = By {
            strategy: &mut *strategy,
            causes: &mut self.course.borrow_mut().causes,
            memory: &mut memory,
            process,
        };
        let kind = self.queues.borrow_mut().touched(object, touch, &mut by).unwrap_or(kind);
        if !self.asking.borrow().has_told(process, object, kind) {
            strategy.access(object, kind);
        }
        memory.touch(process.0, object, kind, true);
        drop(strategy);
        drop(memory);
        self.asked_or_changed(object, kind);
    }
}

/// Returns the kind of the access, or `None` if the object is gone.
#[inline]
fn kind_of(touch: Touch) -> Option<Kind> {
    Some(match touch {
        Touch::Gone => return None,
        Touch::Read => Kind::Read,
        Touch::Write | Touch::TryPut(_) | Touch::TryTake(_) => Kind::Update,
        Touch::Store => Kind::Write,
        Touch::Count => Kind::Add,
        Touch::CountNearZero => Kind::AddNearZero,
        Touch::Acquire => Kind::Acquire,
        Touch::Release => Kind::Release,
        Touch::Put(_) | Touch::PutEnd | Touch::Close => Kind::Back,
        Touch::Take(_) | Touch::TakeEnd => Kind::Front,
    })
}

/// Returns the shortest part that the end of a list repeats, over at least half of the list; or
/// nothing.
fn period(steps: &[Process]) -> &[Process] {
    let end = &steps[steps.len() / 2..];
    let most = end.len() / 3;
    let is_period = |period: &usize| end[*period..] == end[..end.len() - period];
    let period = (1..=most.min(LONGEST_PERIOD)).find(is_period).unwrap_or(0);
    &steps[steps.len() - period..]
}

/// Returns the entry of a list for this process.
fn of<T: Clone + Default>(list: &mut Vec<T>, process: Process) -> &mut T {
    if list.len() <= process.index() {
        list.resize(process.index() + 1, T::default());
    }
    &mut list[process.index()]
}
