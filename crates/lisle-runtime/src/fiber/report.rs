//! What happens to a panic that no joiner will see.

use super::control::Fiber;
use crate::event::Interrupted;
use crate::panics;
use crate::report::{self, Report, Unjoined};
use crate::sched::worker;
use std::any::Any;
use std::panic::Location;

/// What a runtime does about a fiber or a task that panics and whose handle is gone.
///
/// The panic hook has run by then, as for every panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PanicPolicy {
    /// Report it, see [`Builder::on_report`](crate::Builder::on_report): the fiber's name, where it was spawned, the message.
    #[default]
    Report,
    /// Nothing more.
    Ignore,
    /// Report, then end the process.
    Abort,
}

/// Reports the panic of `fiber`, whose handle is gone.
#[cold]
pub(super) fn detached(fiber: &Fiber, panic: Box<dyn Any + Send>) {
    nobody_joins(fiber.describe(), fiber.name.as_deref(), fiber.site, fiber.panic_policy, panic);
}

/// Reports the panic of somebody whose handle is gone, as the runtime wants it whose worker this is.
#[cold]
pub(crate) fn unclaimed(who: String, site: &'static Location<'static>, panic: Box<dyn Any + Send>) {
    let policy = worker::with_current(|worker| worker.map(|worker| worker.shared().panic_policy));
    nobody_joins(who, None, site, policy.unwrap_or_default(), panic);
}

fn nobody_joins(
    who: String,
    name: Option<&str>,
    site: &'static Location<'static>,
    policy: PanicPolicy,
    panic: Box<dyn Any + Send>,
) {
    if panic.is::<Interrupted>() {
        return; // The end of its runtime, not a panic.
    }
    if policy != PanicPolicy::Ignore {
        report::here(&Report::Panic(Unjoined::new(who, name, site, panics::message(&*panic))));
    }
    if policy == PanicPolicy::Abort {
        std::process::abort();
    }
    // Dropping a payload runs the user's code; a second panic from there must not reach a worker.
    panics::told("the destructor of that panic's payload", || drop(panic));
}
