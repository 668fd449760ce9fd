//! The report that no fiber of a runtime can ever go on.

use super::wait_graph::WaitGraph;
use crate::shim::sync::Arc;
use std::error::Error;
use std::fmt;

/// A state in which all fibers of a runtime waited, and nothing could wake one.
///
/// Its `Display` form lists the waits, and a cycle if there is one.
#[derive(Clone)]
pub struct Deadlock {
    pub(crate) graph: Arc<WaitGraph>,
}

impl Deadlock {
    /// Returns the wait graph.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lisle_runtime::facade as lisle;
    /// let outcome = lisle::Runtime::builder().domains(1).closed_world(true).try_run(|| {
    ///     let (_tx, rx) = lisle::channel::<u32>();
    ///     rx.recv() // nobody sends
    /// });
    /// let deadlock = outcome.unwrap_err();
    /// let waits = &deadlock.waiting().fibers[0].waits[0];
    /// assert_eq!(waits.operation, "receive from");
    /// ```
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
