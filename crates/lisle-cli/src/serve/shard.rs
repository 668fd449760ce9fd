//! What the fibers of one domain share: the ways to each other, and two signals.

use std::sync::Arc;
use std::time::Duration;

use lisle::channel::Sender;
use lisle::sync::Condition;

use super::files::Ask;
use super::http::request::HeadLimits;
use super::log::line::Record;
use crate::cli::Limits;

/// The limits that a connection looks at, in the form it needs them in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    pub(crate) head: HeadLimits,
    pub(crate) body: u64,
    pub(crate) idle: Duration,
    pub(crate) request: Duration,
    pub(crate) write: Duration,
}

impl From<&Limits> for ConnectionLimits {
    fn from(limits: &Limits) -> Self {
        ConnectionLimits {
            head: HeadLimits { line: limits.max_request_line, fields: limits.max_header_bytes },
            body: limits.max_body,
            idle: limits.idle_timeout,
            request: limits.header_timeout,
            write: limits.write_timeout,
        }
    }
}

/// One for each domain, so that the waiters of one domain stand in no queue with those of another.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) files: Sender<Ask>,
    pub(crate) records: Sender<Record>,
    pub(crate) limits: ConnectionLimits,
    /// Finish what you are doing and take nothing new.
    pub(crate) drain: Condition,
    /// Stop now.
    pub(crate) halt: Condition,
}

/// A shard as its users hold it.
pub(crate) type Shared = Arc<Shard>;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A shard without fibers, for what looks only at the limit on writing and at the signals.
    pub(crate) fn shard(write: Duration) -> Shard {
        let hour = Duration::from_secs(3600);
        Shard {
            files: lisle::channel::bounded(0).0,
            records: lisle::channel::bounded(0).0,
            limits: ConnectionLimits {
                head: HeadLimits { line: 1000, fields: 1000 },
                body: 1000,
                idle: hour,
                request: hour,
                write,
            },
            drain: Condition::new(),
            halt: Condition::new(),
        }
    }
}
