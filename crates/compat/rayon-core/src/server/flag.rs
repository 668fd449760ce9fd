//! The flag that says whether a queue has a server that has not begun.
//!
//! The code that adds a job raises the flag afterwards. A server lowers it when it begins, before it looks at the
//! queue. Both are read-modify-writes, and so in one order:
//!
//! - Code that adds a job and finds the flag lowered spawns a server, which sees the job.
//! - Code that finds the flag raised comes before the server that will lower it. That server sees the job.
//! - A server that leaves a job behind looks at the flag without an order. If it finds the flag raised, the flag was
//!   raised after this server has lowered it. The code that has added the job raises the flag as well, at some time:
//!   before the next server lowers it, and then that server sees the job, or after that, and then it spawns one.

use lisle_core::internal::shim::atomic::{AtomicBool, Ordering};

/// Whether a queue has a server that has not begun.
#[derive(Debug)]
pub(crate) struct ServerFlag(AtomicBool);

impl ServerFlag {
    pub(crate) fn new() -> Self {
        ServerFlag(AtomicBool::new(false))
    }

    /// Notes that a job was added. Returns `true` if the caller must spawn a server.
    #[inline]
    #[must_use]
    pub(crate) fn raise(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// Notes that the server has begun, or never will.
    pub(crate) fn lower(&self) {
        self.0.swap(false, Ordering::AcqRel);
    }

    /// Returns `true` if there seems to be none, so that a server that leaves jobs behind must see to another.
    #[inline]
    pub(crate) fn is_lowered(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}
