//! Asks the kernel about the thread of a domain that has been in one turn for long.
//!
//! A fiber that computes and a fiber that blocks its thread look alike from outside. The kernel knows
//! the difference, and tells a process that asks about a thread of its own. Facts that it does not
//! tell, for lack of rights or since it is another kernel, are left out.

use crate::report::Asleep;

/// Returns the system's number for the current thread, or 0.
pub(super) fn current_thread() -> u32 {
    imp::current_thread()
}

/// Returns the wait of the thread with this number, if it sleeps in the kernel and the kernel
/// tells.
pub(super) fn asleep(thread: u32) -> Option<Asleep> {
    if thread == 0 { None } else { imp::asleep(thread) }
}

#[cfg(target_os = "linux")]
mod imp {
    use super::Asleep;

    pub(super) fn current_thread() -> u32 {
        // SAFETY: the call takes no arguments and cannot fail.
        u32::try_from(unsafe { libc::gettid() }).unwrap_or(0)
    }

    pub(super) fn asleep(thread: u32) -> Option<Asleep> {
        // The number of the system call, and its arguments; or `running`.
        let told = std::fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).ok()?;
        match told.split_whitespace().next()?.parse().ok()? {
            // It waits for a page, or for the processor.
            ..0 => None,
            libc::SYS_futex => Some(Asleep::Futex),
            call => Some(Asleep::Call(call)),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::Asleep;

    pub(super) fn current_thread() -> u32 {
        0
    }
    pub(super) fn asleep(_: u32) -> Option<Asleep> {
        None
    }
}
