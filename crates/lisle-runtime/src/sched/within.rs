//! The outermost join, loop or scope on a stack.

use super::default::started_default_runtime;
use super::forked;
use crate::event::parker;
use crate::jobs::heartbeat;
use crate::jobs::pending::{FIRST_LEVELS, Inside, Pending};
use crate::jobs::stacks::Seat;

/// A guard of an outermost join, loop or scope: while it exists, others find this stack's pending
/// work.
pub struct Within<'a> {
    pending: &'a Pending,
    around: Inside,
    seat: Option<Seat<'a>>,
}

/// Enters an outermost join, loop or scope. Returns `None` if the stack is within one already.
/// `pending` belongs to the stack on which this runs.
#[inline]
pub fn enter(pending: &Pending) -> Option<Within<'_>> {
    let around = pending.inside.get();
    if !matches!(around, Inside::Nothing | Inside::Handled(_)) {
        return None;
    }
    pending.inside.set(Inside::One(FIRST_LEVELS));
    if around != Inside::Nothing {
        // The stack has its seat already.
        return Some(Within { pending, around, seat: None });
    }
    let word = heartbeat::here();
    let is_outside = std::ptr::eq(word, &raw const heartbeat::OUTSIDE);
    if is_outside {
        forked::watch();
    }
    // Code that runs between fibers, or unwinds, cannot wait for a job that another thread has
    // taken.
    let could_wait = (is_outside || in_domain()) && !parker::is_unwinding();
    let seat = could_wait.then(|| word.stacks.enter(pending));
    if is_outside && let Some(shared) = started_default_runtime() {
        shared.wake_monitor();
    }
    Some(Within { pending, around, seat })
}

impl Drop for Within<'_> {
    #[inline]
    fn drop(&mut self) {
        drop(self.seat.take());
        self.pending.inside.set(self.around);
    }
}

/// Returns `true` if this runs in a fiber of a domain, and not on a plain thread.
#[inline]
pub fn in_domain() -> bool {
    parker::running().is_some()
}
