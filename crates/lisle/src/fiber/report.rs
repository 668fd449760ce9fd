//! What happens to a panic that no joiner will see.

use super::host::Host;
use crate::event::Interrupted;
use std::any::Any;
use std::io::Write;

/// What a runtime does about a host that panics and whose handle is gone.
///
/// The panic hook has run by then, as for every panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PanicPolicy {
    /// Write a line to standard error: the host's name, where it was spawned, the message.
    #[default]
    Report,
    /// Nothing more.
    Ignore,
    /// Report, then end the process.
    Abort,
}

/// The message of a panic, if it is text, as almost all are.
pub(crate) fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(a value that is no text)")
}

/// Reports the panic of `host`, whose handle is gone.
#[cold]
pub(super) fn detached(host: &Host, panic: Box<dyn Any + Send>) {
    if panic.is::<Interrupted>() {
        return; // The end of its runtime, not a panic.
    }
    let policy = host.panic_policy;
    if policy != PanicPolicy::Ignore {
        // A closed standard error is no reason to panic again.
        let _ = writeln!(
            std::io::stderr(),
            "lisle: {} panicked and nobody joins it: {}",
            host.describe(),
            message(&*panic)
        );
    }
    if policy == PanicPolicy::Abort {
        std::process::abort();
    }
    // Dropping a payload runs the user's code; a second panic from there must not reach a worker.
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(panic))).is_err() {
        let _ = writeln!(std::io::stderr(), "lisle: dropping that panic's payload panicked as well");
    }
}
