//! Both directions of one descriptor, and how the kernel's events are told apart.

use super::direction::{DirectionState, Wakes};
use std::os::fd::RawFd;

/// A direction of a descriptor, by its operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Reading, receiving, accepting.
    Read,
    /// Writing, sending, connecting.
    Write,
}

/// Both directions of one descriptor.
#[derive(Debug)]
pub(crate) struct Readiness {
    read: DirectionState,
    write: DirectionState,
    /// The descriptor, open for as long as it is registered.
    fd: RawFd,
}

impl Readiness {
    pub(super) fn new(wakes: Wakes, blocked: Direction, fd: RawFd) -> Self {
        Readiness {
            read: DirectionState::new(wakes, blocked != Direction::Read),
            write: DirectionState::new(wakes, blocked != Direction::Write),
            fd,
        }
    }

    pub(super) fn fd(&self) -> RawFd {
        self.fd
    }

    #[inline]
    pub(crate) fn state(&self, direction: Direction) -> &DirectionState {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        }
    }

    /// Notes an event of the kernel. An error makes both directions ready: the next operation finds
    /// it.
    pub(super) fn report(&self, event: &mio::event::Event) {
        let failed = event.is_error();
        if event.is_readable() || event.is_read_closed() || failed {
            self.read.edge(event.is_read_closed() || event.is_priority() || failed);
        }
        if event.is_writable() || event.is_write_closed() || failed {
            self.write.edge(false);
        }
    }
}
