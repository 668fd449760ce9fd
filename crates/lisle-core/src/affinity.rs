//! The processors on which a thread may run: one, to which it is pinned, or the processors that it
//! could use before it was pinned.
//!
//! On Linux a thread inherits the pinning of the thread that starts it. A user who pins domains does not
//! mean to pin the threads that their fibers start, nor the runtimes that they start. The threads
//! that this library starts therefore undo the pinning, and so does a thread that was a domain only
//! for a while.

use std::cell::Cell;
use std::num::NonZero;
use system::Allowed;

thread_local! {
    /// The processors that this thread could use before it was pinned; `None` if it is not pinned.
    static BEFORE: Cell<Option<Allowed>> = const { Cell::new(None) };
}

/// A guard that keeps this thread pinned to a processor, if it was pinned at all, until it is
/// dropped. A thread has at most one of these at a time.
#[derive(Debug)]
#[must_use = "the thread is pinned until this is dropped"]
pub struct Pinned(());

impl Pinned {
    /// Calls `pin`, which pins this thread, if one is given.
    pub fn by(pin: Option<impl FnOnce()>) -> Self {
        if let Some(pin) = pin {
            BEFORE.set(Allowed::now());
            pin();
        }
        Pinned(())
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = BEFORE.take() {
            before.apply();
        }
    }
}

/// Wraps `f`, which a thread that this one starts will call. There `f` runs on the processors that
/// this thread could use before it was pinned.
pub fn elsewhere<R>(f: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let before = BEFORE.get();
    move || {
        if let Some(before) = before {
            before.apply();
        }
        f()
    }
}

/// Calls `f` with this thread not pinned during the call. This is for questions about processors,
/// and for starting threads that must not inherit the pinning.
pub fn unpinned<R>(f: impl FnOnce() -> R) -> R {
    struct Again(Option<Allowed>);
    impl Drop for Again {
        fn drop(&mut self) {
            if let Some(now) = self.0 {
                now.apply();
            }
        }
    }
    let _again = BEFORE.get().map(|before| {
        let again = Again(Allowed::now());
        before.apply();
        again
    });
    f()
}

/// Returns how many processors this thread may use when it is not pinned.
pub fn processors() -> usize {
    unpinned(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    /// A set of processors.
    #[derive(Clone, Copy)]
    pub(super) struct Allowed(libc::cpu_set_t);

    impl Allowed {
        /// Returns the processors that this thread may run on, or `None` on a machine with more
        /// processors than the set has room for.
        pub(crate) fn now() -> Option<Self> {
            // SAFETY: the type is a set of bits, for which all bits 0 is a valid value.
            let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
            // SAFETY: `set` is live and writable during the call, and its size is the one given.
            let status = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
            (status == 0).then_some(Allowed(set))
        }

        /// Restricts this thread to these processors. If none of them exists any more, nothing
        /// changes.
        pub(super) fn apply(self) {
            // SAFETY: the set is live during the call, and its size is the one given.
            unsafe { libc::sched_setaffinity(0, size_of_val(&self.0), &raw const self.0) };
        }
    }

    impl std::fmt::Debug for Allowed {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("Allowed").finish_non_exhaustive()
        }
    }
}

#[cfg(windows)]
mod system {
    use std::ptr;
    use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
    use windows_sys::Win32::System::Threading::{
        GetCurrentThread, GetThreadGroupAffinity, SetThreadGroupAffinity,
    };

    /// A set of processors, all of one group. A group has up to 64.
    #[derive(Clone, Copy)]
    pub(super) struct Allowed(GROUP_AFFINITY);

    impl Allowed {
        /// Returns the processors that this thread may run on.
        pub(super) fn now() -> Option<Self> {
            let mut set = GROUP_AFFINITY::default();
            // SAFETY: the handle belongs to the calling thread and needs no closing, and `set` is
            // live and writable during the call.
            let has_answered = unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut set) } != 0;
            has_answered.then_some(Allowed(set))
        }

        /// Restricts this thread to these processors. If that fails, nothing changes.
        pub(super) fn apply(self) {
            // SAFETY: the handle is as above, the set is live during the call, and the former set is
            // not asked for.
            unsafe { SetThreadGroupAffinity(GetCurrentThread(), &raw const self.0, ptr::null_mut()) };
        }
    }

    impl std::fmt::Debug for Allowed {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("Allowed").finish_non_exhaustive()
        }
    }
}

/// On other systems pinning is a hint to the system, which does not report its earlier value.
#[cfg(not(any(target_os = "linux", target_os = "android", windows)))]
mod system {
    #[derive(Debug, Clone, Copy)]
    pub(super) enum Allowed {}

    impl Allowed {
        pub(super) fn now() -> Option<Self> {
            None
        }

        pub(super) fn apply(self) {
            match self {}
        }
    }
}
