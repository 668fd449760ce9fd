//! Lists whose oldest job runs first.

use crate::queue::Job;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// A list of jobs. Each of its jobs has an entry in a queue, which says only that the oldest job of the list
/// is to run: so the jobs of a list run in their order, while the queue is served from its newest entry.
#[derive(Clone, Default)]
pub(crate) struct Fifo(Arc<Mutex<VecDeque<Job>>>);

impl Fifo {
    pub(crate) fn push(&self, job: Job) {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push_back(job);
    }

    pub(crate) fn pop(&self) -> Option<Job> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop_front()
    }
}
