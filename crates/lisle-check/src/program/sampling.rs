//! Draws schedules at random, beside the exploration.
//!
//! An exploration goes through a large tree from one end, and a bug may be at the other end. Random
//! schedules soon find a bug that many schedules have. So once an exploration has turned out to be
//! large, it pauses now and then, and draws schedules: at first for as long as it has taken, and
//! then for a tenth of the time. It is large if it has more executions than most programs, or
//! computes for longer.
//!
//! Priorities have the depths 2 and 3. Deeper ones were tried with SafeStack, a stack without locks
//! whose fault needs many orders: three fibers pop and push twice. Within 110 s on two cores, depth 4
//! did not find the fault in 2,965,216 draws, depth 5 not in 5,473,935, and depth 6 not in 3,628,822;
//! within 20 s, depths 2 to 6 and random schedules did not find it with two seeds. By default some
//! 56,000 schedules are drawn beside a million executions, so a share for deeper ones is not worth
//! its time there.
//!
//! The drawn schedules have counts and facts of their own, and change nothing in the exploration.

use super::executing::{Executing, Running};
use super::failure::Failure;
use super::limit::Limits;
use super::together::{Common, Source, Together};
use crate::explore::{Counts, Drawn};
use std::thread;
use std::time::{Duration, Instant};

/// The fewest schedules that are drawn at a time.
const FEWEST: u64 = 1_000;

/// A round of drawing in one way.
struct Round {
    /// The number of executions; fewer if `end` comes first.
    executions: u64,
    end: Instant,
    workers: usize,
    heeds_signals: bool,
}

/// Draws schedules of a program.
pub(super) struct Sampler {
    executing: Executing,
    limits: Limits,
    /// The number of rounds so far, and their time.
    times: u64,
    spent: Duration,
    counts: Counts,
    failure: Option<Failure>,
}

impl Sampler {
    pub(super) fn new(executing: &Executing, limits: Limits) -> Self {
        let executing = executing.sampled();
        Sampler {
            executing,
            limits,
            times: 0,
            spent: Duration::ZERO,
            counts: Counts::default(),
            failure: None,
        }
    }

    /// Draws some schedules while this exploration pauses. Returns `true` if one goes wrong.
    pub(super) fn sample(&mut self, running: &Running<'_>, beside: &Together<'_>, workers: usize) -> bool {
        let begun = Instant::now();
        let elapsed = self.executing.watch.begun.elapsed();
        let most = if self.times == 0 { elapsed } else { (elapsed / 10).saturating_sub(self.spent) };
        let budget = self.limits.time.map_or(Duration::MAX, |time| time / 10);
        let most = most.min(budget.saturating_sub(self.spent));
        let (seed, executions) = (self.times, FEWEST.max(beside.counts().all() / 10));
        let shares = [
            (2, Drawn::Random { seed }),
            (4, Drawn::Priorities { seed, depth: 2 }),
            (4, Drawn::Priorities { seed, depth: 3 }),
        ];
        for (share, drawn) in shares {
            if self.failure.is_none() {
                let round = Round {
                    executions: executions / u64::from(share),
                    end: Instant::now() + most / share,
                    workers,
                    heeds_signals: beside.heeds_signals(),
                };
                self.draw(running, drawn, round);
            }
        }
        self.times += 1;
        self.spent += begun.elapsed();
        self.failure.is_some()
    }

    /// Draws schedules in one way.
    fn draw(&mut self, running: &Running<'_>, drawn: Drawn, round: Round) {
        let limits = Limits { executions: round.executions, ..self.limits };
        let common = Common::new(Source::new(Some(&[drawn])), None);
        let mut together = Together::new(&self.executing, Some(vec![drawn]), limits, common);
        together.end_at(round.end);
        if round.heeds_signals {
            together.heed_signals();
        }
        let running = running.instead(&self.executing);
        loop {
            let shared = &together;
            thread::scope(|scope| {
                (1..round.workers).for_each(|_| drop(scope.spawn(move || shared.work_beside(scope))));
                shared.work_first(&running, &|_| ());
            });
            if !together.begins_anew() {
                break;
            }
        }
        let counts = together.counts();
        self.counts = Counts {
            complete: self.counts.complete + counts.complete,
            blocked: self.counts.blocked + counts.blocked,
            failed: self.counts.failed + counts.failed,
            endless: self.counts.endless + counts.endless,
            redundant: self.counts.redundant + counts.redundant,
        };
        self.failure = running.shortened(together.take_failure());
    }

    /// Returns the counts of drawn schedules, and a failure if there was one.
    pub(super) fn end(self) -> (Counts, Option<Failure>) {
        (self.counts, self.failure)
    }
}
