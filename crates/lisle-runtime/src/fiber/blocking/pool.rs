//! The threads on which foreign calls run.
//!
//! They wait for calls at a condition variable of the system, not at a channel with a timeout. An
//! armed timer would count as something that may still happen, although a thread without calls only
//! ends.

use crate::affinity;
use crate::own_threads;
use crate::shim::sync::{Condvar, Mutex, MutexGuard};
use crate::unwinding;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The largest number of threads. They wait for disks and name servers, not for processors.
const MOST: usize = 512;
/// A thread that has been idle for this long ends.
const KEEP: Duration = Duration::from_secs(10);

pub(super) type Job = Box<dyn FnOnce() + Send>;

struct Pool {
    state: Mutex<State>,
    submitted: Condvar,
}

struct State {
    /// The jobs, in the order in which they were submitted.
    jobs: VecDeque<Job>,
    threads: usize,
    /// The number of threads that wait for a job, woken or not.
    resting: usize,
}

static POOL: Pool = Pool {
    state: Mutex::new(State { jobs: VecDeque::new(), threads: 0, resting: 0 }),
    submitted: Condvar::new(),
};

fn lock() -> MutexGuard<'static, State> {
    POOL.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Runs `job` on a thread: on one that rests, or a new one, or, at the limit, the first that is
/// free.
///
/// # Errors
///
/// Returns the job if there is no thread and the system provides none.
pub(super) fn submit(job: Job) -> Result<(), Job> {
    let mut state = lock();
    state.jobs.push_back(job);
    if state.jobs.len() <= state.resting {
        drop(state);
        POOL.submitted.notify_one();
        return Ok(());
    }
    if state.threads == MOST {
        return Ok(());
    }
    state.threads += 1;
    drop(state);
    let thread = std::thread::Builder::new().name("lisle-blocking".into());
    if thread.spawn(affinity::elsewhere(|| unwinding::outermost(serve))).is_ok() {
        return Ok(());
    }
    let mut state = lock();
    state.threads -= 1;
    // If there are other threads, one of them will be free later.
    let last = if state.threads == 0 { state.jobs.pop_back() } else { None };
    last.map_or(Ok(()), Err)
}

fn serve() {
    while let Some(job) = next() {
        job();
    }
}

/// Returns the next job. After `None` this thread is no longer part of the pool.
fn next() -> Option<Job> {
    let mut state = lock();
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
        state = match POOL.submitted.wait_timeout(state, left) {
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
