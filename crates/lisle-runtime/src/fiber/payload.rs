//! The payload of a panic that has ended a fiber, until somebody takes it.

use crate::panics;
use std::any::Any;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// A payload that is taken out whole. Through a shared reference only its message can be read, if
/// it has one, so that an error that holds it may be shared: as `Box<dyn Error + Send + Sync>`, in
/// which most programs keep errors.
pub(super) struct Payload(Box<dyn Any + Send>);

// SAFETY: `message` is all that a shared reference allows. It asks the payload for its type, which
// is a property of the pointer, and reads it only if that is `&str` or `String`, both of which are
// `Sync`.
unsafe impl Sync for Payload {}

// It has left its computation by a panic, so it has been seen on both sides of one.
impl UnwindSafe for Payload {}
impl RefUnwindSafe for Payload {}

impl Payload {
    pub(super) fn new(panic: Box<dyn Any + Send>) -> Self {
        Payload(panic)
    }

    pub(super) fn message(&self) -> &str {
        panics::message(&*self.0)
    }

    pub(super) fn into_inner(self) -> Box<dyn Any + Send> {
        self.0
    }
}
