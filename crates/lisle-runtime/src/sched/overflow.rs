//! The message about a fiber that overflows its stack.

use super::worker;
use crate::stack::overflow::decimal;

/// Describes the overflow of the running fiber's stack. Returns `false`, and describes nothing, if
/// `fault` does not lie in its guard. Called in a signal handler: it only reads plain memory.
pub(crate) fn describe(fault: usize, out: &mut dyn FnMut(&[u8])) -> bool {
    worker::with_current(|worker| {
        let Some(fiber) = worker.and_then(|worker| worker.current_fiber()) else { return false };
        // SAFETY: the running fiber is alive.
        let fiber = unsafe { fiber.as_ref() };
        // SAFETY: a fiber that runs has its stack, and its worker does not touch the stack
        // meanwhile.
        let stack = unsafe { &*fiber.stack.get() };
        if !stack.as_ref().is_some_and(|stack| stack.guard().contains(&fault)) {
            return false;
        }
        match &fiber.name {
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
        out(b") overflowed its stack of ");
        let size = worker.map_or(0, |worker| worker.shared().stack_size);
        out(decimal(size / 1024, &mut digits));
        out(b" KiB");
        true
    })
}
