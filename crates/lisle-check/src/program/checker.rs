//! How a program is checked: which schedules are run, and how many.

use super::division::Division;
use super::executing::Executing;
use super::judge::Judge;
use super::memory::{Detail, Memory};
use super::verdict::{How, Verdict};
use crate::explore::{Bounded, Ending, Portfolio, Priorities, Random, Schedule, Strategy, TokenError};
use std::cell::RefCell;
use std::panic::Location;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// How a program is checked. See [`check`](super::check).
///
/// Without more it explores every schedule that could differ, each once.
///
/// # Examples
///
/// A program with too many schedules to run them all:
///
/// ```
/// use lisle_check::Checker;
/// use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
/// use std::sync::Arc;
///
/// let program = || {
///     let values = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
///     let setters = [(); 20].map(|()| {
///         let values = values.clone();
///         lisle::spawn(move || values.each_ref().map(|value| value.store(1, SeqCst)))
///     });
///     let seen = lisle::spawn(move || values.each_ref().map(|value| value.load(SeqCst)));
///     assert_eq!(seen.join().unwrap(), [1, 1]);
///     drop(setters);
/// };
/// let verdict = Checker::new().priorities(7, 3).executions(10_000).explore(program);
/// let failure = verdict.failure().expect("it is found by chance, but with a known probability");
///
/// // The schedule is a short text, which brings it back on any machine.
/// let again = Checker::new().replay(&failure.token()).unwrap().explore(program);
/// assert_eq!(again.failure().unwrap().panicked(), failure.panicked());
/// ```
#[derive(Debug, Clone)]
#[must_use = "it does nothing until it is given a program"]
pub struct Checker {
    way: Way,
    executions: u64,
    steps: usize,
    division: Division,
    rounds: u32,
    memory: Memory,
    detail: Detail,
}

/// Which schedules are run.
#[derive(Debug, Clone)]
enum Way {
    All,
    Preemptions(u32),
    Random { seed: u64 },
    Priorities { seed: u64, depth: u32 },
    Portfolio { seed: u64 },
    Replay(Schedule),
}

impl Way {
    /// Returns the strategy of a way that draws schedules.
    fn sampled(&self, executions: u64) -> Box<dyn Strategy> {
        match *self {
            Way::Random { seed } => Box::new(Random::new(seed, executions)),
            Way::Priorities { seed, depth } => Box::new(Priorities::new(seed, executions, depth)),
            Way::Portfolio { seed } => Box::new(Portfolio::new(vec![
                Box::new(Random::new(seed, executions)),
                Box::new(Priorities::new(seed, executions, 2)),
                Box::new(Priorities::new(seed, executions, 3)),
                Box::new(Bounded::new(2)),
            ])),
            _ => unreachable!("the other ways draw nothing"),
        }
    }
}

impl Checker {
    /// Creates a checker that explores every schedule, of at most 100,000 steps each, and gives up
    /// after a million executions.
    pub fn new() -> Self {
        Checker {
            way: Way::All,
            executions: 1_000_000,
            steps: 100_000,
            division: Division::default(),
            rounds: 10,
            memory: Memory::default(),
            detail: Detail::None,
        }
    }

    /// Explores the schedules in which a fiber that could go on is interrupted at most so often, those
    /// with fewer interruptions first.
    pub fn preemptions(mut self, most: u32) -> Self {
        self.way = Way::Preemptions(most);
        self
    }

    /// Draws schedules at random.
    pub fn random(mut self, seed: u64) -> Self {
        self.way = Way::Random { seed };
        self
    }

    /// Draws schedules by random priorities (Burckhardt and others, *A randomized scheduler with
    /// probabilistic guarantees of finding bugs*, ASPLOS 2010): a bug that needs `depth` orders
    /// between steps shows in each execution with a probability of at least 1 / (n k^(depth - 1)), for n
    /// fibers and k steps.
    ///
    /// # Panics
    ///
    /// If `depth` is zero.
    pub fn priorities(mut self, seed: u64, depth: u32) -> Self {
        assert!(depth > 0, "a bug needs at least one order of steps: the depth cannot be 0");
        self.way = Way::Priorities { seed, depth };
        self
    }

    /// Draws schedules in several ways in turn: at random, by priorities for bugs of depth 2 and 3, and
    /// with few interruptions. For programs of which little is known.
    pub fn portfolio(mut self, seed: u64) -> Self {
        self.way = Way::Portfolio { seed };
        self
    }

    /// Sets the memory model of the program's [atomics](crate::atomic). Without it that is
    /// [`Memory::Rc11`].
    ///
    /// # Examples
    ///
    /// Two stores wait while two loads overtake them. That is so on most processors, and in Rust:
    ///
    /// ```
    /// use lisle_check::atomic::{AtomicU32, Ordering::Relaxed};
    /// use lisle_check::{Checker, Memory};
    /// use std::sync::Arc;
    ///
    /// let store_buffering = || {
    ///     let flags = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    ///     let of_other = flags.clone();
    ///     let other = lisle::spawn(move || {
    ///         of_other[1].store(1, Relaxed);
    ///         of_other[0].load(Relaxed)
    ///     });
    ///     flags[0].store(1, Relaxed);
    ///     let seen = flags[1].load(Relaxed);
    ///     assert_ne!(seen + other.join().unwrap(), 0);
    /// };
    /// let checker = Checker::new();
    /// assert!(checker.explore(store_buffering).failure().is_some());
    /// assert!(checker.clone().memory(Memory::Tso).explore(store_buffering).failure().is_some());
    /// assert!(checker.memory(Memory::Sc).explore(store_buffering).failure().is_none());
    /// ```
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// Runs one schedule again, that of a [token](super::Failure::token). The token also says under which
    /// memory model it was found, if that matters.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is no token, or is mistyped.
    pub fn replay(mut self, token: &str) -> Result<Self, TokenError> {
        let schedule: Schedule = token.parse()?;
        if let Some(setting) = schedule.setting() {
            let mut weak = [Memory::Tso, Memory::Rc11].into_iter();
            let memory = weak.find(|memory| memory.name() == setting);
            self.memory = memory.ok_or_else(|| TokenError::Setting(setting.into()))?;
            self.detail = Detail::Weak;
        }
        self.way = Way::Replay(schedule);
        Ok(self)
    }

    /// Sets the number of executions after which the exploration is given up.
    pub fn executions(mut self, most: u64) -> Self {
        self.executions = most;
        self
    }

    /// Sets the number of steps after which an execution counts as endless.
    pub fn steps(mut self, most: usize) -> Self {
        self.steps = most;
        self
    }

    /// Sets the number of parts into which a loop of [`par`](lisle::par) is divided at most; 16 if it is not
    /// set. A loop of so many blocks or fewer is divided into single blocks, and all orders of what they do
    /// are explored. In a longer one, neighbouring blocks make one part, which runs them in their order.
    /// A block is one step of the loop, or as many as [`grain`](lisle::par::iter::ParallelIterator::grain) says.
    ///
    /// # Panics
    ///
    /// If `most` is zero.
    pub fn parts(mut self, most: usize) -> Self {
        assert!(most > 0, "a loop has one part at least: the number of parts cannot be 0");
        self.division.parts = most;
        self
    }

    /// Divides each loop of [`par`](lisle::par) in every way, not only into as many parts as can be. This
    /// shows a result that depends on how a loop is divided: that of a `reduce` whose operation is not
    /// associative, or of steps that share the state of their part. A loop of 2, 3, 4, 5 blocks can be
    /// divided in 2, 5, 15, 51 ways, and each way costs executions of its own.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle::par::prelude::*;
    /// use lisle_check::Checker;
    ///
    /// let less = || {
    ///     let rest = [9, 4, 1].into_par_iter().reduce(|| 0, |a, b| a - b);
    ///     assert_eq!(rest, -14);
    /// };
    /// let verdict = Checker::new().every_division().explore(less);
    /// assert!(verdict.failure().is_some(), "it is -14, or -6, depending on who takes what");
    /// ```
    pub fn every_division(mut self) -> Self {
        self.division.is_chosen = true;
        self
    }

    /// Sets how often a loop may ask in vain before it gives up, for all that it does to be explored; 10 if
    /// it is not set. This is for loops as `for _ in 0..3 { if is_so() { return } yield_now() }`. Each
    /// time costs executions of its own. Of a loop that asks more often, the schedules are explored in which
    /// what it asks for happens, and those in which it gives up when nothing else can run.
    ///
    /// A loop asks again where it calls [`yield_now`](lisle::fiber::yield_now) or
    /// [`spin_loop`](crate::hint::spin_loop).
    pub fn rounds(mut self, most: u32) -> Self {
        self.rounds = most;
        self
    }

    /// Checks a program. Returns what was found if nothing goes wrong.
    ///
    /// If the environment variable `LISLE_CHECK_REPLAY` is set, runs only the schedule of that token. If
    /// `LISLE_CHECK_HTML` is set to a file, writes there [what goes wrong](super::Failure::html) as a page.
    ///
    /// # Panics
    ///
    /// As [`check`](super::check). Panics if the token in the environment is none.
    #[track_caller]
    pub fn check(&self, program: impl Fn() + Send + Sync + 'static) -> Verdict {
        let site = Location::caller();
        self.checked(|checker| checker.explore_judged(Arc::new(program), None, site))
    }

    /// Explores as the environment variables say, and panics if something goes wrong.
    #[track_caller]
    pub(super) fn checked(&self, explore: impl FnOnce(&Checker) -> Verdict) -> Verdict {
        let verdict = match std::env::var("LISLE_CHECK_REPLAY") {
            Ok(token) => {
                let replay = self.clone().replay(&token);
                explore(&replay.unwrap_or_else(|error| panic!("LISLE_CHECK_REPLAY: {error}")))
            }
            Err(_) => explore(self),
        };
        let Some(failure) = verdict.failure() else { return verdict };
        let page = match std::env::var_os("LISLE_CHECK_HTML").map(PathBuf::from) {
            None => "to see it as a page: LISLE_CHECK_HTML=file.html".into(),
            Some(file) => match std::fs::write(&file, failure.html()) {
                Ok(()) => format!("as a page: {}", std::path::absolute(&file).unwrap_or(file).display()),
                Err(error) => format!("LISLE_CHECK_HTML: {} cannot be written: {error}", file.display()),
            },
        };
        panic!("{verdict}\n{page}");
    }

    /// Explores a program until something goes wrong, or all is explored. A schedule that goes wrong is
    /// made shorter, as far as that can be done in some hundred executions.
    ///
    /// # Panics
    ///
    /// If this is called in a fiber, or if the program does not do the same again in the same schedule.
    #[track_caller]
    pub fn explore(&self, program: impl Fn() + Send + Sync + 'static) -> Verdict {
        self.explore_judged(Arc::new(program), None, Location::caller())
    }

    /// Explores a program, and goes on when something goes wrong. `each` is told how each execution has
    /// ended, once everything of it is gone. It is not told of executions that were redundant.
    ///
    /// The verdict has the first failure.
    ///
    /// # Panics
    ///
    /// As [`explore`](Checker::explore).
    ///
    /// # Examples
    ///
    /// How many schedules block, of how many:
    ///
    /// ```
    /// use lisle::sync::Mutex;
    /// use lisle_check::{Checker, Ending};
    /// use std::sync::Arc;
    ///
    /// let crosswise = || {
    ///     let (one, other) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
    ///     let (a, b) = (one.clone(), other.clone());
    ///     let fiber = lisle::spawn(move || *b.lock() + *a.lock());
    ///     assert_eq!(*one.lock() + *other.lock(), 3);
    ///     fiber.join().unwrap();
    /// };
    /// let mut endings = Vec::new();
    /// let verdict = Checker::new().explore_each(crosswise, |ending| endings.push(ending));
    /// assert!(verdict.is_exhaustive() && verdict.failure().is_some());
    /// assert_eq!(endings.len(), 3);
    /// assert_eq!(endings.iter().filter(|ending| **ending == Ending::Blocked).count(), 1);
    /// ```
    #[track_caller]
    pub fn explore_each(
        &self,
        program: impl Fn() + Send + Sync + 'static,
        each: impl FnMut(Ending),
    ) -> Verdict {
        let each = RefCell::new(each);
        let tell = |ending| each.borrow_mut()(ending);
        self.explored(Arc::new(program), None, Some(&tell), Location::caller())
    }

    /// Explores a program that was written at `site`, and asks of its results what is to be asked.
    pub(super) fn explore_judged(
        &self,
        program: Arc<dyn Fn() + Send + Sync>,
        judge: Option<Arc<dyn Judge>>,
        site: &'static Location<'static>,
    ) -> Verdict {
        self.explored(program, judge, None, site)
    }

    fn explored(
        &self,
        program: Arc<dyn Fn() + Send + Sync>,
        judge: Option<Arc<dyn Judge>>,
        each: Option<&dyn Fn(Ending)>,
        site: &'static Location<'static>,
    ) -> Verdict {
        let executing = Executing {
            program,
            site,
            steps: self.steps,
            judge,
            division: self.division,
            rounds: self.rounds,
            memory: self.memory,
            detail: Mutex::new(self.detail),
        };
        executing.on_a_worker(each, |running| {
            let executions = self.executions;
            Ok(match &self.way {
                Way::All => running.exhaust(self.executions)?,
                Way::Replay(schedule) => running.replay(schedule),
                Way::Preemptions(most) => {
                    let mut verdict = running.sample(|| Box::new(Bounded::new(*most)), executions);
                    verdict.how = How::Preemptions(*most);
                    verdict
                }
                way => running.sample(|| way.sampled(executions), executions),
            })
        })
    }
}

impl Default for Checker {
    fn default() -> Self {
        Checker::new()
    }
}
