//! The functions that the atomics and cells of a checked program call.
//!
//! Outside of checks this is one look at a count that does not change then. Within a check, an
//! operation first lets other fibers run, and then asks the model for the value that it reads. If
//! the model cannot go on, because it does not allow this value or because of a race, the fiber
//! gives way once more, and is unwound with all others.

use super::bridge;
use super::memory::{Access, CellAccess, Done, Operation};
use lisle_core::event::{visible, visible_on};
use lisle_core::internal::shim::model::{Touch, touched};
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of threads that run checks.
static CHECKS: AtomicUsize = AtomicUsize::new(0);

/// Notes that a check begins on this thread.
pub(super) fn begin() {
    CHECKS.fetch_add(1, Ordering::Relaxed);
}

/// Notes that it ends.
pub(super) fn end() {
    CHECKS.fetch_sub(1, Ordering::Relaxed);
}

/// Returns `true` if some thread runs a check.
#[inline(always)]
pub(crate) fn is_checking() -> bool {
    CHECKS.load(Ordering::Relaxed) != 0
}

/// The orders of an operation on an atomic, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) order: Ordering,
    /// The order of an exchange that fails.
    pub(crate) otherwise: Ordering,
    /// The exchange may fail without a reason.
    pub(crate) may_fail: bool,
    pub(crate) site: &'static Location<'static>,
}

/// Lets a checked program perform an operation on an atomic, whose value `value` returns. Returns
/// `None` outside of a check. It is inlined, since a return after a switch is mispredicted.
#[inline(always)]
pub(crate) fn perform<T>(
    atomic: &T,
    value: impl FnOnce() -> u64,
    asked: Asked,
    access: Access<'_>,
) -> Option<Done> {
    visible_on(atomic);
    let address = std::ptr::from_ref(atomic).addr();
    let Asked { order, otherwise, may_fail, site } = asked;
    let done = bridge::in_step(|bridge, process| {
        let value = value();
        let operation = Operation { process: process.0, address, value, order, otherwise, may_fail, site };
        (bridge.access(operation, access), bridge.memory().is_over())
    });
    let (done, is_over) = done?;
    if is_over {
        visible();
    }
    Some(done)
}

/// Notes that an atomic is gone, and that another one may come to its place.
pub(crate) fn is_gone<T>(atomic: &T) {
    touched(std::ptr::from_ref(atomic).addr(), Touch::Gone);
}

/// Lets a checked program perform a fence.
pub(crate) fn fence(order: Ordering, site: &'static Location<'static>) {
    bridge::in_step(|bridge, process| bridge.fence(process, order, site));
}

/// Returns a name for a cell that a checked program makes, or zero.
pub(crate) fn make_cell(site: &'static Location<'static>) -> u64 {
    bridge::in_step(|bridge, process| bridge.make_cell(process, site)).unwrap_or(0)
}

/// Notes that a checked program accesses a cell.
///
/// # Panics
///
/// If the access races, and the fiber can be unwound in no other way.
pub(crate) fn access_cell(
    name: u64,
    address: usize,
    access: CellAccess,
    site: Option<&'static Location<'static>>,
) {
    let is_over = bridge::in_step(|bridge, process| {
        bridge.access_cell(process, (name, address), access, site);
        bridge.memory().is_over()
    });
    // A drop does not panic: its fiber may be unwinding.
    if is_over == Some(true) && access != CellAccess::Dropped {
        visible();
        panic!("a data race, where the fiber cannot be suspended");
    }
}
