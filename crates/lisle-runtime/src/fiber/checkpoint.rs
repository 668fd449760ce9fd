//! Checkpoints, where a fiber that computes lets others pass.

use crate::event::turn;
use crate::sched::worker::way;
use std::panic::Location;

/// Lets others of this domain have a turn if they are due one: for loops that compute for long.
///
/// A fiber is not interrupted. One that computes keeps its domain, with its timers and sockets, to
/// itself, until it waits or calls this. The call may be in an inner loop: it looks at one byte.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// fn collatz(mut n: u64) -> u64 {
///     let mut steps = 0;
///     while n != 1 {
///         lisle::fiber::checkpoint();
///         n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
///         steps += 1;
///     }
///     steps
/// }
/// assert_eq!(lisle::run(|| collatz(27)), 111);
/// ```
///
/// # When it lets others pass
///
/// Every 10 ms the monitor of the runtime marks each domain. The first checkpoint after that
/// handles what other threads have handed over, timers that are due, and sockets, and looks whether
/// the runtime shuts down. If then a fiber or task is ready, or is to be unwound, the fiber goes to
/// the end of the queue, as by [`yield_now`](super::yield_now()). Else it goes on. So a fiber that
/// often calls this keeps the domain for some 10 ms at a time while others want it. Operations that
/// need not wait also look at the mark; with such operations in between it may be up to 20 ms. At a
/// shutdown the others end. The fiber itself, as after `yield_now`, ends at its next wait.
///
/// It may suspend the fiber, so the rules for locks of the standard library and for thread-locals
/// that are held across a wait (see [there](crate::fiber#soundness)) apply to it as well.
///
/// # Where it runs
///
/// - In a *task* it suspends the stack on which the task runs, as waiting in place does: the
///   spawner's stack, during the first turn. Awaiting [`task::yield_now`](crate::task::yield_now)
///   does not.
/// - In *loops, joins and jobs* (`par`) it does the same for the fiber whose stack they run on.
///   These let others pass by themselves between their steps.
/// - On a *plain thread*, which the system interrupts, and in a future on a foreign executor it
///   does nothing.
/// - In a function given to a [`Source`](crate::event::Source), which runs under its lock, it does
///   nothing, since the fiber cannot be suspended there.
///
/// # Panics
///
/// In [`no_suspend`](super::no_suspend()), if there is something to let pass.
///
/// # Cost
///
/// A load and a branch, which is predicted, and a tenth of a microsecond every 10 ms.
#[inline(always)]
#[track_caller]
pub fn checkpoint() {
    crate::event::visible();
    if turn::is_due() {
        way::checkpoint(Location::caller());
    }
}
