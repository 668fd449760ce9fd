//! The function of `std::hint` for loops that wait, for programs that may be checked.

use lisle_core::event::is_modelled;

/// Tells the processor that the caller waits in a loop, as [`std::hint::spin_loop`] does.
///
/// In a checked program it lets other fibers run, and the loop counts as a wait: if a round has
/// read the same values as the round before, the loop goes on only after another fiber has changed
/// one of them. The checker does not see `std::hint::spin_loop` itself: a loop with that hint, or
/// without any, is an execution without end.
///
/// # Panics
///
/// In a checked program, if it is called in [`no_suspend`](lisle::fiber::no_suspend()), where no
/// other fiber would run.
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
