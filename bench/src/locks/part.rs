//! The part of one performer of a contest: how long it holds the lock, its work between two locks,
//! and the facts that the kernel is told about its thread.

use super::studies::{BESIDE, HERD, MIX, QUEUE, RING, WRITER};
use crate::job::Job;
use std::{hint::black_box, io};

/// Steps of three quarters of a nanosecond each, since each waits for the one before.
#[inline]
pub(crate) fn work(steps: u64) {
    let mut value = 1_u64;
    for _ in 0..steps {
        value = black_box(value).wrapping_mul(6_364_136_223_846_793_005);
    }
    black_box(value);
}

/// Between two locks there is "some" work: nearly half a microsecond.
const SOME: u64 = 500;
/// And "much": nearly eight microseconds.
const MUCH: u64 = 10_000;
/// A long hold: nearly eighty microseconds.
const LONG: u64 = 100_000;
/// Of this many turns in a row some are for reading.
const TURNS: u64 = 10;

/// The part of one performer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Steps of work under the lock.
    pub(crate) inside: u64,
    /// And between two locks.
    pub(crate) between: u64,
    /// In how many of [`TURNS`] it reads, where the lock has readers.
    reads: u64,
    pub(crate) policy: Policy,
}

/// The facts that an unprivileged thread may tell the kernel about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Nothing: `SCHED_OTHER`.
    Other,
    /// `SCHED_BATCH`: it is not interactive.
    Batch,
    /// It is 10 nicer than others.
    Nice,
    /// `SCHED_IDLE`: it is to run when nobody else wants to.
    Idle,
}

impl Part {
    /// Returns the part of the performer of that number in this case.
    pub(crate) fn of(job: &Job, number: usize) -> Self {
        let part = |inside, between| Part { inside, between, reads: 0, policy: Policy::Other };
        let second = !number.is_multiple_of(2);
        match &*job.variant {
            "nothing" | "other" | BESIDE | RING | HERD | QUEUE => part(0, 0),
            "some" => part(0, SOME),
            "much" => part(0, MUCH),
            "long" if number == 0 => part(LONG, LONG),
            "long" => part(0, SOME),
            MIX => Part { reads: TURNS - 1, ..part(SOME, 0) },
            WRITER if number == 0 => part(SOME, SOME),
            WRITER => Part { reads: TURNS, ..part(SOME, 0) },
            "batch" => Part { policy: Policy::Batch, ..part(0, 0) },
            "nice" if second => Part { policy: Policy::Nice, ..part(0, 0) },
            "idle" if second => Part { policy: Policy::Idle, ..part(0, 0) },
            "nice" | "idle" => part(0, 0),
            other => panic!("no study of locks has a case '{other}'"),
        }
    }

    /// Returns `true` if it reads in the turn of that number.
    #[inline]
    pub(crate) fn reads_in(&self, turn: u64) -> bool {
        turn % TURNS < self.reads
    }
}

impl Policy {
    /// Tells the kernel, about the calling thread.
    pub(crate) fn apply(self) {
        match self {
            Policy::Other => {}
            Policy::Batch => schedule(libc::SCHED_BATCH),
            Policy::Idle => schedule(libc::SCHED_IDLE),
            Policy::Nice => {
                // Linux takes 0 for the calling thread, not for its process.
                rustix::process::setpriority_process(None, 10).expect("a thread may be nicer");
            }
        }
    }
}

fn schedule(policy: libc::c_int) {
    // SAFETY: a structure of numbers, of which 0 is one.
    let parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: the parameter is read during the call only; 0 is the calling thread.
    let status = unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) };
    assert_eq!(status, 0, "the policy is refused: {}", io::Error::last_os_error());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeMap, thread, time::Duration};

    #[test]
    fn an_unprivileged_thread_may_choose_each_policy() {
        for (policy, expected) in [
            (Policy::Other, libc::SCHED_OTHER),
            (Policy::Batch, libc::SCHED_BATCH),
            (Policy::Nice, libc::SCHED_OTHER),
            (Policy::Idle, libc::SCHED_IDLE),
        ] {
            let (own, nice) = thread::spawn(move || {
                policy.apply();
                // SAFETY: it takes a number; 0 is the calling thread.
                let own = unsafe { libc::sched_getscheduler(0) };
                (own, rustix::process::getpriority_process(None).unwrap())
            })
            .join()
            .unwrap();
            let before = rustix::process::getpriority_process(None).unwrap();
            assert_eq!(own, expected, "{policy:?}");
            assert_eq!(nice, if policy == Policy::Nice { 10 } else { before }, "{policy:?}");
        }
    }

    fn job(variant: &str) -> Job {
        Job { variant: variant.to_owned(), workers: 2, target: Duration::ZERO, params: BTreeMap::new() }
    }

    #[test]
    fn one_of_many_holds_it_long_and_every_second_is_nice() {
        let parts = |variant| [0, 1, 2].map(|number| Part::of(&job(variant), number));
        assert_eq!(parts("long").map(|part| part.inside > 0), [true, false, false]);
        assert_eq!(parts("nice").map(|part| part.policy), [Policy::Other, Policy::Nice, Policy::Other]);
        assert!(parts("much")[0].between > parts("some")[0].between);
    }

    #[test]
    fn nine_turns_of_ten_are_reads_or_all_but_those_of_one() {
        let reads = |variant: &str| {
            [0, 1].map(|number| {
                let part = Part::of(&job(variant), number);
                (0..2 * TURNS).filter(|&turn| part.reads_in(turn)).count()
            })
        };
        assert_eq!([reads(MIX), reads(WRITER), reads(RING)], [[18, 18], [0, 20], [0, 0]]);
    }
}
