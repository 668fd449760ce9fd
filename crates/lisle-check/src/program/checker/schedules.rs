//! The choice of schedules.

use super::super::memory::{Detail, Memory};
use super::super::way::ScheduleChoice;
use super::Checker;
use crate::explore::{Schedule, TokenError};

impl Checker {
    /// Explores the schedules with at most `most` interruptions of a fiber that could go on, fewer
    /// interruptions first.
    pub fn preemptions(mut self, most: u32) -> Self {
        self.way = ScheduleChoice::Preemptions(most);
        self
    }

    /// Draws schedules at random.
    pub fn random(mut self, seed: u64) -> Self {
        self.way = ScheduleChoice::Random { seed };
        self
    }

    /// Draws schedules by random priorities (Burckhardt and others, *A randomized scheduler with
    /// probabilistic guarantees of finding bugs*, ASPLOS 2010): a bug that needs `depth` orders
    /// between steps shows in each execution with a probability of at least 1 / (n k^(depth - 1)),
    /// for n fibers and k steps.
    ///
    /// # Panics
    ///
    /// If `depth` is zero.
    pub fn priorities(mut self, seed: u64, depth: u32) -> Self {
        assert!(depth > 0, "a bug needs at least one order of steps: the depth cannot be 0");
        self.way = ScheduleChoice::Priorities { seed, depth };
        self
    }

    /// Draws schedules in several ways in turn: at random, by priorities for bugs of depth 2 and 3,
    /// and with few interruptions. This is for programs of which little is known.
    pub fn portfolio(mut self, seed: u64) -> Self {
        self.way = ScheduleChoice::Portfolio { seed };
        self
    }

    /// Sets whether the exploration also draws schedules at random, as it does by default.
    ///
    /// An exploration begins with a thousand executions, or a second of processor time; less, if there
    /// is a limit of [time](Checker::time). If it is not over then, it pauses, and draws schedules at
    /// random and by [priorities](Checker::priorities): a thousand at first, or for as long as it has
    /// taken so far, and later for a tenth of the time. So it finds a bug of many schedules although it
    /// is far from them. These executions have [counts](crate::Verdict::sampled) of their own, and do
    /// not count as [executions](Checker::executions). Their failures are reported like any other.
    ///
    /// It draws none where executions are compared or counted: with
    /// [`past_failures`](Checker::past_failures), [`observed`](Checker::observed),
    /// [`explore_each`](Checker::explore_each), and where results are compared or collected.
    pub fn sampling(mut self, samples: bool) -> Self {
        self.samples = samples;
        self
    }

    /// Runs the schedule of a [token](crate::Failure::token) again. The token also names the memory
    /// model, if that matters.
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
        self.way = ScheduleChoice::Replay(schedule);
        Ok(self)
    }
}
