//! The state of a domain about the loops in which it takes part.

use super::joining::Taken;
use crate::sched::sharing::LastBeat;
use std::cell::Cell;

/// The state of a domain about the loops in which it takes part.
#[derive(Default)]
pub(in crate::sched::worker) struct Jobs {
    /// A part of a loop that was taken from elsewhere and runs next.
    pub(in crate::sched::worker) taken: Cell<Option<Taken>>,
    /// Set once the domain has run something or looked for something to run.
    pub(in crate::sched::worker) has_arrived: Cell<bool>,
    /// The time at which a computation here last looked at the needs of others.
    pub(in crate::sched::worker) last_beat: LastBeat,
}
