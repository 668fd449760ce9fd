//! Ends the process, with a message, where continuing would break memory safety.

use std::fmt::Display;
use std::io::Write;

/// Writes `why` to standard error and aborts the process.
#[cold]
pub fn process(why: impl Display) -> ! {
    // `eprintln!` is not used: a test captures its output for a report, which would never be
    // printed.
    let _ = writeln!(std::io::stderr(), "lisle: {why}. Ending the process.");
    std::process::abort()
}

/// Calls `f` and ends the process if `f` unwinds.
#[inline]
pub fn if_it_unwinds<R>(why: impl Display, f: impl FnOnce() -> R) -> R {
    struct Unwinding<W: Display>(W);
    impl<W: Display> Drop for Unwinding<W> {
        fn drop(&mut self) {
            process(&self.0);
        }
    }
    let unwinding = Unwinding(why);
    let result = f();
    std::mem::forget(unwinding);
    result
}
