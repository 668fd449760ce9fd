//! What a runtime tells this crate: functions that it calls upwards, where there is a runtime.
//!
//! They are set once, by the first runtime of a process, and are the same for all.

use std::sync::OnceLock;

/// What a runtime does for the code of this crate.
#[derive(Debug, Clone, Copy)]
pub struct Seam {
    /// Reports that foreign code has panicked and been contained. Without a runtime it is written to standard error.
    pub contained: fn(&str),
    /// Returns `true` if the code that runs here does so within a loop, which catches a panic and raises it again.
    pub is_in_loop: fn() -> bool,
}

static SEAM: OnceLock<Seam> = OnceLock::new();

/// Sets what is called from here on. Later calls change nothing.
#[inline]
pub fn set(seam: Seam) {
    SEAM.get_or_init(|| seam);
}

/// Reports that foreign code has panicked and been contained.
#[cold]
pub(crate) fn contained(what: &str) {
    match SEAM.get() {
        Some(seam) => (seam.contained)(what),
        None => write(what),
    }
}

/// Returns `true` if the code that runs here does so within a loop.
#[cfg_attr(
    not(feature = "fibers"),
    expect(dead_code, reason = "without fibers nothing is unwound from where it waits")
)]
pub(crate) fn is_in_loop() -> bool {
    SEAM.get().is_some_and(|seam| (seam.is_in_loop)())
}

/// Writes a line to standard error, at once, so that what several threads write stays apart. Unlike `eprintln!` it does not
/// panic if standard error is closed.
pub fn write(what: &str) {
    use std::io::Write;
    drop(std::io::stderr().lock().write_all(format!("lisle: {what}\n").as_bytes()));
}
