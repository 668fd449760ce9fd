//! The notes of a domain between the times that it looks around, sleeps, gives way or answers.

use crate::event::adaptive_spin::AdaptiveSpin;
use std::cell::Cell;

/// The notes of a domain about its looks around and its sleeps.
#[derive(Default)]
pub(in crate::sched::worker) struct Idle {
    pub(in crate::sched::worker) spin: AdaptiveSpin,
    /// When the domain last looked at its sockets although it had work.
    pub(in crate::sched::worker) last_poll: Cell<u64>,
    /// How often it has slept.
    pub(in crate::sched::worker) sleeps: Cell<u64>,
}

/// How often fibers have asked in vain.
#[derive(Default)]
pub(in crate::sched::worker) struct InVain {
    /// The turn in which a fiber last asked in vain often enough to be looked into, and how often
    /// it did so before.
    pub(in crate::sched::worker) last: Cell<(u32, u32)>,
}

/// How many questions had been asked when a domain last answered.
#[derive(Default)]
pub(in crate::sched::worker) struct Answered(pub(in crate::sched::worker) Cell<u64>);
