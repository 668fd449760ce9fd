//! Being within a join, a loop or a scope that is part of no other.

use super::default::started_default_runtime;
use crate::event::parker;
use crate::jobs::heartbeat;
use crate::jobs::pending::{FIRST_LEVELS, Inside, Pending};
use crate::jobs::stacks::Seat;

/// What runs on this stack is within a join, a loop or a scope, until this is dropped, and what it puts off is found by others.
pub struct Within<'a> {
    pending: &'a Pending,
    seat: Option<Seat<'a>>,
}

/// Begins what is part of no other. `None` if it is. `pending` is that of the stack on which this runs.
#[inline]
pub fn enter(pending: &Pending) -> Option<Within<'_>> {
    if pending.inside.get() != Inside::Nothing {
        return None;
    }
    pending.inside.set(Inside::One(FIRST_LEVELS));
    let word = heartbeat::here();
    let is_outside = std::ptr::eq(word, &raw const heartbeat::OUTSIDE);
    // What runs between fibers, or unwinds, cannot wait for what another has taken.
    let could_wait = (is_outside || in_domain()) && !parker::is_unwinding();
    let seat = could_wait.then(|| word.stacks.enter(pending));
    if is_outside && let Some(shared) = started_default_runtime() {
        shared.wake_monitor();
    }
    Some(Within { pending, seat })
}

impl Drop for Within<'_> {
    #[inline]
    fn drop(&mut self) {
        drop(self.seat.take());
        self.pending.inside.set(Inside::Nothing);
    }
}

/// Does this run in a domain, and not on a plain thread?
#[inline]
pub fn in_domain() -> bool {
    parker::running().is_some()
}
