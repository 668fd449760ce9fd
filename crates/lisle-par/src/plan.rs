//! How a loop is to be divided.

use std::panic::Location;

/// How a loop is to be divided, and what may stop it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plan {
    /// How many steps there are between two looks at whether anybody wants work; `None`: as many as take some microseconds, by
    /// measurement.
    pub(crate) grain: Option<std::num::NonZeroUsize>,
    /// Divide by the number of steps and the grain alone, so that the order of all merges is the same on any number of
    /// domains.
    pub(crate) fixed: bool,
    /// On behalf of what call, if the library calls the loop itself.
    pub(crate) site: Option<&'static Location<'static>>,
}
