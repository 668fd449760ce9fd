//! The default runtime as the scheduler sees it: it helps the threads that are no workers.
//! `runtime/default.rs` starts it.

use super::shared::Shared;
use crate::shim::sync::{Arc, OnceLock};

static DEFAULT: OnceLock<Arc<Shared>> = OnceLock::new();

/// Returns the default runtime, if it has been started.
pub fn started_default_runtime() -> Option<&'static Arc<Shared>> {
    DEFAULT.get()
}

/// Stores the state of the default runtime once that has been started, and returns it.
pub(crate) fn set(shared: &Arc<Shared>) -> &'static Arc<Shared> {
    DEFAULT.get_or_init(|| shared.clone())
}
