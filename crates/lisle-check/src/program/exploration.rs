//! An exploration from its beginning, or from where another one was saved, to its verdict.

use super::executing::{Executing, Running};
use super::limit::{Limit, Limits};
use super::memory::{Memory, Seen};
use super::progress::{Progress, Shown};
use super::saved::{self, Asked, Check, Saved};
use super::together::{Common, Source, Together};
use super::verdict::{How, Kept, Verdict};
use super::way::Way;
use crate::explore::{Classes, Divided, Ending, Exhaustive, Schedule};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The first worker is alone for so many executions, unless the number of workers is chosen: most
/// programs have fewer schedules than that.
const ALONE: u64 = 1_000;

/// How to explore.
pub(super) struct Plan<'a> {
    pub(super) way: &'a Way,
    pub(super) limits: Limits,
    pub(super) workers: Option<usize>,
    pub(super) observed: bool,
    pub(super) can_be_saved: bool,
    pub(super) save: Option<PathBuf>,
    pub(super) resume: Option<(&'a Path, &'a Saved)>,
    pub(super) check: Check,
    pub(super) shown: Shown,
    /// Is told how each execution ends.
    pub(super) each: Option<&'a dyn Fn(Ending)>,
}

impl Plan<'_> {
    /// Runs the exploration.
    ///
    /// # Panics
    ///
    /// If it cannot begin, or the program does not do the same again.
    pub(super) fn run(&self, executing: &Executing) -> Verdict {
        let begun = Instant::now();
        if let Some(path) = &self.save {
            let partial = saved::begin_writing(path).unwrap_or_else(|error| {
                panic!("the exploration could not be saved in {}: {error}", path.display())
            });
            let _ = std::fs::remove_file(partial);
        }
        let explored = executing.on_a_worker(|running| {
            let common = self.begin(running, executing)?;
            let mut together = Together::new(executing, self.way.drawn(), self.limits, common);
            if self.save.is_some() {
                together.catch_signals();
            }
            self.work(running, &mut together, executing.judge.is_some());
            let (mut common, remains, catching) = together.end();
            let found = running.shortened(common.failure.take().map(|(_, failure)| failure));
            let earlier = self.resume.and_then(|(_, saved)| saved.failure.as_ref()?.parse::<Schedule>().ok());
            let failure = earlier.and_then(|schedule| running.replay(&schedule).failure).or(found);
            let elapsed = self.resume.map_or(Duration::ZERO, |(_, saved)| saved.elapsed) + begun.elapsed();
            let mut verdict = Verdict {
                limit: common.limit,
                explored: common.source.explored().filter(|_| remains),
                elapsed,
                observed: common.classes.as_ref().map(Classes::distinct),
                ..Verdict::new(
                    common.source.counts(),
                    self.how(&common, remains),
                    common.seen.used(),
                    failure,
                )
            };
            let divergence =
                common.divergence().filter(|_| verdict.failure.is_none() || executing.past_failures);
            match (&common.broken, divergence) {
                (Some(how), _) => return Err(format!("the checker itself has gone wrong: {how}")),
                (None, Some(divergence)) => {
                    return Err(format!("the program cannot be explored: {divergence}"));
                }
                (None, None) => {}
            }
            self.keep(&common, &mut verdict, executing.steps, running);
            drop(catching);
            Ok(verdict)
        });
        // Not before: what panics on a worker is not printed.
        explored.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns where the workers begin, or why they cannot.
    fn begin(&self, running: &Running<'_>, executing: &Executing) -> Result<Common, String> {
        let classes = self.observed.then(Classes::default);
        let Some((path, saved)) = self.resume else {
            return Ok(Common::new(Source::new(self.way.drawn().as_deref()), classes));
        };
        let way = self.way_under(executing.memory);
        let asked = Asked { way: &way, steps: executing.steps, observed: self.observed };
        let resumed = match self.check.objection(saved, asked, || running.default_sum()) {
            Some(objection) => Err(objection),
            None => self.resumed(saved).ok_or_else(|| "it is damaged; begin anew".into()),
        };
        resumed.map_err(|objection| {
            format!("the exploration cannot go on with what is saved in {}: {objection}", path.display())
        })
    }

    /// Returns which schedules are run, and what memory they have.
    fn way_under(&self, memory: Memory) -> String {
        format!("{} under {memory}", self.way)
    }

    /// Returns where the workers that are saved were.
    fn resumed(&self, saved: &Saved) -> Option<Common> {
        let classes = saved.observed.clone().filter(|_| self.observed).map(Classes::from_values);
        let mut common = match self.way.drawn() {
            None => {
                let (exhaustive, family) = Exhaustive::resume(&saved.exploration).ok()?;
                let mut common = Common::new(Source::All(Box::new(exhaustive)), classes);
                common.family = family;
                common
            }
            Some(_) => Common::new(Source::Drawn(Divided::resume(&saved.exploration)?), classes),
        };
        common.objects.adopt(&saved.same);
        common.loops.adopt(&saved.loops);
        common.seen = Seen::of(&saved.shapes);
        Some(common)
    }

    /// Runs the workers until nothing remains.
    fn work(&self, running: &Running<'_>, together: &mut Together<'_>, is_judged: bool) {
        let mut progress = Progress::new(self.check.site().to_string(), self.shown);
        let processors = || thread::available_parallelism().map_or(1, usize::from);
        let (workers, mut alone) = match self.workers {
            // Which of the results comes first must not depend on the workers.
            _ if is_judged && !matches!(self.way, Way::All) => (1, 0),
            Some(workers) => (workers, 0),
            None if self.way.is_one_after_the_other() => (1, 0),
            None => (processors(), ALONE),
        };
        loop {
            let round = &*together;
            thread::scope(|scope| {
                let mut others = workers - 1;
                let mut spawn_others = || {
                    (0..std::mem::take(&mut others)).for_each(|_| drop(scope.spawn(|| round.work_beside())));
                };
                if alone == 0 {
                    spawn_others();
                }
                round.work(running, true, |ending| {
                    if let Some(each) = self.each.filter(|_| ending != Ending::Stopped) {
                        each(ending);
                    }
                    if alone > 0 {
                        alone -= 1;
                        if alone == 0 {
                            spawn_others();
                        }
                    }
                    if progress.is_due() {
                        // Who waits for it may lose patience.
                        round.catch_signals();
                        progress.show(round.progress(), || round.explored());
                    }
                });
            });
            if !together.begins_anew() {
                return;
            }
        }
    }

    /// Returns what was looked at.
    fn how(&self, common: &Common, remains: bool) -> How {
        match (&common.source, self.way) {
            (Source::All(_), _) if remains => How::Part,
            (Source::All(_), _) => How::Exhaustive,
            (Source::Drawn(divided), Way::Preemptions(most)) => match divided.preemptions() {
                Some((_, true)) => How::Exhaustive,
                Some((explored, false)) if remains => How::PartOfPreemptions { most: *most, explored },
                _ => How::Preemptions(*most),
            },
            (Source::Drawn(_), _) => How::Sampled,
        }
    }

    /// Saves what remains, if that is wanted.
    fn keep(&self, common: &Common, verdict: &mut Verdict, steps: usize, running: &Running<'_>) {
        let Some(limit) = verdict.limit else {
            if let Some(path) = &self.save {
                self.check.remove(path);
            }
            return;
        };
        let by_default = || {
            let directory = std::env::temp_dir().join(format!("lisle-check-{}", std::process::id()));
            (limit == Limit::Interrupt && self.can_be_saved).then(|| self.check.file_in(&directory))
        };
        let Some(path) = self.save.clone().or_else(by_default) else { return };
        let saved = Saved {
            program: self.check.identity(running.default_sum()),
            way: self.way_under(running.memory()),
            steps,
            elapsed: verdict.elapsed,
            loops: common.loops.clone(),
            same: common.objects.same(),
            observed: common.classes.as_ref().map(Classes::values),
            detail: running.detail(),
            shapes: common.seen.shapes(),
            failure: verdict.failure.as_ref().map(|failure| failure.token()),
            exploration: common.source.save(&common.family),
        };
        verdict.kept = Some(match saved.write(&path) {
            Ok(()) => Kept::In(path),
            Err(error) => Kept::Not(path, error.to_string()),
        });
    }
}
