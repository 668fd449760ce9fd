//! Ends the process where to go on would break memory safety, and says why.

use std::fmt::Display;
use std::io::Write;

/// Ends the process.
#[cold]
pub fn process(why: impl Display) -> ! {
    // Not `eprintln!`: what that writes in a test is kept for a report that would never come.
    let _ = writeln!(std::io::stderr(), "lisle: {why}. Ending the process.");
    std::process::abort()
}

/// Calls `f`, and ends the process if that unwinds.
#[inline]
pub fn if_it_unwinds<R>(why: &'static str, f: impl FnOnce() -> R) -> R {
    struct Unwinding(&'static str);
    impl Drop for Unwinding {
        fn drop(&mut self) {
            process(self.0);
        }
    }
    let unwinding = Unwinding(why);
    let result = f();
    std::mem::forget(unwinding);
    result
}
