//! Waits that end at their time.
//!
//! The poller counts in milliseconds and rounds up, so a timer of 100 µs would be a millisecond late. Where
//! the system has `ppoll`, a short wait is a wait for the poller's own descriptor, which takes one
//! system call more. A long wait ends early, and the rest of it is a short one: most long waits are
//! ended by a descriptor.

use mio::Poll;
use std::time::Duration;

/// The longest of the short waits.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
const SHORT: Duration = Duration::from_millis(10);

/// Waits until the poller has news or `timeout` is over, if that is soon. Returns how long the poller
/// itself is to wait.
#[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
pub(super) fn wait(poll: &Poll, timeout: Duration) -> Duration {
    use std::{io, os::fd::AsRawFd};
    if timeout > SHORT {
        return timeout - Duration::from_millis(1);
    }
    if timeout.is_zero() {
        return timeout;
    }
    let mut poller = libc::pollfd { fd: poll.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: a time is made of integers, of which zero is one.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    time.tv_nsec = timeout.subsec_nanos() as _;
    // SAFETY: both places are valid, and one descriptor is told of.
    let news = unsafe { libc::ppoll(&raw mut poller, 1, &raw const time, std::ptr::null()) };
    // Where the process may not do this, the poller waits as well as it can.
    let is_barred = news < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted;
    if is_barred { timeout } else { Duration::ZERO }
}

/// Returns `timeout`: the poller waits for as long as it can count.
#[cfg(not(all(any(target_os = "linux", target_os = "android"), not(miri))))]
pub(super) fn wait(_: &Poll, timeout: Duration) -> Duration {
    timeout
}
