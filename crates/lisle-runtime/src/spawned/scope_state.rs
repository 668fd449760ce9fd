//! The state of a scope about its fibers and tasks.

use crate::event::step::Forbidden;
use crate::event::{Description, Source};
use crate::shim::atomic::{AtomicBool, Ordering};
use std::panic::Location;
use std::ptr::NonNull;

/// The initial value of a count that may pass zero unseen: only the scope looks at it, when it has
/// spawned all.
const MANY: usize = usize::MAX;

pub(crate) struct ScopeState {
    /// The number of fibers and reified tasks that have not finished. The scope waits until it is
    /// 0.
    pub(crate) running: Source<usize, ()>,
    pub(crate) panicked: AtomicBool,
    /// Set if a fiber or task that was not joined has been ended by the `deadline`.
    pub(crate) late: AtomicBool,
    /// Set if nothing may wait where the scope was opened. Then it cannot wait for its fibers.
    pub(crate) fenced: Option<Forbidden>,
    /// When the waits of its fibers and tasks end: the deadline of the code that has opened it.
    pub(crate) deadline: Option<u64>,
}

/// The payload that ends a task when the deadline of its scope has passed. It is no panic of the user's.
pub(crate) struct Late;

impl ScopeState {
    pub(crate) fn note_panic(&self) {
        self.panicked.store(true, Ordering::Relaxed);
    }

    pub(crate) fn note_late(&self) {
        self.late.store(true, Ordering::Relaxed);
    }

    pub(crate) fn describe(&self, waits: &mut Description) {
        waits.on("wait for the end of", self.running.label(), std::ptr::from_ref(self).addr());
        let running = self.running.with(|running| *running);
        waits
            .note(format!("{running} of its fibers {} not ended", if running == 1 { "has" } else { "have" }));
    }

    /// Panics if the scope could not wait for the fiber or task that the caller is about to spawn.
    #[track_caller]
    pub(crate) fn check(&self) {
        if let Some(forbidden) = self.fenced {
            let site = Location::caller();
            forbidden.refuse(&format!("wait for a fiber or task of a scope (spawned at {site})"));
        }
    }

    /// Counts in a fiber or a task that the scope is to wait for.
    pub(crate) fn enter(&self) {
        self.running.update_count(|_| MANY, |running, _| *running += 1);
    }

    /// Counts out a fiber or a task that has finished.
    ///
    /// # Safety
    ///
    /// This is called once for each fiber or task that has entered the scope, as its last step.
    pub(crate) unsafe fn exit(state: NonNull<ScopeState>) {
        // SAFETY: the scope waits until the count is 0. It may end as soon as this code has
        // released the source's lock. The wake that follows touches only the waiting performer,
        // which leaves its scope only by consuming that wake.
        let state = unsafe { state.as_ref() };
        state.running.update_count(
            |running| if *running == 1 { 0 } else { MANY },
            |running, waiters| {
                *running -= 1;
                if *running == 0 {
                    let _ = waiters.grant(());
                }
            },
        );
    }
}
