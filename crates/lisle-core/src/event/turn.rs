//! A turn that lasts: the mark by which a fiber learns, for the price of a load, that others should have theirs.
//!
//! Nobody takes the thread from a fiber. So one that computes for long, or asks again and again whether something has
//! happened, has to be suspended somewhere else, or it keeps all others of its domain from going on: `checkpoint` is a
//! place for the first, and what has been asked in vain for the second.
//!
//! What a fiber that gives way does is up to its domain, which says so as it settles on its thread.
//!
//! The mark of a domain is set by the monitor of its runtime, every 10 ms. It lies in the storage of the domain's thread,
//! so that it is found without first loading where it lies. (That word of a domain which loops look at, `par/heartbeat.rs`, is
//! another: it is on for as long as anybody could take a part of a loop, and it takes two loads.)

#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub use in_domain::{Mark, came_to_nothing, is_due, may_pass, take_due};

/// `answer`, to somebody who has asked whether something has happened.
///
/// A fiber that does nothing else than to ask in vain lets others have a turn now and then.
#[inline]
pub fn asked<T>(answer: Option<T>) -> Option<T> {
    if answer.is_none() {
        came_to_nothing();
    }
    answer
}

/// As [`asked`], for what is true or not.
#[inline]
pub fn asked_whether(answer: bool) -> bool {
    asked(answer.then_some(())).is_some()
}

/// In a model no turn is long.
#[cfg(lisle_loom)]
#[inline]
pub fn came_to_nothing() {}

#[cfg(not(lisle_loom))]
mod in_domain {
    use crate::event::lock::Lock;
    use crate::event::parker;
    use crate::event::step;
    use crate::shim::atomic::{AtomicBool, Ordering};
    use std::cell::Cell;
    use std::fmt;
    use std::ptr::NonNull;

    /// So often a fiber may ask in vain in one turn before others have theirs: once at least, and less than twice.
    const IN_VAIN: u32 = 128;

    thread_local! {
        /// Others should have a turn.
        static DUE: AtomicBool = const { AtomicBool::new(false) };
        /// How often may still be asked in vain before that is looked into.
        static LEFT: Cell<u32> = const { Cell::new(IN_VAIN) };
        /// What the domain of this thread does when a fiber has often asked in vain.
        static OFTEN: Cell<Option<fn()>> = const { Cell::new(None) };
    }

    /// Where the mark of a domain lies, while its thread is there.
    pub struct Mark(Lock<Option<Place>>);

    struct Place(NonNull<AtomicBool>);

    // SAFETY: an atomic may be used from any thread.
    unsafe impl Send for Place {}

    impl Mark {
        #[inline]
        pub const fn new() -> Self {
            Mark(Lock::new(None))
        }

        /// The calling thread is the domain's from now on, which looks after fibers that have `often` asked in vain and may be
        /// suspended.
        #[inline]
        pub fn settle(&self, often: fn()) {
            OFTEN.set(Some(often));
            DUE.with(|due| *self.0.lock() = Some(Place(NonNull::from(due))));
        }

        /// The calling thread, which was the domain's, is so no more.
        #[inline]
        pub fn leave(&self) {
            *self.0.lock() = None;
            OFTEN.set(None);
            DUE.with(|due| due.store(false, Ordering::Relaxed));
        }

        /// Whoever runs in the domain is to look whether others want a turn.
        #[inline]
        pub fn set(&self) {
            if let Some(place) = &*self.0.lock() {
                // SAFETY: a thread's storage is there until it ends, and before that it takes this lock and the place away.
                unsafe { place.0.as_ref() }.store(true, Ordering::Relaxed);
            }
        }
    }

    impl fmt::Debug for Mark {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Mark").finish_non_exhaustive()
        }
    }

    /// Returns `true` if others are to have a turn.
    #[inline(always)]
    pub fn is_due() -> bool {
        DUE.with(|due| due.load(Ordering::Relaxed))
    }

    /// Others will have a turn, if there are any.
    #[inline]
    pub fn take_due() {
        DUE.with(|due| due.store(false, Ordering::Relaxed));
    }

    /// Somebody has asked whether something has happened, and it has not.
    #[inline]
    pub fn came_to_nothing() {
        let left = LEFT.with(|left| {
            left.set(left.get().wrapping_sub(1));
            left.get()
        });
        if left == 0 {
            asked_often();
        }
    }

    #[cold]
    fn asked_often() {
        LEFT.with(|left| left.set(IN_VAIN));
        if may_pass()
            && let Some(often) = OFTEN.get()
        {
            often();
        }
    }

    /// Is this a fiber that may be suspended where it has not asked to be? Not one that has forbidden it or is in a step of an
    /// event. One that unwinds may be: what its destructor asks for may be up to others, too.
    #[inline]
    pub fn may_pass() -> bool {
        parker::running().is_some() && step::is_free()
    }
}
