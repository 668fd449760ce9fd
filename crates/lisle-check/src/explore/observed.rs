//! Counts the executions that differ observably.
//!
//! Two executions that are not equivalent may be the same to the program: the order of two writes
//! that no step reads does not show. [`Observed`] counts the classes of executions in which each
//! process read from the same writes, had the same choices and got the same messages and locks in
//! the same order. This is the reads-from equivalence (Chalupa et al., "Data-centric dynamic
//! partial order reduction", POPL 2018). It only counts the executions of a strategy, and leaves
//! none out.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Decision, Ending, Kind, Mark, Object, Process, Strategy};
use crate::forward_reports;

/// The observably different executions so far. A clone is the same set: the workers of one
/// exploration, whose processes have the same numbers, share one set.
///
/// It keeps eight bytes for each of them.
#[derive(Clone, Debug, Default)]
pub struct Classes(Arc<Mutex<FxHashSet<u64>>>);

impl Classes {
    /// Returns the number of observably different executions, redundant ones left out.
    pub fn distinct(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len() as u64
    }

    /// Returns a value for each of them, for [`from_values`](Classes::from_values).
    pub fn values(&self) -> Vec<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    /// Creates the set of the executions with these values.
    pub fn from_values(values: Vec<u64>) -> Self {
        Classes(Arc::new(Mutex::new(values.into_iter().collect())))
    }

    fn insert(&self, class: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(class);
    }
}

/// Counts the observably different executions of another strategy.
///
/// Two of them are taken for one with a probability of about one in 2^64 for each pair.
#[derive(Debug)]
pub struct Observed<S> {
    strategy: S,
    /// A hash of the observations of each process.
    histories: Vec<u64>,
    /// The origin of each object's value.
    origins: FxHashMap<Object, u64>,
    /// The history of each step's process at that step, for steps that follow it.
    marks: FxHashMap<u32, u64>,
    running: Process,
    classes: Classes,
}

impl<S: Strategy> Observed<S> {
    /// Creates a count of the executions of this strategy.
    pub fn new(strategy: S) -> Self {
        Observed::with(strategy, Classes::default())
    }

    /// Creates a count of the executions of this strategy, together with the executions that others
    /// put into the set.
    pub fn with(strategy: S, classes: Classes) -> Self {
        Observed {
            strategy,
            histories: Vec::new(),
            origins: FxHashMap::default(),
            marks: FxHashMap::default(),
            running: Process::ROOT,
            classes,
        }
    }

    /// Returns the number of observably different executions, redundant ones left out.
    pub fn distinct(&self) -> u64 {
        self.classes.distinct()
    }

    /// Returns the strategy that decides.
    pub fn strategy(&self) -> &S {
        &self.strategy
    }

    fn history(&mut self, process: Process) -> &mut u64 {
        if self.histories.len() <= process.index() {
            self.histories.resize(process.index() + 1, 0);
        }
        &mut self.histories[process.index()]
    }

    /// Adds to the history of the running process.
    fn observe(&mut self, what: u64) {
        let history = self.history(self.running);
        *history = mix(*history, what);
    }

    /// Returns the name of the step in progress: its process, and the history of the process.
    fn name(&mut self) -> u64 {
        let running = self.running;
        mix(*self.history(running), u64::from(running.0) + 1)
    }
}

/// Returns a number that depends on both, and on their order.
pub(crate) fn mix(one: u64, other: u64) -> u64 {
    let sum = (one ^ other.rotate_left(32)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let sum = (sum ^ sum >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let sum = (sum ^ sum >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (sum ^ sum >> 31).wrapping_add(other)
}

impl<S: Strategy> Strategy for Observed<S> {
    fn begin(&mut self) -> bool {
        self.histories.clear();
        self.origins.clear();
        self.marks.clear();
        self.strategy.begin()
    }

    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision {
        let decision = self.strategy.next(running, runnable);
        if let Decision::Run(process) = decision {
            self.running = process;
            self.observe(1);
        }
        decision
    }

    fn choose(&mut self, process: Process, ways: u32) -> u32 {
        let way = self.strategy.choose(process, ways);
        self.observe(u64::from(way) + 1);
        way
    }

    fn access(&mut self, object: Object, kind: Kind) {
        self.strategy.access(object, kind);
        let origin = self.origins.get(&object).copied().unwrap_or(0);
        self.observe(mix(object.0, kind as u64));
        match kind {
            Kind::Read | Kind::Share => self.observe(origin),
            Kind::Write => {
                let name = self.name();
                self.origins.insert(object, name);
            }
            Kind::Add | Kind::AddNearZero => {
                let name = self.name();
                self.origins.insert(object, origin.wrapping_add(name));
            }
            Kind::Update | Kind::Acquire | Kind::Release => {
                self.observe(origin);
                let name = self.name();
                self.origins.insert(object, name);
            }
            // The step that it follows stands for the received value.
            Kind::Unshare | Kind::Front | Kind::Back => {}
        }
    }

    fn enables(&mut self, process: Process) {
        self.strategy.enables(process);
        let name = self.name();
        let history = self.history(process);
        *history = mix(*history, name);
    }

    fn after(&mut self, process: Process) {
        self.strategy.after(process);
        let history = *self.history(process);
        self.observe(history);
    }

    fn mark(&mut self) -> Mark {
        let mark = self.strategy.mark();
        let name = self.name();
        self.marks.insert(mark.0, name);
        mark
    }

    fn follows(&mut self, mark: Mark) {
        self.strategy.follows(mark);
        let origin = self.marks.get(&mark.0).copied().unwrap_or(0);
        self.observe(origin);
    }

    fn end(&mut self, ending: Ending) {
        self.strategy.end(ending);
        if ending != Ending::Stopped {
            self.classes.insert(self.histories.iter().fold(0, |sum, &history| mix(sum, history)));
        }
    }

    forward_reports!(self => self.strategy, except those of steps);
}
