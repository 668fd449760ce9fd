//! The state that the workers of one exploration share.
//!
//! Each worker runs executions on a thread of its own, and has a part of the strategy, which
//! chooses the executions. All workers take the numbers of processes from one [`Family`]. They also
//! share the learnt facts: the names that belong to one object, and how often loops ask again. The
//! engine compares steps of different executions, so all executions must run with the same facts.
//! If a worker learns something, the workers end, and the exploration begins anew. The time between
//! two such moments is a *round*.
//!
//! The workers are plain threads. They cannot be the domains of a runtime, nor the parts of one of
//! the library's loops: each is itself the only domain of a runtime that its model runs, and a
//! thread has one runtime at most. A worker that waits for others in the engine would also block
//! its domain. And the executions are no range over which a loop could run: each execution adds
//! others.

use super::asking::Loops;
use super::bridge::{Bridge, Cut};
use super::computed::Computed;
use super::executing::{Executing, Running, message, stuck_at};
use super::failure::{Failure, What};
use super::interrupt::{self, Catching};
use super::limit::{Limit, Limits};
use super::memory::{Detail, Seen};
use super::objects::Names;
use super::progress;
use crate::explore::{
    Classes, Counts, Divergence, Divided, Drawn, Ending, Exhaustive, Family, Observed, Strategy,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

/// The most threads that may be left with fibers that cannot be unwound, since their stacks are not
/// freed.
const MOST_HELD: usize = 200;

/// The reason why a worker ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// Nothing remains in this round.
    Nothing,
    /// Something may remain, but fibers that could not be unwound hold its thread.
    Held,
}

/// Gives each worker its part of the executions.
pub(super) enum Source {
    All(Box<Exhaustive>),
    Drawn(Divided),
}

impl Source {
    /// Creates a source before any execution: of all schedules, or of the schedules that these
    /// strategies draw.
    pub(super) fn new(strategies: Option<&[Drawn]>) -> Self {
        match strategies {
            None => Source::All(Box::new(Exhaustive::new())),
            Some(strategies) => Source::Drawn(Divided::new(strategies, u64::MAX)),
        }
    }

    /// Returns a worker's part, with the cell of its execution's number, if executions have
    /// numbers.
    fn part(&self, is_first: bool) -> (Box<dyn Strategy>, Option<Arc<AtomicU64>>) {
        match self {
            Source::All(exhaustive) if is_first => (Box::new(exhaustive.first_worker()), None),
            Source::All(exhaustive) => (Box::new(exhaustive.worker()), None),
            Source::Drawn(divided) => {
                let worker = divided.worker();
                let number = worker.number();
                (Box::new(worker), Some(number))
            }
        }
    }

    fn stop(&self) {
        match self {
            Source::All(exhaustive) => exhaustive.stop(),
            Source::Drawn(divided) => divided.stop(),
        }
    }

    fn limit(&self, most: u64) {
        match self {
            Source::All(exhaustive) => exhaustive.limit(most),
            Source::Drawn(divided) => divided.limit(most),
        }
    }

    pub(super) fn counts(&self) -> Counts {
        match self {
            Source::All(exhaustive) => exhaustive.counts(),
            Source::Drawn(divided) => divided.counts(),
        }
    }

    fn is_finished(&self) -> bool {
        match self {
            Source::All(exhaustive) => exhaustive.is_finished(),
            Source::Drawn(divided) => divided.is_finished(),
        }
    }

    /// Returns an estimate of the explored share, if there is one.
    pub(super) fn explored(&self) -> Option<f64> {
        match self {
            Source::All(exhaustive) => Some(exhaustive.explored()),
            Source::Drawn(_) => None,
        }
    }

    pub(super) fn save(&self, family: &Family) -> Vec<u8> {
        match self {
            Source::All(exhaustive) => exhaustive.save(family),
            Source::Drawn(divided) => divided.save(),
        }
    }
}

/// An exploration that several workers share.
pub(super) struct Together<'a> {
    executing: &'a Executing,
    strategies: Option<Vec<Drawn>>,
    limits: Limits,
    /// The number of executions before this exploration was resumed.
    before: u64,
    /// The number of executions, earlier ones included, and the processor time after which it
    /// pauses.
    pause: (u64, Duration),
    computed: Computed,
    /// The time at which all executions end.
    end: Option<Instant>,
    common: Mutex<Common>,
    stopped: AtomicBool,
    /// The number of threads with fibers that could not be unwound.
    held: AtomicUsize,
    /// Set if signals end the exploration. It has the guard if the exploration itself catches them.
    catching: OnceLock<Option<Catching>>,
    heeds_signals: bool,
}

/// The part that changes.
pub(super) struct Common {
    pub(super) source: Source,
    pub(super) family: Family,
    /// The names that belong to one object.
    pub(super) names: Names,
    pub(super) loops: Loops,
    pub(super) classes: Option<Classes>,
    /// The results of the memory model.
    pub(super) seen: Seen,
    /// A step of an execution has chosen.
    has_chosen: bool,
    /// The first failure, and its number if executions have numbers.
    pub(super) failure: Option<(u64, Failure)>,
    /// The detail of the memory in the next round, if it is more than in this one.
    detail: Option<Detail>,
    /// The number of the first execution in which something was learnt.
    learnt: Option<u64>,
    /// The limit that has ended the exploration, if the strategy has not.
    pub(super) limit: Option<Limit>,
    /// The panic of a worker. Only a fault of the checker causes it, not the program.
    pub(super) broken: Option<String>,
}

impl Common {
    pub(super) fn new(source: Source, classes: Option<Classes>) -> Self {
        Common {
            has_chosen: matches!(&source, Source::All(exhaustive) if exhaustive.has_choices()),
            source,
            family: Family::new(),
            names: Names::default(),
            loops: Loops::default(),
            classes,
            seen: Seen::default(),
            failure: None,
            detail: None,
            learnt: None,
            limit: None,
            broken: None,
        }
    }

    pub(super) fn divergence(&self) -> Option<Divergence> {
        match &self.source {
            Source::All(exhaustive) => exhaustive.divergence(),
            Source::Drawn(_) => None,
        }
    }
}

impl<'a> Together<'a> {
    pub(super) fn new(
        executing: &'a Executing,
        strategies: Option<Vec<Drawn>>,
        limits: Limits,
        common: Common,
    ) -> Self {
        let before = common.source.counts().all();
        let together = Together {
            executing,
            strategies,
            limits,
            before,
            pause: (u64::MAX, Duration::MAX),
            computed: Computed::default(),
            end: None,
            common: Mutex::new(common),
            stopped: AtomicBool::new(false),
            held: AtomicUsize::new(0),
            catching: OnceLock::new(),
            heeds_signals: false,
        };
        together.set_limits(&together.lock().source, before);
        together
    }

    fn set_limits(&self, source: &Source, before: u64) {
        source.limit(before.saturating_add(self.limits.executions).min(self.pause.0));
        if let Source::Drawn(divided) = source
            && !self.executing.past_failures
        {
            divided.end_with_failure();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Common> {
        self.common.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets signals end the exploration from now on.
    pub(super) fn catch_signals(&self) {
        self.catching.get_or_init(Catching::begin);
    }

    /// Returns `true` if signals end the exploration.
    pub(super) fn heeds_signals(&self) -> bool {
        self.heeds_signals || self.catching.get().is_some_and(Option::is_some)
    }

    /// Lets signals that another exploration catches end this one.
    pub(super) fn heed_signals(&mut self) {
        self.heeds_signals = true;
    }

    /// Runs executions on another thread until nothing remains for it in this round. A worker that
    /// is held goes on with another thread of the scope.
    pub(super) fn work_beside<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        if self.work_on_this_thread(false, &|_| ()) == Left::Held {
            scope.spawn(move || self.work_beside(scope));
        }
    }

    /// Runs executions on the first worker until nothing remains for it in this round; on other
    /// threads, if this one is held.
    pub(super) fn work_first(&self, running: &Running<'_>, after_each: &(dyn Fn(Ending) + Sync)) {
        let on_another = || self.work_on_this_thread(true, after_each);
        let mut left = if running.is_stuck() { Left::Held } else { self.work(running, true, after_each) };
        while left == Left::Held {
            left = thread::scope(|scope| scope.spawn(on_another).join()).unwrap_or(Left::Nothing);
        }
    }

    /// Makes this thread a worker, and runs executions until nothing remains for it in this round,
    /// or it is held.
    fn work_on_this_thread(&self, is_first: bool, after_each: &dyn Fn(Ending)) -> Left {
        let work = || self.executing.on_a_worker(|running| self.work(running, is_first, after_each));
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            let mut common = self.lock();
            common.broken.get_or_insert(message(&*panic));
            self.stop(&common);
            Left::Nothing
        })
    }

    /// Runs executions on this worker until nothing remains for it in this round, or it is held.
    /// Calls `after_each` after each of them.
    fn work(&self, running: &Running<'_>, is_first: bool, after_each: &dyn Fn(Ending)) -> Left {
        running.cut_when(Some(Cut { over: self.executing.watch.over(), at: self.end }));
        let (bridge, number) = self.part(running, is_first);
        let _installed = bridge.install();
        let mut computes = self.computed.begins();
        while self.goes_on() && bridge.begin() {
            let failure = running.execute(&bridge);
            if bridge.was_cut() && failure.is_none() {
                // `goes_on` sets the reason.
                self.goes_on();
                break;
            }
            let number = number.as_ref().map_or(0, |number| number.load(Relaxed));
            let is_detail = bridge.learnt_detail().is_some();
            let is_late = bridge.has_chosen() && self.has_chosen_late();
            if is_detail || is_late || self.has_learnt_names(&bridge) || bridge.was_abandoned() {
                self.learnt(number, running, &bridge);
            }
            // A failure that needs more detail is run again with it.
            if let Some(failure) = failure.filter(|_| !is_detail) {
                self.found(number, failure);
            }
            computes.add();
            after_each(if is_detail { Ending::Stopped } else { running.ending() });
            if let Some(stuck) = running.stuck() {
                if self.held.fetch_add(1, Relaxed) >= MOST_HELD {
                    self.found(number, stuck_at(bridge.schedule(), stuck));
                    self.stop(&self.lock());
                }
                break;
            }
        }
        // No other worker waits for an execution that this worker leaves unfinished.
        self.lock().seen.add(&bridge.memory());
        drop(bridge);
        if running.is_stuck() && self.goes_on() { Left::Held } else { Left::Nothing }
    }

    /// Notes that a step has chosen. Returns `true` if earlier executions were explored without
    /// choices.
    fn has_chosen_late(&self) -> bool {
        let mut common = self.lock();
        let is_new = !std::mem::replace(&mut common.has_chosen, true);
        is_new && matches!(common.source, Source::All(_)) && common.source.counts().all() > 1
    }

    /// Notes the facts about names that an execution has shown. Returns `true` if two names belong to
    /// one object.
    fn has_learnt_names(&self, bridge: &Bridge) -> bool {
        let facts = bridge.take_facts();
        if facts.is_empty() {
            return false;
        }
        let mut common = self.lock();
        // Drawn schedules do not depend on names.
        matches!(common.source, Source::All(_)) && common.names.note(&facts)
    }

    /// Returns a worker's part of this round.
    fn part(&self, running: &Running<'_>, is_first: bool) -> (Rc<Bridge>, Option<Arc<AtomicU64>>) {
        let common = self.lock();
        let (mut strategy, number) = common.source.part(is_first);
        if let Some(classes) = &common.classes {
            strategy = Box::new(Observed::with(strategy, classes.clone()));
        }
        running.known().adopt(&common.loops);
        let bridge = running.bridge_of(strategy, common.family.clone());
        bridge.adopt(common.names.clone());
        (bridge, number)
    }

    /// Returns `true` if another execution may begin.
    fn goes_on(&self) -> bool {
        if self.stopped.load(Relaxed) {
            return false;
        }
        let limit = match self.executing.watch.is_over() {
            _ if self.heeds_signals() && interrupt::has_arrived() => Limit::Interrupt,
            Some(time) => Limit::Time(time),
            None if self.end.is_none_or(|end| Instant::now() < end) => {
                return self.computed.get() < self.pause.1;
            }
            None => {
                self.stop(&self.lock());
                return false;
            }
        };
        let mut common = self.lock();
        common.limit.get_or_insert(limit);
        self.stop(&common);
        false
    }

    fn stop(&self, common: &Common) {
        self.stopped.store(true, Relaxed);
        common.source.stop();
    }

    /// Notes the facts that an execution has learnt. The round ends if they change the next
    /// executions.
    fn learnt(&self, number: u64, running: &Running<'_>, bridge: &Bridge) {
        let detail = bridge.learnt_detail();
        let mut common = self.lock();
        common.detail = common.detail.max(detail);
        common.loops.adopt(&running.known().loops());
        match &common.source {
            Source::All(_) => self.stop(&common),
            Source::Drawn(_) if !bridge.was_abandoned() && detail.is_none() => return,
            // Executions with smaller numbers run to their ends: one of them may fail.
            Source::Drawn(divided) => divided.end_after(number),
        }
        common.learnt = Some(common.learnt.map_or(number, |first| first.min(number)));
    }

    /// Notes a failure, and stops the workers if it is the end.
    fn found(&self, number: u64, failure: Failure) {
        let mut common = self.lock();
        if common.failure.as_ref().is_none_or(|(first, _)| number < *first) {
            common.failure = Some((number, failure));
        }
        // Where executions have numbers, the ones with smaller numbers run to their ends.
        if !self.executing.past_failures && matches!(common.source, Source::All(_)) {
            self.stop(&common);
        }
    }

    /// Returns `true` if a failure ends the exploration.
    fn is_end(&self, failure: &Failure) -> bool {
        !self.executing.past_failures || matches!(failure.what, What::Stuck)
    }

    /// Begins another round if something was learnt in the last one, and returns `true` if it did.
    /// All workers must have ended.
    pub(super) fn begins_anew(&mut self) -> bool {
        let mut common = self.lock();
        let Some(learnt) = common.learnt.take() else { return false };
        let is_end = |(number, failure): &(u64, Failure)| {
            self.is_end(failure) && (*number < learnt || matches!(common.source, Source::All(_)))
        };
        if common.failure.as_ref().is_some_and(is_end) {
            return false;
        }
        if !self.executing.past_failures {
            common.failure = None;
        }
        if let Some(detail) = common.detail.take() {
            *self.executing.detail() = detail;
        }
        common.source = Source::new(self.strategies.as_deref());
        if let Source::All(exhaustive) = &common.source
            && common.has_chosen
        {
            exhaustive.expect_choices();
        }
        self.set_limits(&common.source, 0);
        common.classes = common.classes.as_ref().map(|_| Classes::default());
        common.seen = Seen::default();
        self.executing.judge.iter().for_each(|judge| judge.begin_anew());
        let goes_on = common.limit.is_none() && common.broken.is_none();
        drop(common);
        self.before = 0;
        self.stopped.store(false, Relaxed);
        goes_on
    }

    /// Lets each worker end after an execution, once there are `executions`, or once the workers have
    /// computed for `computed`.
    pub(super) fn pause_at(&mut self, executions: u64, computed: Duration) {
        self.pause = (executions, computed);
        self.set_limits(&self.lock().source, self.before);
    }

    /// Returns `true` if only the pause has ended the workers.
    pub(super) fn is_paused(&self) -> bool {
        let common = self.lock();
        let counts = common.source.counts();
        let is_over = self.stopped.load(Relaxed)
            || common.limit.is_some()
            || common.broken.is_some()
            || common.divergence().is_some();
        !is_over
            && !common.source.is_finished()
            && (counts.all() >= self.pause.0 || self.computed() >= self.pause.1)
            && counts.all() < self.before.saturating_add(self.limits.executions)
    }

    /// Returns the counts of executions.
    pub(super) fn counts(&self) -> Counts {
        self.lock().source.counts()
    }

    /// Returns the processor time of its workers.
    pub(super) fn computed(&self) -> Duration {
        self.computed.get()
    }

    /// Takes the failure, if one was found.
    pub(super) fn take_failure(&self) -> Option<Failure> {
        self.lock().failure.take().map(|(_, failure)| failure)
    }

    /// Sets the time at which all executions end.
    pub(super) fn end_at(&mut self, end: Instant) {
        self.end = Some(end);
    }

    /// Returns the state of the exploration.
    pub(super) fn progress(&self) -> progress::ExplorationState {
        let executions = self.lock().source.counts().all();
        progress::ExplorationState { executions, before: self.before, limits: self.limits }
    }

    /// Returns an estimate of the explored share, if there is one.
    pub(super) fn explored(&self) -> Option<f64> {
        self.lock().source.explored()
    }

    /// Ends the exploration. Returns its results, and whether executions remain.
    pub(super) fn end(self) -> (Common, bool, Option<Catching>) {
        let is_end = self.lock().failure.as_ref().is_some_and(|(_, failure)| self.is_end(failure));
        let mut common = self.common.into_inner().unwrap_or_else(PoisonError::into_inner);
        let remains = !common.source.is_finished();
        if is_end {
            common.limit = None;
        } else if remains {
            common.limit.get_or_insert(Limit::Executions(self.limits.executions));
        }
        (common, remains, self.catching.into_inner().flatten())
    }
}
