//! Panics that cannot be passed on to a caller: user code panics on a thread on which other code
//! relies.

use crate::seam;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops `unwanted`. If that panics, the panic payload is leaked and not dropped, because the
/// payload may itself have a destructor that panics.
#[inline]
pub fn forget_panic<T>(unwanted: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(unwanted))) {
        std::mem::forget(panic);
    }
}

/// Calls `f`. If it panics, reports this as "`who` has panicked", and returns.
pub fn told(who: &str, f: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
        seam::contained(&format!("{who} has panicked"));
        forget_panic(panic);
    }
}

/// Returns the message of a panic if it is text, as almost all are.
#[inline]
pub fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(a value that is no text)")
}
