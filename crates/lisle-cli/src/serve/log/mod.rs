//! The access log and the counts: one scribe per domain, and one output for all.

pub(crate) mod line;
pub(crate) mod output;
pub(crate) mod scribe;
