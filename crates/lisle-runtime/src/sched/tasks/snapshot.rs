//! Looks at all tasks of a runtime: at their waits, and at the tasks that must end with the
//! runtime.
//!
//! There is no list of them, since that would cost every reification a lock. But slots keep their
//! places, so all slots can be looked at.

use super::life;
use super::slots::Slots;
use crate::event::Description;
use crate::memory;
use crate::panics;
use crate::sched::shared::Shared;
use crate::spawned::task_cell::Task;
use std::panic::Location;

/// A task that waits.
pub(crate) struct ParkedTask {
    pub(crate) id: usize,
    /// The number of the scope that waits for it.
    pub(crate) scope: Option<usize>,
    pub(crate) site: &'static Location<'static>,
    pub(crate) waits: Description,
}

/// Calls `look` with each task of this runtime that waits, while it is claimed.
fn for_each_parked(shared: &Shared, mut look: impl FnMut(&Task)) {
    memory::for_each::<Slots>(|slot| {
        // Before a claim only `is_of` and `state_of` may be used.
        let slot = slot.cast::<Task>();
        if Task::is_of(slot, std::ptr::from_ref(shared).cast()) && Task::state_of(slot).claim() {
            // Another task may have moved into the slot since the first look.
            if Task::is_of(slot, std::ptr::from_ref(shared).cast()) {
                // SAFETY: the task is claimed, so it is alive.
                look(unsafe { slot.as_ref() });
            }
            // SAFETY: just claimed.
            unsafe { life::release(slot) };
        }
    });
}

/// Returns the waiting tasks of this runtime, with their waits.
///
/// Takes time proportional to the largest number of tasks that have existed at once, in all
/// runtimes.
pub(crate) fn waiting(shared: &Shared) -> Vec<ParkedTask> {
    let mut all = Vec::new();
    for_each_parked(shared, |task| {
        let mut waits = Description::default();
        // SAFETY: the task is claimed.
        let describe = || unsafe { task.describe(&mut waits) };
        panics::told("an event that was to tell what a task waits for", describe);
        all.push(ParkedTask {
            id: task.id(),
            scope: task.scope.get().map(|scope| scope.addr().get()),
            site: task.site(),
            waits,
        });
    });
    all
}

/// Wakes all tasks of this runtime that wait. The runtime stops, so each ends at its next turn.
pub(crate) fn wake_all(shared: &Shared) {
    for_each_parked(shared, |task| {
        // The task is claimed, so this only leaves a mark.
        let _ = task.state().wake();
    });
}
