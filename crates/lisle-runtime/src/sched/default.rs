//! The default runtime for the scheduler: it helps threads that run no domain.
//! `runtime/default.rs` starts it.

use super::shared::Shared;
use crate::fork::PerProcess;
use crate::shim::sync::{Arc, OnceLock};

/// The state of the default runtime of this process, once that has been started.
pub(crate) static DEFAULT: PerProcess<OnceLock<Arc<Shared>>> = PerProcess::new(OnceLock::new);

/// Returns the default runtime, if it has been started.
pub fn started_default_runtime() -> Option<&'static Arc<Shared>> {
    DEFAULT.made()?.get()
}
