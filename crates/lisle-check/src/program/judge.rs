//! What is asked of the result of an execution that has come to its end.

use super::failure::What;
use crate::explore::Schedule;
use std::any::Any;

/// Looks at what the program has returned. Workers of one exploration ask the same judge.
pub(super) trait Judge: Send + Sync {
    /// Returns what is wrong with a result, if anything is. `is_new` tells that it is not that of
    /// an execution which was run before.
    fn judge(&self, result: Box<dyn Any + Send>, schedule: Schedule, is_new: bool) -> Option<What>;

    /// Is told that the exploration begins anew: what has been run will be run again.
    fn begin_anew(&self);
}
