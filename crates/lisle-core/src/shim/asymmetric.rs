//! An ordering of a store before a load between a thread that does this often and a thread that
//! does it rarely.
//!
//! Each of two threads stores a value and then loads the value that the other has stored. At least
//! one of them must see the other's store. That takes a fence of about 5 ns on both sides. Where
//! one side is as hot as a join, that side only keeps the compiler from reordering. The other side
//! has the kernel interrupt all processors that run threads of this process, each of which then
//! passes a full fence. On Linux this is the system call `membarrier`, at about 20 µs, and on Windows
//! `FlushProcessWriteBuffers`.
//!
//! On other systems, under loom, and in Miri, both sides pass a fence.

#[cfg(all(target_os = "linux", not(any(lisle_loom, miri))))]
mod imp {
    use crate::shim::atomic::compiler_fence;
    use crate::shim::atomic::{AtomicU8, Ordering};

    /// Orders stores before loads on the frequent side.
    #[inline(always)]
    pub fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    const UNKNOWN: u8 = 0;
    const READY: u8 = 1;
    const REFUSED: u8 = 2;

    /// Registers the process for [`heavy`], which takes some milliseconds the first time. A forked child
    /// inherits that. Returns `false` if the kernel is older than 4.14 or forbids the call.
    #[cold]
    pub fn prepare() -> bool {
        static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
        if STATE.load(Ordering::Acquire) == UNKNOWN {
            let ready = call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
            if !ready && std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOMEM) {
                return false; // There may be memory later.
            }
            STATE.store(if ready { READY } else { REFUSED }, Ordering::Release);
        }
        STATE.load(Ordering::Acquire) == READY
    }

    /// Orders stores before loads on the rare side, and on all other threads of the process.
    /// Returns `false` if it cannot; then nothing is ordered.
    #[cold]
    pub fn heavy() -> bool {
        prepare() && call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
    }

    fn call(command: libc::c_int) -> bool {
        // SAFETY: the call takes numbers and does not access memory of this process.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

#[cfg(all(windows, not(any(lisle_loom, miri))))]
mod imp {
    use crate::shim::atomic::{Ordering, compiler_fence};
    use windows_sys::Win32::System::Threading::FlushProcessWriteBuffers;

    /// Orders stores before loads on the frequent side.
    #[inline(always)]
    pub fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    /// Returns `true`: this version needs no registration.
    pub fn prepare() -> bool {
        true
    }

    /// Orders stores before loads on the rare side, and on all other threads of the process.
    #[cold]
    pub fn heavy() -> bool {
        // SAFETY: the call takes nothing, and cannot fail.
        unsafe { FlushProcessWriteBuffers() };
        true
    }
}

#[cfg(any(not(any(target_os = "linux", windows)), lisle_loom, miri))]
mod imp {
    use crate::shim::atomic::{Ordering, fence};

    /// Orders stores before loads on the frequent side.
    #[inline(always)]
    pub fn light() {
        fence(Ordering::SeqCst);
    }

    /// Returns `true`: this version needs no registration.
    pub fn prepare() -> bool {
        true
    }

    /// Orders stores before loads on the rare side.
    pub fn heavy() -> bool {
        fence(Ordering::SeqCst);
        true
    }
}

pub use imp::{heavy, light, prepare};
