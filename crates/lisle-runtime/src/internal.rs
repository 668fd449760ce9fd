//! The items that the crates above this one use and that programs do not.
//!
//! They have conditions that their signatures do not state, so a program that calls them has none of
//! the guarantees of safe code. They change without notice.
//!
//! A name stands here only if another crate uses it. Everything else that is not for users is private
//! to this crate.

/// The runtime's part of effects, for `lisle-effect`.
#[cfg(not(lisle_loom))]
pub mod handled {
    pub use crate::handled::{Answering, Entry, Home, Link, Taken, can_give, give, take, wait, wait_no_more};
}

/// Executions in schedules of a model's choice, for `lisle-check`.
#[cfg(all(feature = "model", not(lisle_loom)))]
pub mod model {
    pub use crate::model::{
        Again, Armed, Ended, Executions, Explorer, Nature, Time, assert_no_domain, executions, grouped,
        on_overflow, processor_time,
    };
}

/// Waiting for the system's descriptors, for the sockets and pipes of `lisle`.
#[cfg(not(lisle_loom))]
pub mod reactor {
    pub use crate::sched::reactor::{
        Ask, Direction, Driver, Reactor, Registration, Terms, Wakes, address, current, set_current,
    };
}

#[cfg(not(lisle_loom))]
pub use crate::descriptor::set_nonblocking;
#[cfg(not(lisle_loom))]
pub use crate::fiber::cancel::cancelled_evt_for_io;
pub use crate::jobs::{heartbeat, job, pending};
// For the models of `lisle-par`.
pub use crate::jobs::{offers, stacks};
#[cfg(not(lisle_loom))]
pub use crate::loops::{modelled, owner};
#[cfg(not(lisle_loom))]
pub use crate::report::no_thread;
#[cfg(not(lisle_loom))]
pub use crate::sched::{
    default::started_default_runtime,
    sharing::PERIOD,
    within,
    worker::{way, with_current},
};
#[cfg(not(lisle_loom))]
pub use crate::signals::{Caught, names};
pub use crate::spawned::cell;
#[cfg(not(lisle_loom))]
pub use crate::spawned::{stack_state, this_stack};
