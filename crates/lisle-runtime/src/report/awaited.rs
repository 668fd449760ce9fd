//! A descriptor that somebody waits for, as it is told.

use std::fmt;
use std::os::fd::RawFd;

/// A descriptor that somebody waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Awaited {
    /// Its number.
    pub fd: RawFd,
    /// Waits somebody to write? Else to read.
    pub to_write: bool,
    /// Would that not block any more?
    pub is_ready: bool,
    /// Where it leads, if it is a socket: `tcp 127.0.0.1:80 -> 127.0.0.1:40000`.
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
