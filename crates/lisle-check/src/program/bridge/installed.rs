//! The bridge of this thread, for code that has no reference to it.

use super::Bridge;
use crate::explore::Process;
use crate::program::shared;
use lisle_core::internal::shim::model::{Touch, set_report};
use std::any::Any;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::rc::Rc;

thread_local! {
    /// [`Installed`] takes it out: without a destructor, an access does not check whether the
    /// destructor has run.
    static CURRENT: RefCell<Option<ManuallyDrop<Rc<Bridge>>>> = const { RefCell::new(None) };
}

impl Bridge {
    /// Makes the library report to this bridge on this thread, until the guard is dropped.
    pub(in crate::program) fn install(self: &Rc<Self>) -> Installed {
        let before = CURRENT.replace(Some(ManuallyDrop::new(self.clone())));
        drop(before.map(ManuallyDrop::into_inner));
        set_report(Some(touched));
        shared::begin();
        Installed
    }
}

/// Returns the bridge of this thread. A count costs less than a look by a closure, which is not
/// inlined.
#[inline(always)]
fn current() -> Option<Rc<Bridge>> {
    CURRENT.with_borrow(|bridge| bridge.as_deref().cloned())
}

fn touched(address: usize, touch: Touch) {
    if let Some(bridge) = current() {
        bridge.touched(address, touch);
    }
}

/// Calls `f` with the bridge of this thread and the process whose code runs, if a step of an
/// execution is in progress.
#[inline(always)]
pub(in crate::program) fn in_step<R>(f: impl FnOnce(&Bridge, Process) -> R) -> Option<R> {
    let bridge = current().filter(|bridge| bridge.in_step.get())?;
    Some(f(&bridge, bridge.running.get()?))
}

/// Returns `true` if the execution of this thread is being unwound.
pub(in crate::program) fn is_unwinding() -> bool {
    current().is_some_and(|bridge| bridge.is_unwinding.get())
}

/// Returns the reason why the execution of this thread is being unwound, if it is.
pub(in crate::program) fn why_unwound() -> Option<&'static str> {
    let bridge = current().filter(|bridge| bridge.is_unwinding.get())?;
    Some(if bridge.is_blocked.get() { "nothing could go on" } else { "it was given up" })
}

/// Gives the program's result to the execution of this thread.
pub(in crate::program) fn leave(result: Box<dyn Any + Send>) {
    let bridge = current().expect("an execution runs here");
    drop(bridge.result.replace(Some(result)));
}

/// Notes a panic of the step in progress, if this execution is recorded.
pub(in crate::program) fn panicked(message: impl FnOnce() -> String, site: Option<&Location<'_>>) {
    if let Some(bridge) = current() {
        bridge.note(|recorder| recorder.panicked(message(), site));
    }
}

/// Ends the reports of the library when it is dropped.
pub(in crate::program) struct Installed;

impl Drop for Installed {
    fn drop(&mut self) {
        shared::end();
        set_report(None);
        drop(CURRENT.take().map(ManuallyDrop::into_inner));
    }
}
