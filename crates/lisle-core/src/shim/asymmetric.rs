//! Ordering a store before a load, for one who does it all the time and another who does it seldom.
//!
//! Each of two threads stores something and then loads what the other has stored; one of them at least has to see the other's
//! store. That takes a fence on both sides, of some 5 ns. Where one side is as hot as a join is, only the compiler is kept
//! from reordering there, and the other side has the kernel interrupt all processors that run threads of this process, each of
//! which passes a full fence on that occasion: the system call `membarrier`, some 20 µs.
//!
//! Elsewhere than on Linux both sides pass a fence.

#[cfg(all(target_os = "linux", not(lisle_loom)))]
mod imp {
    use crate::shim::atomic::compiler_fence;
    use crate::shim::atomic::{AtomicU8, Ordering};

    /// The side that is hot.
    #[inline(always)]
    pub fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    const UNKNOWN: u8 = 0;
    const READY: u8 = 1;
    const REFUSED: u8 = 2;

    /// Has the kernel make ready what the side that pays needs, which takes some milliseconds the first time. False if it
    /// cannot, since it is older than 4.14 or forbids the call.
    #[cold]
    pub fn prepare() -> bool {
        static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
        if STATE.load(Ordering::Acquire) == UNKNOWN {
            let ready = call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
            STATE.store(if ready { READY } else { REFUSED }, Ordering::Release);
        }
        STATE.load(Ordering::Acquire) == READY
    }

    /// The side that pays. False if it cannot: then nothing is ordered.
    #[cold]
    pub fn heavy() -> bool {
        prepare() && call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
    }

    fn call(command: libc::c_int) -> bool {
        // SAFETY: the call takes numbers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

#[cfg(any(not(target_os = "linux"), lisle_loom))]
mod imp {
    use crate::shim::atomic::{Ordering, fence};

    /// The side that is hot.
    #[inline(always)]
    pub fn light() {
        fence(Ordering::SeqCst);
    }

    /// There is nothing to be made ready.
    pub fn prepare() -> bool {
        true
    }

    /// The side that is not.
    pub fn heavy() -> bool {
        fence(Ordering::SeqCst);
        true
    }
}

#[doc(hidden)]
pub use imp::{heavy, light, prepare};
