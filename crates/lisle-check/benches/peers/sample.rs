//! Taking a sample: the number of executions, their time, and whether a failure was found.

use lisle_core::internal::panics::message;
use std::panic;
use std::process::exit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How many executions have begun.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static START: OnceLock<Instant> = OnceLock::new();
/// The answer has been given.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Explores, and prints the result as a line of JSON. After `limit` seconds the exploration is
/// given up. A panic in it is its finding.
pub(crate) fn take(limit: u64, explore: impl FnOnce()) {
    START.get_or_init(Instant::now);
    panic::set_hook(Box::new(|info| {
        let message = message(info.payload());
        answer(Some(message), true, begun());
        exit(0);
    }));
    thread::spawn(move || {
        thread::sleep(Duration::from_secs(limit));
        answer(None, false, begun());
        exit(0);
    });
    explore();
    answer(None, true, begun());
}

/// Counts an execution. Each program begins with it.
pub(crate) fn begin() {
    BEGUN.fetch_add(1, Ordering::Relaxed);
}

/// Returns how many executions have begun.
pub(crate) fn begun() -> u64 {
    BEGUN.load(Ordering::Relaxed)
}

/// Prints the result of the exploration, unless that has been printed.
pub(crate) fn answer(found: Option<&str>, ended: bool, executions: u64) {
    if ANSWERED.swap(true, Ordering::Relaxed) {
        return;
    }
    let seconds = START.get().map_or(0.0, |start| start.elapsed().as_secs_f64());
    let found = found.map(|message| message.lines().next().unwrap_or_default());
    let line = serde_json::json!({
        "executions": executions, "seconds": seconds, "ended": ended, "found": found,
    });
    println!("{line}");
}
