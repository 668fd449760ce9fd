//! Panics that nobody can be given: of code of the user's that runs where others rely on whoever runs it.

use crate::seam;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops what nobody will ask for. If that panics, the panic is forgotten, and not even dropped: its payload may have a
/// destructor that panics, too.
#[inline]
pub fn forget_panic<T>(unwanted: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(unwanted))) {
        std::mem::forget(panic);
    }
}

/// Calls `f`. If it panics, this reports it in the words `who` and "has panicked", and returns.
pub fn told(who: &str, f: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
        seam::contained(&format!("{who} has panicked"));
        forget_panic(panic);
    }
}

/// The message of a panic, if it is text, as almost all are.
#[inline]
pub fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(a value that is no text)")
}
