//! The waits of operations that return an I/O error: they also end when their fiber is cancelled, or
//! when a deadline of the calls in progress has passed.
//!
//! For a cancel, a fiber waits in a choice between its event and `cancelled_evt`, which costs one
//! alternative. A deadline needs no alternative, since it disturbs the performer.

use crate::event::{Passed, choose_biased, described, sync_or_passed, turn};
use crate::fiber::Cancelled;
use crate::time::{DeadlinePassed, at};
use crate::{Event, choose};
use lisle_runtime::internal::cancelled_evt_for_io;
use std::io;
use std::time::Instant;

/// Waits for `event`.
///
/// # Errors
///
/// If the fiber has been cancelled or a deadline has passed. The event has not happened.
pub(crate) fn wait<E: Event>(event: E) -> io::Result<E::Output> {
    let Some(cancelled) = cancelled_evt_for_io() else { return in_time(&event).map_err(Into::into) };
    // Reports leave this alternative out, since each wait for a socket has it.
    let cancelled = described(cancelled, |_| ());
    match in_time(&choose_biased((event.wrap(Some), cancelled.wrap(|()| None))))? {
        Some(output) => Ok(output),
        None => {
            turn::came_to_nothing();
            Err(Cancelled.into())
        }
    }
}

/// Waits for `event`, at most until `deadline`. Returns `None` when the deadline has passed.
pub(crate) fn wait_until<E: Event>(event: E, deadline: Instant) -> io::Result<Option<E::Output>> {
    wait(choose((event.wrap(Some), at(deadline).wrap(|()| None))))
}

fn in_time<E: Event>(event: &E) -> Result<E::Output, DeadlinePassed> {
    sync_or_passed(event).map_err(|Passed| DeadlinePassed)
}

/// Returns `true` if the error says that the operation has ended because its fiber has been cancelled
/// or a deadline has passed. The next operation that waits will end in the same way.
pub(super) fn is_final(error: &io::Error) -> bool {
    Cancelled::is(error) || error.get_ref().is_some_and(|error| error.is::<DeadlinePassed>())
}
