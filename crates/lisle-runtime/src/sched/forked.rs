//! The first steps of a forked child, before any other code of the library runs there.
//!
//! The thread that has forked goes on in the child, and the other threads are not there. No thread
//! looks any more at stacks that the others have registered. If the thread runs a domain, the domain
//! must notice the fork before it runs the next fiber: it compares the coarse clock after each turn,
//! so the clock is advanced.

use crate::event::tick;
use crate::fork::Handlers;
use crate::jobs::heartbeat;

static FIRST: Handlers = Handlers::in_child(begin);

/// Makes sure that children do it.
#[inline]
pub(super) fn watch() {
    FIRST.register();
}

/// Stores to atomics only, as is right in the child of a process with threads.
extern "C" fn begin() {
    heartbeat::OUTSIDE.forget_inherited();
    tick::advance();
}
