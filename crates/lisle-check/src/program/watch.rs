//! The watch over workers: each shows its state, and a thread looks at it.
//!
//! A worker can neither notice nor end an endless step of the program. So the thread that waits for
//! the exploration looks at the workers now and then. It tells them that time is over, and notices
//! a step that lasts.

use super::leaving;
use crate::explore::{Codes, Schedule};
use std::fmt;
use std::io::{Write as _, stderr};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(200);

/// The most time between two looks that counts: if a look is later, the system has stopped this thread,
/// and perhaps others as well.
const LATE: Duration = Duration::from_millis(400);

/// The stage of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Stage {
    /// Work of the checker, which ends.
    Checker,
    /// A step of the program.
    Step,
    /// The rest of an execution is unwound.
    Unwinding,
}

/// The state that a worker shows of the execution in progress.
pub(super) struct Pulse {
    /// Differs from all others in the operating system's process. It is not zero.
    number: usize,
    stage: AtomicU8,
    /// Changes with each step.
    beat: AtomicU64,
    process: AtomicU32,
    /// The number of steps that have begun.
    count: AtomicU32,
    inner: Mutex<Shown>,
    /// The file of the system about the thread, if there is one.
    thread: Option<std::path::PathBuf>,
}

/// The part that changes less often.
#[derive(Default)]
struct Shown {
    codes: Arc<Codes>,
    setting: Option<&'static str>,
    /// The place where each process was spawned.
    sites: Vec<Option<&'static Location<'static>>>,
}

impl Pulse {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        let thread = std::fs::read_link("/proc/thread-self").ok();
        Pulse {
            number: NUMBER.fetch_add(1, Relaxed),
            stage: AtomicU8::new(Stage::Checker as u8),
            beat: AtomicU64::new(0),
            process: AtomicU32::new(0),
            count: AtomicU32::new(0),
            inner: Mutex::default(),
            thread: thread.map(|thread| std::path::Path::new("/proc").join(thread)),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Shown> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the worker's stage from now on.
    #[inline]
    pub(super) fn enter(&self, stage: Stage) {
        self.beat.store(self.beat.load(Relaxed) + 1, Relaxed);
        self.stage.store(stage as u8, Relaxed);
    }

    /// Shows that a process takes a step.
    #[inline]
    pub(super) fn steps(&self, process: u32) {
        self.process.store(process, Relaxed);
        self.count.store(self.count.load(Relaxed) + 1, Relaxed);
        self.enter(Stage::Step);
    }

    /// Shows the decisions of the executions from now on.
    pub(super) fn decides(&self, codes: Arc<Codes>) {
        self.inner().codes = codes;
    }

    /// Shows that an execution begins, under the setting with this name.
    pub(super) fn begins(&self, setting: Option<&'static str>) {
        self.inner().setting = setting;
        self.count.store(0, Relaxed);
    }

    /// Shows the place where a process was spawned.
    pub(super) fn spawned(&self, process: u32, site: &'static Location<'static>) {
        let mut inner = self.inner();
        let process = process as usize;
        if inner.sites.len() <= process {
            inner.sites.resize(process + 1, None);
        }
        inner.sites[process] = Some(site);
    }

    /// Returns the schedule of the execution in progress, so far.
    fn schedule(&self) -> Schedule {
        let inner = self.inner();
        inner.codes.schedule().under(inner.setting)
    }

    /// Returns its number.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn is_in(&self, stage: Stage) -> bool {
        self.stage.load(Relaxed) == stage as u8
    }

    /// Returns whether the thread waits in the system, if the system tells.
    fn waits_in_system(&self) -> Option<bool> {
        let status = std::fs::read_to_string(self.thread.as_ref()?.join("stat")).ok()?;
        // The name before it may have any characters.
        let state = status.rsplit_once(") ")?.1.chars().next()?;
        Some(matches!(state, 'S' | 'D'))
    }
}

/// The state of an exploration while it runs.
pub(super) struct Watch {
    /// The place of the check.
    site: &'static Location<'static>,
    pub(super) begun: Instant,
    time: Option<Duration>,
    /// A step that lasts so long does not end.
    patience: Duration,
    /// The time is over.
    over: Arc<AtomicBool>,
    /// The time has been over for so long that failures are not made shorter.
    late: Arc<AtomicBool>,
    /// The number of executions that have gone well.
    complete: AtomicU64,
    pulses: Mutex<Vec<Arc<Pulse>>>,
}

impl Watch {
    pub(super) fn new(site: &'static Location<'static>, time: Option<Duration>, patience: Duration) -> Self {
        // With so little time, the patience is not longer.
        let patience = time.map_or(patience, |time| patience.min(time.max(Duration::from_secs(1))));
        Watch {
            site,
            begun: Instant::now(),
            time,
            patience,
            over: Arc::default(),
            late: Arc::default(),
            complete: AtomicU64::new(0),
            pulses: Mutex::default(),
        }
    }

    fn pulses(&self) -> MutexGuard<'_, Vec<Arc<Pulse>>> {
        self.pulses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the pulse of another worker, whose thread this is.
    pub(super) fn pulse(&self) -> Arc<Pulse> {
        let pulse = Arc::new(Pulse::new());
        let mut pulses = self.pulses();
        // Pulses without another owner belong to workers that have ended.
        pulses.retain(|pulse| Arc::strong_count(pulse) > 1);
        pulses.push(pulse.clone());
        pulse
    }

    /// Returns the flag that time is over.
    pub(super) fn over(&self) -> Arc<AtomicBool> {
        self.over.clone()
    }

    /// Returns the flag that it has been over for a while.
    pub(super) fn late(&self) -> Arc<AtomicBool> {
        self.late.clone()
    }

    /// Returns the limit of time, if it is over.
    pub(super) fn is_over(&self) -> Option<Duration> {
        self.time.filter(|_| self.over.load(Relaxed))
    }

    /// Notes that an execution has gone well.
    pub(super) fn one_is_complete(&self) {
        self.complete.fetch_add(1, Relaxed);
    }

    /// Returns the number of executions that have gone well.
    pub(super) fn complete(&self) -> u64 {
        self.complete.load(Relaxed)
    }

    /// Makes all workers give up their executions at the next step.
    pub(super) fn give_up(&self) {
        self.over.store(true, Relaxed);
    }

    /// Begins to look.
    pub(super) fn looks(&self) -> Looks<'_> {
        Looks { watch: self, lasting: Vec::new(), last: Instant::now() }
    }
}

/// The looks of the waiting thread.
pub(super) struct Looks<'a> {
    watch: &'a Watch,
    /// The workers in a step, with the step's number and the time for which they were seen in it.
    lasting: Vec<(Arc<Pulse>, u64, Duration)>,
    last: Instant,
}

impl Looks<'_> {
    /// Returns the time until the next look.
    pub(super) fn until_next(&self) -> Duration {
        let Watch { time, over, late, .. } = self.watch;
        let elapsed = self.watch.begun.elapsed();
        let until = |time: Option<Duration>, is_told: &AtomicBool| {
            time.filter(|_| !is_told.load(Relaxed)).map(|time| time.saturating_sub(elapsed))
        };
        let look = LOOK.saturating_sub(self.last.elapsed());
        [until(*time, over), until(self.late(), late)].into_iter().flatten().fold(look, Duration::min)
    }

    /// Returns the time after which failures are not made shorter: a tenth later.
    fn late(&self) -> Option<Duration> {
        self.watch.time.map(|time| time.saturating_add(time / 10))
    }

    /// Looks. Returns an endless step, if there is one.
    pub(super) fn look(&mut self) -> Option<Hung> {
        let elapsed = self.watch.begun.elapsed();
        let has_passed = |time: Option<Duration>| time.is_some_and(|time| elapsed >= time);
        self.watch.over.fetch_or(has_passed(self.watch.time), Relaxed);
        self.watch.late.fetch_or(has_passed(self.late()), Relaxed);
        let find = |number| self.watch.pulses().iter().find(|pulse| pulse.number == number).cloned();
        leaving::tell(find, |pulse| {
            // Not by the macro, whose output a test keeps to itself.
            let (site, schedule) = (self.watch.site, pulse.schedule());
            let _ = writeln!(
                stderr(),
                "{site}: the process ends in an execution; to run it again: LISLE_CHECK_REPLAY={schedule}"
            );
        });
        let passed = self.last.elapsed().min(LATE);
        self.last = Instant::now();
        let before = std::mem::take(&mut self.lasting);
        for pulse in self.watch.pulses().iter().filter(|pulse| !pulse.is_in(Stage::Checker)) {
            let beat = pulse.beat.load(Relaxed);
            let same = before.iter().find(|(other, then, _)| Arc::ptr_eq(other, pulse) && *then == beat);
            let lasted = same.map_or(Duration::ZERO, |(.., lasted)| *lasted + passed);
            self.lasting.push((pulse.clone(), beat, lasted));
        }
        let (pulse, beat, lasted) = self.lasting.iter().max_by_key(|(.., lasted)| *lasted)?;
        let hung = (*lasted >= self.watch.patience).then(|| Hung::new(pulse, *lasted))?;
        // It may have gone on just now.
        (pulse.beat.load(Relaxed) == *beat).then_some(hung)
    }
}

/// A step that does not end.
#[derive(Debug)]
pub(super) struct Hung {
    pub(super) schedule: Schedule,
    /// The number of steps that have ended.
    pub(super) steps: usize,
    pub(super) what: Lasting,
}

/// The endless step.
#[derive(Debug)]
pub(super) struct Lasting {
    /// The place where the process was spawned; `None` for the program itself.
    site: Option<&'static Location<'static>>,
    lasted: Duration,
    unwinds: bool,
    waits_in_system: Option<bool>,
}

impl Hung {
    fn new(pulse: &Pulse, lasted: Duration) -> Self {
        let process = pulse.process.load(Relaxed) as usize;
        let site = pulse.inner().sites.get(process).copied().flatten();
        let (unwinds, waits_in_system) = (pulse.is_in(Stage::Unwinding), pulse.waits_in_system());
        let steps = (pulse.count.load(Relaxed) as usize).saturating_sub(usize::from(!unwinds));
        Hung { schedule: pulse.schedule(), steps, what: Lasting { site, lasted, unwinds, waits_in_system } }
    }
}

impl fmt::Display for Lasting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match (self.unwinds, self.site) {
            (true, _) => "the rest of the execution, which is being unwound,".into(),
            (false, Some(site)) => format!("the fiber or task spawned at {site}"),
            (false, None) => "the program itself".into(),
        };
        let lasted = self.lasted.as_secs_f64();
        writeln!(f, "a step does not end: {who} has not come to an operation of Lisle's for {lasted:.1} s")?;
        write!(
            f,
            "{}",
            match self.waits_in_system {
                Some(true) => WAITS,
                Some(false) => RUNS,
                None => EITHER,
            }
        )
    }
}

const WAITS: &str = "it waits in the system, for a lock, a channel, a thread or a file of `std`, or sleeps: \
                     no other fiber can run meanwhile. Use the types and functions of Lisle in its place";
const RUNS: &str = "it runs: a loop that waits needs `yield_now` or `lisle_check::hint::spin_loop`, and \
                    must read objects of Lisle or of `lisle_check::atomic`. If it computes for so long, say \
                    so by `Checker::patience`";
const EITHER: &str = "either it runs, in a loop without `yield_now` or `lisle_check::hint::spin_loop`, or it waits for a lock, \
                      a channel, a thread or a file of `std`";
