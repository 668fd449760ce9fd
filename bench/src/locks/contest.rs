//! The common state of the performers of a sample: one clock, the performers that want the lock and
//! since when, and the end.

use super::{
    bystander::Computed,
    part::Part,
    performer::Seen,
    studies::{BESIDE, MIX, WRITER},
    wait::Phase,
};
use crate::job::{Job, Measured, cpu_seconds};
use std::{
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread,
    time::{Duration, Instant},
};

/// One contest for one lock.
pub(crate) struct Contest {
    origin: Instant,
    parts: Vec<Part>,
    /// Since when each performer wants the lock; the greatest number if it does not.
    wants: Vec<Slot>,
    /// When the lock was let go last, written under it; 0 before that.
    pub(crate) released: AtomicU64,
    /// How many performers have begun.
    begun: AtomicUsize,
    /// Whether anybody has had the lock since it is counted.
    is_taken: AtomicBool,
    /// The beginning of the counted time; 0 before that.
    counted_from: AtomicU64,
    /// When the contest was over; 0 before that.
    ended: AtomicU64,
}

/// On cache lines of its own: it is written for each lock, and read by others for few.
#[repr(align(128))]
struct Slot(AtomicU64);

/// The outcome of a contest.
pub(crate) struct Outcome {
    pub(crate) seen: Vec<Seen>,
    /// For how long it was counted.
    pub(crate) elapsed: Duration,
    /// Processor time of the process in that time, without a bystander's.
    pub(crate) cpu_seconds: f64,
    pub(crate) bystander: Option<Computed>,
}

/// Returns `true` if a thread computes beside the contest.
pub(crate) fn has_bystander(job: &Job) -> bool {
    job.variant == BESIDE
}

/// Returns `true` if some performers of the contest read.
pub(crate) fn has_readers(job: &Job) -> bool {
    matches!(&*job.variant, MIX | WRITER)
}

impl Contest {
    fn new(job: &Job) -> Self {
        let performers = job.param("threads") as usize;
        Contest {
            origin: Instant::now(),
            parts: (0..performers).map(|number| Part::of(job, number)).collect(),
            wants: (0..performers).map(|_| Slot(AtomicU64::new(u64::MAX))).collect(),
            released: AtomicU64::new(0),
            begun: AtomicUsize::new(0),
            is_taken: AtomicBool::new(false),
            counted_from: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        }
    }

    /// Has `perform` run all performers to their end. Their locks count from the moment when all
    /// have begun, for as long as is asked for. Soon after that each of them ends.
    pub(crate) fn hold(job: &Job, perform: impl FnOnce(&Arc<Contest>) -> Vec<Seen>) -> Outcome {
        let contest = Arc::new(Contest::new(job));
        Phase::WarmUp.set();
        // Threads of their own: fibers and tasks that never wait would leave these no worker.
        let keeper = {
            let (contest, target) = (contest.clone(), job.target);
            thread::spawn(move || contest.keep_time(target))
        };
        let bystander = has_bystander(job).then(|| thread::spawn(Computed::beside));
        let seen = perform(&contest);
        let cpu_seconds = keeper.join().expect("the keeper of the time does not panic");
        let bystander = bystander.map(|thread| thread.join().expect("a bystander does not panic"));
        Outcome {
            elapsed: Duration::from_nanos(contest.ended() - contest.counted_from()),
            cpu_seconds: cpu_seconds - bystander.as_ref().map_or(0.0, Computed::cpu_seconds),
            bystander,
            seen,
        }
    }

    /// Leads through the phases. Returns the processor time of the one that is counted. That is
    /// longer than asked for if nobody has had the lock in it.
    fn keep_time(&self, target: Duration) -> f64 {
        const LOOK: Duration = Duration::from_micros(200);
        const LONGEST: Duration = Duration::from_secs(2);
        // A performer to which nobody gives the lock counts as one that waits.
        let patience = Instant::now() + target;
        while self.begun.load(Acquire) < self.performers() && Instant::now() < patience {
            thread::sleep(LOOK);
        }
        let cpu = cpu_seconds();
        self.counted_from.store(self.now(), Release);
        Phase::Counted.set();
        thread::sleep(target);
        let patience = Instant::now() + LONGEST;
        while !self.is_taken.load(Acquire) && Instant::now() < patience {
            thread::sleep(LOOK);
        }
        self.ended.store(self.now(), Release);
        Phase::Over.set();
        cpu_seconds() - cpu
    }

    /// A performer is about to ask for the lock the first time.
    pub(crate) fn has_begun(&self) {
        self.begun.fetch_add(1, Release);
    }

    /// A performer has the lock the first time since it is counted.
    pub(crate) fn has_taken(&self) {
        self.is_taken.store(true, Release);
    }

    /// The beginning of the counted time.
    #[inline]
    pub(crate) fn counted_from(&self) -> u64 {
        self.counted_from.load(Acquire)
    }

    pub(crate) fn performers(&self) -> usize {
        self.parts.len()
    }

    pub(crate) fn part(&self, number: usize) -> Part {
        self.parts[number]
    }

    /// In nanoseconds, from 1.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64 + 1
    }

    /// Since when the performer of that number wants the lock.
    #[inline]
    pub(crate) fn wants(&self, number: usize) -> &AtomicU64 {
        &self.wants[number].0
    }

    /// Since when somebody wants the lock. It is called under the lock, before the holder notes
    /// that it wants the lock no more. So the performers that have wanted it since it was let go
    /// still do.
    #[cold]
    pub(crate) fn wanted_since(&self) -> u64 {
        self.wants.iter().map(|slot| slot.0.load(Relaxed)).min().expect("there are performers")
    }

    /// When the contest was over.
    pub(crate) fn ended(&self) -> u64 {
        assert_eq!(Phase::now(), Phase::Over, "a performer ends when the contest is over");
        self.ended.load(Acquire)
    }
}

impl Outcome {
    pub(crate) fn locks(&self) -> u64 {
        self.seen.iter().map(|seen| seen.locks).sum()
    }

    pub(crate) fn measured(&self) -> Measured {
        Measured { operations: self.locks(), elapsed: self.elapsed, cpu_seconds: self.cpu_seconds }
    }

    /// Asserts that the lock has let nobody in beside another.
    pub(crate) fn check(&self, value: u64) {
        let turns: u64 = self.seen.iter().map(|seen| seen.turns).sum();
        assert_eq!(value, turns, "the lock does not exclude");
    }
}
