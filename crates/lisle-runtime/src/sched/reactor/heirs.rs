//! The threads that go on for drivers whose own thread has ended, while descriptors are registered
//! with them.
//!
//! If the system refuses such a thread, the descriptors wait for one. It is asked for again when
//! another driver ends, and when a performer is about to wait for one of them.

use super::Engine;
use crate::report;
use crate::shim::atomic::{AtomicBool, Ordering};
use crate::shim::sync::{Arc, Mutex, MutexGuard};
use crate::threads;
use lisle_core::internal::fork::PerProcess;

/// The drivers that wait for a thread.
static LEFT: PerProcess<Mutex<Vec<Engine>>> = PerProcess::new(Mutex::default);

static HAS_TOLD: PerProcess<AtomicBool> = PerProcess::new(AtomicBool::default);

fn left() -> MutexGuard<'static, Vec<Engine>> {
    LEFT.get().lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Lets a thread of its own go on for a driver.
pub(super) fn inherit(engine: Engine) {
    left().push(engine);
    start();
}

/// Starts a thread for each driver that waits for one.
#[cold]
pub(super) fn start() {
    loop {
        let Some(engine) = left().pop() else { return };
        let reactor = engine.reactor.clone();
        reactor.has_no_heir.store(false, Ordering::Relaxed);
        // A thread that is refused drops its closure.
        let handed = Arc::new(Mutex::new(Some(engine)));
        let theirs = handed.clone();
        let started = threads::start("lisle-io", "sockets that outlive their runtime", move || {
            if let Some(engine) = take(&theirs) {
                serve(engine);
            }
        });
        if let Err(error) = started
            && let Some(engine) = take(&handed)
        {
            left().push(engine);
            reactor.has_no_heir.store(true, Ordering::Relaxed);
            let meanwhile = "they wait until one of them is waited for again, or another runtime ends";
            return report::no_thread(HAS_TOLD.get(), &error, meanwhile);
        }
    }
}

fn take(handed: &Mutex<Option<Engine>>) -> Option<Engine> {
    handed.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
}

fn serve(mut engine: Engine) {
    while engine.reactor.registrations.load(Ordering::SeqCst) > 0 {
        engine.wait(None, || ()).expect("a reactor's own descriptors work");
    }
}
