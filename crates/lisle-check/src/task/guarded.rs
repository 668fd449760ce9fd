//! Calls of the program's own functions.
//!
//! *Invariant:* a panic of the program becomes a fault in the interpreter's result, and never
//! unwinds the interpreter. The called functions do not wait, so nothing else unwinds through them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Calls a function of the program. A panic becomes its message.
pub(super) fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, Arc<str>> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        text.unwrap_or_else(|| "with something that is no text".to_owned()).into()
    })
}
