//! What happens to a panic that no joiner will see.

use crate::report::nobody_joins;
use crate::sched::worker;
use std::any::Any;
use std::panic::Location;

/// Reports the panic of a fiber or task whose handle is gone, as the runtime of this thread's
/// worker prescribes.
#[cold]
pub(crate) fn unclaimed(who: String, site: &'static Location<'static>, panic: Box<dyn Any + Send>) {
    let policy = worker::with_current(|worker| worker.map(|worker| worker.shared().panic_policy));
    nobody_joins(who, None, site, policy.unwrap_or_default(), panic);
}
