//! Which reactor a descriptor is registered with: that of the worker, or the process-wide one of
//! all other threads.

use super::{Driver, Reactor};
use crate::affinity;
use crate::own_threads;
use crate::shim::atomic::{AtomicU64, Ordering};
use crate::shim::sync::{Arc, Mutex, MutexGuard};
use std::cell::RefCell;
use std::io;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Reactor>>> = const { RefCell::new(None) };
}

/// Makes `reactor` the one of this thread. A worker calls it when it starts, and with `None` when
/// it ends.
pub fn set_current(reactor: Option<Arc<Reactor>>) {
    CURRENT.with(|current| *current.borrow_mut() = reactor);
}

/// Returns the reactor of this thread's worker; on any other thread, the process-wide one.
///
/// # Errors
///
/// Returns an error if the process-wide reactor had to be started, and the system is out of
/// descriptors, memory or threads.
pub fn current() -> io::Result<Arc<Reactor>> {
    // A thread that is ending may have dropped its own already.
    match CURRENT.try_with(|current| current.borrow().clone()) {
        Ok(Some(reactor)) => Ok(reactor),
        _ => process_wide(),
    }
}

static SHARED: Mutex<Option<Arc<Reactor>>> = Mutex::new(None);

/// Counts each time that the thread of the process-wide reactor begins, and ends, to hand readiness
/// out.
static STEPS: AtomicU64 = AtomicU64::new(0);

fn shared() -> MutexGuard<'static, Option<Arc<Reactor>>> {
    SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Returns how much the thread of the process-wide reactor has done; `None` while it does
/// something, or if something is registered there.
pub fn stillness() -> Option<u64> {
    let is_empty = shared().as_ref().is_none_or(|reactor| reactor.is_empty());
    let steps = STEPS.load(Ordering::SeqCst);
    (is_empty && steps.is_multiple_of(2)).then_some(steps)
}

/// Returns the reactor of plain OS threads and of futures on foreign executors. It has a thread of
/// its own.
fn process_wide() -> io::Result<Arc<Reactor>> {
    let mut shared = shared();
    if let Some(reactor) = &*shared {
        return Ok(reactor.clone());
    }
    let (reactor, driver) = Reactor::new()?;
    std::thread::Builder::new().name("lisle-io".into()).spawn(affinity::elsewhere(move || drive(driver)))?;
    Ok(shared.insert(reactor).clone())
}

fn drive(mut driver: Driver) {
    let _enlisted = own_threads::enlist(own_threads::Owner::Everybody);
    let step = || {
        STEPS.fetch_add(1, Ordering::SeqCst);
    };
    loop {
        driver.wait_then(None, step).expect("a reactor's own descriptors work");
        step();
    }
}
