//! Looking at all tasks of a runtime: who waits for what, and who is to end with it.
//!
//! There is no list of them: keeping one would cost every reification a lock. But their slots keep their places, so all slots
//! there are can be looked at.

use super::record::Task;
use super::{life, pieces};
use crate::event::Description;
use crate::panics;
use crate::sched::shared::Shared;
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
    pieces::for_each(|slot| {
        if Task::is_of(slot, shared) && Task::state_of(slot).claim() {
            // Another may have moved in since the first look.
            if Task::is_of(slot, shared) {
                // SAFETY: claimed, so it lives.
                look(unsafe { slot.as_ref() });
            }
            // SAFETY: just claimed.
            unsafe { life::release(slot) };
        }
    });
}

/// The tasks of this runtime that wait, and what for.
///
/// Takes time proportional to the number of tasks that there have ever been at once, in all runtimes.
pub(crate) fn waiting(shared: &Shared) -> Vec<ParkedTask> {
    let mut all = Vec::new();
    for_each_parked(shared, |task| {
        let mut waits = Description::default();
        // SAFETY: it is claimed.
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

/// Wakes all tasks of this runtime that wait: it is stopping, and they end when they are taken.
pub(crate) fn wake_all(shared: &Shared) {
    for_each_parked(shared, |task| {
        // It is claimed, so this only leaves the mark.
        let _ = task.state().wake();
    });
}
