//! A report of a descriptor that a fiber or thread waits for.

use std::fmt;
use std::os::fd::RawFd;

/// A descriptor that something waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Awaited {
    /// The number of the descriptor.
    pub fd: RawFd,
    /// `true` if the wait is for writing, `false` if it is for reading.
    pub to_write: bool,
    /// `true` if the operation would not block any more.
    pub is_ready: bool,
    /// The address of the descriptor, if it is a socket: `tcp 127.0.0.1:80 -> 127.0.0.1:40000`.
    pub address: Option<String>,
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fd {}", self.fd)?;
        if let Some(address) = &self.address {
            write!(f, ", {address}")?;
        }
        f.write_str(if self.to_write { " (to write)" } else { " (to read)" })
    }
}
