//! Who runs a job, and what ends with it.

/// The code that runs a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    /// The code that waits for it, which need not be woken.
    Owner,
    /// Other code.
    Other,
}

/// What ends with a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The job alone.
    Job,
    /// All jobs of its owner. Unless the owner has run this one, it has been woken.
    Scope,
}
