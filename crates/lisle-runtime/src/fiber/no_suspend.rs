//! Code in which a fiber must not be suspended.

use crate::event::step::{self, Forbidden};
use crate::event::visible;
use crate::spawned::this_stack::this_stack;
use std::panic::Location;

/// Calls `f`, in which nothing may wait: an operation that would suspend the fiber panics instead.
///
/// It is for code that relies on the calls of a thread ending in the reverse order of their
/// beginning: code that sets a thread-local and resets it afterwards, holds a guard that belongs to
/// the thread, or puts a borrowed reference where other code of the thread finds it. The
/// initializer of a `std::thread_local!` is such code, too: see
/// [*Soundness*](crate::fiber#soundness). While a fiber is suspended, others of its domain run on
/// its thread. So such code is correct only if it is not suspended, and this function guarantees
/// that.
///
/// ```
/// # use lisle_runtime::facade as lisle;
/// use std::cell::Cell;
///
/// thread_local! {
///     static DEPTH: Cell<u32> = const { Cell::new(0) };
/// }
///
/// fn deeper<R>(f: impl FnOnce() -> R) -> R {
///     DEPTH.set(DEPTH.get() + 1);
///     let result = lisle::fiber::no_suspend(f);
///     DEPTH.set(DEPTH.get() - 1);
///     result
/// }
/// assert_eq!(deeper(|| deeper(|| DEPTH.get())), 2);
/// ```
///
/// Waiting is forbidden, not the calls that might wait: an event that commits at once is performed.
/// [`poll`](lisle_core::Event::poll) and the operations that try also work, and do not let other
/// fibers run in here, however often they fail. A [`checkpoint`](super::checkpoint()) does nothing
/// if there is nothing to let pass.
///
/// The rule is the same wherever the code runs: in fibers; in tasks, where it concerns waiting in
/// place, since an `await` does not fit into a closure; on plain threads; and in futures on foreign
/// executors. On plain threads and in futures a wait does no harm, but there tests find code that
/// would be wrong in a fiber. The rule applies to all code that runs as a part of the call, so also
/// to a task that begins in it, up to its first `await` that waits. It does not apply to other
/// code, on this thread or elsewhere. It ends when `f` returns or panics, and calls may be nested.
///
/// Loops and joins of `par` run in it as they are written, without help from other domains.
///
/// # Panics
///
/// With the panic of `f`. Within `f`, the following panic with a message that names this call and
/// the wait: an operation that waits; [`yield_now`](super::yield_now);
/// [`blocking`](crate::blocking()), and starting a runtime, in any case; a
/// [`checkpoint`](super::checkpoint()) that would let others pass; a promise whose job another
/// domain runs; and spawning into a [`scope`](super::scope()) that was opened in `f`, since the
/// scope would wait at its end. An operation that has panicked in this way has done nothing: no
/// message is lost.
///
/// ```should_panic
/// # use lisle_runtime::facade as lisle;
/// let (tx, rx) = lisle::channel::<u32>();
/// lisle::fiber::no_suspend(|| rx.recv()); // no message comes
/// # drop(tx);
/// ```
///
/// # Limits
///
/// Calls that block the thread: a lock of the standard library, reading a file. They stop the
/// domain, and suspend no fiber.
#[track_caller]
pub fn no_suspend<R>(f: impl FnOnce() -> R) -> R {
    // A model runs `f` as one step with the code after it. It does not switch to others in `f`:
    // they would run on its thread, and `f` may rely on having its thread to itself.
    visible();
    let _fence = this_stack().state().pending.fence();
    step::fenced(Forbidden { by: "`no_suspend`, called at", site: Location::caller() }, f)
}

/// Panics if nothing may wait here. `what` is the operation, which would always wait.
pub(crate) fn refuse(what: impl FnOnce() -> String) {
    if step::forbidden().is_some() {
        step::refuse(&what());
    }
}
