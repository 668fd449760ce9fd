//! An exploration, from its beginning or from a saved state up to its verdict.

use super::executing::{Executing, Running};
use super::limit::{Limit, Limits};
use super::memory::{Memory, Seen};
use super::own_thread::Teller;
use super::progress::{Progress, Shown};
use super::sampling::Sampler;
use super::saved::{self, Asked, Check, Saved};
use super::together::{Common, Source, Together};
use super::verdict::{How, Kept, Verdict};
use super::way::ScheduleChoice;
use crate::explore::{Classes, Divided, Ending, Exhaustive, Schedule};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The number of executions that the first worker runs alone, unless the number of workers is set:
/// most programs have fewer schedules.
const ALONE: u64 = 1_000;

/// An exploration with more processor time than this is large, whatever the number of its
/// executions.
const FIRST_SLICE: Duration = Duration::from_secs(1);

/// Further duties of the first worker.
struct First {
    progress: Progress,
    /// The number of executions before others help.
    alone: u64,
}

/// The plan of an exploration.
pub(super) struct Plan {
    pub(super) way: ScheduleChoice,
    pub(super) limits: Limits,
    pub(super) workers: Option<usize>,
    pub(super) observed: bool,
    pub(super) samples: bool,
    /// The results are compared.
    pub(super) is_judged: bool,
    pub(super) save: Option<PathBuf>,
    pub(super) resume: Option<Arc<(PathBuf, Saved)>>,
    pub(super) check: Check,
    pub(super) shown: Shown,
    /// Gets the ending of each execution.
    pub(super) each: Option<Teller>,
}

impl Plan {
    /// Runs the exploration. Returns an error if it cannot begin, or if the program does something
    /// else than before.
    pub(super) fn run(&self, executing: &Executing) -> Result<Verdict, String> {
        if let Some(path) = &self.save {
            let partial = saved::begin_writing(path).map_err(|error| {
                format!("the exploration could not be saved in {}: {error}", path.display())
            })?;
            let _ = std::fs::remove_file(partial);
        }
        executing.on_a_worker(|running| {
            let common = self.begin(running, executing)?;
            let mut together = Together::new(executing, self.way.drawn(), self.limits, common);
            if self.save.is_some() {
                together.catch_signals();
            }
            let samples =
                self.samples && matches!(self.way, ScheduleChoice::All) && !self.is_judged && !self.observed;
            let samples = samples && self.each.is_none() && !executing.past_failures;
            let mut sampler = samples.then(|| Sampler::new(executing, self.limits));
            self.work(running, &mut together, &mut sampler);
            // Later executions run to their ends.
            running.cut_when(None);
            let (sampled, by_chance) = sampler.map(Sampler::end).unwrap_or_default();
            let (mut common, remains, catching) = together.end();
            if by_chance.is_some() {
                common.limit = None;
            }
            let found = running.shortened(common.failure.take().map(|(_, failure)| failure)).or(by_chance);
            let saved = self.resume.as_ref().map(|resume| &resume.1);
            let earlier = saved.and_then(|saved| saved.failure.as_ref()?.parse::<Schedule>().ok());
            let again = |schedule| running.unstuck(|running| running.replay(&schedule).failure);
            let failure = earlier.and_then(again).or(found);
            let elapsed =
                saved.map_or(Duration::ZERO, |saved| saved.elapsed) + executing.watch.begun.elapsed();
            let mut verdict = Verdict {
                limit: common.limit,
                sampled,
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
        })
    }

    /// Returns the state from which the workers begin, or the reason why they cannot.
    fn begin(&self, running: &Running<'_>, executing: &Executing) -> Result<Common, String> {
        let classes = self.observed.then(Classes::default);
        let Some(resume) = &self.resume else {
            return Ok(Common::new(Source::new(self.way.drawn().as_deref()), classes));
        };
        let (path, saved) = &**resume;
        let way = self.way_under(executing.memory);
        let asked = Asked { way: &way, steps: executing.steps, observed: self.observed };
        let resumed = match self.check.objection(saved, asked, || running.default_sum()) {
            Some(objection) => Err(objection),
            None => self.resumed(saved).ok_or_else(|| "it is damaged; begin anew".into()),
        };
        resumed
            .map_err(|objection| format!("the exploration cannot go on from {}: {objection}", path.display()))
    }

    /// Returns a text for the choice of schedules and the memory model.
    fn way_under(&self, memory: Memory) -> String {
        format!("{} under {memory}", self.way)
    }

    /// Returns the saved state of the workers.
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
        common.names = saved.names.clone();
        common.loops.adopt(&saved.loops);
        common.seen = Seen::of(&saved.shapes);
        Some(common)
    }

    /// Runs the workers until nothing remains, and draws schedules meanwhile.
    fn work(&self, running: &Running<'_>, together: &mut Together<'_>, sampler: &mut Option<Sampler>) {
        let progress = Progress::new(self.check.site().to_string(), self.shown);
        let processors = || thread::available_parallelism().map_or(1, usize::from);
        let (workers, alone) = match self.workers {
            // The first result must not depend on the workers.
            _ if self.is_judged && !matches!(self.way, ScheduleChoice::All) => (1, 0),
            Some(workers) => (workers, 0),
            None if self.way.is_one_after_the_other() => (1, 0),
            None => (processors(), ALONE),
        };
        let mut pause = together.counts().all() + ALONE;
        let slice = self.limits.time.map_or(FIRST_SLICE, |time| FIRST_SLICE.min(time / 10));
        if sampler.is_some() {
            together.pause_at(pause, slice);
        }
        // The present first worker has it.
        let first = Mutex::new(First { progress, alone });
        loop {
            self.run_round(running, together, workers, &first);
            if together.begins_anew() {
                continue;
            }
            let Some(sampler) = sampler.as_mut().filter(|_| together.is_paused()) else { return };
            if sampler.sample(running, together, workers) {
                return;
            }
            if together.counts().all() >= pause {
                pause *= 2;
            }
            together.pause_at(pause, slice.max(2 * together.computed()));
        }
    }

    /// Runs the workers until they have ended.
    fn run_round(&self, running: &Running<'_>, round: &Together<'_>, workers: usize, first: &Mutex<First>) {
        let first = || first.lock().unwrap_or_else(PoisonError::into_inner);
        thread::scope(|scope| {
            let others = AtomicUsize::new(workers - 1);
            let spawn_others = || {
                (0..others.swap(0, Relaxed))
                    .for_each(|_| drop(scope.spawn(move || round.work_beside(scope))));
            };
            let after_each = |ending| {
                if let Some(each) = self.each.as_ref().filter(|_| ending != Ending::Stopped) {
                    each.tell(ending);
                }
                let First { progress, alone } = &mut *first();
                if *alone > 0 {
                    *alone -= 1;
                    if *alone == 0 {
                        spawn_others();
                    }
                }
                if progress.is_due() {
                    // The user may lose patience.
                    round.catch_signals();
                    progress.show(round.progress(), || round.explored());
                }
            };
            if first().alone == 0 {
                spawn_others();
            }
            round.work_first(running, &after_each);
        });
    }

    /// Returns the extent of the exploration.
    fn how(&self, common: &Common, remains: bool) -> How {
        match (&common.source, &self.way) {
            (Source::All(_), _) if remains => How::Part,
            (Source::All(_), _) => How::Exhaustive,
            (Source::Drawn(divided), ScheduleChoice::Preemptions(most)) => match divided.preemptions() {
                Some((_, true)) => How::Exhaustive,
                Some((explored, false)) if remains => How::PartOfPreemptions { most: *most, explored },
                _ => How::Preemptions(*most),
            },
            (Source::Drawn(_), _) => How::Sampled,
        }
    }

    /// Saves the rest of the exploration, if there is a place for it.
    fn keep(&self, common: &Common, verdict: &mut Verdict, steps: usize, running: &Running<'_>) {
        let Some(limit) = verdict.limit else {
            if let Some(path) = &self.save {
                self.check.remove(path);
            }
            return;
        };
        let by_default = || {
            let directory = std::env::temp_dir().join(format!("lisle-check-{}", std::process::id()));
            (limit == Limit::Interrupt && !self.is_judged).then(|| self.check.file_in(&directory))
        };
        let Some(path) = self.save.clone().or_else(by_default) else { return };
        let saved = Saved {
            program: self.check.identity(running.unstuck(|running| running.default_sum())),
            way: self.way_under(running.memory()),
            steps,
            elapsed: verdict.elapsed,
            loops: common.loops.clone(),
            names: common.names.clone(),
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
