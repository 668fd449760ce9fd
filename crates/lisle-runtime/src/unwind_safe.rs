//! The types that are unwind safe. `lisle-core` gives the reasons.

use crate::fiber::{CancelledEvt, JoinHandle, Scope};
use crate::runtime::{Builder, DomainThread, Handle, Runtime};
use crate::sched::reactor::Registration;
use crate::task::{AsyncRecv, Prepared, Race, Reified, Reify, Start, TaskHandle};
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Gives both traits to types whatever their parameters are.
macro_rules! always_whole {
    ($([$($parameters:tt)*] $type:ty;)*) => {
        $(
            impl<$($parameters)*> UnwindSafe for $type {}
            impl<$($parameters)*> RefUnwindSafe for $type {}
        )*
    };
}

// A handle leads to a scheduler, which runs the user's code under none of its locks. The hooks and
// handlers of a runtime run on its own threads; a hook that panics ends the process.
always_whole! {
    [] Handle;
    [] Runtime;
    [] Builder;
    [] DomainThread;
    [] CancelledEvt;
    [] Registration;
}

// A result is written when its computation has ended, and is taken out whole. The computation's own
// panic is caught and told.
always_whole! {
    [T] JoinHandle<T>;
    [T] TaskHandle<T>;
    [T] Race<T>;
    [T] Start<'_, T>;
    [T] Reified<T>;
    [T: Send + 'static] AsyncRecv<T>;
}
impl<T, F: UnwindSafe> UnwindSafe for Reify<T, F> {}
impl<T, F: RefUnwindSafe> RefUnwindSafe for Reify<T, F> {}
impl<T: UnwindSafe> UnwindSafe for Prepared<T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for Prepared<T> {}

// Only references to a scope are given out, as by `std::thread::scope`.
impl RefUnwindSafe for Scope<'_, '_> {}
