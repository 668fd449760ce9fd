//! How a program is checked: which schedules are run, and how many.

use super::division::Division;
use super::executing::Executing;
use super::exploration::Plan;
use super::interrupt;
use super::judge::Judge;
use super::limit::{Limit, Limits};
use super::memory::{Detail, Memory};
use super::progress::Shown;
use super::saved::{Check, ResumeError, Saved};
use super::verdict::Verdict;
use super::way::Way;
use crate::explore::{Ending, Schedule, TokenError};
use std::any::type_name;
use std::cell::RefCell;
use std::io::{Write as _, stderr};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

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
    limits: Limits,
    steps: usize,
    division: Division,
    rounds: u32,
    memory: Memory,
    detail: Detail,
    past_failures: bool,
    workers: Option<usize>,
    observed: bool,
    save: Option<PathBuf>,
    resume: Option<Arc<(PathBuf, Saved)>>,
}

impl Checker {
    /// Creates a checker that explores every schedule, of at most 100,000 steps each, and gives up
    /// after a million executions.
    pub fn new() -> Self {
        Checker {
            way: Way::All,
            limits: Limits { executions: 1_000_000, time: None },
            steps: 100_000,
            division: Division::default(),
            rounds: 10,
            memory: Memory::default(),
            detail: Detail::None,
            past_failures: false,
            workers: None,
            observed: false,
            save: None,
            resume: None,
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

    /// Sets the number of executions after which the exploration is given up. Those before a
    /// [resumption](Checker::resume) do not count.
    pub fn executions(mut self, most: u64) -> Self {
        self.limits.executions = most;
        self
    }

    /// Sets the time after which the exploration is given up. What is being executed then is executed to
    /// its end, so it may take a little more.
    ///
    /// ```
    /// use lisle::sync::Mutex;
    /// use lisle_check::{Checker, Limit};
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// let time = Duration::from_millis(200);
    /// let verdict = Checker::new().time(time).explore(|| {
    ///     let total = Arc::new(Mutex::new(0));
    ///     let adders = [(); 8].map(|()| {
    ///         let total = total.clone();
    ///         lisle::spawn(move || *total.lock() += 1)
    ///     });
    ///     adders.map(|adder| adder.join().unwrap());
    /// });
    /// // Eight fibers take a lock in 40,320 orders.
    /// if !verdict.is_exhaustive() {
    ///     assert_eq!(verdict.limit(), Some(Limit::Time(time)));
    ///     assert!(verdict.explored() < 1.0);
    /// }
    /// ```
    pub fn time(mut self, most: Duration) -> Self {
        self.limits.time = Some(most);
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
    /// Sorts and scans are divided into about as many parts, which are shorter than those that pay on a
    /// runtime; with one part they run as on one core.
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
    /// divided in 2, 5, 15, 51 ways, and each way costs executions of its own. A sort is tried with one worker and
    /// with several, and each chunk of a scan with and without being added up before it is scanned.
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

    /// Goes on when something has gone wrong. The verdict has the first failure, and its
    /// [counts](super::Verdict::counts) say how many executions went wrong, and how. What each of them has
    /// come to is told by [`explore_each`](Checker::explore_each).
    ///
    /// ```
    /// use lisle::sync::Mutex;
    /// use lisle_check::Checker;
    /// use std::sync::Arc;
    ///
    /// let verdict = Checker::new().past_failures().explore(|| {
    ///     let (one, other) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
    ///     let (a, b) = (one.clone(), other.clone());
    ///     let crosswise = lisle::spawn(move || *b.lock() + *a.lock());
    ///     assert_eq!(*one.lock() + *other.lock(), 3);
    ///     crosswise.join().unwrap();
    /// });
    /// assert!(verdict.is_exhaustive());
    /// assert_eq!((verdict.counts().complete, verdict.counts().blocked), (2, 1));
    /// ```
    pub fn past_failures(mut self) -> Self {
        self.past_failures = true;
        self
    }

    /// Sets the number of threads that run executions, each its own, at the same time.
    ///
    /// By default the calling thread is alone for a thousand executions, and most programs do not have more;
    /// then the other processors help. With [`preemptions`](Checker::preemptions), where one execution
    /// follows from the other, it stays alone.
    ///
    /// The counts do not depend on it, except that of redundant executions. Which failure is found may, but
    /// not whether one is; what is drawn from a seed is the same in any case.
    ///
    /// # Panics
    ///
    /// If the number is zero.
    ///
    /// ```
    /// use lisle_check::Checker;
    /// use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
    /// use std::sync::Arc;
    ///
    /// let program = || {
    ///     let value = Arc::new(AtomicU32::new(0));
    ///     let adders = [(); 3].map(|()| {
    ///         let value = value.clone();
    ///         lisle::spawn(move || value.fetch_add(1, SeqCst))
    ///     });
    ///     adders.map(|adder| adder.join().unwrap());
    /// };
    /// let alone = Checker::new().workers(1).explore(program);
    /// let together = Checker::new().workers(3).explore(program);
    /// assert_eq!(alone.counts(), together.counts());
    /// ```
    pub fn workers(mut self, number: usize) -> Self {
        assert!(number > 0, "somebody has to run the executions: the number of workers cannot be 0");
        self.workers = Some(number);
        self
    }

    /// Counts how many executions differ in what their fibers have observed. Two executions that do not are
    /// the same to the program, though the order of some of its steps is another one.
    ///
    /// ```
    /// use lisle_check::Checker;
    /// use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
    /// use std::sync::Arc;
    ///
    /// let verdict = Checker::new().observed().explore(|| {
    ///     let value = Arc::new(AtomicU32::new(0));
    ///     let writers = [1, 2, 3].map(|n| {
    ///         let value = value.clone();
    ///         lisle::spawn(move || value.store(n, SeqCst))
    ///     });
    ///     value.load(SeqCst);
    ///     writers.map(|writer| writer.join().unwrap());
    /// });
    /// // Three stores and a load have 24 orders. The load sees one of the stores, or none.
    /// assert_eq!(verdict.counts().complete, 24);
    /// assert_eq!(verdict.observed(), Some(4));
    /// ```
    pub fn observed(mut self) -> Self {
        self.observed = true;
        self
    }

    /// Saves the exploration in a file if it is ended by a limit, or by the first SIGINT or SIGTERM, so that it
    /// can [go on](Checker::resume). Once all is explored, the file is removed.
    ///
    /// Until the exploration is over, the signals do not end the process: the first one ends all
    /// explorations, and only [`check`](Checker::check) ends the process then, as the signal would have. A
    /// second one ends it at once.
    pub fn save_to(mut self, path: impl Into<PathBuf>) -> Self {
        self.save = Some(path.into());
        self
    }

    /// Goes on with an exploration that was saved: with the same program, built from the same code, and the
    /// same choice of schedules. The verdict is about both parts.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such file, or it is damaged, or is no saved exploration.
    ///
    /// ```
    /// use lisle::sync::Mutex;
    /// use lisle_check::Checker;
    /// use std::sync::Arc;
    ///
    /// let path = std::env::temp_dir().join(format!("philosophers-{}.exploration", std::process::id()));
    /// let mut checker = Checker::new().executions(10).save_to(&path);
    /// loop {
    ///     let verdict = checker.explore(|| {
    ///         let forks = [(); 4].map(|()| Arc::new(Mutex::new(())));
    ///         let philosophers = [0, 1, 2, 3].map(|n| {
    ///             let (first, second) = (forks[n.min((n + 1) % 4)].clone(), forks[n.max((n + 1) % 4)].clone());
    ///             lisle::spawn(move || drop((first.lock(), second.lock())))
    ///         });
    ///         philosophers.map(|philosopher| philosopher.join().unwrap());
    ///     });
    ///     if verdict.is_exhaustive() {
    ///         assert!(verdict.counts().complete > 10);
    ///         break;
    ///     }
    ///     checker = checker.resume(verdict.saved().unwrap())?;
    /// }
    /// assert!(!path.exists());
    /// # Ok::<(), lisle_check::ResumeError>(())
    /// ```
    pub fn resume(mut self, path: impl AsRef<Path>) -> Result<Self, ResumeError> {
        self.resume = Some(Arc::new((path.as_ref().to_owned(), Saved::read(path.as_ref())?)));
        Ok(self)
    }

    /// Checks a program. Returns what was found if nothing goes wrong.
    ///
    /// The environment has a say in it:
    ///
    /// - `LISLE_CHECK_REPLAY=token`: only the schedule of that token is run.
    /// - `LISLE_CHECK_HTML=file`: [what goes wrong](super::Failure::html) is written there as a page.
    /// - `LISLE_CHECK_SAVE=directory`: as [`save_to`](Checker::save_to), for each check a file of its own.
    /// - `LISLE_CHECK_RESUME=path`: as [`resume`](Checker::resume). If the path is a directory, each check
    ///   goes on that has a file there, of the program as it is built now.
    /// - `LISLE_CHECK_PROGRESS=1` writes lines to the standard error that say how far a long exploration has
    ///   come. On a terminal there is a bar without that, which `LISLE_CHECK_PROGRESS=0` switches off. While
    ///   either is shown, Ctrl-C ends all explorations, says what they have found and where they are saved,
    ///   and then ends the process.
    ///
    /// # Panics
    ///
    /// As [`check`](super::check), and if what the environment says cannot be done.
    #[track_caller]
    pub fn check(&self, program: impl Fn() + Send + Sync + 'static) -> Verdict {
        let site = Location::caller();
        self.checked(|checker| checker.explore_at(program, site))
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
        if verdict.failure().is_none() && verdict.limit() == Some(Limit::Interrupt) {
            // Not by the macro, whose output a test keeps to itself.
            let _ = writeln!(stderr(), "{}: {verdict}", Location::caller());
            interrupt::end_process();
        }
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
    /// The environment has a say in it as for [`check`](Checker::check), but `LISLE_CHECK_REPLAY` and
    /// `LISLE_CHECK_HTML`.
    ///
    /// # Panics
    ///
    /// If this is called in a fiber, or if the program does not do the same again in the same schedule. If
    /// the exploration cannot be saved where it is to be, or the one to go on with is of another program or
    /// another choice of schedules.
    #[track_caller]
    pub fn explore(&self, program: impl Fn() + Send + Sync + 'static) -> Verdict {
        self.explore_at(program, Location::caller())
    }

    /// Explores a program as [`explore`](Checker::explore) does, and tells `each` how each execution has
    /// ended, once everything of it is gone. It is not told of executions that were redundant.
    ///
    /// This is for what executions leave somewhere else, also those that go wrong: the caller looks there
    /// while no other execution runs. So there is one worker, whatever [`workers`](Checker::workers) says.
    /// How *many* executions end in which way is in the [counts](super::Verdict::counts); what those have
    /// returned that end well is told by [`outcomes`](Checker::outcomes). Like `explore` it ends when
    /// something goes wrong, unless it is to go on [past failures](Checker::past_failures). If the
    /// exploration begins anew with what it has learnt of the program, such as how often a loop asks, it
    /// tells of executions again.
    ///
    /// # Panics
    ///
    /// As [`explore`](Checker::explore), and if the exploration is to be saved, or to go on with what was:
    /// what `each` has been told is not in the file.
    ///
    /// # Examples
    ///
    /// What is left of two accounts where nothing can go on:
    ///
    /// ```
    /// use lisle::sync::Mutex;
    /// use lisle_check::{Checker, Ending};
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
    ///
    /// // It is none of the program's: the checker does not see it.
    /// let moved = Arc::new(AtomicI32::new(0));
    /// let of_program = moved.clone();
    /// let transfers = move || {
    ///     of_program.store(0, Relaxed);
    ///     let (one, other) = (Arc::new(Mutex::new(10)), Arc::new(Mutex::new(10)));
    ///     let (a, b, by_fiber) = (one.clone(), other.clone(), of_program.clone());
    ///     let fiber = lisle::spawn(move || {
    ///         let mut from = b.lock();
    ///         *from -= 1;
    ///         by_fiber.fetch_add(1, Relaxed);
    ///         *a.lock() += 1;
    ///     });
    ///     let mut from = one.lock();
    ///     *from -= 2;
    ///     of_program.fetch_add(2, Relaxed);
    ///     *other.lock() += 2;
    ///     drop(from);
    ///     fiber.join().unwrap();
    /// };
    /// let mut lost = Vec::new();
    /// let verdict = Checker::new().past_failures().explore_each(transfers, |ending| {
    ///     if ending == Ending::Blocked {
    ///         lost.push(moved.load(Relaxed));
    ///     }
    /// });
    /// assert!(verdict.is_exhaustive() && verdict.failure().is_some());
    /// assert_eq!(lost, [3], "each has taken from one account, and waits for the other");
    /// ```
    #[track_caller]
    pub fn explore_each(
        &self,
        program: impl Fn() + Send + Sync + 'static,
        each: impl FnMut(Ending),
    ) -> Verdict {
        self.assert_not_kept("what each execution has come to is not in the file");
        let each = RefCell::new(each);
        let tell = |ending| each.borrow_mut()(ending);
        let check = Check::begin(Location::caller(), "each");
        self.clone().workers(1).run(Arc::new(program), None, check, (None, None), Some(&tell))
    }

    fn explore_at<P>(&self, program: P, site: &'static Location<'static>) -> Verdict
    where
        P: Fn() + Send + Sync + 'static,
    {
        let check = Check::begin(site, type_name::<P>());
        let environment = Environment::read(&check);
        let resume = self.resume.as_deref().or(environment.resume.as_ref());
        let save = self.save.clone().or(environment.save);
        self.run(Arc::new(program), None, check, (save, resume), None)
    }

    /// Explores a program that was written at `site`, and asks of its results what is to be asked. What it
    /// has asked is not saved.
    ///
    /// # Panics
    ///
    /// If it is to be saved, or to go on with what was.
    pub(super) fn explore_judged(
        &self,
        program: Arc<dyn Fn() + Send + Sync>,
        judge: Arc<dyn Judge>,
        site: &'static Location<'static>,
    ) -> Verdict {
        self.assert_not_kept("the results that it compares are not in the file");
        self.run(program, Some(judge), Check::begin(site, "results"), (None, None), None)
    }

    /// Panics if the exploration is to be saved, or to go on with what was. `why` says why it cannot.
    fn assert_not_kept(&self, why: &str) {
        let is_kept = self.save.is_some() || self.resume.is_some();
        assert!(!is_kept, "this exploration cannot be saved, nor go on with what was: {why}");
    }

    fn run(
        &self,
        program: Arc<dyn Fn() + Send + Sync>,
        judge: Option<Arc<dyn Judge>>,
        check: Check,
        (save, resume): (Option<PathBuf>, Option<&(PathBuf, Saved)>),
        each: Option<&dyn Fn(Ending)>,
    ) -> Verdict {
        let Checker { steps, division, rounds, past_failures, memory, .. } = *self;
        let (site, is_judged) = (check.site(), judge.is_some());
        let detail = resume.map_or(self.detail, |(_, saved)| saved.detail.max(self.detail));
        let detail = Mutex::new(detail);
        let executing =
            Executing { program, site, steps, judge, division, rounds, past_failures, memory, detail };
        if let Way::Replay(schedule) = &self.way {
            return executing.on_a_worker(|running| running.replay(schedule));
        }
        let plan = Plan {
            way: &self.way,
            limits: self.limits,
            workers: self.workers,
            observed: self.observed,
            can_be_saved: !is_judged,
            save,
            resume: resume.map(|(path, saved)| (path.as_path(), saved)),
            check,
            shown: Shown::by_environment(),
            each,
        };
        plan.run(&executing)
    }
}

/// What the environment says about a check.
struct Environment {
    save: Option<PathBuf>,
    resume: Option<(PathBuf, Saved)>,
}

impl Environment {
    fn read(check: &Check) -> Self {
        let path = |name| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let save = path("LISLE_CHECK_SAVE").map(|directory| check.file_in(&directory));
        let read =
            |path: &Path| Saved::read(path).unwrap_or_else(|error| panic!("LISLE_CHECK_RESUME: {error}"));
        let resume = path("LISLE_CHECK_RESUME").and_then(|path| {
            if !path.is_dir() {
                let saved = read(&path);
                return Some((path, saved));
            }
            let file = check.file_in(&path);
            let saved = file.exists().then(|| read(&file))?;
            if !saved.is_of_this_build() {
                let (site, file) = (check.site(), file.display());
                let _ =
                    writeln!(stderr(), "{site}: begins anew, for {file} is of code that has changed since");
                return None;
            }
            Some((file, saved))
        });
        // One file is of one check; a test may have several, of which the others begin anew.
        Environment { save, resume: resume.filter(|(_, saved)| !check.is_beside(saved)) }
    }
}

impl Default for Checker {
    fn default() -> Self {
        Checker::new()
    }
}
