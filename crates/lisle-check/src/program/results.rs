//! The results of a program, and whether they are the same in each schedule.
//!
//! The checker compares only the values that the program returns. So a program returns only values
//! that must be the same in each schedule.

use super::bridge;
use super::checker::Checker;
use super::difference::Difference;
use super::failure::What;
use super::judge::Judge;
use super::verdict::{Verdict, grouped};
use crate::explore::Schedule;
use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

impl Checker {
    /// Explores a program, and compares the results of all schedules.
    ///
    /// If they differ, the [failure](Verdict::failure) shows two schedules that differ in the order
    /// of two steps and in the result.
    ///
    /// # Panics
    ///
    /// As [`explore`](Checker::explore).
    ///
    /// # Examples
    ///
    /// The sum of two messages does not depend on the schedule. Their order does.
    ///
    /// ```
    /// use lisle_check::Checker;
    ///
    /// fn messages() -> [i32; 2] {
    ///     let (tx, rx) = lisle::channel();
    ///     let senders = [1, 2].map(|n| {
    ///         let tx = tx.clone();
    ///         lisle::spawn(move || tx.send(n).unwrap())
    ///     });
    ///     let received = [rx.recv().unwrap(), rx.recv().unwrap()];
    ///     let _ = senders.map(|sender| sender.join().unwrap());
    ///     received
    /// }
    ///
    /// let verdict = Checker::new().same_result(|| messages().iter().sum::<i32>());
    /// assert!(verdict.to_string().ends_with("executions, all end, same result"));
    ///
    /// let verdict = Checker::new().same_result(|| messages()[0]);
    /// let difference = verdict.failure().unwrap().difference().unwrap();
    /// assert!(difference.results() == ["1", "2"] || difference.results() == ["2", "1"]);
    /// assert!(difference.is_one_reversal());
    /// ```
    #[track_caller]
    pub fn same_result<R>(&self, program: impl Fn() -> R + Send + Sync + 'static) -> Verdict
    where
        R: PartialEq + fmt::Debug + Send + 'static,
    {
        self.same_result_of(program, Location::caller())
    }

    fn same_result_of<R>(
        &self,
        program: impl Fn() -> R + Send + Sync + 'static,
        site: &'static Location<'static>,
    ) -> Verdict
    where
        R: PartialEq + fmt::Debug + Send + 'static,
    {
        let same = Arc::new(Same::<R>(Mutex::new(None)));
        let mut verdict = self.explore_judged(returning(program), same.clone(), site);
        let first = same.0.lock().unwrap_or_else(PoisonError::into_inner);
        verdict.result = first.as_ref().map(|(first, _)| format!("{first:?}"));
        verdict
    }

    /// Checks that a program returns the same in each schedule, as
    /// [`same_result`](Checker::same_result), and returns the verdict if it does. The environment
    /// variables of [`check`](Checker::check) apply.
    ///
    /// # Panics
    ///
    /// As [`check`](Checker::check), and if the results differ.
    #[track_caller]
    pub fn check_same_result<R>(&self, program: impl Fn() -> R + Send + Sync + 'static) -> Verdict
    where
        R: PartialEq + fmt::Debug + Send + 'static,
    {
        let site = Location::caller();
        self.checked(|checker| checker.same_result_of(program, site))
    }

    /// Explores a program, and returns its results: each different result once, with the number of
    /// its executions and a schedule that leads to it. Ends at the first execution that goes wrong.
    ///
    /// Takes time in proportion to the number of different results for each execution.
    ///
    /// # Panics
    ///
    /// As [`explore`](Checker::explore).
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_check::Checker;
    /// use lisle_check::atomic::{AtomicU32, Ordering::SeqCst};
    /// use std::sync::Arc;
    ///
    /// let outcomes = Checker::new().outcomes(|| {
    ///     let shared = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    ///     let other = shared.clone();
    ///     let other = lisle::spawn(move || {
    ///         other[0].store(1, SeqCst);
    ///         other[1].load(SeqCst)
    ///     });
    ///     shared[1].store(1, SeqCst);
    ///     (shared[0].load(SeqCst), other.join().unwrap())
    /// });
    /// let mut results: Vec<_> = outcomes.iter().map(|outcome| *outcome.result()).collect();
    /// results.sort();
    /// assert_eq!(results, [(0, 1), (1, 0), (1, 1)]);
    /// ```
    #[track_caller]
    pub fn outcomes<R>(&self, program: impl Fn() -> R + Send + Sync + 'static) -> Outcomes<R>
    where
        R: PartialEq + Send + 'static,
    {
        let seen = Arc::new(Seen::<R>(Mutex::default()));
        let verdict = self.explore_judged(returning(program), seen.clone(), Location::caller());
        let all = std::mem::take(&mut *seen.0.lock().unwrap_or_else(PoisonError::into_inner));
        Outcomes { verdict, all }
    }
}

/// Returns a program that gives its result to the execution.
fn returning<R: Send + 'static>(
    program: impl Fn() -> R + Send + Sync + 'static,
) -> Arc<dyn Fn() + Send + Sync> {
    Arc::new(move || bridge::leave(Box::new(program())))
}

fn result<R: 'static>(result: Box<dyn Any + Send>) -> R {
    *result.downcast().expect("the program returns one type")
}

/// Compares all results with the first one.
struct Same<R>(Mutex<Option<(R, Schedule)>>);

impl<R: PartialEq + fmt::Debug + Send + 'static> Judge for Same<R> {
    fn judge(&self, other: Box<dyn Any + Send>, schedule: Schedule, _: bool) -> Option<What> {
        let other = result::<R>(other);
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((first, first_schedule)) = &*first else {
            *first = Some((other, schedule));
            return None;
        };
        (*first != other).then(|| {
            let results = [format!("{first:?}"), format!("{other:?}")];
            What::Differs(Box::new(Difference::new(results, [first_schedule.clone(), schedule])))
        })
    }

    fn begin_anew(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Collects the different results.
struct Seen<R>(Mutex<Vec<Outcome<R>>>);

impl<R: PartialEq + Send + 'static> Judge for Seen<R> {
    fn judge(&self, seen: Box<dyn Any + Send>, schedule: Schedule, is_new: bool) -> Option<What> {
        let result = result::<R>(seen);
        if is_new {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match all.iter_mut().find(|known| known.result == result) {
                Some(known) => known.count += 1,
                None => all.push(Outcome { result, count: 1, schedule }),
            }
        }
        None
    }

    fn begin_anew(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The results of a program in all executions. See [`Checker::outcomes`].
#[derive(Debug)]
pub struct Outcomes<R> {
    verdict: Verdict,
    all: Vec<Outcome<R>>,
}

/// One result of a program.
#[derive(Debug)]
pub struct Outcome<R> {
    result: R,
    count: u64,
    schedule: Schedule,
}

impl<R> Outcomes<R> {
    /// Returns the verdict on the program.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Returns the different results, in the order in which they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Outcome<R>> {
        self.all.iter()
    }

    /// Returns the number of different results.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns `true` if no execution has returned anything.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl<'a, R> IntoIterator for &'a Outcomes<R> {
    type Item = &'a Outcome<R>;
    type IntoIter = std::slice::Iter<'a, Outcome<R>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<R> Outcome<R> {
    /// Returns the result.
    pub fn result(&self) -> &R {
        &self.result
    }

    /// Returns the number of executions with this result.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns a schedule that leads to it as a short text, for [`Checker::replay`].
    pub fn token(&self) -> String {
        self.schedule.to_string()
    }
}

impl<R: fmt::Debug> fmt::Display for Outcomes<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.verdict)?;
        for Outcome { result, count, schedule } in &self.all {
            write!(f, "\n    {} times {result:?} (LISLE_CHECK_REPLAY={schedule})", grouped(*count))?;
        }
        Ok(())
    }
}
