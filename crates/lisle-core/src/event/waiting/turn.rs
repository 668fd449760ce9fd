//! A mark by which a fiber learns, at the cost of a load, that its turn has been long and that
//! others should run.
//!
//! Fibers are not preempted. A fiber that computes for long, that polls repeatedly without success,
//! or whose operations never have to wait, must be suspended at some other place, or it keeps all
//! others of its domain from running. For the first that place is `checkpoint`, for the second an
//! unsuccessful poll, and for the third an operation that could wait.
//!
//! The domain decides how a fiber gives way: it passes functions when it settles on its thread.
//!
//! The mark has three bits. Only operations look at the first two. One is set by an operation that a
//! fiber or task repeats often while others wait for it: so far, locking a mutex. One is set if the
//! fiber or task has taken the turn of another, which this domain may keep from running. The third
//! says that the turn may have been long: the monitor of the runtime sets it for each domain every 10
//! ms.
//!
//! The mark lies in the storage of the domain's thread and is found without loading its address
//! first. (The word of a domain that loops read, `jobs/heartbeat.rs`, is a different one: it is set
//! for as long as a part of a loop could be taken, and reading it takes two loads.)

#[cfg(not(lisle_loom))]
#[doc(hidden)]
pub use in_domain::{
    Driving, Mark, Ways, came_to_nothing, is_due, may_pass, pass_if_due, take_due, take_due_in, took_a_turn,
    went_first,
};

/// Returns `answer`, the result of a poll, and counts it if the poll was not successful.
///
/// A fiber that only polls without success gives way to others now and then.
#[inline]
pub fn asked<T>(answer: Option<T>) -> Option<T> {
    if answer.is_none() {
        came_to_nothing();
    }
    answer
}

/// Returns `answer` and counts it, like [`asked`], for a poll whose result is a `bool`.
#[inline]
pub fn asked_whether(answer: bool) -> bool {
    asked(answer.then_some(())).is_some()
}

/// In a model no turn is long.
#[cfg(lisle_loom)]
#[inline]
pub fn came_to_nothing() {}

/// In a model no turn is long.
#[cfg(lisle_loom)]
#[inline]
pub fn take_due_in(_: &std::task::Waker) -> bool {
    false
}

/// In a model nobody goes first too often.
#[cfg(lisle_loom)]
pub fn went_first() {}

/// In a model no turn is long.
#[cfg(lisle_loom)]
pub fn took_a_turn() {}

/// In a model no turn is long.
#[cfg(lisle_loom)]
#[inline]
pub fn pass_if_due() {}

#[cfg(not(lisle_loom))]
mod in_domain {
    use crate::event::is_modelled;
    use crate::event::lock::Lock;
    use crate::event::performer::parker;
    use crate::event::protocol::step;
    use crate::shim::unseen::{AtomicU8, Ordering};
    use std::cell::Cell;
    use std::fmt;
    use std::ptr::NonNull;
    use std::task::{RawWakerVTable, Waker};

    /// The number of unsuccessful polls, or of locks before others, in one turn before a fiber
    /// gives way: at least this many, and fewer than twice as many.
    const IN_VAIN: u32 = 128;

    /// The bit of the mark that is set if others should run when the turn has been long.
    const LONG: u8 = 1;
    /// The bit that is set if others should run, since the running code has often gone before them.
    const OFTEN: u8 = 2;
    /// The bit that is set if others should run, since the running code has taken the turn of one.
    const TOOK: u8 = 4;

    thread_local! {
        /// The mark: whether others should run, and why.
        static DUE: AtomicU8 = const { AtomicU8::new(0) };
        /// The number of unsuccessful polls, and of the like, left before they were often.
        static LEFT: Cell<u32> = const { Cell::new(IN_VAIN) };
        /// The identity of the waker with which a fiber polls an awaited future.
        static DRIVER: Cell<Option<Tell>> = const { Cell::new(None) };
        /// The functions of this thread's domain.
        static WAYS: Cell<Option<&'static Ways>> = const { Cell::new(None) };
    }

    /// The functions of a domain for a fiber that may be suspended.
    #[derive(Debug)]
    pub struct Ways {
        /// For one that has often polled without success, or gone before others.
        pub asked_often: fn(),
        /// For one that has taken the turn of another.
        pub took_a_turn: fn(),
        /// For one that performs an operation after the mark was set.
        pub is_due: fn(),
    }

    /// The place of the mark of a domain, while the domain is on a thread.
    pub struct Mark(Lock<Option<MarkAddress>>);

    struct MarkAddress(NonNull<AtomicU8>);

    // SAFETY: an atomic may be used from any thread.
    unsafe impl Send for MarkAddress {}

    impl Mark {
        #[inline]
        pub const fn new() -> Self {
            Mark(Lock::new(None))
        }

        /// Makes the calling thread the domain's.
        ///
        /// # Safety
        ///
        /// [`leave`](Mark::leave) is called before the thread ends.
        #[inline]
        pub unsafe fn settle(&self, ways: &'static Ways) {
            WAYS.set(Some(ways));
            DUE.with(|due| *self.0.lock() = Some(MarkAddress(NonNull::from(due))));
        }

        /// Removes the mark from the calling thread, which is not the domain's any more.
        #[inline]
        pub fn leave(&self) {
            *self.0.lock() = None;
            WAYS.set(None);
            DUE.with(|due| due.store(0, Ordering::Relaxed));
        }

        /// Sets the mark: the code that runs in the domain is to check whether others want to run.
        #[inline]
        pub fn set(&self) {
            if let Some(place) = &*self.0.lock() {
                // SAFETY: a thread's storage stays until the thread ends, and before that the
                // thread takes this lock and removes the place.
                unsafe { place.0.as_ref() }.fetch_or(LONG, Ordering::Relaxed);
            }
        }
    }

    impl fmt::Debug for Mark {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Mark").finish_non_exhaustive()
        }
    }

    #[inline(always)]
    fn mark() -> u8 {
        DUE.with(|due| due.load(Ordering::Relaxed))
    }

    /// Returns `true` if others should run when the turn has been long.
    #[inline(always)]
    pub fn is_due() -> bool {
        mark() & LONG != 0
    }

    /// The data and the functions of a waker. They are compared, and never used.
    type Tell = (*const (), *const RawWakerVTable);

    fn tell(waker: &Waker) -> Tell {
        (waker.data(), std::ptr::from_ref(waker.vtable()))
    }

    /// A guard: a fiber polls a future that it waits for. Where that returns pending since the turn
    /// has been long, the fiber lets others run.
    ///
    /// A fiber that is suspended meanwhile may leave the note to others. They have other wakers.
    #[derive(Debug)]
    pub struct Driving {
        before: Option<Tell>,
    }

    impl Driving {
        /// Notes that the future is polled with `waker`.
        #[inline]
        pub fn new(waker: &Waker) -> Self {
            Driving { before: DRIVER.replace(Some(tell(waker))) }
        }
    }

    impl Drop for Driving {
        #[inline]
        fn drop(&mut self) {
            DRIVER.set(self.before);
        }
    }

    /// Resets the mark and returns `true` if others should run, and a future that is polled with
    /// `waker` may wake it and return pending for that: a fiber waits for it, lets others run then,
    /// and may be suspended.
    #[inline(always)]
    pub fn take_due_in(waker: &Waker) -> bool {
        mark() != 0 && take_driven_by(waker)
    }

    #[cold]
    fn take_driven_by(waker: &Waker) -> bool {
        let is_driven = DRIVER.get() == Some(tell(waker)) && may_pass();
        if is_driven {
            take_due();
        }
        is_driven
    }

    /// Resets the mark, because others are about to run if there are any.
    #[inline]
    pub fn take_due() {
        DUE.with(|due| due.store(0, Ordering::Relaxed));
    }

    /// Lets others run if that is due and this is a fiber that may be suspended. Called by each
    /// operation that could wait: a fiber whose operations are always ready would otherwise never
    /// give way. It is called before the operation takes anything that others may want, or when it
    /// has nothing left to do.
    #[inline(always)]
    pub fn pass_if_due() {
        if mark() != 0 {
            pass_now();
        }
    }

    #[cold]
    fn pass_now() {
        if may_pass() {
            let mark = mark();
            take_due();
            let ways = || WAYS.get().into_iter();
            if mark & TOOK != 0 {
                ways().for_each(|ways| (ways.took_a_turn)());
            } else if mark & OFTEN != 0 {
                ways().for_each(|ways| (ways.asked_often)());
            }
            if mark & LONG != 0 {
                ways().for_each(|ways| (ways.is_due)());
            }
        }
    }

    /// Counts an unsuccessful poll.
    #[inline]
    pub fn came_to_nothing() {
        if is_often() && may_pass() {
            WAYS.get().into_iter().for_each(|ways| (ways.asked_often)());
        }
    }

    /// Counts something that a performer may do again and again while others wait for it. If that
    /// was often, others run in its next operation that could wait, if it may be suspended there;
    /// and the turn of a task counts as long: the next event that it awaits begins in another turn.
    #[inline]
    pub fn went_first() {
        if parker::running().is_some() && is_often() {
            go_last(OFTEN);
        }
    }

    /// Lets others run in the next operation of a performer that has taken the turn of another, as
    /// [`went_first`] does, and at once: this domain may keep that other from running.
    #[inline]
    pub fn took_a_turn() {
        if parker::running().is_some() {
            go_last(TOOK);
        }
    }

    #[cold]
    fn go_last(why: u8) {
        DUE.with(|due| due.fetch_or(why, Ordering::Relaxed));
        // SAFETY: a task that runs here is alive.
        if let Some(task) = unsafe { parker::top_task().get().as_ref() } {
            task.has_begun_earlier();
        }
    }

    #[inline]
    fn is_often() -> bool {
        let left = LEFT.with(|left| {
            left.set(left.get().wrapping_sub(1));
            left.get()
        });
        if left == 0 {
            LEFT.with(|left| left.set(IN_VAIN));
        }
        left == 0
    }

    /// Returns `true` if this is a fiber that may be suspended without having asked for it. Returns
    /// `false` if it has forbidden suspension or is in a step of an event. A fiber that unwinds may
    /// be suspended: its destructor may wait for others, too. In a model a fiber gives way by the
    /// model's choice, and not by the length of its turn.
    #[inline]
    pub fn may_pass() -> bool {
        parker::running().is_some() && step::is_free() && !is_modelled()
    }
}
