//! Panics that nobody can be given: of code of the user's that runs where others rely on whoever runs it.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops what nobody will ask for. If that panics, the panic is forgotten, and not even dropped: its payload may have a
/// destructor that panics, too.
pub(crate) fn forget_panic<T>(unwanted: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(unwanted))) {
        std::mem::forget(panic);
    }
}

/// Calls `f`. If it panics that is [reported](crate::report), in the words `who` and "has panicked", and it does not go on
/// here.
pub(crate) fn told(who: &str, f: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
        // In a model nothing panics.
        #[cfg(not(lisle_loom))]
        crate::report::contained(&format!("{who} has panicked"));
        #[cfg(lisle_loom)]
        let _ = who;
        forget_panic(panic);
    }
}
