//! Foreign calls that block the thread, on threads of their own.

use crate::affinity;
use crate::channel::{self, Receiver, Sender};
use crate::event::{Label, described, sync_masked};
use crate::own_threads;
use crate::shim::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::shim::sync::OnceLock;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::time::Duration;

/// How many threads there may be. They wait for disks and name servers, not for processors.
const MOST: usize = 512;
/// How long a call waits for a thread to be free before it tries to start one again.
const RETRY: Duration = Duration::from_millis(20);
/// A thread that has had nothing to do for so long ends.
const KEEP: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

struct Pool {
    jobs: Sender<Job>,
    take: Receiver<Job>,
    threads: AtomicUsize,
}

/// Runs `f`, which may block its OS thread, without blocking the current domain: on a pool of threads that
/// grows and shrinks with need. The caller waits as [`Event::sync`](crate::Event::sync) does; a plain
/// thread runs `f` itself.
///
/// The wait is not given up when the runtime shuts down: a foreign call cannot be taken back.
///
/// # Panics
///
/// With the panic of `f`.
///
/// ```
/// lisle::run(|| {
///     let text = lisle::fiber::blocking(|| std::fs::read_to_string("Cargo.toml")).unwrap();
///     assert!(text.contains("[package]"));
/// });
/// ```
#[track_caller]
pub fn blocking<F, T>(f: F) -> T
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if super::current().is_none() {
        return f();
    }
    let (done, result) = channel::bounded(1);
    let job: Job = Box::new(move || {
        let result = catch_unwind(AssertUnwindSafe(f));
        // The caller waits; if its runtime was abandoned there is nobody to tell.
        let _ = done.send(result);
    });
    SUBMITTED.fetch_add(1, Ordering::SeqCst);
    pool().submit(job);
    let site = Location::caller();
    let answer = described(result.recv_evt(), |waits| {
        waits.on_the_world("wait for", &Label::anywhere("blocking call").made_at(site), 0);
    });
    match sync_masked(&answer).expect("a blocking call answers") {
        Ok(value) => value,
        Err(panic) => resume_unwind(panic),
    }
}

/// How many jobs have been submitted, and how many have ended.
static SUBMITTED: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// How many foreign calls there have been; `None` if one of them goes on.
pub(crate) fn stillness() -> Option<u64> {
    // What is read first cannot be more than what is read second, unless all have ended.
    let ended = ENDED.load(Ordering::SeqCst);
    (SUBMITTED.load(Ordering::SeqCst) == ended).then_some(ended)
}

fn pool() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| {
        let (jobs, take) = channel::channel();
        Pool { jobs, take, threads: AtomicUsize::new(0) }
    })
}

impl Pool {
    /// Has a thread run `job`: one that waits, or a new one, or, at the limit, the first that is free.
    fn submit(&'static self, job: Job) {
        let mut job = job;
        loop {
            // A thread that waits takes it at once.
            let Err(refused) = self.jobs.try_send(job) else { return };
            job = match self.start_thread(refused.into_inner()) {
                Ok(()) => return,
                Err(job) => job,
            };
            // All threads there may be are there, or the system gives no more: some time one is free.
            match self.jobs.send_timeout(job, RETRY) {
                Ok(()) => return,
                Err(late) => job = late.into_inner(),
            }
        }
    }

    /// Starts a thread with `job` as its first. The job comes back if there is none to be had.
    fn start_thread(&'static self, job: Job) -> Result<(), Job> {
        if self.threads.fetch_add(1, Ordering::Relaxed) >= MOST {
            self.threads.fetch_sub(1, Ordering::Relaxed);
            return Err(job);
        }
        // The job is handed over once the thread is there, so that it is still here if there is none.
        let (hand, first) = channel::bounded(1);
        let started = std::thread::Builder::new()
            .name("lisle-blocking".into())
            .spawn(affinity::elsewhere(move || self.serve(&first)));
        if started.is_err() {
            self.threads.fetch_sub(1, Ordering::Relaxed);
            return Err(job);
        }
        hand.try_send(job).map_err(channel::TrySendError::into_inner)
    }

    fn serve(&self, first: &Receiver<Job>) {
        let run = |job: Job| {
            job();
            ENDED.fetch_add(1, Ordering::SeqCst);
        };
        if let Ok(job) = first.recv() {
            run(job);
        }
        // What a job does is the program's doing; only while it waits is the thread one of the library's.
        let next = || {
            let _enlisted = own_threads::enlist(own_threads::Owner::Everybody);
            self.take.recv_timeout(KEEP)
        };
        while let Ok(job) = next() {
            run(job);
        }
        self.threads.fetch_sub(1, Ordering::Relaxed);
    }
}
