//! Which reactor a descriptor is registered with: the worker's, or the one of everybody else.

use super::{Driver, Reactor};
use crate::shim::sync::{Arc, Mutex};
use std::cell::RefCell;
use std::io;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Reactor>>> = const { RefCell::new(None) };
}

/// Makes `reactor` the one of this thread. A worker calls it when it starts, and with `None` when it ends.
pub(crate) fn set_current(reactor: Option<Arc<Reactor>>) {
    CURRENT.with(|current| *current.borrow_mut() = reactor);
}

/// The reactor of the worker that this thread is; on any other thread the process-wide one.
///
/// # Errors
///
/// The process-wide reactor had to be started, and the system is out of descriptors, memory or threads.
pub(crate) fn current() -> io::Result<Arc<Reactor>> {
    // A thread that is ending may have dropped its own already.
    match CURRENT.try_with(|current| current.borrow().clone()) {
        Ok(Some(reactor)) => Ok(reactor),
        _ => process_wide(),
    }
}

/// The reactor of plain OS threads and of futures on foreign executors, with a thread of its own.
fn process_wide() -> io::Result<Arc<Reactor>> {
    static SHARED: Mutex<Option<Arc<Reactor>>> = Mutex::new(None);
    let mut shared = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(reactor) = &*shared {
        return Ok(reactor.clone());
    }
    let (reactor, driver) = Reactor::new()?;
    std::thread::Builder::new().name("lisle-io".into()).spawn(move || drive(driver))?;
    Ok(shared.insert(reactor).clone())
}

fn drive(mut driver: Driver) {
    loop {
        driver.wait(None).expect("a reactor's own descriptors work");
    }
}
