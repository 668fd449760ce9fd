//! Pools that host programs provide.

use lisle_frame::{Pool, Work};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

/// A job system of a host program: a queue of jobs and threads that take them one by one.
pub(crate) struct Jobs {
    queue: Option<mpsc::Sender<Work>>,
    threads: Vec<JoinHandle<()>>,
}

impl Jobs {
    pub(crate) fn start(threads: usize) -> Jobs {
        let (queue, jobs) = mpsc::channel::<Work>();
        let jobs = Arc::new(Mutex::new(jobs));
        let thread = |_| {
            let jobs = jobs.clone();
            std::thread::spawn(move || {
                loop {
                    let job = jobs.lock().unwrap().recv();
                    let Ok(job) = job else { return };
                    job.run();
                }
            })
        };
        Jobs { queue: Some(queue), threads: (0..threads).map(thread).collect() }
    }

    pub(crate) fn pool(&self) -> JobsPool {
        JobsPool { queue: self.queue.clone().unwrap(), threads: self.threads.len() }
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.queue = None;
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// What a world has of the host's job system.
pub(crate) struct JobsPool {
    queue: mpsc::Sender<Work>,
    threads: usize,
}

impl Pool for JobsPool {
    fn workers(&self) -> usize {
        self.threads
    }
    fn submit(&self, work: Work) {
        let _ = self.queue.send(work);
    }
}

/// A pool that keeps what is submitted and never runs it.
#[derive(Default)]
pub(crate) struct Idle(RefCell<Vec<Work>>);

impl Pool for Idle {
    fn workers(&self) -> usize {
        3
    }
    fn submit(&self, work: Work) {
        self.0.borrow_mut().push(work);
    }
}
