//! Divergence: a step that does something else than before.

use std::error::Error;
use std::fmt;

use super::Process;

/// A step that did something else than in an earlier execution with the same steps before it.
///
/// An exploration needs programs that their schedule determines. Time, randomness and addresses
/// break this, if the program reads them without asking the checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The number of steps before it.
    pub step: usize,
    /// The process that took it, or had taken it.
    pub process: Process,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "step {} (process {}) did something else than in an earlier execution with the same steps before \
             it; look for time (`std::time::Instant`, for which `lisle::time::now` is there), randomness, \
             addresses or hash maps on which the program's actions depend",
            self.step, self.process.0
        )
    }
}

impl Error for Divergence {}
