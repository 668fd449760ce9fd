//! A panic that no joiner will see.

use super::{Report, here};
use crate::event::Interrupted;
use crate::panics;
use std::any::Any;
use std::panic::Location;

/// The treatment of a panic of a fiber or a task whose handle is gone.
///
/// The panic hook has run by then, as for every panic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PanicPolicy {
    /// Report the fiber's name, where it was spawned and the message, see
    /// [`Builder::on_report`](crate::Builder::on_report).
    #[default]
    Report,
    /// Do nothing more.
    Ignore,
    /// Report the panic, then end the process.
    Abort,
}

/// A panic that no joiner will see.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Unjoined {
    /// A description of the fiber or task, with its name and where it was spawned.
    pub who: String,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it was spawned.
    pub site: &'static Location<'static>,
    /// The message of the panic, if it has one.
    pub message: String,
}

impl Unjoined {
    pub(crate) fn new(
        who: String,
        name: Option<&str>,
        site: &'static Location<'static>,
        message: &str,
    ) -> Self {
        Unjoined { who, name: name.map(str::to_owned), site, message: message.to_owned() }
    }
}

/// Reports the panic of a fiber or task whose handle is gone, as `policy` says.
#[cold]
pub(crate) fn nobody_joins(
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
        here(&Report::Panic(Unjoined::new(who, name, site, panics::message(&*panic))));
    }
    if policy == PanicPolicy::Abort {
        std::process::abort();
    }
    // Dropping a payload runs the user's code. A panic there must not reach a domain.
    panics::told("the destructor of that panic's payload", || drop(panic));
}
