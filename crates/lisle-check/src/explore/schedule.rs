//! A schedule as a value: the decisions that depart from the default.
//!
//! By default the running process goes on; if it cannot, the first runnable one runs; and a choice
//! takes its first way. A schedule has a number for each decision, zero for the default. Most
//! decisions are the default, so the token is short. The numbers are places among the runnable
//! processes, not the numbers of processes, so a schedule means the same on another machine.

use super::{Counts, Decision, Ending, Mark, Process, Strategy};
use crate::forward_reports;
use std::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The decisions of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// For each decision, zero for the default and the number of the option otherwise. There is no
    /// zero at the end.
    codes: Vec<u32>,
    /// The name of the setting (a memory model) under which the program has to run, if it is not
    /// the default.
    setting: Option<Box<str>>,
}

impl Schedule {
    /// Creates the schedule with these decisions.
    pub(crate) fn from_codes(mut codes: Vec<u32>) -> Self {
        while codes.last() == Some(&0) {
            codes.pop();
        }
        Schedule { codes, setting: None }
    }

    /// Returns the same decisions under the setting with this name.
    pub(crate) fn under(self, setting: Option<&str>) -> Self {
        Schedule { setting: setting.map(Box::from), ..self }
    }

    /// Returns the name of the setting under which the program has to run.
    pub(crate) fn setting(&self) -> Option<&str> {
        self.setting.as_deref()
    }

    /// Returns the decisions, without the zeros at the end.
    pub(crate) fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// Returns the number of decisions that are not the default.
    pub fn departures(&self) -> usize {
        self.codes.iter().filter(|&&code| code != 0).count()
    }

    /// Returns the number of decisions up to the last one that is not the default.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Returns `true` if all decisions are the default.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }
}

/// Returns the place of the process that runs by default.
fn default_place(running: Option<Process>, runnable: &[Process]) -> usize {
    runnable.iter().position(|&process| Some(process) == running).unwrap_or(0)
}

/// Returns the place of option `code`: the default is first, the others follow in their order.
fn place_of(code: u32, default: usize) -> usize {
    match code as usize {
        0 => default,
        code if code <= default => code - 1,
        code => code,
    }
}

/// Returns the option for this place.
fn code_of(place: usize, default: usize) -> u32 {
    let code = match place {
        place if place == default => 0,
        place if place < default => place + 1,
        place => place,
    };
    code as u32
}

/// The decisions of the execution in progress, which other threads may look at meanwhile.
///
/// Only one thread writes. Another thread reads right values as soon as the writer has stopped, or
/// waits.
#[derive(Debug, Default)]
pub struct Codes {
    len: AtomicUsize,
    pages: Mutex<Vec<Arc<Page>>>,
}

type Page = [AtomicU32; PAGE];

/// The number of decisions on a page.
const PAGE: usize = 256;

impl Codes {
    fn pages(&self) -> MutexGuard<'_, Vec<Arc<Page>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns this page, which is there or the next one.
    fn page(&self, number: usize) -> Arc<Page> {
        let mut pages = self.pages();
        if pages.len() == number {
            pages.push(Arc::new([const { AtomicU32::new(0) }; PAGE]));
        }
        pages[number].clone()
    }

    /// Returns the decisions so far as a schedule.
    pub fn schedule(&self) -> Schedule {
        let len = self.len.load(Acquire);
        let pages = self.pages();
        let codes = pages.iter().flat_map(|page| page.iter()).take(len);
        Schedule::from_codes(codes.map(|code| code.load(Relaxed)).collect())
    }
}

/// Notes the decisions of another strategy, so that the execution can run again.
#[derive(Debug)]
pub struct Recorded<S> {
    strategy: S,
    codes: Arc<Codes>,
    /// The page that is written to.
    page: Arc<Page>,
    len: usize,
}

impl<S: Strategy> Recorded<S> {
    /// Creates a recording of this strategy's decisions.
    pub fn new(strategy: S) -> Self {
        let codes = Arc::<Codes>::default();
        Recorded { strategy, page: codes.page(0), codes, len: 0 }
    }

    /// Returns the schedule of the last execution, or of the one in progress.
    pub fn schedule(&self) -> Schedule {
        self.codes.schedule()
    }

    /// Returns the decisions, for other threads to look at.
    pub fn codes(&self) -> Arc<Codes> {
        self.codes.clone()
    }

    #[inline]
    fn push(&mut self, code: u32) {
        if self.len > 0 && self.len.is_multiple_of(PAGE) {
            self.page = self.codes.page(self.len / PAGE);
        }
        self.page[self.len % PAGE].store(code, Relaxed);
        self.len += 1;
        self.codes.len.store(self.len, Release);
    }

    /// Returns the strategy that decides.
    pub fn strategy(&self) -> &S {
        &self.strategy
    }

    /// Returns the strategy that decides.
    pub fn into_strategy(self) -> S {
        self.strategy
    }
}

impl<S: Strategy> Strategy for Recorded<S> {
    fn begin(&mut self) -> bool {
        let more = self.strategy.begin();
        if more {
            self.page = self.codes.page(0);
            self.len = 0;
            self.codes.len.store(0, Release);
        }
        more
    }

    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision {
        let decision = self.strategy.next(running, runnable);
        if let Decision::Run(process) = decision {
            let place = runnable.iter().position(|&other| other == process);
            let place = place.expect("a strategy runs one of the runnable processes");
            let is_default = running == Some(process);
            self.push(if is_default { 0 } else { code_of(place, default_place(running, runnable)) });
        }
        decision
    }

    fn choose(&mut self, process: Process, ways: u32) -> u32 {
        let way = self.strategy.choose(process, ways);
        self.push(way);
        way
    }

    fn end(&mut self, ending: Ending) {
        self.strategy.end(ending);
    }

    forward_reports!(self => self.strategy);
}

/// Runs one schedule, once.
///
/// A decision that the program does not offer is taken by default: a shortened schedule need not
/// fit. [`fits`](Replay::fits) says whether it did.
#[derive(Debug)]
pub struct Replay {
    schedule: Schedule,
    position: usize,
    begun: bool,
    fits: bool,
    counts: Counts,
    step: u32,
}

impl Replay {
    /// Creates a replay of this schedule.
    pub fn new(schedule: Schedule) -> Self {
        Replay { schedule, position: 0, begun: false, fits: true, counts: Counts::default(), step: 0 }
    }

    /// Returns `true` if the program offered each decision of the schedule, and came to the last
    /// one.
    pub fn fits(&self) -> bool {
        self.fits && self.position >= self.schedule.codes.len()
    }

    fn decide(&mut self, options: usize) -> u32 {
        let code = self.schedule.codes.get(self.position).copied().unwrap_or(0);
        self.position += 1;
        if (code as usize) < options {
            return code;
        }
        self.fits = false;
        0
    }
}

impl Strategy for Replay {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true)
    }

    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision {
        self.step += 1;
        let code = self.decide(runnable.len());
        Decision::Run(runnable[place_of(code, default_place(running, runnable))])
    }

    fn choose(&mut self, _: Process, ways: u32) -> u32 {
        self.decide(ways as usize)
    }

    fn mark(&mut self) -> Mark {
        Mark(self.step - 1)
    }

    fn end(&mut self, ending: Ending) {
        self.counts.add(ending);
    }

    fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_places_are_inverse() {
        for default in 0..4 {
            for place in 0..4 {
                assert_eq!(place_of(code_of(place, default), default), place);
            }
            assert_eq!(code_of(default, default), 0);
        }
    }
}
