//! The access log and the counting of what was served: a scribe for each domain, one output for all.

pub(crate) mod line;
pub(crate) mod output;
pub(crate) mod scribe;
