//! How a loop is divided.

use std::panic::Location;

/// How a loop is divided, and on behalf of which call it runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plan {
    /// The number of steps between two checks whether another domain wants work. With `None`, the
    /// number is measured, so that the steps take some microseconds.
    pub(crate) grain: Option<std::num::NonZeroUsize>,
    /// Whether to divide by the number of steps and the grain alone. Then the order of all merges
    /// is the same on any number of domains.
    pub(crate) fixed: bool,
    /// The call on behalf of which the library runs the loop, if the library itself calls it.
    pub(crate) site: Option<&'static Location<'static>>,
}
