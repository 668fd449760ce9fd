//! A program that does not do the same again.

use std::error::Error;
use std::fmt;

use super::Process;

/// A step that did not do what it had done in an earlier execution after the same steps.
///
/// Exploration rests on the program's being determined by its schedule. What is not is time,
/// randomness and addresses that the program reads without asking the checker.
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
