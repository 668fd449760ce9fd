//! The data that the fibers of one domain share: the channels to each other, and two signals.

use std::sync::Arc;
use std::time::Duration;

use lisle::channel::Sender;
use lisle::sync::Condition;

use super::files::Ask;
use super::http::request::HeadLimits;
use super::log::line::Record;
use crate::cli::Limits;

/// The limits that a connection checks, in the form that it needs.
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

/// The shared data of one domain. There is one shard per domain, so waiters of different domains do
/// not share a queue.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) files: Sender<Ask>,
    pub(crate) records: Sender<Record>,
    pub(crate) limits: ConnectionLimits,
    /// Tells the connections to finish their current request and take no new one.
    pub(crate) drain: Condition,
    /// Tells the connections to stop now.
    pub(crate) halt: Condition,
}

/// A shard as its users hold it.
pub(crate) type Shared = Arc<Shard>;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Creates a shard without fibers, for code that uses only the limit on writing and the
    /// signals.
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
