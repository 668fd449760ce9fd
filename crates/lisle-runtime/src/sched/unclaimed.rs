//! What happens to a panic that no joiner will see.

use super::worker;
use crate::event::parker;
use crate::report::nobody_joins;
use crate::spawned::head;
use crate::spawned::scope_state::ScopeState;
use crate::spawned::task_cell;
use std::any::Any;
use std::panic::Location;
use std::ptr::NonNull;

/// Reports the panic of a fiber or task whose handle is gone, as the runtime of this thread's
/// worker prescribes.
#[cold]
pub(crate) fn unclaimed(who: String, site: &'static Location<'static>, panic: Box<dyn Any + Send>) {
    let policy = worker::with_current(|worker| worker.map(|worker| worker.shared().panic_policy));
    nobody_joins(who, None, site, policy.unwrap_or_default(), panic);
}

/// Reports the panic of a task whose handle is gone, or notes it in the task's scope.
#[cold]
pub(crate) fn of_task(
    panic: Box<dyn Any + Send>,
    scope: Option<NonNull<ScopeState>>,
    site: &'static Location<'static>,
) {
    // The payload may have a destructor that waits.
    let _masked = parker::masked();
    if let Some(panic) = head::note(scope, panic) {
        unclaimed(task_cell::describe(site), site, panic);
    }
}
