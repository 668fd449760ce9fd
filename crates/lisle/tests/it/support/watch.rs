//! Ends the process and names the test when a test hangs. Otherwise a lost wake would hang the
//! whole run without a message.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{LazyLock, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// Much longer than any test takes, also with sanitizers.
const LIMIT: Duration = Duration::from_secs(600);

static RUNNING: LazyLock<Mutex<HashMap<ThreadId, (String, Instant)>>> = LazyLock::new(|| {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            for (name, since) in RUNNING.lock().unwrap().values() {
                if since.elapsed() > LIMIT {
                    // Not by `eprintln`: the test that began the thread would capture it.
                    let _ = writeln!(std::io::stderr(), "{name} hangs");
                    std::process::abort();
                }
            }
        }
    });
    Mutex::default()
});

/// The calling test is watched until this is dropped.
pub(crate) struct Watched(ThreadId);

/// Watches the calling test.
pub(crate) fn watched() -> Watched {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test").to_owned();
    RUNNING.lock().unwrap().insert(thread.id(), (name, Instant::now()));
    Watched(thread.id())
}

impl Drop for Watched {
    fn drop(&mut self) {
        RUNNING.lock().unwrap().remove(&self.0);
    }
}
