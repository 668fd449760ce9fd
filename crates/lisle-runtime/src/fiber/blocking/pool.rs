//! The threads on which foreign calls run.
//!
//! They wait for calls at a condition variable of the system, not at a channel with a timeout. An
//! armed timer would count as something that may still happen, although a thread without calls only
//! ends.

use crate::abort;
use crate::fork::{self, PerProcess};
use crate::own_threads;
use crate::shim::sync::{Condvar, Mutex, MutexGuard};
use crate::threads;
use crate::unwinding;
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

/// The largest number of threads. They wait for disks and name servers, not for processors.
const MOST: usize = 512;
/// A thread that has been idle for this long ends.
const KEEP: Duration = Duration::from_secs(10);

pub(super) type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Pool {
    state: Mutex<State>,
    submitted: Condvar,
}

#[derive(Default)]
struct State {
    /// The jobs, in the order in which they were submitted.
    jobs: VecDeque<Job>,
    threads: usize,
    /// The number of threads that wait for a job, woken or not.
    resting: usize,
}

static POOL: PerProcess<Pool> = PerProcess::new(Pool::default);

impl Pool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Runs `job` on a thread: on one that rests, or a new one, or, at the limit, the first that is
/// free.
///
/// # Errors
///
/// Returns an error if the system refuses a new thread. The job then waits for one of the existing
/// threads, and the caller must call [`grow`] until it has begun.
pub(super) fn submit(job: Job) -> io::Result<()> {
    POOL.get().lock().jobs.push_back(job);
    grow()
}

/// Finds a thread for a job that waits: one that rests, or a new one.
///
/// # Errors
///
/// Returns an error if the system refuses a new thread.
pub(super) fn grow() -> io::Result<()> {
    let pool = POOL.get();
    let mut state = pool.lock();
    if state.jobs.len() <= state.resting {
        drop(state);
        pool.submitted.notify_one();
        return Ok(());
    }
    if state.threads == MOST {
        return Ok(());
    }
    state.threads += 1;
    drop(state);
    let serve = || unwinding::outermost(|| serve(pool));
    threads::start("lisle-blocking", "foreign calls (`blocking`)", serve).map(drop).inspect_err(|_| {
        pool.lock().threads -= 1;
    })
}

fn serve(pool: &Pool) {
    let generation = fork::generation();
    while let Some(job) = next(pool) {
        job();
        if fork::generation() != generation {
            abort::process(
                "a foreign call (`blocking`) has forked the process and returned in the child, where its caller is not: in                  the child it has to end the process or execute a program",
            );
        }
    }
}

/// Returns the next job. After `None` this thread is no longer part of the pool.
fn next(pool: &Pool) -> Option<Job> {
    let mut state = pool.lock();
    if let Some(job) = state.jobs.pop_front() {
        return Some(job);
    }
    // While a job runs, the thread counts as the program's. Only while it waits is it the library's
    // own.
    let _enlisted = own_threads::enlist(own_threads::Owner::Everybody);
    let end = Instant::now() + KEEP;
    state.resting += 1;
    let job = loop {
        if let Some(job) = state.jobs.pop_front() {
            break Some(job);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break None;
        }
        state = match pool.submitted.wait_timeout(state, left) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        };
    };
    state.resting -= 1;
    if job.is_none() {
        state.threads -= 1;
    }
    job
}
