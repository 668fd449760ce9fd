//! Ends the process and names the test when a test hangs. Otherwise a stop that waits for ever would hang the whole
//! run without a message.

use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Much longer than any test takes, also with sanitizers.
const LIMIT: Duration = Duration::from_secs(600);

/// The calling test is watched until this is dropped.
pub(crate) struct Watched(Option<(mpsc::Sender<()>, JoinHandle<()>)>);

/// Watches the calling test.
pub(crate) fn watched() -> Watched {
    let name = thread::current().name().unwrap_or("a test").to_owned();
    // `LISLE_HEAP_SECONDS` lets random programs run for longer.
    let limit = LIMIT + 2 * Duration::from_secs(crate::graphs::seconds());
    let (ended, has_ended) = mpsc::channel();
    let watcher = thread::spawn(move || {
        if has_ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            // Not by `eprintln`: the test would capture it.
            let _ = writeln!(std::io::stderr(), "{name} hangs");
            std::process::abort();
        }
    });
    Watched(Some((ended, watcher)))
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some((ended, watcher)) = self.0.take() {
            drop(ended);
            let _ = watcher.join();
        }
    }
}
