//! Ctrl-C ends explorations without losing them.
//!
//! A handler cannot be removed without a trace, and the process may belong to others. So the
//! handler is installed when an exploration first asks for it, and decides by a flag. While
//! explorations ask for it, it notes the first SIGINT or SIGTERM, which ends them. At each later
//! signal, and at other times, it takes the default action.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};

/// The flags of the handler.
#[derive(Default)]
struct Flags {
    /// The signal has its default action.
    is_default: Arc<AtomicBool>,
    /// The signal that has arrived; zero if none has.
    arrived: Arc<AtomicUsize>,
}

static FLAGS: LazyLock<io::Result<Flags>> = LazyLock::new(|| {
    let flags = Flags { is_default: Arc::new(AtomicBool::new(true)), arrived: Arc::default() };
    for signal in [SIGINT, SIGTERM] {
        // In this order: the default action of the first signal must not see its own flag.
        flag::register_conditional_default(signal, flags.is_default.clone())?;
        flag::register_usize(signal, flags.arrived.clone(), signal as usize)?;
        flag::register(signal, flags.is_default.clone())?;
    }
    Ok(flags)
});

/// The number of explorations that are ended by a signal.
static ASKING: Mutex<usize> = Mutex::new(0);
static NONE_ASKS: Condvar = Condvar::new();

/// Catches the signals until it is dropped.
pub(super) struct Catching(());

impl Catching {
    /// Catches the first signal from now on. Returns `None` if one has been caught before, or none
    /// can be.
    pub(super) fn begin() -> Option<Self> {
        let flags = FLAGS.as_ref().ok()?;
        let mut asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
        if flags.arrived.load(SeqCst) != 0 {
            return None;
        }
        *asking += 1;
        flags.is_default.store(false, SeqCst);
        if flags.arrived.load(SeqCst) != 0 {
            // A signal has come in between: the next one ends the process.
            flags.is_default.store(true, SeqCst);
        }
        Some(Catching(()))
    }
}

impl Drop for Catching {
    fn drop(&mut self) {
        let mut asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
        *asking -= 1;
        if *asking == 0 {
            if let Ok(flags) = &*FLAGS {
                flags.is_default.store(true, SeqCst);
            }
            NONE_ASKS.notify_all();
        }
    }
}

/// Returns `true` if a signal has arrived that was caught.
pub(super) fn has_arrived() -> bool {
    arrived() != 0
}

fn arrived() -> usize {
    FLAGS.as_ref().map_or(0, |flags| flags.arrived.load(SeqCst))
}

/// Ends the process as the signal that was caught would have, once no exploration has anything to
/// save.
pub(super) fn end_process() {
    let mut asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    while *asking > 0 {
        asking = NONE_ASKS.wait(asking).unwrap_or_else(PoisonError::into_inner);
    }
    let _ = low_level::emulate_default_handler(arrived() as i32);
}
