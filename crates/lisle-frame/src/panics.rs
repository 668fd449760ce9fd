//! Panics of the user's code.

use crate::current::unsuspended;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops the payload of a panic. The drop may panic itself. In a frame it must not wait, like other code
/// of the user.
pub(crate) fn forget_panic(panic: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| unsuspended(|| drop(panic)))) {
        std::mem::forget(again);
    }
}

/// Returns the message of a panic.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a payload that is not text".into())
}
