//! The state of a reactor's descriptors, seen from outside while the thread that drives it is busy
//! elsewhere.
//!
//! Any thread can ask the kernel: an epoll descriptor is itself readable while it has news that has
//! not been fetched, and to look does not fetch it. But the news may be of a descriptor that is not
//! waited for at the moment, or of a wake. So if there is any, the descriptors that are waited for
//! are asked one by one. This is done under the lock of the table, which keeps each of them open
//! meanwhile: a registration ends before its descriptor is closed, and to end it takes that lock.

use super::address;
use super::{Direction, Reactor};
use crate::report::Awaited;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

impl Reactor {
    /// Returns `true` if the kernel has news that the driver has not fetched. One system call.
    pub(crate) fn has_news(&self) -> bool {
        let mut poll = [libc::pollfd { fd: self.registry.as_raw_fd(), events: libc::POLLIN, revents: 0 }];
        ask(&mut poll) && poll[0].revents != 0
    }

    /// Returns the descriptors that are waited for, and which of them are ready.
    ///
    /// Takes time in proportion to how many are registered.
    pub(crate) fn awaited(&self) -> Vec<Awaited> {
        let sockets = self.sockets.lock();
        let mut all = Vec::new();
        for readiness in sockets.iter() {
            for (direction, events) in [(Direction::Read, libc::POLLIN), (Direction::Write, libc::POLLOUT)] {
                if readiness.state(direction).is_waited_for() {
                    all.push(libc::pollfd { fd: readiness.fd(), events, revents: 0 });
                }
            }
        }
        if !ask(&mut all) {
            all.iter_mut().for_each(|poll| poll.revents = 0);
        }
        let told = all.iter().map(|poll| Awaited {
            fd: poll.fd,
            to_write: poll.events == libc::POLLOUT,
            is_ready: poll.revents & (poll.events | libc::POLLHUP | libc::POLLERR) != 0,
            // SAFETY: it is registered, so it is open, and stays open while the table is locked.
            address: address::of(unsafe { BorrowedFd::borrow_raw(poll.fd) }),
        });
        told.collect()
    }
}

/// Asks the kernel which descriptors are ready, without waiting. Returns `false` if the system call
/// fails.
fn ask(all: &mut [libc::pollfd]) -> bool {
    let Ok(count) = libc::nfds_t::try_from(all.len()) else { return false };
    loop {
        // SAFETY: the pointer is to this many `pollfd`, and a zero timeout does not wait.
        let found = unsafe { libc::poll(all.as_mut_ptr(), count, 0) };
        if found >= 0 {
            return true;
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return false;
        }
    }
}
