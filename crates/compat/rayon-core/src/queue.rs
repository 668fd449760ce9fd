//! The jobs that wait on a domain, or for any domain of a pool.
//!
//! Fibers run the jobs, since jobs may wait. A fiber that serves a queue is a *server*. A queue that is not
//! empty always has one server that has not begun: the code that puts a job into a queue without one spawns it,
//! and so does a server that takes a job and leaves others behind. So a server that waits within a job does
//! not keep the other jobs waiting, and as long as no job waits, one server runs all of them.

use crate::fifo::Fifo;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

/// A job in a box. Returns whether it has woken code that waited for it.
///
/// If it is dropped, it tells those who wait for it that it will not run.
pub(crate) type Job = Box<dyn FnOnce() -> Woke + Send>;

/// Whether a job has woken code that waited for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woke {
    /// It has.
    One,
    /// It has not.
    None,
}

/// An entry of a queue.
pub(crate) struct Entry {
    owner: Owner,
    work: Work,
}

/// The scope that waits for a job, by its address, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner(usize);

impl Owner {
    pub(crate) const NONE: Owner = Owner(0);

    pub(crate) fn of<T>(scope: &T) -> Self {
        Owner(std::ptr::from_ref(scope).addr())
    }
}

enum Work {
    This(Job),
    OldestOf(Oldest),
}

/// The oldest job of a list. There are as many of these as the list has jobs.
struct Oldest(Option<Fifo>);

impl Oldest {
    fn take(&mut self) -> Option<Job> {
        self.0.take()?.pop()
    }
}

impl Drop for Oldest {
    fn drop(&mut self) {
        // A job that nothing says to run would never be dropped.
        drop(self.take());
    }
}

impl Entry {
    pub(crate) fn new(owner: Owner, job: Job) -> Self {
        Entry { owner, work: Work::This(job) }
    }

    /// Creates the entry of a job that has been put into `fifo`.
    pub(crate) fn oldest_of(owner: Owner, fifo: Fifo) -> Self {
        Entry { owner, work: Work::OldestOf(Oldest(Some(fifo))) }
    }

    pub(crate) fn run(self) -> Woke {
        match self.work {
            Work::This(job) => job(),
            Work::OldestOf(mut oldest) => oldest.take().map_or(Woke::None, |job| job()),
        }
    }
}

/// A queue of jobs.
#[derive(Default)]
#[repr(align(128))] // Each is written by a domain of its own.
pub(crate) struct Queue(Mutex<Jobs>);

#[derive(Default)]
struct Jobs {
    /// The newest last.
    entries: VecDeque<Entry>,
    /// Set while there is a server that has not begun.
    has_server: bool,
}

/// Where a job is taken from a queue.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    Newest,
    Oldest,
}

impl Queue {
    #[inline]
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        // No code of users runs under the lock.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Adds an entry. Returns `true` if the caller must spawn a server.
    #[must_use]
    pub(crate) fn push(&self, entry: Entry) -> bool {
        let mut jobs = self.jobs();
        jobs.entries.push_back(entry);
        !std::mem::replace(&mut jobs.has_server, true)
    }

    /// Notes that the server has begun.
    pub(crate) fn server_begins(&self) {
        self.jobs().has_server = false;
    }

    /// Takes an entry, for a server that has begun. The second value is `true` if the caller must spawn
    /// another server.
    pub(crate) fn take(&self, end: End) -> Option<(Entry, bool)> {
        let mut jobs = self.jobs();
        let entry = jobs.pop(end)?;
        let needs_server = !jobs.entries.is_empty() && !std::mem::replace(&mut jobs.has_server, true);
        Some((entry, needs_server))
    }

    /// Takes an entry, for code that is no server. If others are left, the queue has a server for them.
    pub(crate) fn take_aside(&self, end: End) -> Option<Entry> {
        self.jobs().pop(end)
    }

    /// Takes the newest entry if it is a job of `owner`.
    pub(crate) fn take_own(&self, owner: Owner) -> Option<Entry> {
        let mut jobs = self.jobs();
        jobs.entries.back().filter(|newest| newest.owner == owner)?;
        jobs.entries.pop_back()
    }

    /// Drops all jobs: the server that would have run them will not begin.
    pub(crate) fn give_up(&self) {
        let entries = {
            let mut jobs = self.jobs();
            jobs.has_server = false;
            std::mem::take(&mut jobs.entries)
        };
        drop(entries);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.jobs().entries.is_empty()
    }
}

impl Jobs {
    fn pop(&mut self, end: End) -> Option<Entry> {
        match end {
            End::Newest => self.entries.pop_back(),
            End::Oldest => self.entries.pop_front(),
        }
    }
}
