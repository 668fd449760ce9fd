//! The reactor with which a descriptor is registered: the domain's, or the process-wide one of all
//! other threads.

use super::{Driver, Reactor};
use crate::own_threads;
use crate::shim::atomic::{AtomicU64, Ordering};
use crate::shim::sync::{Arc, Mutex, MutexGuard};
use crate::threads;
use lisle_core::internal::fork::PerProcess;
use std::cell::RefCell;
use std::io;
use std::mem::ManuallyDrop;

thread_local! {
    /// It has no destructor: a runtime may be run while the locals of its thread are destroyed.
    static CURRENT: RefCell<Option<ManuallyDrop<Arc<Reactor>>>> = const { RefCell::new(None) };
}

/// Makes `reactor` the one of this thread. A domain calls it when it starts, and with `None` when
/// it ends.
pub fn set_current(reactor: Option<Arc<Reactor>>) {
    let before = CURRENT.replace(reactor.map(ManuallyDrop::new));
    drop(before.map(ManuallyDrop::into_inner));
}

/// Returns the reactor of this thread's domain; on any other thread, the process-wide one.
///
/// # Errors
///
/// Returns an error if the process-wide reactor had to be started, and the system is out of
/// descriptors, memory or threads.
pub fn current() -> io::Result<Arc<Reactor>> {
    match CURRENT.with_borrow(|current| current.as_deref().cloned()) {
        Some(reactor) => Ok(reactor),
        None => process_wide(),
    }
}

/// The process's reactor, which belongs to no domain.
#[derive(Default)]
struct OfProcess {
    reactor: Mutex<Option<Arc<Reactor>>>,
    /// Counts each time that the thread of the reactor begins, and ends, to hand readiness out.
    steps: AtomicU64,
}

static SHARED: PerProcess<OfProcess> = PerProcess::new(OfProcess::default);

impl OfProcess {
    fn reactor(&self) -> MutexGuard<'_, Option<Arc<Reactor>>> {
        self.reactor.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Returns how much the thread of the process-wide reactor has done; `None` while it does
/// something, or if something is registered there.
pub(crate) fn stillness() -> Option<u64> {
    let Some(shared) = SHARED.made() else { return Some(0) };
    let is_empty = shared.reactor().as_ref().is_none_or(|reactor| reactor.is_empty());
    let steps = shared.steps.load(Ordering::SeqCst);
    (is_empty && steps.is_multiple_of(2)).then_some(steps)
}

/// Returns the reactor of plain OS threads and of futures on foreign executors. It has a thread of
/// its own.
fn process_wide() -> io::Result<Arc<Reactor>> {
    let of_process = SHARED.get();
    let mut shared = of_process.reactor();
    if let Some(reactor) = &*shared {
        return Ok(reactor.clone());
    }
    let (reactor, driver) = Reactor::new()?;
    let drive = || drive(driver, &of_process.steps);
    threads::start("lisle-io", "sockets outside a runtime", drive)?;
    Ok(shared.insert(reactor).clone())
}

fn drive(mut driver: Driver, steps: &AtomicU64) {
    let _enlisted = own_threads::enlist(own_threads::Owner::Everybody);
    let step = || {
        steps.fetch_add(1, Ordering::SeqCst);
    };
    loop {
        driver.wait_then(None, step).expect("a reactor's own descriptors work");
        step();
    }
}
