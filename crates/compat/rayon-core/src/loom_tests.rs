//! Models of the protocols: a scope ends once, after all of its jobs, and no job stays without a server.

use crate::count::Count;
use crate::flag::ServerFlag;
use crate::runner::{Ended, Runner};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::ptr::NonNull;

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// A job of `count` that other threads may run. What it writes is seen by the code that has opened the scope.
struct Job(NonNull<Count>, Arc<UnsafeCell<u32>>);

// SAFETY: a count is shared, and each job has a cell of its own until the scope has ended.
unsafe impl Send for Job {}

impl Job {
    fn new(count: &Count) -> (Job, Arc<UnsafeCell<u32>>) {
        count.enter();
        let result = Arc::new(UnsafeCell::new(0));
        (Job(NonNull::from(count), result.clone()), result)
    }

    fn run(self, runner: Runner) -> Ended {
        // SAFETY: nothing else looks at the result before the scope has ended.
        self.1.with_mut(|result| unsafe { *result = 1 });
        // SAFETY: once, at the end.
        unsafe { Count::exit(self.0, runner) }
    }
}

fn is_written(result: &UnsafeCell<u32>) -> bool {
    // SAFETY: the job has ended.
    result.with(|result| unsafe { *result == 1 })
}

#[test]
fn loom_a_scope_ends_after_jobs_that_others_run() {
    explore(3, || {
        let count = Box::new(Count::new());
        let ((one, first), (other, second)) = (Job::new(&count), Job::new(&count));
        let threads = [one, other].map(|job| thread::spawn(move || job.run(Runner::Other)));
        count.complete(|| false);
        assert!(is_written(&first) && is_written(&second));
        drop(count);
        let last = threads
            .map(|thread| thread.join().unwrap())
            .iter()
            .filter(|ended| **ended == Ended::Scope)
            .count();
        // None, if the code that has opened the scope was last.
        assert!(last <= 1);
    });
}

#[test]
fn loom_a_scope_runs_a_job_itself() {
    explore(3, || {
        let count = Box::new(Count::new());
        let ((own, first), (other, second)) = (Job::new(&count), Job::new(&count));
        let thread = thread::spawn(move || other.run(Runner::Other));
        count.complete(|| own.run(Runner::Owner) == Ended::Scope);
        assert!(is_written(&first) && is_written(&second));
        drop(count);
        thread.join().unwrap();
    });
}

#[test]
fn loom_a_job_may_add_jobs() {
    explore(3, || {
        let count = Box::new(Count::new());
        let (outer, first) = Job::new(&count);
        let (tx, rx) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            // SAFETY: this job is counted.
            let (inner, second) = Job::new(unsafe { outer.0.as_ref() });
            tx.send(second).unwrap();
            outer.run(Runner::Other);
            inner.run(Runner::Other);
        });
        count.complete(|| false);
        assert!(is_written(&first) && is_written(&rx.try_recv().unwrap()));
        drop(count);
        thread.join().unwrap();
    });
}

/// A queue of jobs that are all the same. Taking and adding order nothing, so that only the flag does.
struct Queue {
    jobs: AtomicUsize,
    server: ServerFlag,
}

impl Queue {
    fn with_a_server() -> Arc<Self> {
        let queue = Queue { jobs: AtomicUsize::new(0), server: ServerFlag::new() };
        assert!(queue.server.raise());
        Arc::new(queue)
    }

    /// Adds a job. Returns `true` if a server must be spawned.
    fn add(&self) -> bool {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        self.server.raise()
    }

    /// Runs all jobs. Before each job that leaves others behind, another server must be there, since a job may wait
    /// for ever: `waits` says that it does. Returns `true` if a server must be spawned.
    fn serve(&self, waits: bool) -> bool {
        self.server.lower();
        let mut must_spawn = false;
        loop {
            let left = self.jobs.load(Ordering::Relaxed);
            if left == 0 {
                return must_spawn;
            }
            if self.jobs.compare_exchange(left, left - 1, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                continue;
            }
            let is_empty = self.jobs.load(Ordering::Relaxed) == 0;
            must_spawn |= self.server.is_lowered() && !is_empty && self.server.raise();
            if waits {
                return must_spawn;
            }
        }
    }
}

/// Adds two jobs beside a server that has not begun, and runs the servers that are spawned meanwhile.
fn every_job_has_a_server(waits: bool) {
    explore(3, move || {
        let queue = Queue::with_a_server();
        let server = thread::spawn({
            let queue = queue.clone();
            move || queue.serve(waits)
        });
        let with_a_job = [queue.add(), queue.add()].contains(&true);
        let by_the_server = server.join().unwrap();
        if with_a_job || by_the_server {
            queue.serve(false);
        }
        assert_eq!(queue.jobs.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn loom_a_job_has_a_server() {
    every_job_has_a_server(false);
}

#[test]
fn loom_a_job_behind_one_that_waits_has_a_server() {
    every_job_has_a_server(true);
}
