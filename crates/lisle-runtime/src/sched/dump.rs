//! A thread that reports a snapshot each time a signal comes.
//!
//! A report is wanted most when the program does nothing, so this needs no fiber and no reactor:
//! the thread makes a blocking read, with the standard library, of a pipe that the signal's handler
//! writes to. For the same reason the signal does not count as something that could wake a fiber.

use super::shared::Shared;
use crate::own_threads;
use crate::report::{self, Report};
use crate::shim::sync::Arc;
use crate::signals::Caught;
use crate::threads;
use std::io::{self, Read};
use std::sync::Weak;

/// Starts a thread that answers the signal. It ends when the returned value is dropped.
pub(crate) fn start(shared: &Arc<Shared>, signal: i32) -> io::Result<Caught> {
    let (caught, pipe) = Caught::new(signal)?;
    let weak = Arc::downgrade(shared);
    let builder = std::thread::Builder::new().name(format!("{}-dump", shared.thread_name));
    let serve = move || serve(&weak, pipe);
    threads::start_as(builder.stack_size(256 * 1024), "the signal at which a runtime reports", serve)?;
    Ok(caught)
}

fn serve(weak: &Weak<Shared>, mut pipe: io::PipeReader) {
    let Some(told) = weak.upgrade().map(|shared| (shared.handler.clone(), shared.number)) else { return };
    let _through = report::through(told.0);
    let _enlisted = own_threads::enlist(own_threads::Owner::Runtime(told.1));
    // The signals that have come by now are answered together. The system merges signals, too.
    let mut bytes = [0; 64];
    loop {
        match pipe.read(&mut bytes) {
            // The handler has gone.
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        let Some(shared) = weak.upgrade() else { return };
        shared.report(&Report::Waiting(shared.snapshot().graph));
    }
}
