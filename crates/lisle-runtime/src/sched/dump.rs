//! A thread that says who waits, each time that a signal comes.
//!
//! What a program is doing is most wanted when it does nothing, so no fiber is asked for it, nor a reactor: the thread reads a pipe into which
//! the signal's handler writes, and the standard library's way, which blocks. So the signal counts as nothing that could wake a fiber, either.

use super::shared::Shared;
use crate::own_threads;
use crate::report::{self, Report};
use crate::shim::sync::Arc;
use crate::signals::Caught;
use std::io::{self, Read};
use std::sync::Weak;

/// Begins to answer the signal. It ends when what is returned is dropped.
pub(crate) fn start(shared: &Arc<Shared>, signal: i32) -> io::Result<Caught> {
    let (caught, pipe) = Caught::new(signal)?;
    let weak = Arc::downgrade(shared);
    std::thread::Builder::new()
        .name(format!("{}-dump", shared.thread_name))
        .stack_size(256 * 1024)
        .spawn(move || serve(&weak, pipe))?;
    Ok(caught)
}

fn serve(weak: &Weak<Shared>, mut pipe: io::PipeReader) {
    let Some(number) = weak.upgrade().map(|shared| {
        report::set_current(shared.handler.clone());
        shared.number
    }) else {
        return;
    };
    let _enlisted = own_threads::enlist(own_threads::Owner::Runtime(number));
    // Several that have come by now are answered at once, as the system merges them, too.
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
