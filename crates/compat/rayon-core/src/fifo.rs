//! Lists whose oldest job runs first.

use crate::queue::{Job, Owner, Run};
use crate::runner::{Ended, Runner};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A list of jobs. Each of its jobs has a job in a queue, which says only that the oldest job of the list is to
/// run: so the jobs of a list run in their order, while the queue is served from its newest job.
#[derive(Clone, Default)]
pub(crate) struct Fifo(Arc<Mutex<VecDeque<Job>>>);

impl Fifo {
    /// Adds a job, and returns the one that belongs into a queue for it.
    pub(crate) fn push(&self, job: Job) -> Job {
        let owner = job.owner();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(job);
        Box::new(Oldest { list: self.clone(), owner, has_run: false })
    }

    fn pop(&self) -> Option<Job> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// The oldest job of a list. There are as many of these as the list has jobs.
struct Oldest {
    list: Fifo,
    owner: Owner,
    has_run: bool,
}

impl Run for Oldest {
    fn run(mut self: Box<Self>, runner: Runner) -> Ended {
        self.has_run = true;
        let list = self.list.clone();
        drop(self);
        list.pop().map_or(Ended::Job, |job| job.run(runner))
    }

    fn owner(&self) -> Owner {
        self.owner
    }
}

impl Drop for Oldest {
    fn drop(&mut self) {
        if !self.has_run {
            // A job that nothing says to run would never be dropped.
            drop(self.list.pop());
        }
    }
}
