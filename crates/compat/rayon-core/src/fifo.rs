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
        Box::new(Oldest { list: Some(self.clone()), owner })
    }

    fn pop(&self) -> Option<Job> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// The oldest job of a list. There are as many of these as the list has jobs.
struct Oldest {
    /// Until it has run.
    list: Option<Fifo>,
    owner: Owner,
}

impl Run for Oldest {
    fn run(mut self: Box<Self>, runner: Runner) -> Ended {
        let oldest = self.list.take().and_then(|list| list.pop());
        drop(self);
        oldest.map_or(Ended::Job, |job| job.run(runner))
    }

    fn owner(&self) -> Owner {
        self.owner
    }
}

impl Drop for Oldest {
    fn drop(&mut self) {
        // A job that nothing says to run would never be dropped.
        drop(self.list.take().and_then(|list| list.pop()));
    }
}
