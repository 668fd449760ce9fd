//! Loops whose schedule a model decides.
//!
//! In a model every part of a loop that another domain could take is taken at once, by a fiber that
//! stands for a domain of its own. The model chooses among these fibers as among all others. This
//! covers runs on fewer domains: there a part that no domain takes runs when its owner comes back
//! to it, and in one of the schedules the fiber begins then. Hence the division of a loop needs no
//! choice, and parts that touch nothing cost no further executions.
//!
//! Time decides nothing here: no clock is looked at, and no cost is remembered.
//!
//! Without the feature `model` all of this is constant, and compiled away.

use crate::event::is_modelled;
use crate::jobs::pending::Pending;

/// Returns `true` if the pending work on this stack, which is the caller's, must be
/// [taken](take_all) at once.
#[inline(always)]
pub fn takes_all() -> bool {
    is_modelled() && could_take()
}

#[cfg(feature = "model")]
fn could_take() -> bool {
    use crate::event::{parker, step};
    use crate::loops::owner;
    use crate::sched::worker::with_current;
    let goes_on = |worker: Option<&crate::sched::worker::Worker>| {
        worker.is_some_and(|worker| worker.is_modelled() && !worker.is_unwinding_all())
    };
    parker::running().is_some() && step::is_free() && owner::may_wait() && with_current(goes_on)
}

#[cfg(not(feature = "model"))]
fn could_take() -> bool {
    false
}

/// Has all that is put off on this stack taken, if a model runs the calling code.
#[inline(always)]
pub fn take_all(pending: &Pending) {
    #[cfg(feature = "model")]
    if takes_all() {
        // SAFETY: a pending entry stays in place until it has been settled.
        while let Some(part) = pending.offer() {
            crate::sched::worker::with_current(|worker| {
                // SAFETY: it has just been offered, and no other thread knows of it.
                worker.into_iter().for_each(|worker| unsafe { worker.take_part(part) });
            });
        }
    }
    let _ = pending;
}

/// Has a job taken that was offered, but not on the stack of the calling code.
///
/// # Safety
///
/// The job stays in place until it is done, and nobody else takes it. A model runs the calling
/// code.
pub unsafe fn take(part: std::ptr::NonNull<crate::jobs::job::Job>) {
    #[cfg(feature = "model")]
    crate::sched::worker::with_current(|worker| {
        // SAFETY: passed on to the caller.
        worker.into_iter().for_each(|worker| unsafe { worker.take_part(part) });
    });
    let _ = part;
}

/// Returns where a model divides a loop of `blocks` blocks, two at least: the number of blocks
/// before the division, or `None`.
pub fn division(blocks: usize) -> Option<usize> {
    #[cfg(feature = "model")]
    return crate::sched::worker::with_current(|worker| worker?.division(blocks));
    #[cfg(not(feature = "model"))]
    {
        let _ = blocks;
        None
    }
}

/// Returns the number of parts that a model divides a loop into at most.
pub fn most_parts() -> usize {
    #[cfg(feature = "model")]
    return crate::sched::worker::with_current(|worker| worker.map_or(1, |worker| worker.most_parts()));
    #[cfg(not(feature = "model"))]
    1
}
