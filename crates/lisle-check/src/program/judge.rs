//! The judge of the results of complete executions.

use super::failure::What;
use crate::explore::Schedule;
use std::any::Any;

/// Looks at the results of the program. Workers of one exploration ask the same judge.
pub(super) trait Judge: Send + Sync {
    /// Returns the fault in a result, if there is one. `is_new` tells that the execution has not
    /// run before.
    fn judge(&self, result: Box<dyn Any + Send>, schedule: Schedule, is_new: bool) -> Option<What>;

    /// Learns that the exploration begins anew: earlier executions will run again.
    fn begin_anew(&self);
}
