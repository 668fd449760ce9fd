//! The few system calls that neither `std` nor `mio` has.

use super::pollable::is_interrupted;
use crate::reactor::Direction;
pub(super) use lisle_runtime::internal::set_nonblocking;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Allows up to `backlog` connections to wait to be accepted, within the system's own limit.
pub(super) fn listen(fd: BorrowedFd<'_>, backlog: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open while it is borrowed; no memory is passed.
    check(unsafe { libc::listen(fd.as_raw_fd(), backlog) })
}

/// Returns `true` if an operation would not block now, and also if this is not known: the operation
/// will find out.
pub(super) fn is_ready(fd: BorrowedFd<'_>, direction: Direction) -> bool {
    let events = match direction {
        Direction::Read => libc::POLLIN,
        Direction::Write => libc::POLLOUT,
    };
    let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 };
    loop {
        // SAFETY: the pointer is to one `pollfd`, as the count says, and a zero timeout does not
        // wait.
        match check(unsafe { libc::poll(&raw mut poll, 1, 0) }) {
            Ok(()) => return poll.revents != 0,
            Err(error) if is_interrupted(&error) => {}
            Err(_) => return true,
        }
    }
}

/// Asks the kernel to send up to `count` bytes of `file`, starting at `offset`. The file's own
/// position does not change.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn send_file(
    to: BorrowedFd<'_>,
    file: BorrowedFd<'_>,
    offset: u64,
    count: usize,
) -> io::Result<usize> {
    let mut offset = libc::off64_t::try_from(offset)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "no file has an offset beyond 2^63 - 1"))?;
    // SAFETY: both descriptors are open while they are borrowed. The kernel reads and writes one
    // `off64_t` through the pointer, and `offset` lives until the call has returned.
    let sent = unsafe { libc::sendfile64(to.as_raw_fd(), file.as_raw_fd(), &raw mut offset, count) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
