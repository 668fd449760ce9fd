//! What a forked child does first, before any other code of the library runs there.
//!
//! The thread that has forked goes on in the child, and the other threads are not there. Stacks that
//! the others have registered are not looked at any more. If the thread is that of a domain, its
//! worker is to find out before it runs the next fiber: it compares the coarse clock after each turn,
//! so that is advanced.

use crate::event::tick;
use crate::fork::InChild;
use crate::jobs::heartbeat;

static FIRST: InChild = InChild::new(begin);

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
