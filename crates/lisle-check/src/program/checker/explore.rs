//! Exploring a program, once it is said how.

use super::super::executing::Executing;
use super::super::exploration::Plan;
use super::super::interrupt;
use super::super::judge::Judge;
use super::super::limit::Limit;
use super::super::own_thread;
use super::super::progress::Shown;
use super::super::saved::{Check, Saved};
use super::super::verdict::Verdict;
use super::super::watch::Watch;
use super::super::way::Way;
use super::Checker;
use super::kept::Environment;
use crate::explore::Ending;
use std::any::type_name;
use std::cell::RefCell;
use std::io::{Write as _, stderr};
use std::panic::Location;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

impl Checker {
    /// Checks a program. Returns what was found if nothing goes wrong.
    ///
    /// The environment has a say in it:
    ///
    /// - `LISLE_CHECK_REPLAY=token`: only the schedule of that token is run.
    /// - `LISLE_CHECK_HTML=file`: [what goes wrong](crate::Failure::html) is written there as a
    ///   page.
    /// - `LISLE_CHECK_SAVE=directory`: as [`save_to`](Checker::save_to), for each check a file of
    ///   its own.
    /// - `LISLE_CHECK_RESUME=path`: as [`resume`](Checker::resume). If the path is a directory,
    ///   each check goes on that has a file there, of the program as it is built now.
    /// - `LISLE_CHECK_PROGRESS=1` writes lines to the standard error that say how far a long
    ///   exploration has come. On a terminal there is a bar without that, which
    ///   `LISLE_CHECK_PROGRESS=0` switches off. While either is shown, Ctrl-C ends all
    ///   explorations, says what they have found and where they are saved, and then ends the
    ///   process.
    ///
    /// # Panics
    ///
    /// As [`check`](crate::check), and if what the environment says cannot be done.
    #[track_caller]
    pub fn check(&self, program: impl Fn() + Send + Sync + 'static) -> Verdict {
        let site = Location::caller();
        self.checked(|checker| checker.explore_at(program, site))
    }

    /// Explores as the environment variables say, and panics if something goes wrong.
    #[track_caller]
    pub(in crate::program) fn checked(&self, explore: impl FnOnce(&Checker) -> Verdict) -> Verdict {
        let verdict = match std::env::var("LISLE_CHECK_REPLAY") {
            Ok(token) => {
                let replay = self.clone().replay(&token);
                explore(&replay.unwrap_or_else(|error| panic!("LISLE_CHECK_REPLAY: {error}")))
            }
            Err(_) => explore(self),
        };
        if verdict.is_bounded() {
            let is_interrupted = verdict.limit() == Some(Limit::Interrupt);
            assert!(
                !self.must_be_exhaustive || is_interrupted,
                "{verdict}\nnothing has gone wrong, but the check is to be exhaustive"
            );
            if verdict.limit().is_some() && !self.way.is_drawn_by_chance() {
                // Not by the macro, whose output a test keeps to itself.
                let _ = writeln!(stderr(), "{}: {verdict}", Location::caller());
            }
            if is_interrupted {
                interrupt::end_process();
            }
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

    /// Explores a program until something goes wrong, or all is explored. A schedule that goes
    /// wrong is made shorter, as far as that can be done in some hundred executions.
    ///
    /// The environment has a say in it as for [`check`](Checker::check), but `LISLE_CHECK_REPLAY`
    /// and `LISLE_CHECK_HTML`.
    ///
    /// # Panics
    ///
    /// If this is called in a fiber, or if the program does not do the same again in the same
    /// schedule. If the exploration cannot be saved where it is to be, or the one to go on with is
    /// of another program or another choice of schedules.
    #[track_caller]
    pub fn explore(&self, program: impl Fn() + Send + Sync + 'static) -> Verdict {
        self.explore_at(program, Location::caller())
    }

    /// Explores a program as [`explore`](Checker::explore) does, and tells `each` how each
    /// execution has ended, once everything of it is gone. It is not told of executions that were
    /// redundant.
    ///
    /// This is for what executions leave somewhere else, also those that go wrong: the caller looks
    /// there while no other execution runs. So there is one worker, whatever
    /// [`workers`](Checker::workers) says. How *many* executions end in which way is in the
    /// [counts](crate::Verdict::counts); what those have returned that end well is told by
    /// [`outcomes`](Checker::outcomes). Like `explore` it ends when something goes wrong, unless it
    /// is to go on [past failures](Checker::past_failures). If the exploration begins anew with
    /// what it has learnt of the program, such as how often a loop asks, it tells of executions
    /// again.
    ///
    /// # Panics
    ///
    /// As [`explore`](Checker::explore), and if the exploration is to be saved, or to go on with
    /// what was: what `each` has been told is not in the file.
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
        let resume = self.resume.clone().or(environment.resume.map(Arc::new));
        let save = self.save.clone().or(environment.save);
        self.run(Arc::new(program), None, check, (save, resume), None)
    }

    /// Explores a program that was written at `site`, and asks of its results what is to be asked.
    /// What it has asked is not saved.
    ///
    /// # Panics
    ///
    /// If it is to be saved, or to go on with what was.
    pub(in crate::program) fn explore_judged(
        &self,
        program: Arc<dyn Fn() + Send + Sync>,
        judge: Arc<dyn Judge>,
        site: &'static Location<'static>,
    ) -> Verdict {
        self.assert_not_kept("the results that it compares are not in the file");
        self.run(program, Some(judge), Check::begin(site, "results"), (None, None), None)
    }

    #[track_caller]
    fn run(
        &self,
        program: Arc<dyn Fn() + Send + Sync>,
        judge: Option<Arc<dyn Judge>>,
        check: Check,
        (save, resume): (Option<PathBuf>, Option<Arc<(PathBuf, Saved)>>),
        each: Option<&dyn Fn(Ending)>,
    ) -> Verdict {
        let Checker { steps, division, rounds, past_failures, memory, patience, .. } = *self;
        let (site, is_judged) = (check.site(), judge.is_some());
        let detail = resume.as_ref().map_or(self.detail, |resume| resume.1.detail.max(self.detail));
        let detail = Mutex::new(detail);
        let watch = Arc::new(Watch::new(site, self.limits.time, patience));
        let executing = Executing {
            program,
            site,
            steps,
            judge,
            division,
            rounds,
            past_failures,
            memory,
            detail,
            samples: false,
            watch: watch.clone(),
        };
        let executing = Arc::new(executing);
        let of_explorer = executing.clone();
        let mut plan = Plan {
            way: self.way.clone(),
            limits: self.limits,
            workers: self.workers,
            samples: self.samples,
            observed: self.observed,
            is_judged,
            save,
            resume,
            check,
            shown: Shown::by_environment(),
            each: None,
        };
        let explored = own_thread::run(&watch, each, move |teller| {
            if let Way::Replay(schedule) = &plan.way {
                return Ok(of_explorer.on_a_worker(|running| running.replay(schedule)));
            }
            plan.each = teller;
            plan.run(&of_explorer)
        });
        match explored {
            Ok(verdict) => verdict.unwrap_or_else(|error| panic!("{error}")),
            Err(hung) => executing.hung(hung),
        }
    }
}
