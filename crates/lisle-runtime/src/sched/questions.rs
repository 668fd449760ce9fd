//! The requests for waits, which the domains of a runtime answer.

use crate::report::{Blocked, RunningFiber};
use crate::shim::{
    atomic::{AtomicU64, Ordering},
    sync::{Arc, Condvar, Mutex, MutexGuard},
};

/// The questions that the domains of a runtime are to answer.
#[derive(Default)]
pub(crate) struct Snapshots {
    /// The number of questions ever asked.
    pub(super) asked: AtomicU64,
    pub(super) open: Mutex<Vec<Arc<Question>>>,
    /// Told when there is a question, or an answer, or a domain that gives none any more.
    pub(super) changed: Condvar,
}

impl Snapshots {
    /// Adds a question. The caller then wakes the domains.
    pub(super) fn ask(&self, question: Arc<Question>) {
        lock(&self.open).push(question);
        // Before the wakes: a domain that has not seen it is woken after it could.
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.tell();
    }

    /// Wakes the threads that wait for answers.
    pub(super) fn tell(&self) {
        // A thread that waits has looked before, or looks after this.
        drop(lock(&self.open));
        self.changed.notify_all();
    }
}

/// One question, and the answers so far, by domain.
pub(super) struct Question(pub(super) Mutex<Vec<Option<DomainSnapshot>>>);

/// The answer of one domain.
pub(crate) struct DomainSnapshot {
    pub(super) fibers: Vec<Blocked>,
    /// The fibers that belong to a scope, as pairs of the scope's number and the fiber's.
    pub(super) members: Vec<(usize, usize)>,
    pub(super) running: Option<RunningFiber>,
    pub(super) ready: usize,
    /// Set if only parked fibers are here: none that could run, and no timer that could wake one.
    pub(super) is_still: bool,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
