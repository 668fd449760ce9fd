//! The message about a fiber, or a computation handled in it, that overflows its stack.

use super::worker::{self, Worker};
use crate::spawned::handled;
use crate::spawned::this_stack::this_stack;
use crate::stack::overflow::decimal;

/// Describes the overflow of the stack on which this thread runs: the stack of the running fiber,
/// or of a computation that is handled in the fiber or in the thread. Returns `false`, and
/// describes nothing, if `fault` does not lie in a guard of these stacks. Called in a signal
/// handler: it only reads plain memory.
pub(crate) fn describe(fault: usize, out: &mut dyn FnMut(&[u8])) -> bool {
    let handled = handled::describe(this_stack().state(), fault, out);
    if handled.is_some() {
        out(b" in ");
    }
    let fiber = worker::with_current(|worker| describe_fiber(worker, fault, handled.is_some(), out));
    if handled.is_some() && fiber.is_none() {
        out(b"a thread that runs no fiber");
    }
    let Some(size) = handled.or(fiber) else { return false };
    let mut digits = [0; 20];
    out(b" overflowed its stack of ");
    out(decimal(size / 1024, &mut digits));
    out(b" KiB");
    true
}

/// Names the running fiber, if there is one and `fault` lies in its guard or `in_any_case`. Returns
/// the size of its stack.
fn describe_fiber(
    worker: Option<&Worker>,
    fault: usize,
    in_any_case: bool,
    out: &mut dyn FnMut(&[u8]),
) -> Option<usize> {
    let worker = worker?;
    let fiber = worker.current_fiber()?;
    // SAFETY: the running fiber is alive.
    let fiber = unsafe { fiber.as_ref() };
    // SAFETY: a fiber that runs has its stack, and its domain does not touch the stack meanwhile.
    let stack = unsafe { &*fiber.stack.get() };
    if !in_any_case && !stack.as_ref().is_some_and(|stack| stack.guard().contains(&fault)) {
        return None;
    }
    match fiber.name() {
        Some(name) => {
            out(b"fiber '");
            out(name.as_bytes());
            out(b"'");
        }
        None => out(b"a fiber"),
    }
    let mut digits = [0; 20];
    out(b" (spawned at ");
    out(fiber.site().file().as_bytes());
    out(b":");
    out(decimal(fiber.site().line() as usize, &mut digits));
    out(b")");
    Some(worker.shared().stack_size)
}
