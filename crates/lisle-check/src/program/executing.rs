//! Runs the executions of one program.

use super::asking::{Asking, Known};
use super::bridge::{self, Bridge, Cut};
use super::division::Division;
use super::failure::{Failure, What};
use super::judge::Judge;
use super::leaving;
use super::memory::{Detail, Memory, Modelled, Used};
use super::own_thread;
use super::quiet::{self, Quiet};
use super::reversal::{self, Between};
use super::trace::Trace;
use super::verdict::{How, Verdict};
use super::watch::{Hung, Pulse, Stage, Watch};
use crate::explore::{Counts, Ending, Family, Recorded, Replay, Schedule, Strategy, shrink};
use lisle_core::event::Interrupted;
use lisle_runtime::internal::model::{Ended, Executions, executions};
use lisle_runtime::{Builder, Report};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The most executions that look for a shorter schedule.
const SHRINKING: usize = 400;

/// The patience with a step that has not ended in an earlier run.
const PATIENCE_AGAIN: Duration = Duration::from_secs(2);

/// The failure if something outside has woken a fiber or a task.
const DISTURBED: &str = "something outside of the program has woken a fiber or task of it: another thread, runtime or \
                         executor. This cannot be checked, since it does not come again in the same way. Put a fiber \
                         in its place";

/// The failure if the program's closure has not returned, and yet all has ended.
const NOT_RETURNED: &str = "the program was unwound before its end, and not by a panic of its own";

/// A program to execute.
pub(super) struct Executing {
    pub(super) program: Arc<dyn Fn() + Send + Sync>,
    pub(super) site: &'static Location<'static>,
    /// An execution of more steps is endless.
    pub(super) steps: usize,
    /// The judge of the results, if there is one.
    pub(super) judge: Option<Arc<dyn Judge>>,
    pub(super) division: Division,
    /// The number of rounds in vain after which a loop counts as a wait.
    pub(super) rounds: u32,
    pub(super) memory: Memory,
    /// The detail of the memory that the program is known to need.
    pub(super) detail: Mutex<Detail>,
    /// It goes on after a failure.
    pub(super) past_failures: bool,
    /// Samples ignore executions without end: the exploration itself looks for them.
    pub(super) samples: bool,
    /// The watch over the workers.
    pub(super) watch: Arc<Watch>,
}

/// A program on the worker that executes it.
pub(super) struct Running<'a> {
    executing: &'a Executing,
    executions: &'a Executions<'a>,
    noticed: Noticed,
    known: Known,
    /// The waits that could not be unwound. Then nothing else can be executed on this thread.
    stuck: Rc<RefCell<Option<String>>>,
    pulse: Arc<Pulse>,
    /// The condition on which executions are given up.
    cut: RefCell<Option<Cut>>,
    /// The schedule has been run before.
    is_again: Cell<bool>,
    /// The ending of the last execution.
    ending: Cell<Ending>,
}

impl Executing {
    /// Locks the detail of the memory. It changes only while nothing is executed, so a failure is
    /// replayed with the detail with which it was found.
    pub(super) fn detail(&self) -> MutexGuard<'_, Detail> {
        self.detail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `explore` where executions can be run.
    pub(super) fn on_a_worker<R>(&self, explore: impl FnOnce(&Running<'_>) -> R) -> R {
        let noticed = Noticed::default();
        let told = noticed.clone();
        let builder = Builder::default().on_report(move |report| {
            if let Report::Panic(_) = report {
                notice(&told, report.to_string());
            }
        });
        let run = |executions: &Executions<'_>| {
            let _quiet = Quiet::new();
            let pulse = self.watch.pulse();
            let _worker = leaving::Worker::new(&pulse);
            explore(&Running {
                executing: self,
                executions,
                noticed,
                known: Known::default(),
                stuck: Rc::default(),
                pulse,
                cut: RefCell::default(),
                is_again: Cell::new(false),
                ending: Cell::new(Ending::Stopped),
            })
        };
        let explored = executions(builder, run);
        explored.unwrap_or_else(|error| panic!("the checker cannot begin: {error}"))
    }
}

impl Executing {
    /// Returns the verdict on a program with a step that does not end.
    pub(super) fn hung(self: &Arc<Self>, hung: Hung) -> Verdict {
        let Hung { schedule, steps, what } = hung;
        let trace = self.first_steps(&schedule, steps);
        let (what, stuck, unbegun) = (What::Lasts(what), None, Vec::new());
        let failure = Failure { what, schedule, trace, stuck, unbegun };
        let counts = Counts { complete: self.watch.complete(), endless: 1, ..Counts::default() };
        let verdict = Verdict::new(counts, How::Part, Used::Newest, Some(failure));
        Verdict { elapsed: self.watch.begun.elapsed(), ..verdict }
    }

    /// Returns the same program for schedules that are drawn beside the exploration.
    pub(super) fn sampled(&self) -> Executing {
        Executing {
            program: self.program.clone(),
            detail: Mutex::new(*self.detail()),
            watch: self.watch.clone(),
            judge: None,
            samples: true,
            ..*self
        }
    }

    /// Returns the trace of the first steps of a schedule, if these end.
    fn first_steps(&self, schedule: &Schedule, steps: usize) -> Trace {
        let watch = Arc::new(Watch::new(self.site, None, PATIENCE_AGAIN));
        let executing = Executing {
            program: self.program.clone(),
            detail: Mutex::new(*self.detail()),
            watch: watch.clone(),
            judge: None,
            steps,
            ..*self
        };
        let schedule = schedule.clone();
        let replay = move |_| executing.on_a_worker(|running| running.replay(&schedule)).trace;
        own_thread::run(&watch, None, replay).ok().flatten().unwrap_or_default()
    }
}

impl Running<'_> {
    /// Runs one schedule, and records it.
    pub(super) fn replay(&self, schedule: &Schedule) -> Verdict {
        let strategy = || Box::new(Replay::new(schedule.clone())) as Box<dyn Strategy>;
        let bridge = self.bridge(strategy());
        let _installed = bridge.install();
        bridge.record();
        let mut failure = self.execute_again(&bridge, &strategy);
        let trace = bridge.trace(failure.as_ref().and_then(Failure::blocked)).unwrap_or_default();
        if let Some(failure) = &mut failure {
            failure.trace = trace.clone();
        }
        let (counts, memory) = (bridge.counts(), bridge.memory().used());
        Verdict { trace: Some(trace), ..Verdict::new(counts, How::Replayed, memory, failure) }
    }

    /// Runs one schedule again. Returns its failure.
    fn again(&self, schedule: &Schedule) -> Option<Failure> {
        let strategy = || Box::new(Replay::new(schedule.clone())) as Box<dyn Strategy>;
        let bridge = self.bridge(strategy());
        let _installed = bridge.install();
        self.execute_again(&bridge, &strategy)
    }

    /// Runs the one execution of a strategy, anew if it had to be given up to learn something.
    fn execute_again(
        &self,
        bridge: &Rc<Bridge>,
        strategy: &dyn Fn() -> Box<dyn Strategy>,
    ) -> Option<Failure> {
        self.known.forget_holding();
        bridge.begin();
        let mut failure = self.execute(bridge);
        while bridge.learnt_detail().is_some() || bridge.was_abandoned() {
            if self.is_stuck() {
                break;
            }
            bridge.begin_anew(strategy());
            bridge.begin();
            failure = self.execute(bridge);
        }
        // No other execution runs the same schedule.
        failure.or_else(|| self.stuck.borrow().clone().map(|stuck| stuck_at(bridge.schedule(), stuck)))
    }

    /// Returns a runner of another program on the same worker.
    pub(super) fn instead<'a>(&'a self, executing: &'a Executing) -> Running<'a> {
        Running {
            executing,
            executions: self.executions,
            noticed: self.noticed.clone(),
            known: Known::default(),
            stuck: self.stuck.clone(),
            pulse: self.pulse.clone(),
            cut: RefCell::default(),
            is_again: Cell::new(false),
            ending: Cell::new(Ending::Stopped),
        }
    }

    /// Calls `f` where executions can run: here, or on a thread of its own if fibers that could not
    /// be unwound hold this one.
    pub(super) fn unstuck<R: Send>(&self, f: impl FnOnce(&Running<'_>) -> R + Send) -> R {
        if !self.is_stuck() {
            return f(self);
        }
        let (executing, loops) = (self.executing, self.known.loops());
        let elsewhere = move || {
            executing.on_a_worker(|running| {
                running.known.adopt(&loops);
                f(running)
            })
        };
        let done = thread::scope(|scope| scope.spawn(elsewhere).join());
        done.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Sets the condition on which executions are given up.
    pub(super) fn cut_when(&self, cut: Option<Cut>) {
        self.cut.replace(cut);
    }

    pub(super) fn bridge(&self, strategy: Box<dyn Strategy>) -> Rc<Bridge> {
        self.bridge_of(strategy, Family::new())
    }

    /// Returns a bridge to a strategy whose processes have the numbers of this family.
    pub(super) fn bridge_of(&self, strategy: Box<dyn Strategy>, family: Family) -> Rc<Bridge> {
        let Executing { steps, division, rounds, memory, .. } = *self.executing;
        let detail = self.detail();
        let asking = Asking::new(self.known.clone(), rounds);
        let memory = Modelled::new(memory, detail);
        let (cut, pulse) = (self.cut.borrow().clone(), self.pulse.clone());
        Bridge::new(Recorded::new(strategy), family, steps, division, asking, memory, (pulse, cut))
    }

    /// Returns the memory model.
    pub(super) fn memory(&self) -> Memory {
        self.executing.memory
    }

    /// Returns the detail of the memory.
    pub(super) fn detail(&self) -> Detail {
        *self.executing.detail()
    }

    /// Returns the ending of the last execution.
    pub(super) fn ending(&self) -> Ending {
        self.ending.get()
    }

    /// Returns the facts about loops that ask again.
    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// Runs the program in the schedule of defaults, and returns a check sum of its steps.
    pub(super) fn default_sum(&self) -> u32 {
        let strategy = || Box::new(Replay::new(Schedule::default())) as Box<dyn Strategy>;
        let bridge = self.bridge(strategy());
        let _installed = bridge.install();
        self.execute_again(&bridge, &strategy);
        bridge.sum_of_steps()
    }

    /// Returns the failure with a shorter schedule, if there is one, and with the trace of that
    /// schedule.
    pub(super) fn shortened(&self, found: Option<Failure>) -> Option<Failure> {
        let found = found?;
        self.is_again.set(true);
        self.cut_when(Some(Cut { over: self.executing.watch.late(), at: None }));
        let mut found = self.shorter(found);
        if let What::Differs(difference) = &found.what
            && !self.is_stuck()
        {
            let [first, other] = &difference.schedules;
            match reversal::search(self, first, other) {
                Some(Between::Reversal(other, first, reversal)) => {
                    found = *other;
                    if let What::Differs(difference) = &mut found.what {
                        difference.schedules[0] = first;
                        difference.reversal = Some(reversal);
                    }
                }
                Some(Between::Failure(failure)) => found = self.shorter(*failure),
                None => {}
            }
        }
        self.cut_when(None);
        found.trace = self.told(&found.schedule);
        if let What::Differs(difference) = &mut found.what {
            difference.shows([self.told(&difference.schedules[0]), found.trace.clone()]);
        }
        Some(found)
    }

    /// Returns the trace of a schedule.
    fn told(&self, schedule: &Schedule) -> Trace {
        self.unstuck(|running| running.replay(schedule).trace).unwrap_or_default()
    }

    /// Returns the failure with a shorter schedule, if there is one.
    fn shorter(&self, mut found: Failure) -> Failure {
        if matches!(found.what, What::Endless(_)) || found.stuck.is_some() || self.is_stuck() {
            return found;
        }
        shrink(found.schedule.clone(), SHRINKING, |schedule| {
            if self.is_stuck() {
                return None;
            }
            let shorter = self.again(schedule).filter(|shorter| shorter.is_like(&found))?;
            let schedule = shorter.schedule.clone();
            if schedule.departures() < found.schedule.departures() || schedule.len() < found.schedule.len() {
                found = shorter;
            }
            Some(schedule)
        });
        found
    }

    /// Returns the waits that could not be unwound.
    pub(super) fn stuck(&self) -> Option<String> {
        self.stuck.borrow().clone()
    }

    /// Returns `true` if nothing else can be executed on this thread.
    pub(super) fn is_stuck(&self) -> bool {
        self.stuck.borrow().is_some()
    }

    /// Runs the execution that has begun. Returns its failure.
    pub(super) fn execute(&self, bridge: &Rc<Bridge>) -> Option<Failure> {
        let (program, told) = (self.executing.program.clone(), self.noticed.clone());
        let has_returned = Arc::<AtomicBool>::default();
        let returned = has_returned.clone();
        quiet::begins();
        let (ended, stuck) =
            self.executions.run(&**bridge, self.executing.site, move || {
                match catch_unwind(AssertUnwindSafe(|| program())) {
                    Ok(()) => returned.store(true, Relaxed),
                    Err(panic) if panic.is::<Interrupted>() => resume_unwind(panic),
                    Err(panic) => notice(&told, format!("the program panicked: {}", message(&*panic))),
                }
            });
        self.pulse.enter(Stage::Checker);
        let panicked = self.noticed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let spins = bridge.spins();
        // An execution that was given up shows no failure of the program.
        let race = bridge.race().filter(|_| !bridge.was_abandoned());
        let race = race.map(|race| (Ending::Failed, Some(What::Race(race))));
        let (ending, what) = race.unwrap_or_else(|| match (panicked, ended) {
            _ if bridge.was_abandoned() => (Ending::Stopped, None),
            (Some(message), _) => (Ending::Failed, Some(What::Panicked(message))),
            (None, Ended::Complete) if !has_returned.load(Relaxed) => {
                (Ending::Failed, Some(What::Panicked(NOT_RETURNED.into())))
            }
            (None, Ended::Complete) => match self.judged(bridge) {
                None => (Ending::Complete, None),
                wrong => (Ending::Failed, wrong),
            },
            (None, Ended::Blocked(graph)) if !spins.is_empty() => {
                (Ending::Blocked, Some(What::Spins(spins, graph)))
            }
            (None, Ended::Blocked(graph)) => (Ending::Blocked, Some(What::Blocked(graph))),
            (None, Ended::GivenUp) if bridge.is_disturbed.get() => {
                (Ending::Failed, Some(What::Panicked(DISTURBED.into())))
            }
            (None, Ended::GivenUp) if bridge.was_too_long() && !self.executing.samples => {
                (Ending::Endless, Some(What::Endless(bridge.repeated())))
            }
            (None, Ended::GivenUp) => (Ending::Stopped, None),
        });
        *self.stuck.borrow_mut() = stuck.clone();
        self.ending.set(ending);
        let failed = what.map(|what| (what, bridge.schedule()));
        if failed.is_none() && bridge.was_cut() {
            // Its ending is unknown. Nothing uses this bridge any more.
            return None;
        }
        if ending == Ending::Complete {
            self.executing.watch.one_is_complete();
        }
        bridge.end(ending);
        let (what, schedule) = failed?;
        Some(Failure { what, schedule, trace: Trace::default(), stuck, unbegun: bridge.unbegun() })
    }

    /// Returns the fault in the result of a complete execution, if there is one.
    fn judged(&self, bridge: &Bridge) -> Option<What> {
        let result = bridge.left();
        let (judge, result) = (self.executing.judge.as_ref()?, result?);
        judge.judge(result, bridge.schedule(), !self.is_again.get())
    }
}

/// Returns the failure if an execution was given up and cannot be unwound.
pub(super) fn stuck_at(schedule: Schedule, stuck: String) -> Failure {
    Failure { what: What::Stuck, schedule, trace: Trace::default(), stuck: Some(stuck), unbegun: Vec::new() }
}

/// A panic of an execution that is not in the verdict yet.
type Noticed = Arc<Mutex<Option<String>>>;

fn notice(noticed: &Noticed, what: String) {
    // A fiber that is unwound may panic because its partners are unwound.
    if bridge::is_unwinding() {
        return;
    }
    noticed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
}

pub(super) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".into())
}
