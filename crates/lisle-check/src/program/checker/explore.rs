//! Explores a program with the settings of a checker.

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
use super::super::way::ScheduleChoice;
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
    /// Checks a program. Returns the verdict if nothing goes wrong.
    ///
    /// Environment variables change the check:
    ///
    /// - `LISLE_CHECK_REPLAY=token`: only the schedule of that token is run.
    /// - `LISLE_CHECK_HTML=file`: writes [the failure](crate::Failure::html) to this file as a
    ///   page.
    /// - `LISLE_CHECK_SAVE=directory`: as [`save_to`](Checker::save_to), for each check a file of
    ///   its own.
    /// - `LISLE_CHECK_RESUME=path`: as [`resume`](Checker::resume). If the path is a directory,
    ///   each check goes on that has a file there of this build of the program.
    /// - `LISLE_CHECK_PROGRESS=1` writes lines with the progress of a long exploration to the
    ///   standard error. A terminal has a bar without this; `LISLE_CHECK_PROGRESS=0` switches it
    ///   off. While either is shown, Ctrl-C ends all explorations, prints their verdicts and where
    ///   they are saved, and then ends the process.
    ///
    /// # Panics
    ///
    /// As [`check`](crate::check), and if an environment variable asks for something impossible.
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
                // Not by `eprintln!`, whose output a test captures.
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

    /// Explores a program until something goes wrong, or all is explored. If a schedule goes wrong,
    /// some hundred executions look for a shorter one.
    ///
    /// The environment variables of [`check`](Checker::check) apply, except `LISLE_CHECK_REPLAY`
    /// and `LISLE_CHECK_HTML`.
    ///
    /// # Panics
    ///
    /// If this is called in a fiber, or if the program does something else in the same schedule. If
    /// the exploration cannot be saved at its path, or if the saved exploration belongs to another
    /// program or another choice of schedules.
    #[track_caller]
    pub fn explore(&self, program: impl Fn() + Send + Sync + 'static) -> Verdict {
        self.explore_at(program, Location::caller())
    }

    /// Explores a program as [`explore`](Checker::explore) does, and calls `each` with the ending
    /// of each execution, once everything of it is gone. It does not call `each` for redundant
    /// executions.
    ///
    /// `each` can look at state outside of the program that an execution has changed, also one that
    /// goes wrong: no other execution runs meanwhile. So there is one worker, whatever
    /// [`workers`](Checker::workers) says. For the numbers of endings alone, see the
    /// [counts](crate::Verdict::counts). For the results of executions that end well, see
    /// [`outcomes`](Checker::outcomes). Like `explore` it ends when something goes wrong, unless it
    /// goes on [past failures](Checker::past_failures). If the exploration begins anew because it
    /// has learnt something, such as how often a loop asks, `each` gets executions again.
    ///
    /// # Panics
    ///
    /// As [`explore`](Checker::explore), and if the exploration is saved or resumed: the file does
    /// not have the earlier calls of `each`.
    ///
    /// # Examples
    ///
    /// The states of two accounts in a deadlock:
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

    /// Explores the program at `site`, and has a judge look at its results. The state of the judge
    /// is not saved.
    ///
    /// # Panics
    ///
    /// If the exploration is saved or resumed.
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
            if let ScheduleChoice::Replay(schedule) = &plan.way {
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
