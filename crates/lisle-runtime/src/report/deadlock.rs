//! The end of a runtime none of whose fibers can ever go on.

use super::wait_graph::WaitGraph;
use crate::shim::sync::Arc;
use std::error::Error;
use std::fmt;

/// All fibers of a runtime waited, and nothing could wake one.
///
/// Its `Display` form tells who waited for what, and a cycle if there is one.
#[derive(Clone)]
pub struct Deadlock {
    pub(crate) graph: Arc<WaitGraph>,
}

impl Deadlock {
    /// Who waited for what.
    pub fn waiting(&self) -> &WaitGraph {
        &self.graph
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a deadlock: every fiber waits, and nothing can wake any\n{}", self.graph)
    }
}

impl fmt::Debug for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Deadlock({self})")
    }
}

impl Error for Deadlock {}
