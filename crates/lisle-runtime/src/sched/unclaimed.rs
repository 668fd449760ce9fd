//! Handles the panic of a task that no joiner will see.

use super::worker;
use crate::report::nobody_joins;
use crate::spawned::head;
use crate::spawned::scope_state::ScopeState;
use crate::spawned::task_cell;
use std::any::Any;
use std::panic::Location;
use std::ptr::NonNull;

/// Reports the panic of a task whose handle is gone, as the runtime of this thread's domain
/// prescribes.
#[cold]
pub(crate) fn report_task(panic: Box<dyn Any + Send>, site: &'static Location<'static>) {
    let policy = worker::with_current(|worker| worker.map(|worker| worker.shared().panic_policy));
    nobody_joins(task_cell::describe(site), None, site, policy.unwrap_or_default(), panic);
}

/// Notes the panic of a task whose handle is gone in the task's scope, or reports it.
#[cold]
pub(crate) fn of_task(
    panic: Box<dyn Any + Send>,
    scope: Option<NonNull<ScopeState>>,
    site: &'static Location<'static>,
) {
    head::note_or(scope, panic, |panic| report_task(panic, site));
}
