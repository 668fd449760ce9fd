//! Being within a join, a loop or a scope that is part of no other.

use super::heartbeat;
use super::owner;
use super::pending::{FIRST_LEVELS, Inside, Pending};
use super::stacks::Seat;
use crate::event::parker;
use crate::sched::runtime::started_default_runtime;

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
    let could_wait = (is_outside || owner::in_domain()) && !parker::is_unwinding();
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
