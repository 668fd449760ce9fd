//! The functions of a runtime that this crate calls, if there is a runtime.
//!
//! The first runtime of a process sets them once, for all runtimes.

use std::sync::OnceLock;

/// The functions that a runtime provides for the code of this crate.
#[derive(Debug, Clone, Copy)]
pub struct Seam {
    /// Reports that foreign code panicked and that the panic was contained. Without a runtime the
    /// report goes to standard error.
    pub contained: fn(&str),
    /// Returns `true` if the calling code runs within a loop or a handled computation, which
    /// catches a panic and raises it again.
    pub is_raised_again: fn() -> bool,
}

static SEAM: OnceLock<Seam> = OnceLock::new();

/// Sets the functions to call from now on. Later calls have no effect.
#[inline]
pub fn set(seam: Seam) {
    SEAM.get_or_init(|| seam);
}

/// Reports that foreign code panicked and that the panic was contained.
#[cold]
pub(crate) fn contained(what: &str) {
    match SEAM.get() {
        Some(seam) => (seam.contained)(what),
        None => write(what),
    }
}

/// Returns `true` if the calling code runs within a loop or a handled computation.
#[cfg_attr(
    not(feature = "fibers"),
    expect(dead_code, reason = "without fibers nothing is unwound from where it waits")
)]
pub(crate) fn is_raised_again() -> bool {
    SEAM.get().is_some_and(|seam| (seam.is_raised_again)())
}

/// Writes a line to standard error in one call, which keeps the lines of several threads apart.
/// Unlike `eprintln!` it does not panic if standard error is closed.
pub fn write(what: &str) {
    use std::io::Write;
    drop(std::io::stderr().lock().write_all(format!("lisle: {what}\n").as_bytes()));
}
