//! On which processors a thread may run: on one, to which it is pinned, or wherever it might before.
//!
//! A thread that is started by one that is pinned is pinned, too. That is not what whoever pins domains has in mind for
//! the threads that their fibers call for, nor for runtimes that they start. So those of this library let go of it, and so
//! does a thread that was a domain only for a while.

use std::cell::Cell;
use std::num::NonZero;
use system::Allowed;

thread_local! {
    /// Where this thread could run before it was pinned, if it is.
    static BEFORE: Cell<Option<Allowed>> = const { Cell::new(None) };
}

/// This thread is pinned to a processor, if to any, until this is dropped. There is one of these at a time on a thread.
#[derive(Debug)]
#[must_use = "the thread is pinned until this is dropped"]
pub struct Pinned(());

impl Pinned {
    /// Calls `pin`, if given, which pins this thread.
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

/// `f`, to be called in a thread that this one starts: there it runs wherever this one could before it was pinned.
pub fn elsewhere<R>(f: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let before = BEFORE.get();
    move || {
        if let Some(before) = before {
            before.apply();
        }
        f()
    }
}

/// Calls `f` with this thread not pinned for as long as that takes: for questions about processors, and for threads that
/// are to inherit the answer.
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

/// How many processors this thread may use when it is not pinned.
pub fn processors() -> usize {
    unpinned(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    /// A set of processors.
    #[derive(Clone, Copy)]
    pub(super) struct Allowed(libc::cpu_set_t);

    impl Allowed {
        /// Those that this thread may run on. None on machines that have more than such a set has room for.
        pub(crate) fn now() -> Option<Self> {
            // SAFETY: a set of bits, and 0 is one.
            let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
            // SAFETY: the set is in place during the call, and as large as it says.
            let status = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) };
            (status == 0).then_some(Allowed(set))
        }

        /// Has this thread run on these. If they are gone, it stays where it is.
        pub(super) fn apply(self) {
            // SAFETY: as above.
            unsafe { libc::sched_setaffinity(0, size_of_val(&self.0), &raw const self.0) };
        }
    }

    impl std::fmt::Debug for Allowed {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("Allowed").finish_non_exhaustive()
        }
    }
}

/// Elsewhere to pin is advice to the system, which does not tell what it was before.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    #[derive(Debug, Clone, Copy)]
    pub(super) enum Allowed {}

    impl Allowed {
        pub fn now() -> Option<Self> {
            None
        }

        pub(super) fn apply(self) {
            match self {}
        }
    }
}
