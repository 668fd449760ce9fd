//! Executions that several strategies draw in turn, divided among workers.
//!
//! No strategy is the best for all programs; several that take turns are never much slower than the
//! best of them. And drawn executions do not wait for each other: the strategies and their seeds
//! alone determine the execution of each number, so workers can take them in any order.
//!
//! Invariant: its number determines an execution. So the verdict does not depend on the number of
//! workers, nor on their speed: the executions up to the failing one with the smallest number
//! count. For this, an execution waits for the executions on which it depends: in [`Bounded`] for
//! the one before it, and with priorities for all earlier rounds.

mod drawing;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

use serde::{Deserialize, Serialize};

use drawing::{DrawingState, Member, Offer, Planned, Shared};

use super::{Bounded, Counts, Decision, Ending, Mark, Priorities, Process, Random, Strategy};

/// A strategy that draws executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Drawn {
    /// [`Random`].
    Random {
        /// The seed that determines the executions.
        seed: u64,
    },
    /// [`Priorities`].
    Priorities {
        /// The seed that determines the executions.
        seed: u64,
        /// The number of orders between steps that a bug may need.
        depth: u32,
    },
    /// [`Bounded`]. It runs one execution at a time.
    Bounded {
        /// The number of preemptions that are allowed.
        most: u32,
    },
}

/// A worker of an exploration that gives each of several strategies one execution in turn.
#[derive(Debug)]
pub struct Divided {
    shared: Arc<Shared>,
    /// The worker of each strategy.
    workers: Vec<Option<StrategyWorker>>,
    /// The strategy of the execution in progress.
    current: Option<usize>,
    number: Arc<AtomicU64>,
}

#[derive(Debug)]
enum StrategyWorker {
    Random(Random),
    Priorities(Priorities),
    Bounded(Bounded),
}

impl Divided {
    /// Creates an exploration by these strategies in turn, of at most `most` executions.
    pub fn new(strategies: &[Drawn], most: u64) -> Self {
        let members = strategies.iter().copied().map(Member::new).collect();
        Self::of(Shared::new(DrawingState { members, most, ..DrawingState::default() }))
    }

    fn of(shared: Arc<Shared>) -> Self {
        let members = shared.lock().members.len();
        let workers = std::iter::repeat_with(|| None).take(members).collect();
        Divided { shared, workers, current: None, number: Arc::default() }
    }

    /// Ends the exploration with the first execution that does not end well.
    pub fn end_with_failure(&self) {
        self.shared.lock().until_failure = true;
    }

    /// Lets no execution after this one count.
    pub fn end_after(&self, number: u64) {
        let mut state = self.shared.lock();
        state.end_after(number);
        self.shared.wake(&state);
    }

    /// Creates another worker of this exploration.
    pub fn worker(&self) -> Self {
        Self::of(self.shared.clone())
    }

    /// Returns the cell with the number of the execution that this worker runs or has run last.
    pub fn number(&self) -> Arc<AtomicU64> {
        self.number.clone()
    }

    /// Sets the number of executions, earlier ones included, after which no worker begins another
    /// one.
    pub fn limit(&self, most: u64) {
        self.shared.lock().most = most;
    }

    /// Stops all workers: from now on, none of them begins an execution.
    pub fn stop(&self) {
        let mut state = self.shared.lock();
        state.stopped = true;
        self.shared.wake(&state);
    }

    /// Returns `true` if no strategy has an execution that remains to be run. It never is if one of
    /// them draws at random.
    pub fn is_finished(&self) -> bool {
        self.shared.lock().members.iter().all(|member| member.is_finished)
    }

    /// Returns the number of preemptions up to which the first strategy has run all schedules, if
    /// it counts them, and whether these are all that there are.
    pub fn preemptions(&self) -> Option<(Option<u32>, bool)> {
        let state = self.shared.lock();
        let bounded = state.members.first()?.bounded.as_ref()?;
        Some((bounded.explored_bound(), bounded.is_exhaustive()))
    }

    /// Returns the exploration as bytes, for [`resume`](Divided::resume). To be called when no
    /// execution is in progress, and none has failed that ends it.
    pub fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&*self.shared.lock()).expect("a vector takes all that is written to it")
    }

    /// Creates the exploration that goes on where the saved one was. Returns `None` if the bytes
    /// are not a result of [`save`](Divided::save).
    pub fn resume(bytes: &[u8]) -> Option<Self> {
        let state: DrawingState = postcard::from_bytes(bytes).ok()?;
        Some(Self::of(Shared::new(state)))
    }

    fn current(&mut self) -> &mut dyn Strategy {
        let worker = self.current.and_then(|place| self.workers[place].as_mut());
        match worker.expect("an execution has begun") {
            StrategyWorker::Random(random) => random,
            StrategyWorker::Priorities(priorities) => priorities,
            StrategyWorker::Bounded(bounded) => bounded,
        }
    }

    /// Makes this execution the one in progress.
    fn adopt(&mut self, place: usize, planned: Planned) {
        let worker = self.workers[place].take();
        let worker = match (planned, worker) {
            (Planned::Bounded(bounded), _) => StrategyWorker::Bounded(bounded),
            (Planned::Random { seed, number }, worker) => {
                let mut random = match worker {
                    Some(StrategyWorker::Random(random)) => random,
                    _ => Random::new(seed, u64::MAX),
                };
                random.draw(number);
                StrategyWorker::Random(random)
            }
            (Planned::Priorities { seed, depth, number, assumed }, worker) => {
                let mut priorities = match worker {
                    Some(StrategyWorker::Priorities(priorities)) => priorities,
                    _ => Priorities::new(seed, u64::MAX, depth),
                };
                priorities.draw(number, assumed);
                StrategyWorker::Priorities(priorities)
            }
        };
        self.workers[place] = Some(worker);
        self.current = Some(place);
    }
}

impl Drop for Divided {
    /// Ends the exploration if an execution is left in the middle, for the others may wait for it.
    /// The execution does not count, and runs again if other executions wait for it.
    fn drop(&mut self) {
        let Some(place) = self.current.take() else { return };
        let mut state = self.shared.lock();
        if let Some(StrategyWorker::Bounded(mut bounded)) = self.workers[place].take() {
            bounded.run_again();
            state.members[place].bounded = Some(bounded);
        }
        state.members[place].over += 1;
        state.over.insert(self.number.load(Relaxed), None);
        state.count();
        state.stopped = true;
        self.shared.wake(&state);
    }
}

impl Strategy for Divided {
    fn begin(&mut self) -> bool {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        loop {
            if state.stopped || state.last.is_some() || state.begun >= state.most {
                return false;
            }
            match state.draw() {
                Ok((number, place, planned)) => {
                    self.number.store(number, Relaxed);
                    drop(state);
                    self.adopt(place, planned);
                    return true;
                }
                Err(Offer::Later) => {
                    state.waiting += 1;
                    state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.waiting -= 1;
                }
                Err(_) => return false,
            }
        }
    }

    fn next(&mut self, running: Option<Process>, runnable: &[Process]) -> Decision {
        self.current().next(running, runnable)
    }

    fn choose(&mut self, process: Process, ways: u32) -> u32 {
        self.current().choose(process, ways)
    }

    fn mark(&mut self) -> Mark {
        self.current().mark()
    }

    fn end(&mut self, ending: Ending) {
        self.current().end(ending);
        let Some(place) = self.current.take() else { return };
        let shared = self.shared.clone();
        let mut state = shared.lock();
        let mut ending = ending;
        let member = &mut state.members[place];
        member.over += 1;
        match self.workers[place].take() {
            Some(StrategyWorker::Bounded(bounded)) => {
                ending = bounded.counted(ending);
                member.bounded = Some(bounded);
            }
            Some(StrategyWorker::Priorities(priorities)) => {
                member.seen = member.seen.max(priorities.lengths());
                self.workers[place] = Some(StrategyWorker::Priorities(priorities));
            }
            random => self.workers[place] = random,
        }
        let number = self.number.load(Relaxed);
        state.over.insert(number, Some(ending));
        if state.until_failure && !matches!(ending, Ending::Complete | Ending::Stopped) {
            state.end_after(number);
        }
        state.count();
        shared.wake(&state);
    }

    /// Counts the executions before the first one that is in progress.
    fn counts(&self) -> Counts {
        self.shared.lock().counts
    }
}
