//! Where a fiber must not be suspended.

use crate::event::step::{self, Forbidden};
use crate::spawned::this_stack::this_stack;
use std::panic::Location;

/// Calls `f`, in which nothing may wait: whatever would suspend the fiber panics instead.
///
/// It is for code that trusts that calls on a thread end in the reverse order of their beginning: that sets a thread-local
/// and resets it afterwards, holds a guard that belongs to the thread, or is given a reference that it puts where others of the
/// thread find it. While a fiber is suspended others of its domain run on its thread, so such code is right only if it is
/// not, and here that is a promise.
///
/// ```
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
/// What is forbidden is to wait, not what could: an event that commits at once is performed, and so are
/// [`poll`](lisle_core::Event::poll) and the operations that try, which give no way to others in here, however often they fail.
/// A [`checkpoint`](super::checkpoint()) that has nobody to let pass does nothing.
///
/// The rule is the same wherever the code runs: in fibers, in tasks, where it is about waiting in place since an `await` does
/// not fit into a closure, and on plain threads and in futures on foreign executors. Those lose nothing by waiting, but code that is
/// right there only is found by its tests there. It is for what runs as a part of the call, so also for a task that
/// begins in it, up to its first `await` that waits. Others, on this thread or elsewhere, are not
/// concerned. It ends when `f` returns or panics, and may be nested.
///
/// Loops and joins of `par` run in it as they are written, without others taking part.
///
/// # Panics
///
/// With the panic of `f`. In it, with a message that names this call and what would have to be waited for: whatever waits;
/// [`yield_now`](super::yield_now); [`blocking`](super::blocking()), and starting a runtime, in any case; a
/// [`checkpoint`](super::checkpoint()) that would let others pass; a promise whose job another domain runs; and to spawn into a
/// [`scope`](super::scope()) that was opened in it, since that would wait at its end. What has panicked in this way has done
/// nothing: no message is lost.
///
/// ```should_panic
/// let (tx, rx) = lisle::channel::<u32>();
/// lisle::fiber::no_suspend(|| rx.recv()); // nobody sends
/// # drop(tx);
/// ```
///
/// # What it does not see
///
/// Calls that block the thread: a lock of the standard library, reading a file. They stop the domain, and suspend nobody.
#[track_caller]
pub fn no_suspend<R>(f: impl FnOnce() -> R) -> R {
    let _fence = this_stack().state().pending.fence();
    step::fenced(Forbidden { by: "`no_suspend`, called at", site: Location::caller() }, f)
}

/// Panics if nothing may wait here, since `what` would have to be done, whatever comes.
pub(crate) fn refuse(what: impl FnOnce() -> String) {
    if step::forbidden().is_some() {
        step::refuse(&what());
    }
}
