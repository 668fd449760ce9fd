//! What `std::hint` has for loops that wait for others, for programs that are to be checked.

use lisle_core::event::is_modelled;

/// Tells the processor that the caller waits in a loop, as [`std::hint::spin_loop`] does.
///
/// In a checked program it lets others run, and the loop counts as one that waits: if it has read
/// the same as the time before, it does not go on before somebody changes any of that.
/// `std::hint::spin_loop` itself is not seen: a loop with that hint, or with none, is an execution
/// without end.
///
/// # Panics
///
/// In a checked program, if it is called in [`no_suspend`](lisle::fiber::no_suspend()), where
/// nobody else would run.
///
/// # Examples
///
/// ```
/// use lisle_check::atomic::{AtomicBool, Ordering::SeqCst};
/// use lisle_check::hint::spin_loop;
/// use std::sync::Arc;
///
/// lisle_check::check(|| {
///     let flag = Arc::new(AtomicBool::new(false));
///     let of_other = flag.clone();
///     drop(lisle::spawn(move || of_other.store(true, SeqCst)));
///     while !flag.load(SeqCst) {
///         spin_loop();
///     }
/// });
/// ```
#[inline]
#[track_caller]
pub fn spin_loop() {
    if is_modelled() {
        lisle::fiber::yield_now();
    } else {
        std::hint::spin_loop();
    }
}
