//! The default runtime, as the scheduler sees it: it helps the threads that are no workers. `runtime/default.rs` starts it.

use super::shared::Shared;
use crate::shim::sync::{Arc, OnceLock};

static DEFAULT: OnceLock<Arc<Shared>> = OnceLock::new();

/// The default runtime, if it has been started.
pub fn started_default_runtime() -> Option<&'static Arc<Shared>> {
    DEFAULT.get()
}

/// Notes what the default runtime shares, once it has been started.
pub(crate) fn set(shared: &Arc<Shared>) -> &'static Arc<Shared> {
    DEFAULT.get_or_init(|| shared.clone())
}
