//! The operations on descriptors that signals and sockets share.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Makes the open file behind `fd` non-blocking, or blocking again.
///
/// # Errors
///
/// The system's.
pub fn set_nonblocking(fd: BorrowedFd<'_>, nonblocking: bool) -> io::Result<()> {
    let mut flag = libc::c_int::from(nonblocking);
    // SAFETY: the descriptor is open while it is borrowed; `FIONBIO` reads one `int` through the
    // pointer.
    match unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONBIO, &raw mut flag) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
